/* Probe loaded_latency: which cells apply, the reference of the load, trials on a toy CPU and on a toy device with and
 * without concurrent workgroups, planted faults; then the scripted device and this machine's devices. */
/* Work-items of this file; lib/chase's kernels have their own (chase_play.c). */
#define as_host_item loaded_item
#include "probes/contention/loaded_latency/loaded.h"
#include "tests/probes/chase_play.h"
#include "tests/probes/real_device.h"
#include "tests/probes/scripted.h"
#include "tests/unit_test.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct as_probe as_probe_loaded_latency;
static const struct as_probe *const probe = &as_probe_loaded_latency;

/* The kernel as the probe builds it, with one work-item per workgroup, so that shared memory is the thread's. */
#undef LOCAL
#define LOCAL static _Thread_local
#define GROUP_SIZE 1
#define PER_THREAD 1024
#undef HAVE_CYCLES
#define HAVE_CYCLES 0
#define HAVE_NANOS 1
#define NANOS() as_now_ns()
_Thread_local struct as_host_item as_host_item;
#include "lib/kernel_timer/record.kernel"
#include "probes/contention/loaded_latency/loaded_latency.kernel"

/* The same with two workgroups per unit and updates. */
static _Thread_local u32 unit_here;
#define UNIT() unit_here
#undef HAVE_UNIT
#define HAVE_UNIT 1
#undef IS_THERE
#undef CHASES
#undef LOADS
#undef LEAVES
#define UPDATE
#define control_word control_word_of_unit
#define think think_of_unit
#define loaded loaded_of_unit
#define fill fill_of_unit
#include "probes/contention/loaded_latency/loaded_latency.kernel"
#undef loaded
#undef fill
#undef think

/* ---- which cells ---- */

UNIT_TEST(test_which_cells)
{
    static const struct {
        const char *axes;
        enum as_applies cpu, device;
    } cases[] = {
        {"op=none delay=0 size=65536 threads=1 allocator=toy", AS_APPLIES, AS_PRUNED},
        {"op=none delay=0 size=65536 threads=0 allocator=toy", AS_PRUNED, AS_APPLIES},
        {"op=none delay=0 size=65536 threads=4 allocator=toy", AS_PRUNED, AS_PRUNED},
        {"op=none delay=64 size=65536 threads=1 allocator=toy", AS_PRUNED, AS_PRUNED},
        {"op=read delay=64 size=65536 threads=1 allocator=toy", AS_PRUNED, AS_PRUNED},
        {"op=read delay=64 size=65536 threads=4 allocator=toy", AS_APPLIES, AS_PRUNED},
        {"op=update delay=0 size=65536 threads=0 allocator=toy", AS_PRUNED, AS_APPLIES},
    };
    struct toy cpu, gpu;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&gpu, AS_CAP_SOURCE);
    gpu.dev.info.compute_units = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(toy_applies(&cpu, probe, cases[i].axes, &err), cases[i].cpu);
        assert_int_equal(toy_applies(&gpu, probe, cases[i].axes, &err), cases[i].device);
    }
    assert_int_equal(toy_applies(&cpu, probe, "op=read delay=0 size=65536 threads=1 allocator=toy", &err), AS_PRUNED);
    assert_string_equal(err.text, "op=read needs at least 2 threads: one chases, the others load");
    cpu.dev.info.threads = gpu.dev.info.compute_units = 1;
    assert_int_equal(toy_applies(&cpu, probe, "op=none delay=0 size=65536 threads=1 allocator=toy", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&cpu, probe, "op=read delay=0 size=65536 threads=1 allocator=toy", &err),
                     AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "bound to one"));
    assert_int_equal(toy_applies(&gpu, probe, cases[6].axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "has one"));
    gpu.dev.info.capabilities = 0;
    assert_int_equal(toy_applies(&gpu, probe, cases[6].axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "cannot compile"));
}

/* ---- the reference ---- */

/* Against loads made one after the other. */
UNIT_TEST(test_sums)
{
    struct toy t;
    toy_init(&t, AS_CAP_HOST_KERNELS);
    for (int i = 0; i < 4; i++) {
        const struct load_desc desc = {.allocator = "toy",
                                       .bytes = 15 * LOAD_BLOCK,
                                       .loaders = 3,
                                       .interleaved = i % 2,
                                       .update = i / 2,
                                       .seed = (uint64_t)i};
        struct load l;
        uint64_t visits[15] = {0}, sum = 0;
        assert_int_equal(as_load_prepare(&l, &t.dev, &desc, NULL), AS_OK);
        assert_int_equal(l.blocks, 5);
        assert_int_equal(as_load_bytes(&l), desc.bytes);
        for (uint64_t k = 0; k < 23; k++) {
            assert_true(as_load_sum(&l, 2, k) == sum);
            const uint64_t block = desc.interleaved ? 2 + k % 5 * 3 : 10 + k % 5;
            for (uint64_t j = 0; j < LOAD_WORDS; j++)
                sum += as_load_word(&l, block, j) + (desc.update ? visits[block] : 0);
            visits[block]++;
        }
        as_load_finish(&l);
    }
    assert_int_equal(t.live, 0);
}

/* ---- trials ---- */

/* A fault planted between two samples. */
enum plant { NOTHING, WRONG_WORD, WRONG_UPDATE, WRONG_CHASE };

static void plant(struct loaded *s, enum plant what)
{
    uint64_t *words = s->load.memory ? s->load.memory->host : NULL;
    if (what == WRONG_WORD)
        for (size_t l = 0; l < s->load.loaders; l++)
            words[l * s->load.lead * LOAD_WORDS] ^= 1;
    if (what == WRONG_CHASE)
        s->chase.steps_done++;
}

/* As if the last store of each loader had been lost. */
static void lose_updates(struct loaded *s)
{
    const uint64_t *progress = s->load.progress->host;
    uint64_t *words = s->load.memory->host;
    for (size_t l = 0; l < s->load.loaders; l++) {
        const uint64_t block = l * s->load.lead + (progress[2 * l] - 1) % s->load.blocks * s->load.step;
        words[block * LOAD_WORDS + 5]--;
    }
}

struct outcome {
    bool right;
    double gbs; /* NAN: unknown */
    char why[160];
};

static struct outcome trial(struct toy *t, const char *axes, enum plant what)
{
    struct toy_trial v;
    struct outcome out = {.gbs = NAN};
    toy_prepare(t, probe, axes, &v, NULL);
    for (int i = 0; i < 3; i++) {
        struct as_sample s = {.value = NAN};
        struct as_error err = {0};
        if (i == 1)
            plant(v.state, what);
        assert_int_equal(probe->sample(v.state, 20, &s, &err), AS_OK);
        assert_true(s.value > 0 && s.seconds > 0);
        out.gbs = s.further[0].value;
    }
    if (what == WRONG_UPDATE)
        lose_updates(v.state);
    out.right = probe->check(v.state, out.why, sizeof out.why);
    toy_finish(probe, &v);
    assert_int_equal(t->live, 0);
    return out;
}

UNIT_TEST(test_threads)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_true(trial(&t, "op=none delay=0 size=65536 threads=1 allocator=toy", NOTHING).gbs == 0);
    struct outcome read = trial(&t, "op=read delay=0 size=65536 threads=4 allocator=toy", NOTHING);
    assert_true(read.right && read.gbs > 0);
    struct outcome update = trial(&t, "op=update delay=3 size=65536 threads=3 allocator=toy", NOTHING);
    assert_true(update.right && update.gbs > 0);
    assert_string_equal(update.why, "every chase ended at the expected line, and the sums of the load are correct");
    t.deny_memory = true;
    assert_int_equal(toy_prepare(&t, probe, "op=read delay=0 size=65536 threads=4 allocator=toy", &v, &err), AS_NOMEM);
    toy_finish(probe, &v);
    t.deny_memory = false;
    t.free_bytes = 65536;
    assert_int_equal(toy_prepare(&t, probe, "op=read delay=0 size=65536 threads=4 allocator=toy", &v, &err),
                     AS_UNSUPPORTED);
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_faults_are_seen)
{
    static const struct {
        const char *axes;
        enum plant what;
        const char *why;
    } cases[] = {
        {"op=read delay=0 size=8192 threads=2 allocator=toy", WRONG_WORD, "differs from the reference"},
        {"op=update delay=0 size=8192 threads=3 allocator=toy", WRONG_WORD, "differs from the reference"},
        {"op=update delay=0 size=65536 threads=3 allocator=toy", WRONG_UPDATE, "was not updated"},
        {"op=read delay=0 size=65536 threads=3 allocator=toy", WRONG_CHASE, "unexpected line"},
        {"op=none delay=0 size=65536 threads=1 allocator=toy", WRONG_CHASE, "unexpected line"},
    };
    struct toy t;
    toy_init(&t, AS_CAP_HOST_KERNELS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome out = trial(&t, cases[i].axes, cases[i].what);
        assert_false(out.right);
        assert_non_null(strstr(out.why, cases[i].why));
    }
    t.forget = true;
    assert_false(trial(&t, "op=read delay=0 size=65536 threads=3 allocator=toy", NOTHING).right);
}

/* ---- a device ---- */

static struct toy *toy_now;
static bool has_units, one_by_one;

struct workgroup {
    pthread_t thread;
    void *const *args;
    u32 number, all;
};

static void *run_workgroup(void *arg)
{
    const struct workgroup *g = arg;
    void *const *a = g->args;
    u64 start, blocks;
    u32 before, turns, delay, unit, polls, most;
    as_host_item = (struct as_host_item){0, 1, g->number, g->all, NULL};
    unit_here = g->number / 2;
    memcpy(&start, a[5], sizeof start);
    memcpy(&before, a[6], sizeof before);
    memcpy(&turns, a[7], sizeof turns);
    memcpy(&blocks, a[8], sizeof blocks);
    memcpy(&delay, a[9], sizeof delay);
    memcpy(&unit, a[10], sizeof unit);
    memcpy(&polls, a[11], sizeof polls);
    memcpy(&most, a[12], sizeof most);
    (has_units ? loaded_of_unit : loaded)(a[0], a[1], a[2], a[3], a[4], start, before, turns, blocks, delay, unit,
                                          one_by_one ? 100 : 1 << 30, most);
    return NULL;
}

static void run_device(const char *name, void *const *args)
{
    enum { WORKGROUPS_MAX = 16 };
    struct workgroup groups[WORKGROUPS_MAX];
    const u32 n = (u32)toy_now->workgroups;
    u64 words, key;
    if (strcmp(name, "fill") == 0) {
        as_host_item = (struct as_host_item){.threads = 1, .workgroups = 1};
        memcpy(&words, args[2], sizeof words);
        memcpy(&key, args[3], sizeof key);
        fill(args[0], args[1], words, key);
        return;
    }
    if (strcmp(name, "loaded") != 0) {
        run_kernel(name, args);
        return;
    }
    assert_in_range(n, 2, WORKGROUPS_MAX);
    for (u32 i = 0; i < n; i++) {
        groups[i] = (struct workgroup){.args = args, .number = i, .all = n};
        if (one_by_one)
            run_workgroup(&groups[i]);
        else
            assert_int_equal(pthread_create(&groups[i].thread, NULL, run_workgroup, &groups[i]), 0);
    }
    for (u32 i = 0; i < n && !one_by_one; i++)
        pthread_join(groups[i].thread, NULL);
}

static void start_device(struct toy *t, unsigned units)
{
    toy_init(t, AS_CAP_SOURCE);
    t->kernel = run_device;
    t->dev.info.compute_units = units;
    t->dev.info.threads = 1;
    toy_now = t;
    has_units = one_by_one = false;
}

UNIT_TEST(test_workgroups)
{
    static const char axes[] = "op=read delay=2 size=1048576 threads=0 allocator=toy";
    struct toy t;
    start_device(&t, 2);
    assert_true(trial(&t, "op=none delay=0 size=65536 threads=0 allocator=toy", NOTHING).gbs == 0);
    struct outcome read = trial(&t, axes, NOTHING);
    assert_true(read.right && read.gbs > 0);
    assert_int_equal(t.workgroups, 8);
    struct outcome wrong = trial(&t, axes, WRONG_CHASE);
    assert_false(wrong.right);
    t.dev.info.is_host_cpu = true;
    assert_true(trial(&t, axes, NOTHING).right);
    assert_int_equal(t.workgroups, 2);
}

/* Workgroups on the chaser's unit leave; updates are right. */
UNIT_TEST(test_units)
{
    struct toy t;
    start_device(&t, 2);
    has_units = true;
    struct outcome out = trial(&t, "op=update delay=0 size=1048576 threads=0 allocator=toy", NOTHING);
    assert_true(out.right && out.gbs > 0);
    out = trial(&t, "op=update delay=0 size=1048576 threads=0 allocator=toy", WRONG_CHASE);
    assert_false(out.right);
}

/* It ends, and without a number. */
UNIT_TEST(test_workgroups_one_by_one)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample out = {.value = NAN};
    struct as_error err = {0};
    start_device(&t, 2);
    one_by_one = true;
    toy_prepare(&t, probe, "op=read delay=0 size=65536 threads=0 allocator=toy", &v, NULL);
    assert_int_equal(probe->sample(v.state, 20, &out, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "not co-resident"));
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
}

/* ---- the scripted device ---- */

#define SCRIPT(more)                                                                                                   \
    "{\"execute\":true,\"seed\":1,\"noise\":{\"sd\":0},\"info\":{\"threads\":4,\"allocators\":[{\"name\":\"own\"}]},"  \
    "\"levels\":[{\"size\":0,\"ns\":80,\"gbs\":10}]" more "}"

/* Reports the script's latency, and no bandwidth of real threads. */
UNIT_TEST(test_scripted)
{
    static const char *const cells[] = {"op=none delay=0 size=65536 threads=1 allocator=own",
                                        "op=read delay=0 size=65536 threads=4 allocator=own",
                                        "op=update delay=8 size=65536 threads=2 allocator=own"};
    struct scripted s;
    scripted_open(&s, SCRIPT(""));
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct toy_trial v;
        double value = NAN;
        char why[160] = "";
        scripted_trial(&s, probe, cells[i], 3, &v, &value);
        assert_true(fabs(value / 80 - 1) < 1e-9);
        assert_true(v.tc.footprint >= 65536);
        assert_true(probe->check(v.state, why, sizeof why));
        struct as_sample sample = {.value = NAN};
        struct as_error err = {0};
        assert_int_equal(probe->sample(v.state, 1, &sample, &err), AS_OK);
        assert_int_equal(isfinite(sample.further[0].value), i == 0);
        toy_finish(probe, &v);
    }
    scripted_close(&s);
}

UNIT_TEST(test_scripted_faults)
{
    struct scripted s;
    double value;
    char why[160] = "";
    scripted_open(&s, SCRIPT(",\"faults\":[{\"do\":\"wrong\",\"kernel\":\"loaded\",\"launch\":2}]"));
    assert_false(
        scripted_check(&s, probe, "op=read delay=0 size=65536 threads=2 allocator=own", 3, &value, why, sizeof why));
    assert_non_null(strstr(why, "unexpected line"));
    scripted_close(&s);
}

/* ---- this machine ---- */

UNIT_TEST(test_cpu)
{
    static const char *const cells[] = {"op=none delay=0 size=1048576 threads=1 allocator=malloc",
                                        "op=read delay=0 size=1048576 threads=2 allocator=malloc",
                                        "op=update delay=100 size=16777216 threads=2 allocator=mmap"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct real out;
        if (!real_trial(probe, "cpu", cells[i], 3, 100, &out))
            continue;
        assert_true(out.sample.value > 0 && out.sample.seconds > 0);
        assert_true(isfinite(out.sample.further[0].value));
    }
    real_or_skip();
}

UNIT_TEST(test_opencl)
{
    static const char *const cells[] = {"op=none delay=0 size=1048576 threads=0 allocator=clCreateBuffer",
                                        "op=read delay=0 size=1048576 threads=0 allocator=clCreateBuffer",
                                        "op=update delay=100 size=4194304 threads=0 allocator=clCreateBuffer"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct real out;
        if (real_trial(probe, "opencl:0", cells[i], 2, 1000, &out))
            assert_true(out.sample.value > 0 && out.sample.seconds > 0);
    }
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_faults_are_seen),
        cmocka_unit_test(test_workgroups),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_workgroups_one_by_one),
        cmocka_unit_test(test_scripted),
        cmocka_unit_test(test_scripted_faults),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
