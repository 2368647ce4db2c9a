/* Probes atomics and atomics_lost: which cells, that the generator is the same on both sides, that nothing is lost
 * where nothing may be, that races and planted faults are seen. The device is a toy that runs the kernel as host C, the
 * CPU is the real one; OpenCL where there is one. */
#include "lib/atomics/atomics.h"
#include "base/text.h"
#include "device/dialect/host_prelude.h"
#include "scripted_clock.h"
#include "toy_device.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include <cmocka.h>

#define VALUE u64
#define ELEMENT atomic_u64
#define ADD ATOMIC_ADD_U64
#define HAS_ADD HAVE_ATOMIC_ADD_U64
#define ORDER ORDER_RELAXED
#define SCOPE SCOPE_SYSTEM
#define PLAIN 0
#define NEEDS_ORDER 1
#define NEEDS_SEQ_CST 0
#define NEEDS_SYSTEM 1
#define CONTROL_WORDS 16
#define CONTROL_SCOPE SCOPE_SYSTEM
_Thread_local struct as_host_item as_host_item;
#include "lib/atomics/atomics.kernel"

extern const struct as_probe as_probe_atomics, as_probe_atomics_lost;

/* ---- a device whose kernels are host C, one thread after the other ---- */

static struct faults {
    bool unable;       /* has no addition of the type */
    bool next_element; /* writes the element behind the one it drew */
    bool idle;         /* says that it did what it did not */
    bool lazy;         /* does not say all that it did */
    size_t threads;
} planted;

static void run_histogram(void *const *a)
{
    const uint64_t *first = a[2], *elements = a[3], *seed = a[4];
    const uint32_t *batch = a[5], *batches = a[6];
    const uint32_t group = planted.threads < 64 ? (uint32_t)planted.threads : 64;
    for (uint32_t g = 0; g < planted.threads / group; g++)
        for (uint32_t t = 0; t < group; t++) {
            as_host_item = (struct as_host_item){t, group, g, (uint32_t)planted.threads / group, NULL};
            if (planted.idle && t == 1)
                continue;
            histogram(a[0], a[1], *first + planted.next_element, *elements, *seed, *batch, *batches - planted.lazy);
        }
}

static void run_kernel(const char *name, void *const *args)
{
    as_host_item = (struct as_host_item){0, 1, 0, 1, NULL};
    if (strcmp(name, "histogram") == 0) {
        run_histogram(args);
        return;
    }
    assert_string_equal(name, "able");
    able(args[0]);
    if (planted.unable)
        memset(args[0], 0, sizeof(uint32_t));
}

static void device_init(struct toy *t, size_t threads)
{
    planted = (struct faults){.threads = threads};
    toy_init(t, AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_FP64);
    t->kernel = run_kernel;
    t->dev.info.compute_units = 4;
    t->dev.info.allocators[0].host_access = true;
}

/* One trial with one sample. */
struct one {
    struct toy_trial trial;
    struct as_sample sample;
    enum as_status status;
    bool passed;
    char why[160];
    struct as_error err;
};

static void begin(struct one *o, struct as_device *dev, const char *axes)
{
    *o = (struct one){0};
    toy_axes(&o->trial.axes, axes);
    o->trial.vc = (struct as_trial_context){.dev = dev,
                                            .axes = &o->trial.axes,
                                            .seed = 11,
                                            .deadline = as_now() + 1,
                                            .limit = NAN,
                                            .min_reps = 1,
                                            .max_reps = UINT64_C(1) << 40};
}

/* The sides whose rate is being taken. A rate is taken over a sleep: on a loaded machine a side may not get to run in
 * it, so the sleep lasts until each has. */
static const struct atomics *sampled;
static void sleep_until_all_ran(double seconds)
{
    const struct atomics *s = seconds < 1e-3 ? NULL : sampled;
    const uint64_t cpu = s && s->cpu ? atomics_cpu_count(s->cpu) : 0;
    const uint64_t device = s && s->device ? atomics_device_count(s->device) : 0;
    while (s &&
           ((s->cpu && atomics_cpu_count(s->cpu) == cpu) || (s->device && atomics_device_count(s->device) == device)))
        sched_yield();
}

/* allocator: for names with a space, which the text of axes cannot hold; NULL: it is in the axes */
static void trial_in(struct one *o, struct as_device *dev, const struct as_probe *probe, const char *axes,
                     const char *allocator)
{
    begin(o, dev, axes);
    if (allocator)
        assert_int_equal(as_axes_add(&o->trial.axes, "allocator", allocator, NULL), AS_OK);
    o->status = probe->prepare(&o->trial.vc, &o->trial.state, &o->err);
    sampled = probe == &as_probe_atomics ? o->trial.state : NULL; /* its state begins with them */
    clock_on_sleep = sleep_until_all_ran;
    if (!o->status)
        o->status = probe->sample(o->trial.state, 1, &o->sample, &o->err);
    sampled = NULL;
    if (!o->status)
        o->passed = probe->check(o->trial.state, o->why, sizeof o->why);
    toy_finish(probe, &o->trial);
}

static void trial_once(struct one *o, struct as_device *dev, const struct as_probe *probe, const char *axes)
{
    trial_in(o, dev, probe, axes, NULL);
}

#define LOST_ALONE                                                                                                     \
    "agent=device elements=1024 type=u64 cpu_threads=0 device_threads=128 scope=system order=relaxed allocator=toy "   \
    "op=add"
#define LOST_BOTH                                                                                                      \
    "agent=device elements=64 type=u64 cpu_threads=1 device_threads=1 scope=system order=relaxed allocator=toy op=add"

/* ---- which cells ---- */

static void expect(const struct toy *t, const struct as_probe *probe, const char *axes, enum as_applies want,
                   const char *why)
{
    struct as_error err = {0};
    if (toy_applies(t, probe, axes, &err) != want)
        fail_msg("%s %s: %s", probe->name, axes, err.text);
    if (why && !strstr(err.text, why))
        fail_msg("%s %s says '%s', not '%s'", probe->name, axes, err.text, why);
}

#define CELL(agent, cpu, device, scope, allocator)                                                                     \
    "agent=" agent " elements=1024 type=u64 cpu_threads=" cpu " device_threads=" device " scope=" scope                \
    " order=relaxed allocator=" allocator

static void test_which_cells(void **unused)
{
    struct toy gpu, cpu;
    const struct as_probe *rate = &as_probe_atomics, *lost = &as_probe_atomics_lost;
    (void)unused;
    device_init(&gpu, 64);
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    expect(&gpu, rate, CELL("device", "0", "64", "device", "toy"), AS_APPLIES, NULL);
    expect(&gpu, rate, CELL("cpu", "1", "64", "device", "toy"), AS_APPLIES, NULL);
    expect(&gpu, rate, CELL("cpu", "1", "0", "system", "toy"), AS_APPLIES, NULL);
    expect(&gpu, rate, CELL("cpu", "1", "0", "device", "toy"), AS_PRUNED, NULL);
    expect(&gpu, rate, CELL("cpu", "0", "64", "device", "toy"), AS_PRUNED, NULL);
    expect(&gpu, rate, CELL("device", "0", "65", "device", "toy"), AS_PRUNED, NULL);
    expect(&gpu, rate, CELL("cpu", "4096", "0", "system", "toy"), AS_PRUNED, NULL);
    expect(&cpu, rate, CELL("cpu", "1", "0", "system", "toy"), AS_APPLIES, NULL);
    expect(&cpu, rate, CELL("cpu", "1", "64", "system", "toy"), AS_PRUNED, NULL);
    expect(&gpu, rate, CELL("cpu", "1", "0", "system", "upfront"), AS_INAPPLICABLE, "only by copies");
    as_copy_text(gpu.dev.info.allocators[0].no_sharing, 160, "the link has no atomics");
    expect(&gpu, rate, CELL("cpu", "1", "64", "system", "toy"), AS_INAPPLICABLE, "'toy': the link has no atomics");
    expect(&gpu, lost, LOST_BOTH, AS_APPLIES, NULL); /* both reach it: that is where updates may be lost */
    gpu.dev.info.allocators[0].coherent = false;
    expect(&gpu, lost, LOST_BOTH, AS_INAPPLICABLE, "the link has no atomics");
    expect(&gpu, rate, CELL("device", "0", "64", "system", "toy"), AS_INAPPLICABLE, "do not see each other's stores");
    expect(&gpu, lost, LOST_ALONE, AS_APPLIES, NULL);
}

static void test_bounds_of_memory(void **unused)
{
    static const char large[] = "agent=device elements=268435456 type=u64 cpu_threads=0 device_threads=64 scope=device "
                                "order=relaxed allocator=toy";
    struct toy t;
    (void)unused;
    device_init(&t, 64);
    expect(&t, &as_probe_atomics, large, AS_INAPPLICABLE, "half of the free 1024 MiB");
    t.dev.info.memory_free = UINT64_C(64) << 30;
    expect(&t, &as_probe_atomics, large, AS_APPLIES, NULL);
    t.dev.info.allocators[0].most = UINT64_C(2) << 30; /* there are guards besides */
    expect(&t, &as_probe_atomics, large, AS_INAPPLICABLE, "'toy' gives at most 2048 MiB");
    t.dev.info.allocators[0].most += 2 * ATOMICS_GUARD;
    expect(&t, &as_probe_atomics, large, AS_APPLIES, NULL);
}

/* ---- the count ---- */

static void test_nothing_is_lost_alone(void **unused)
{
    struct toy t;
    struct one o;
    (void)unused;
    device_init(&t, 128);
    trial_once(&o, &t.dev, &as_probe_atomics_lost, LOST_ALONE);
    assert_int_equal(o.status, AS_OK);
    assert_true(o.sample.value == 0);
    if (!o.passed)
        fail_msg("%s", o.why);
    assert_non_null(strstr(o.why, "none in an element that was not drawn"));
    assert_int_equal(t.live, 0);
}

static void test_planted_faults_are_seen(void **unused)
{
    struct toy t;
    struct one o;
    (void)unused;
    device_init(&t, 128);
    planted.next_element = true;
    trial_once(&o, &t.dev, &as_probe_atomics_lost, LOST_ALONE);
    assert_false(o.passed);
    device_init(&t, 128);
    planted.lazy = true;
    trial_once(&o, &t.dev, &as_probe_atomics_lost, LOST_ALONE);
    assert_false(o.passed);
    device_init(&t, 128);
    planted.unable = true;
    trial_once(&o, &t.dev, &as_probe_atomics_lost, LOST_ALONE);
    assert_int_equal(o.status, AS_UNSUPPORTED);
    assert_non_null(strstr(o.err.text, "no addition of this type"));
    assert_int_equal(t.live, 0);
}

/* Updates that are said to be made and are not there are lost, which fails no check. */
static void test_lost_updates_are_counted(void **unused)
{
    struct toy t;
    struct one o;
    (void)unused;
    device_init(&t, 64);
    planted.idle = true;
    trial_once(&o, &t.dev, &as_probe_atomics_lost,
               "agent=device elements=1 type=u64 cpu_threads=0 device_threads=64 scope=system order=relaxed "
               "allocator=toy op=add");
    assert_int_equal(o.status, AS_OK);
    assert_true(o.sample.value > 0 && fmod(o.sample.value, 1) == 0); /* what one of 64 threads did not */
    if (!o.passed)
        fail_msg("%s", o.why);
}

static void test_a_device_that_does_not_start(void **unused)
{
    struct toy t;
    struct one o;
    const struct as_probe *probe = &as_probe_atomics_lost;
    (void)unused;
    device_init(&t, 1);
    begin(&o, &t.dev, LOST_BOTH);
    assert_int_equal(probe->prepare(&o.trial.vc, &o.trial.state, &o.err), AS_OK);
    t.lose_launches = 1;
    assert_int_equal(probe->sample(o.trial.state, 1, &o.sample, &o.err), AS_UNSUPPORTED);
    assert_non_null(strstr(o.err.text, "does not start"));
    toy_finish(probe, &o.trial);
    assert_int_equal(t.live, 0);
}

static void test_both_at_once(void **unused)
{
    struct toy t;
    struct one o;
    (void)unused;
    device_init(&t, 1);
    trial_once(&o, &t.dev, &as_probe_atomics_lost, LOST_BOTH);
    if (o.status || !o.passed)
        fail_msg("%s%s", o.err.text, o.why);
    assert_true(o.sample.value == 0);
    for (int cpu = 0; cpu < 2; cpu++) {
        trial_once(&o, &t.dev, &as_probe_atomics,
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

/* ---- real devices ---- */

static void open_or_skip(const char *id, struct as_opened *dev)
{
    struct as_error err = {0};
    if (as_device_open(id, dev, &err) == AS_OK)
        return;
    print_message("skipped: %s\n", err.text);
    skip();
}

static void test_cpu_loses_none(void **unused)
{
    static const char *const types[] = {"u32", "u64", "f32", "f64"};
    struct as_opened cpu;
    struct one o;
    char axes[200];
    (void)unused;
    open_or_skip("cpu", &cpu);
    for (size_t i = 0; i < 8; i++) {
        snprintf(axes, sizeof axes,
                 "agent=cpu elements=%d type=%s cpu_threads=%d device_threads=0 scope=system order=%s "
                 "allocator=malloc op=add",
                 i % 2 ? 1 : 1000, types[i / 2], get_nprocs() > 1 ? 2 : 1, i % 2 ? "seq_cst" : "relaxed");
        trial_once(&o, &cpu.device, &as_probe_atomics_lost, axes);
        if (o.status || !o.passed)
            fail_msg("%s: %s%s", axes, o.err.text, o.why);
        assert_true(o.sample.value == 0);
    }
    as_device_close(&cpu);
}

enum { LOSES_WITHIN_S = 200 };

/* Two threads that load, add and store lose updates sooner or later, on a loaded host later: what is waited for is the
 * loss, and the time is only there so that a probe that is blind to it does not wait for ever. */
static void test_races_are_seen(void **unused)
{
    const struct as_probe *probe = &as_probe_atomics_lost;
    struct as_opened cpu;
    struct one o;
    double lost = 0;
    (void)unused;
    if (get_nprocs() < 2) {
        print_message("skipped: a race needs two CPUs\n");
        skip();
    }
    open_or_skip("cpu", &cpu);
    begin(&o, &cpu.device,
          "agent=cpu elements=1 type=u64 cpu_threads=2 device_threads=0 scope=system order=relaxed allocator=malloc "
          "op=plain");
    assert_int_equal(probe->prepare(&o.trial.vc, &o.trial.state, &o.err), AS_OK);
    for (double end = as_now() + LOSES_WITHIN_S; lost == 0 && as_now() < end;) {
        assert_int_equal(probe->sample(o.trial.state, 1, &o.sample, &o.err), AS_OK);
        lost = o.sample.value;
    }
    assert_true(lost > 0);
    if (!probe->check(o.trial.state, o.why, sizeof o.why)) /* that is what it is there to find */
        fail_msg("%s", o.why);
    toy_finish(probe, &o.trial);
    as_device_close(&cpu);
}

static void test_rate_of_the_cpu(void **unused)
{
    struct as_opened cpu;
    struct one o;
    (void)unused;
    open_or_skip("cpu", &cpu);
    trial_once(&o, &cpu.device, &as_probe_atomics,
               "agent=cpu elements=1024 type=u32 cpu_threads=1 device_threads=0 scope=system order=relaxed "
               "allocator=malloc");
    if (o.status || !o.passed)
        fail_msg("%s%s", o.err.text, o.why);
    const double updates = o.sample.value * o.sample.seconds;
    assert_true(updates > 0.5 && fabs(updates - round(updates)) < 1e-6 * updates); /* a whole number, in a second */
    assert_true(o.sample.value < 1e11);                                            /* no core is as fast */
    as_device_close(&cpu);
}

static void test_opencl(void **unused)
{
    static const char *const cells[] = {
        "agent=device elements=1024 type=u32 cpu_threads=0 device_threads=128 scope=device order=relaxed op=add",
        "agent=device elements=1024 type=u64 cpu_threads=0 device_threads=128 scope=device order=seq_cst op=add",
        "agent=device elements=1 type=f32 cpu_threads=1 device_threads=64 scope=device order=relaxed op=add",
        "agent=device elements=1024 type=f64 cpu_threads=1 device_threads=64 scope=device order=relaxed op=add",
        "agent=cpu elements=1024 type=u64 cpu_threads=1 device_threads=64 scope=device order=relaxed"};
    struct as_opened cl;
    struct one o;
    (void)unused;
    open_or_skip("opencl", &cl);
    const struct as_allocator *fine = as_info_allocator(&cl.device.info, "clSVMAlloc fine");
    bool shared = fine && !fine->why_not[0] && !fine->no_sharing[0];
    if (!shared) {
        as_device_close(&cl);
        print_message("skipped: no memory in which atomics of the CPU and of this device meet\n");
        skip();
    }
    size_t measured = 0;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const struct as_probe *probe = strstr(cells[i], "op=") ? &as_probe_atomics_lost : &as_probe_atomics;
        trial_in(&o, &cl.device, probe, cells[i], fine->name);
        if (o.status != AS_UNSUPPORTED && !o.passed)
            fail_msg("%s: %s%s", cells[i], o.err.text, o.why);
        if (!o.status && probe == &as_probe_atomics_lost)
            assert_true(o.sample.value == 0);
        measured += !o.status;
    }
    as_device_close(&cl);
    assert_true(measured > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_bounds_of_memory),
        cmocka_unit_test(test_nothing_is_lost_alone),
        cmocka_unit_test(test_planted_faults_are_seen),
        cmocka_unit_test(test_lost_updates_are_counted),
        cmocka_unit_test(test_a_device_that_does_not_start),
        cmocka_unit_test(test_both_at_once),
        cmocka_unit_test(test_cpu_loses_none),
        cmocka_unit_test(test_races_are_seen),
        cmocka_unit_test(test_rate_of_the_cpu),
        cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
