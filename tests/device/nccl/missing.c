/* With a library of collectives that cannot be loaded the first device says why, and nothing else is lost. */
#include "../stand_in.h"

static void test_missing(void **state)
{
    struct as_error err = {0};
    struct as_ranks ranks;
    (void)state;
    fake("");
    open_gpu(&gpu, 0);
    assert_string_equal(gpu.dev.info.collectives, "");
    assert_non_null(strstr(gpu.dev.info.collectives_why, "LD_LIBRARY_PATH"));
    assert_int_equal(gpu.dev.collective->join(&gpu.dev, &ranks, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "LD_LIBRARY_PATH"));
    assert_int_equal(ranks.n, 0);
    close_gpu(&gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
