/* Probe power: which devices it supports. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_power;

UNIT_TEST(test_which_cells)
{
    static const char *const axes = "op=ffma32 share=50 warps=0";
    struct toy gpu, cpu;
    struct as_error err = {0};
    toy_init_sm90(&gpu, NULL);
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    assert_int_equal(toy_applies(&cpu, &as_probe_power, axes, &err), AS_PRUNED);
    gpu.dev.info.sensor[0] = '\0';
    assert_int_equal(toy_applies(&gpu, &as_probe_power, axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "no sensor reports the power"));
    snprintf(gpu.dev.info.sensor, sizeof gpu.dev.info.sensor, "nvml");
    assert_int_equal(toy_applies(&gpu, &as_probe_power, axes, &err), AS_APPLIES);
    assert_int_equal(toy_applies(&gpu, &as_probe_power, "op=none share=50 warps=0", &err), AS_PRUNED);
    gpu.dev.info.is_host_cpu = true; /* the sensor does not read the power of this board */
    assert_int_equal(toy_applies(&gpu, &as_probe_power, axes, &err), AS_INAPPLICABLE);
}

static double watts = 77;
static double power_now(const struct as_trial_context *tc)
{
    (void)tc;
    return watts;
}

/* The idle cell launches nothing, and its number is what the sensor reads. */
UNIT_TEST(test_idle)
{
    struct toy gpu;
    struct toy_trial v;
    struct as_error err = {0};
    struct as_sample out;
    char why[80];
    toy_init_sm90(&gpu, NULL);
    snprintf(gpu.dev.info.sensor, sizeof gpu.dev.info.sensor, "nvml");
    assert_int_equal(toy_applies(&gpu, &as_probe_power, "op=ffma64 share=0 warps=0", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&gpu, &as_probe_power, "op=ffma32 share=0 warps=1", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&gpu, &as_probe_power, "op=ffma32 share=0 warps=0", &err), AS_APPLIES);
    assert_int_equal(toy_prepare(&gpu, &as_probe_power, "op=ffma32 share=0 warps=0", &v, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "reports averages only"));
    toy_finish(&as_probe_power, &v);
    toy_axes(&v.axes, "op=ffma32 share=0 warps=0");
    assert_string_equal(as_probe_metric(&as_probe_power, &v.axes).unit, "W");
    v.tc = (struct as_trial_context){.dev = &gpu.dev, .axes = &v.axes, .power_now = power_now};
    assert_int_equal(as_probe_prepare(&as_probe_power, &v.tc, &v.state, &err), AS_OK);
    assert_int_equal(as_probe_power.sample(v.state, 1, &out, &err), AS_OK);
    assert_true(out.value == 77);
    assert_true(as_probe_power.check(v.state, why, sizeof why));
    watts = NAN;
    assert_int_equal(as_probe_power.sample(v.state, 1, &out, &err), AS_FAILED);
    toy_finish(&as_probe_power, &v);
    assert_int_equal(gpu.launches, 0);
    assert_int_equal(gpu.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
