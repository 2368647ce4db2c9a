/* Probe l2_latency: which cells apply, and trials on OpenCL where available. */
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

extern const struct as_probe as_probe_l2_latency;

UNIT_TEST(test_applies)
{
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    assert_int_equal(toy_applies(&t, &as_probe_l2_latency, "what=near compute_unit=131 filler=0", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&t, &as_probe_l2_latency, "what=near compute_unit=132 filler=0", &err), AS_PRUNED);
}

UNIT_TEST(test_runs)
{
    static const struct kernel_timer_trial trials[] = {
        {"what=near compute_unit=0 filler=0", 1},
    };
    kernel_timer_trials("l2_latency", trials, sizeof trials / sizeof *trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
