/* Probe onchip_bandwidth: which cells, and trials where there is an OpenCL device: sums are right. */
#include "tests/probes/timed_trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

extern const struct as_probe as_probe_onchip_bandwidth;

static void test_applies(void **unused)
{
    struct toy t;
    struct as_error err = {0};
    (void)unused;
    timed_toy(&t);
    assert_int_equal(
        toy_applies(&t, &as_probe_onchip_bandwidth, "what=own size=64 width=128 stride=1 compute_units=every", &err),
        AS_PRUNED);
    assert_int_equal(toy_applies(&t, &as_probe_onchip_bandwidth,
                                 "what=shared size=4096 width=32 stride=1 compute_units=every", &err),
                     AS_PRUNED);
    assert_int_equal(
        toy_applies(&t, &as_probe_onchip_bandwidth, "what=own size=32768 width=128 stride=1 compute_units=every", &err),
        AS_APPLIES);
}

static void test_runs(void **unused)
{
    static const struct timed_trial trials[] = {
        {"what=own size=32768 width=128 stride=1 compute_units=every", 3},
        {"what=own size=65536 width=32 stride=3 compute_units=every", 3},
        {"what=common size=4194304 width=64 stride=1 compute_units=every", 2},
        {"what=shared size=0 width=32 stride=33 compute_units=every", 5},
        {"what=shared size=0 width=128 stride=2 compute_units=every", 5},
    };
    (void)unused;
    timed_trials("onchip_bandwidth", trials, sizeof trials / sizeof *trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
