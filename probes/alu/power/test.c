/* Probe power: which devices it supports. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
