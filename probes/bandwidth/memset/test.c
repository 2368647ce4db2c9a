/* Probe memset on a toy CPU and a toy device: which cells apply, what a fill leaves, and that stale data fails. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

extern const struct as_probe as_probe_memset;
static const struct as_probe *const probe = &as_probe_memset;

UNIT_TEST(test_which_cells)
{
    struct toy cpu, device;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&device, AS_CAP_SOURCE);
    assert_int_equal(toy_applies(&cpu, probe, "how=memset size=65536 threads=2 allocator=toy", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&cpu, probe, "how=fill size=65536 threads=2 allocator=toy", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&cpu, probe, "how=store size=65536 threads=0 allocator=toy", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&device, probe, "how=fill size=65536 threads=0 allocator=toy", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&device, probe, "how=memset size=65536 threads=0 allocator=toy", &err), AS_PRUNED);
}

/* A sample's value is a rate, and the check detects a missing last launch. */
static bool fill(const char *axes, int lost, char *why, size_t why_size)
{
    struct toy cpu;
    struct toy_trial v;
    struct as_error err = {0};
    struct as_sample s = {.value = NAN};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_prepare(&cpu, probe, axes, &v, NULL);
    cpu.lose_launches = lost;
    assert_int_equal(probe->sample(v.state, 3, &s, &err), AS_OK);
    assert_true(s.value > 0 && s.seconds > 0);
    const bool right = probe->check(v.state, why, why_size);
    toy_finish(probe, &v);
    assert_int_equal(cpu.live, 0);
    return right;
}

UNIT_TEST(test_fills)
{
    char why[160];
    for (int store = 0; store < 2; store++) {
        const char *axes =
            store ? "how=store size=100000 threads=2 allocator=toy" : "how=memset size=100000 threads=2 allocator=toy";
        assert_true(fill(axes, 0, why, sizeof why));
        assert_false(fill(axes, 1, why, sizeof why));
        assert_non_null(strstr(why, "word 0 is"));
    }
}

UNIT_TEST(test_no_memory)
{
    toy_check_no_memory(probe, AS_CAP_HOST_KERNELS, "how=memset size=65536 threads=1 allocator=toy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_cells), cmocka_unit_test(test_fills),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
