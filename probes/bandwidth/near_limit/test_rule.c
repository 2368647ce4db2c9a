/* The rule of memory near the recommended limit, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <string.h>

static struct made m = {.info = {.id = "metal:0", .backend = "metal"}, .share = 0.01};

UNIT_TEST(test_slower)
{
    made_add(&m, "near_limit", "GB/s", 200, "share=50;allocator=private");
    made_add(&m, "near_limit", "GB/s", 190, "share=90;allocator=private");
    made_add(&m, "near_limit", "GB/s", 50, "share=98;allocator=private");
    made_add(&m, "near_limit", "GB/s", 200, "share=50;allocator=shared");
    made_derive(&m);
    made_near(&m, "limit.bandwidth.private", 0.25, 1e-9);
    made_says(made_get(&m, "limit.bandwidth.private"), "Writing 98% of the recommended working set runs at 0.250x");
    assert_non_null(strstr(made_get(&m, "limit.bandwidth.private")->act,
                           "Keep buffers below 98% of the recommended working set: near it, "
                           "'private' is 4.00x"));
    assert_null(made_find(&m, "limit.bandwidth.shared"));
}

UNIT_TEST(test_holds)
{
    made_add(&m, "near_limit", "GB/s", 200, "share=50;allocator=private");
    made_add(&m, "near_limit", "GB/s", 200, "share=98;allocator=private");
    made_derive(&m);
    made_says(made_get(&m, "limit.bandwidth.private"), "runs at 1.00x");
    assert_string_equal(made_get(&m, "limit.bandwidth.private")->act, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {made_test(test_slower, &m), made_test(test_holds, &m)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
