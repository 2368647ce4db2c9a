/* Probe alu_latency on this machine's CPU, with its native instructions. */
#include "tests/probes/real_device.h"
#include "tests/unit_test.h"

#include <string.h>

extern const struct as_probe as_probe_alu_latency;

/* An add takes about a cycle, a division tens of cycles: this checks the unit. An SMT sibling may double it; the bounds
 * allow a factor of ten. */
UNIT_TEST(test_cpu)
{
    struct real r;
    if (real_trial(&as_probe_alu_latency, "cpu", "allocator=malloc op=iadd32 width=scalar operands=0 steps=0", 5, 2000,
                   &r)) {
        assert_true(r.sample.value > 0.1 && r.sample.value < 10);
        assert_non_null(strstr(r.detail, "instructions"));
    }
    if (real_trial(&as_probe_alu_latency, "cpu", "allocator=malloc op=fdiv64 width=scalar operands=0 steps=0", 5, 2000,
                   &r))
        assert_true(r.sample.value > 0.5 && r.sample.value < 1000);
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
