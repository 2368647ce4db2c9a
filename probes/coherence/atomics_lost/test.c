/* Probe atomics_lost: which cells apply, both agents draw the same numbers, correct atomics lose nothing, races and
 * planted faults are detected. The device is a toy that runs the kernel as host C, the CPU is the real one; also on
 * OpenCL where available. */
#include "tests/probes/atomics_trial.h"
#include "tests/unit_test.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#define LOST_ALONE                                                                                                     \
    "agent=device elements=1024 type=u64 cpu_threads=0 device_threads=128 scope=system order=relaxed allocator=toy "   \
    "op=add"
#define LOST_BOTH                                                                                                      \
    "agent=device elements=64 type=u64 cpu_threads=1 device_threads=1 scope=system order=relaxed allocator=toy op=add"

UNIT_TEST(test_which_cells)
{
    struct toy gpu;
    const struct as_probe *lost = &as_probe_atomics_lost;
    atomics_toy(&gpu, 64);
    as_copy_text(gpu.dev.info.allocators[0].no_sharing, 160, "the link has no atomics");
    atomics_expect(&gpu, lost, LOST_BOTH, AS_APPLIES, NULL); /* both reach it, so updates may be lost */
    gpu.dev.info.allocators[0].coherent = false;
    atomics_expect(&gpu, lost, LOST_BOTH, AS_INAPPLICABLE, "the link has no atomics");
    atomics_expect(&gpu, lost, LOST_ALONE, AS_APPLIES, NULL);
}

UNIT_TEST(test_nothing_is_lost_alone)
{
    struct toy t;
    struct atomics_one o;
    atomics_toy(&t, 128);
    atomics_trial(&o, &t.dev, &as_probe_atomics_lost, LOST_ALONE);
    assert_int_equal(o.status, AS_OK);
    assert_true(o.sample.value == 0);
    if (!o.passed)
        fail_msg("%s", o.why);
    assert_non_null(strstr(o.why, "none in an element that was not drawn"));
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_planted_faults_are_seen)
{
    struct toy t;
    struct atomics_one o;
    atomics_toy(&t, 128);
    atomics_planted.next_element = true;
    atomics_trial(&o, &t.dev, &as_probe_atomics_lost, LOST_ALONE);
    assert_false(o.passed);
    atomics_toy(&t, 128);
    atomics_planted.lazy = true;
    atomics_trial(&o, &t.dev, &as_probe_atomics_lost, LOST_ALONE);
    assert_false(o.passed);
    atomics_toy(&t, 128);
    atomics_planted.unable = true;
    atomics_trial(&o, &t.dev, &as_probe_atomics_lost, LOST_ALONE);
    assert_int_equal(o.status, AS_UNSUPPORTED);
    assert_non_null(strstr(o.err.text, "no addition of this type"));
    assert_int_equal(t.live, 0);
}

/* Updates that were counted as made but are missing in memory are lost; they do not fail a check. */
UNIT_TEST(test_lost_updates_are_counted)
{
    struct toy t;
    struct atomics_one o;
    atomics_toy(&t, 64);
    atomics_planted.idle = true;
    atomics_trial(&o, &t.dev, &as_probe_atomics_lost,
                  "agent=device elements=1 type=u64 cpu_threads=0 device_threads=64 scope=system order=relaxed "
                  "allocator=toy op=add");
    assert_int_equal(o.status, AS_OK);
    assert_true(o.sample.value > 0 && fmod(o.sample.value, 1) == 0); /* the share of one of 64 threads */
    assert_string_equal(o.sample.further[0].name, "lost_share");
    assert_true(fabs(o.sample.further[0].value - 100 / 64.0) < 1e-9);
    if (!o.passed)
        fail_msg("%s", o.why);
}

UNIT_TEST(test_a_device_that_does_not_start)
{
    struct toy t;
    struct atomics_one o;
    const struct as_probe *probe = &as_probe_atomics_lost;
    atomics_toy(&t, 1);
    atomics_begin(&o, &t.dev, LOST_BOTH);
    assert_int_equal(as_probe_prepare(probe, &o.trial.tc, &o.trial.state, &o.err), AS_OK);
    t.lose_launches = 1;
    assert_int_equal(probe->sample(o.trial.state, 1, &o.sample, &o.err), AS_UNSUPPORTED);
    assert_non_null(strstr(o.err.text, "does not start"));
    toy_finish(probe, &o.trial);
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_both_at_once)
{
    struct toy t;
    struct atomics_one o;
    atomics_toy(&t, 1);
    atomics_trial(&o, &t.dev, &as_probe_atomics_lost, LOST_BOTH);
    if (o.status || !o.passed)
        fail_msg("%s%s", o.err.text, o.why);
    assert_true(o.sample.value == 0);
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_cpu_loses_none)
{
    static const char *const types[] = {"u32", "u64", "f32", "f64"};
    struct as_opened cpu;
    struct atomics_one o;
    char axes[200];
    atomics_open_or_skip("cpu", &cpu);
    for (size_t i = 0; i < 8; i++) {
        snprintf(axes, sizeof axes,
                 "agent=cpu elements=%d type=%s cpu_threads=%d device_threads=0 scope=system order=%s "
                 "allocator=malloc op=add",
                 i % 2 ? 1 : 1000, types[i / 2], get_nprocs() > 1 ? 2 : 1, i % 2 ? "seq_cst" : "relaxed");
        atomics_trial(&o, &cpu.device, &as_probe_atomics_lost, axes);
        if (o.status || !o.passed)
            fail_msg("%s: %s%s", axes, o.err.text, o.why);
        assert_true(o.sample.value == 0);
    }
    as_device_close(&cpu);
}

enum { LOSES_WITHIN_S = 200 };

/* Two threads that load, add and store lose updates sooner or later. The test waits for a loss; the time limit only
 * keeps a probe that cannot detect one from running forever. */
UNIT_TEST(test_races_are_seen)
{
    const struct as_probe *probe = &as_probe_atomics_lost;
    struct as_opened cpu;
    struct atomics_one o;
    double lost = 0;
    if (get_nprocs() < 2) {
        print_message("skipped: a race needs two CPUs\n");
        skip();
    }
    atomics_open_or_skip("cpu", &cpu);
    atomics_begin(
        &o, &cpu.device,
        "agent=cpu elements=1 type=u64 cpu_threads=2 device_threads=0 scope=system order=relaxed allocator=malloc "
        "op=plain");
    assert_int_equal(as_probe_prepare(probe, &o.trial.tc, &o.trial.state, &o.err), AS_OK);
    for (double end = as_now() + LOSES_WITHIN_S; lost == 0 && as_now() < end;) {
        assert_int_equal(probe->sample(o.trial.state, 1, &o.sample, &o.err), AS_OK);
        lost = o.sample.value;
    }
    assert_true(lost > 0);
    if (!probe->check(o.trial.state, o.why, sizeof o.why)) /* lost updates are the result, not a failure */
        fail_msg("%s", o.why);
    toy_finish(probe, &o.trial);
    as_device_close(&cpu);
}

UNIT_TEST(test_opencl)
{
    static const char *const cells[] = {
        "agent=device elements=1024 type=u32 cpu_threads=0 device_threads=128 scope=device order=relaxed op=add",
        "agent=device elements=1024 type=u64 cpu_threads=0 device_threads=128 scope=device order=seq_cst op=add",
        "agent=device elements=1 type=f32 cpu_threads=1 device_threads=64 scope=device order=relaxed op=add",
        "agent=device elements=1024 type=f64 cpu_threads=1 device_threads=64 scope=device order=relaxed op=add"};
    struct as_opened cl;
    struct atomics_one o;
    const char *fine = atomics_open_shared_or_skip(&cl);
    size_t measured = 0;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        atomics_trial_in(&o, &cl.device, &as_probe_atomics_lost, cells[i], fine);
        if (o.status != AS_UNSUPPORTED && !o.passed)
            fail_msg("%s: %s%s", cells[i], o.err.text, o.why);
        assert_true(o.status || o.sample.value == 0);
        measured += !o.status;
    }
    as_device_close(&cl);
    assert_true(measured > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_nothing_is_lost_alone),
        cmocka_unit_test(test_planted_faults_are_seen),
        cmocka_unit_test(test_lost_updates_are_counted),
        cmocka_unit_test(test_a_device_that_does_not_start),
        cmocka_unit_test(test_both_at_once),
        cmocka_unit_test(test_cpu_loses_none),
        cmocka_unit_test(test_races_are_seen),
        cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
