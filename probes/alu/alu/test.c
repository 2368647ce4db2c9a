/* Probe alu on this machine's CPU, with its native instructions. */
#include "tests/probes/real_device.h"
#include "tests/unit_test.h"

extern const struct as_probe as_probe_alu;

/* A core does a few adds per cycle. An SMT sibling may halve this; the bounds allow a factor of ten. */
UNIT_TEST(test_cpu)
{
    struct real r;
    if (real_trial(&as_probe_alu, "cpu", "allocator=malloc op=iadd32 ilp=0 warps=0 width=scalar operands=0 steps=0", 5,
                   2000, &r))
        assert_true(r.sample.value > 0.1 && r.sample.value < 160);
    /* results are not used as operands: nothing divides by a quotient of 0 */
    if (real_trial(&as_probe_alu, "cpu", "allocator=malloc op=idiv64 ilp=0 warps=0 width=scalar operands=0 steps=0", 5,
                   2000, &r))
        assert_true(r.sample.value > 1e-4 && r.sample.value < 40);
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
