/* Probe occupancy: which cells. */
#include "tests/probes/timed_trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

extern const struct as_probe as_probe_occupancy;

static void test_applies(void **unused)
{
    struct toy t;
    struct as_error err = {0};
    (void)unused;
    timed_toy(&t);
    assert_int_equal(toy_applies(&t, &as_probe_occupancy, "threads=64 values=0 shared=65536", &err), AS_PRUNED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
