/* Probe fusion on the OpenCL of this machine. */
#include "tests/probes/real_device.h"
#include "tests/unit_test.h"

extern const struct as_probe as_probe_fusion;

UNIT_TEST(test_fusion)
{
    struct real r;
    if (real_trial(&as_probe_fusion, "opencl",
                   "allocator=clCreateBuffer path=naive type=bf16 size=128 operation=bias_gelu", 2, 2, &r))
        assert_true(r.sample.value > 0);
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fusion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
