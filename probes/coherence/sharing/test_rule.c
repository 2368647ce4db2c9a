/* The rule of pointers valid on CPU and device, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}};

static void found(const char *allocator, double answer, int announced)
{
    char axes[96], detail[40];
    snprintf(axes, sizeof axes, "allocator=%s;", allocator);
    struct as_cell *cell = made_add(&m, "sharing", "answer", answer, axes);
    snprintf(detail, sizeof detail, "{\"announced\": %d}", announced);
    free(cell->detail);
    cell->detail = strdup(detail);
}

UNIT_TEST(test_as_announced)
{
    made_end(&m);
    found("cuMemAlloc", 2, 0);
    found("cuMemHostAlloc", 1, 1);
    found("malloc", 1, 1);
    made_derive(&m);
    assert_string_equal(made_near(&m, "sharing", 2, 0)->sentence,
                        "Kernel pointers are valid on the CPU for 2 of 3 tested allocators, not for 'cuMemAlloc'; this "
                        "is what the driver announces");
    assert_null(made_find(&m, "sharing.cuMemAlloc"));
    assert_null(made_find(&m, "sharing.malloc"));
}

UNIT_TEST(test_otherwise)
{
    made_end(&m);
    found("hipMalloc", 3, 1);
    found("cuMemAlloc", 1, 0);
    made_derive(&m);
    made_verdict(&m, "sharing.hipMalloc", AS_REFUTED);
    made_says(made_get(&m, "sharing.hipMalloc"), "although the driver announces it: the CPU finds another value");
    made_verdict(&m, "sharing.cuMemAlloc", AS_SUPPORTED);
    made_says(made_get(&m, "sharing.cuMemAlloc"), "which the driver does not announce");
    assert_null(strstr(made_get(&m, "sharing")->sentence, "the driver announces"));
}

/* Of many that are not shared only some are named. */
UNIT_TEST(test_many)
{
    made_end(&m);
    for (int i = 0; i < 9; i++) {
        char name[24];
        snprintf(name, sizeof name, "allocator %d", i);
        found(name, 2, 0);
    }
    made_derive(&m);
    made_says(made_near(&m, "sharing", 0, 0), "'allocator 5' and 3 others");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_announced), cmocka_unit_test(test_otherwise),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
