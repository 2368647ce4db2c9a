/* Probe onchip_lines: which cells apply, and trials on OpenCL where available. */
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <string.h>

extern const struct as_probe as_probe_onchip_lines;

UNIT_TEST(test_applies)
{
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    strcpy(t.dev.info.dialect, "cuda");
    assert_int_equal(toy_applies(&t, &as_probe_onchip_lines, "what=fetch level=L2 distance=64 lines=0", &err),
                     AS_APPLIES);
    assert_int_equal(toy_applies(&t, &as_probe_onchip_lines, "what=fetch level=L1 distance=20 lines=0", &err),
                     AS_INAPPLICABLE);
    assert_int_equal(toy_applies(&t, &as_probe_onchip_lines, "what=ways level=L2 distance=64 lines=4", &err),
                     AS_PRUNED);
    strcpy(t.dev.info.dialect, "metal");
    t.dev.info.capabilities = AS_CAP_SOURCE;
    assert_int_equal(toy_applies(&t, &as_probe_onchip_lines, "what=fetch level=L2 distance=64 lines=0", &err),
                     AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "no load that bypasses L1"));
    assert_int_equal(toy_applies(&t, &as_probe_onchip_lines, "what=fetch level=L1 distance=64 lines=0", &err),
                     AS_APPLIES);
    t.dev.info.is_host_cpu = true;
    assert_int_equal(toy_applies(&t, &as_probe_onchip_lines, "what=fetch level=L1 distance=64 lines=0", &err),
                     AS_INAPPLICABLE);
}

UNIT_TEST(test_runs)
{
    static const struct kernel_timer_trial trials[] = {
        {"what=fetch level=L1 distance=32 lines=0", 256},
        {"what=fetch level=L2 distance=64 lines=0", 256},
        {"what=ways level=L1 distance=4096 lines=9", 100},
    };
    kernel_timer_trials("onchip_lines", trials, sizeof trials / sizeof *trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
