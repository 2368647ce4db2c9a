/* Probe atomics: which cells apply, and rates on a toy device that runs the kernel as host C, on this machine's CPU,
 * and on OpenCL where available. */
#include "tests/probes/atomics_trial.h"
#include "tests/unit_test.h"

#include "base/text.h"
#include "device/cpu/features.h"

#include <math.h>
#include <string.h>

#define CELL(agent, cpu, device, scope, allocator)                                                                     \
    "agent=" agent " elements=1024 type=u64 cpu_threads=" cpu " device_threads=" device " scope=" scope                \
    " order=relaxed allocator=" allocator

UNIT_TEST(test_which_cells)
{
    struct toy gpu, cpu;
    const struct as_probe *rate = &as_probe_atomics;
    atomics_toy(&gpu, 64);
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    atomics_expect(&gpu, rate, CELL("device", "0", "64", "device", "toy"), AS_APPLIES, NULL);
    atomics_expect(&gpu, rate, CELL("cpu", "1", "64", "device", "toy"), AS_APPLIES, NULL);
    atomics_expect(&gpu, rate, CELL("cpu", "1", "0", "system", "toy"), AS_APPLIES, NULL);
    atomics_expect(&gpu, rate, CELL("cpu", "1", "0", "device", "toy"), AS_PRUNED, NULL);
    atomics_expect(&gpu, rate, CELL("cpu", "0", "64", "device", "toy"), AS_PRUNED, NULL);
    atomics_expect(&gpu, rate, CELL("device", "0", "65", "device", "toy"), AS_PRUNED, NULL);
    atomics_expect(&gpu, rate, CELL("cpu", "4096", "0", "system", "toy"), AS_PRUNED, NULL);
    atomics_expect(&cpu, rate, CELL("cpu", "1", "0", "system", "toy"), AS_APPLIES, NULL);
    atomics_expect(&cpu, rate, CELL("cpu", "1", "64", "system", "toy"), AS_PRUNED, NULL);
    atomics_expect(&gpu, rate, CELL("cpu", "1", "0", "system", "upfront"), AS_INAPPLICABLE, "only by copies");
    as_copy_text(gpu.dev.info.allocators[0].no_sharing, 160, "the link has no atomics");
    atomics_expect(&gpu, rate, CELL("cpu", "1", "64", "system", "toy"), AS_INAPPLICABLE,
                   "'toy': the link has no atomics");
    gpu.dev.info.allocators[0].coherent = false;
    atomics_expect(&gpu, rate, CELL("device", "0", "64", "system", "toy"), AS_INAPPLICABLE,
                   "do not see each other's stores");
}

UNIT_TEST(test_bounds_of_memory)
{
    static const char large[] = "agent=device elements=268435456 type=u64 cpu_threads=0 device_threads=64 scope=device "
                                "order=relaxed allocator=toy";
    struct toy t;
    atomics_toy(&t, 64);
    atomics_expect(&t, &as_probe_atomics, large, AS_INAPPLICABLE, "half of the free 1 GiB");
    t.dev.info.memory_free = UINT64_C(64) << 30;
    atomics_expect(&t, &as_probe_atomics, large, AS_APPLIES, NULL);
    t.dev.info.allocators[0].most = UINT64_C(2) << 30; /* guards add to the array */
    atomics_expect(&t, &as_probe_atomics, large, AS_INAPPLICABLE, "'toy' gives at most 2147483648 B");
    t.dev.info.allocators[0].most += 2 * ATOMICS_GUARD;
    atomics_expect(&t, &as_probe_atomics, large, AS_APPLIES, NULL);
}

UNIT_TEST(test_rate_of_the_cpu)
{
    struct as_opened cpu;
    struct atomics_one o;
    atomics_open_or_skip("cpu", &cpu);
    atomics_trial(&o, &cpu.device, &as_probe_atomics,
                  "agent=cpu elements=1024 type=u32 cpu_threads=1 device_threads=0 scope=system order=relaxed "
                  "allocator=malloc");
    if (o.status || !o.passed)
        fail_msg("%s%s", o.err.text, o.why);
    const double updates = o.sample.value * o.sample.seconds;
    assert_true(updates > 0.5 && fabs(updates - round(updates)) < 1e-6 * updates); /* a whole number */
    assert_true(o.sample.value < 1e11);                                            /* faster than any core */
    char missing[80];
    assert_true(o.by_lse == as_cpu_has(AS_CPU_LSE, missing, sizeof missing));
    as_device_close(&cpu);
}

UNIT_TEST(test_both_at_once)
{
    struct toy t;
    struct atomics_one o;
    atomics_toy(&t, 1);
    for (int cpu = 0; cpu < 2; cpu++) {
        atomics_trial(&o, &t.dev, &as_probe_atomics,
                      cpu ? "agent=cpu elements=1024 type=u64 cpu_threads=1 device_threads=1 scope=system "
                            "order=relaxed allocator=toy"
                          : "agent=device elements=1024 type=u64 cpu_threads=1 device_threads=1 scope=system "
                            "order=relaxed allocator=toy");
        if (o.status || !o.passed)
            fail_msg("%s%s", o.err.text, o.why);
        assert_true(o.sample.value > 0 && isfinite(o.sample.value));
        assert_non_null(strstr(o.why, "0 of "));
    }
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_opencl)
{
    static const char cell[] =
        "agent=cpu elements=1024 type=u64 cpu_threads=1 device_threads=64 scope=device order=relaxed";
    struct as_opened cl;
    struct atomics_one o;
    const char *fine = atomics_open_shared_or_skip(&cl);
    atomics_trial_in(&o, &cl.device, &as_probe_atomics, cell, fine);
    as_device_close(&cl);
    if (o.status == AS_UNSUPPORTED) {
        print_message("skipped: %s\n", o.err.text);
        skip();
    }
    if (!o.passed)
        fail_msg("%s: %s%s", cell, o.err.text, o.why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),  cmocka_unit_test(test_bounds_of_memory),
        cmocka_unit_test(test_both_at_once), cmocka_unit_test(test_rate_of_the_cpu),
        cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
