/* interference: pairs of simulated sides with a known answer, threads that stop or are refused a priority, and trials
 * on a toy CPU and a toy device. */
#include "crew.h"
#include "host.h"
#include "pair.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct as_probe as_probe_interference;
static const struct as_probe *const probe = &as_probe_interference;

static int need_two_cpus(void)
{
    return sysconf(_SC_NPROCESSORS_ONLN) >= 2;
}

/* ---- pairs ---- */

/* A machine with simulated time. The aggressor makes the victim `factor` times slower. */
struct machine {
    double now, from, factor, items;
    bool running, dies, never_stops, late;
};

static enum as_status victim_work(void *self, struct as_error *err)
{
    struct machine *m = self;
    const double seconds = m->running ? m->factor : 1;
    (void)err;
    m->from = m->now;
    m->now += seconds;
    if ((m->running && !m->dies) || m->never_stops)
        m->items += 10 * seconds;
    return AS_OK;
}

static bool victim_ended(void *self)
{
    (void)self;
    return true;
}

static void victim_wait(void *self, struct span *out)
{
    const struct machine *m = self;
    *out = (struct span){.from = m->from, .to = m->now, .seconds = m->running ? m->factor : 1, .items = 100};
}

static enum as_status aggressor_start(void *self, struct as_error *err)
{
    (void)err;
    ((struct machine *)self)->running = true;
    return AS_OK;
}

static enum as_status aggressor_progress(void *self, struct as_error *err)
{
    return ((struct machine *)self)->dies ? as_fail(err, AS_FAILED, "thread 1 stopped") : AS_OK;
}

static struct reading aggressor_read(void *self)
{
    struct machine *m = self;
    return (struct reading){.at = m->late ? m->now + 1 : m->now, .items = m->items};
}

static void aggressor_stop(void *self)
{
    struct machine *m = self;
    m->running = m->never_stops;
}

static enum as_status aggressor_step(void *self, struct as_error *err)
{
    struct machine *m = self;
    (void)err;
    m->now += 1;
    m->items += 10;
    return AS_OK;
}
static const struct side_ops victim_ops = {.work = victim_work, .ended = victim_ended, .wait = victim_wait};
static const struct side_ops threads_ops = {
    .start = aggressor_start, .progress = aggressor_progress, .stop = aggressor_stop, .read = aggressor_read};
static const struct side_ops driven_ops = {
    .start = aggressor_start, .step = aggressor_step, .stop = aggressor_stop, .read = aggressor_read};

static struct pair make_pair(struct machine *m, const struct side_ops *aggressor)
{
    return (struct pair){.victim = {&victim_ops, m}, .aggressor = {aggressor, m}};
}

static enum as_status loaded_arm(struct pair *p, struct as_error *err)
{
    double unused;
    return as_pair_start(p, 7, err) ? AS_FAILED : as_pair_block(p, &unused, &unused, err);
}

UNIT_TEST(test_planted_factor)
{
    static const double factors[] = {1, 1.4, 3};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        struct machine m = {.factor = factors[i]};
        struct pair p = make_pair(&m, &driven_ops);
        double slowdown, seconds;
        struct as_error err = {0};
        p.control = false;
        assert_int_equal(as_pair_start(&p, 7, &err), AS_OK);
        for (int b = 0; b < 6; b++) {
            assert_int_equal(as_pair_block(&p, &slowdown, &seconds, &err), AS_OK);
            assert_true(fabs(slowdown - factors[i]) < 1e-12);
            assert_true(fabs(seconds - 1 - factors[i]) < 1e-12);
        }
        assert_true(fabs(as_pair_mean(&p, PAIR_ALONE) - 0.01) < 1e-12);
        assert_true(fabs(as_pair_mean(&p, PAIR_LOADED) - 0.01 * factors[i]) < 1e-12);
        assert_true(fabs(as_pair_mean(&p, PAIR_AGGRESSOR) - 10) < 1e-9);
        assert_true(fabs(as_pair_loaded_rate(&p) - 10) < 1e-9);
    }
}

UNIT_TEST(test_control)
{
    struct machine m = {.factor = 3};
    struct pair p = make_pair(&m, &driven_ops);
    double slowdown, seconds;
    struct as_error err = {0};
    p.control = true;
    assert_int_equal(as_pair_start(&p, 7, &err), AS_OK);
    assert_int_equal(as_pair_block(&p, &slowdown, &seconds, &err), AS_OK);
    assert_true(slowdown == 1 && p.blocks.n == 2 && m.items == 0);
}

UNIT_TEST(test_faults_of_the_aggressor)
{
    struct as_error err = {0};
    struct machine m = {.factor = 2, .dies = true};
    struct pair p = make_pair(&m, &threads_ops);
    assert_int_equal(loaded_arm(&p, &err), AS_FAILED); /* stopped early */
    assert_non_null(strstr(err.text, "thread 1 stopped"));
    assert_false(m.running);

    m = (struct machine){.factor = 2, .never_stops = true};
    p = make_pair(&m, &threads_ops);
    assert_int_equal(loaded_arm(&p, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "worked while the victim ran alone"));

    m = (struct machine){.factor = 2, .late = true};
    p = make_pair(&m, &driven_ops);
    assert_int_equal(loaded_arm(&p, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "all of the victim's time"));
}

/* ---- threads ---- */

struct counted {
    _Atomic uint64_t pieces;
    uint64_t most; /* a thread that has done this many pieces waits for `on` */
    _Atomic bool on;
};

static uint64_t count_piece(void *user, unsigned thread)
{
    struct counted *c = user;
    (void)thread;
    while (atomic_load(&c->pieces) >= c->most && !atomic_load(&c->on))
        as_sleep(1e-4);
    atomic_fetch_add(&c->pieces, 1);
    return 3;
}

static int refuse(void)
{
    return EPERM;
}

static struct crew_desc describe_crew(struct counted *c, const struct priority *priority)
{
    static const int cpus[] = {0, 0};
    return (struct crew_desc){.threads = 1,
                              .cpus = cpus,
                              .priority = priority,
                              .load = 100,
                              .piece = count_piece,
                              .user = c,
                              .patience_s = 0.05};
}

UNIT_TEST(test_threads)
{
    struct counted c = {.most = UINT64_MAX};
    const struct crew_desc desc = describe_crew(&c, as_interference_priority("normal"));
    struct crew *crew;
    struct as_error err = {0};
    double from, to;
    assert_int_equal(as_crew_create(&desc, &crew, &err), AS_OK);
    assert_true(as_crew_ended(crew) && as_crew_work(crew) == 0);
    as_crew_begin(crew, 5);
    as_crew_wait(crew, &from, &to);
    assert_true(as_crew_work(crew) == 15 && to >= from);
    as_crew_begin(crew, 0);
    assert_int_equal(as_crew_progress(crew, &err), AS_OK);
    as_crew_stop(crew);
    const uint64_t work = as_crew_work(crew);
    assert_true(work > 15 && as_crew_ended(crew));
    as_sleep(1e-3);
    assert_true(as_crew_work(crew) == work);
    as_crew_destroy(crew);
}

UNIT_TEST(test_a_thread_that_stops)
{
    struct counted c = {.most = 3};
    const struct crew_desc desc = describe_crew(&c, as_interference_priority("normal"));
    struct crew *crew;
    struct as_error err = {0};
    enum as_status st = AS_OK;
    assert_int_equal(as_crew_create(&desc, &crew, &err), AS_OK);
    as_crew_begin(crew, 0);
    for (int i = 0; i < 5 && !st; i++)
        st = as_crew_progress(crew, &err);
    assert_int_equal(st, AS_FAILED);
    assert_non_null(strstr(err.text, "no progress"));
    atomic_store(&c.on, true);
    as_crew_destroy(crew);
}

UNIT_TEST(test_a_priority_that_is_refused)
{
    static const struct priority refused = {"sched_idle", "SCHED_IDLE", refuse};
    struct counted c = {.most = UINT64_MAX};
    const struct crew_desc desc = describe_crew(&c, &refused);
    struct crew *crew;
    struct as_error err = {0};
    assert_int_equal(as_crew_create(&desc, &crew, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "SCHED_IDLE"));
    assert_non_null(strstr(err.text, strerror(EPERM)));
    as_crew_destroy(crew);
    assert_null(as_interference_priority("realtime"));
    for (size_t i = 0; priority_words[i]; i++)
        assert_true(!as_interference_priority(priority_words[i]) ||
                    as_interference_priority(priority_words[i])->title[0]);
}

/* ---- what threads do ---- */

UNIT_TEST(test_work_and_its_check)
{
    static const enum op ops[] = {OP_READ, OP_WRITE, OP_WRITE_NT, OP_ATOMIC, OP_CHASE};
    for (size_t i = 0; i < 2 * sizeof ops / sizeof *ops; i++) {
        const enum op op = ops[i / 2];
        const bool keeps = i % 2;
        struct lines lines;
        struct host_work w;
        struct as_error err = {0};
        char why[160];
        const struct lines_desc desc = {.bytes = 5000 * LINE_BYTES, .seed = 3, .chased = op == OP_CHASE || keeps};
        if (keeps && op == OP_WRITE_NT)
            continue;
        assert_int_equal(as_lines_make(&lines, &desc, &err), AS_OK);
        const uint64_t sum = as_lines_sum(&lines, 0, lines.n);
        assert_int_equal(as_host_work_make(&w, op, &lines, keeps, 2, &err), AS_OK);
        for (int k = 0; k < 7; k++)
            assert_true(as_host_work_piece(&w, 0) <= PIECE_LINES && as_host_work_piece(&w, 1) <= PIECE_LINES);
        assert_true(as_host_work_check(&w, why, sizeof why));
        uint64_t found = 0;
        for (uint64_t k = 0; k < lines.n * LINE_WORDS; k++)
            found += lines.host[k];
        assert_true((found == sum) == (keeps || op == OP_READ || op == OP_CHASE));
        w.parts[1].sum++; /* a planted fault */
        w.parts[1].line++;
        lines.host[4000 * LINE_WORDS + ATOMIC_WORD]++;
        assert_false(as_host_work_check(&w, why, sizeof why));
        assert_non_null(strstr(why, "CPU thread 1"));
        as_host_work_finish(&w);
        as_lines_finish(&lines);
    }
}

/* ---- the probe ---- */

/* An aggressor of low priority may get no time while the victim works, so the outcome of a trial does not depend on the
 * machine's load. */
#define REST " threads=1 priority=nice_19 load=100 size=262144 allocator=toy"

UNIT_TEST(test_which_cells)
{
    static const char usual[] = "victim=cpu op=read aggressor=read buffers=separate threads=1 priority=normal load=100 "
                                "size=262144 allocator=toy";
    static const struct {
        const char *axes;
        enum as_applies cpu, device;
        const char *why;
    } rows[] = {
        {usual, AS_APPLIES, AS_APPLIES, NULL},
        {"victim=device op=read aggressor=read buffers=separate" REST, AS_PRUNED, AS_APPLIES, "is the CPU"},
        {"victim=cpu op=read aggressor=write_nt buffers=separate" REST, AS_APPLIES, AS_PRUNED, "non-temporal"},
        {"victim=cpu op=h2d aggressor=read buffers=separate" REST, AS_PRUNED, AS_PRUNED, "device's work"},
        {"victim=device op=h2d aggressor=read buffers=separate" REST, AS_PRUNED, AS_INAPPLICABLE, "copy call"},
        {"victim=device op=read aggressor=write_nt buffers=shared" REST, AS_PRUNED, AS_PRUNED, "overwrite"},
        {"victim=cpu op=read aggressor=none buffers=separate" REST, AS_PRUNED, AS_PRUNED, NULL},
    };
    if (!need_two_cpus())
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy t;
        struct as_error cpu = {0}, device = {0};
        toy_init(&t, AS_CAP_HOST_KERNELS);
        assert_int_equal(toy_applies(&t, probe, rows[i].axes, &cpu), rows[i].cpu);
        toy_init(&t, AS_CAP_SOURCE);
        assert_int_equal(toy_applies(&t, probe, rows[i].axes, &device), rows[i].device);
        if (rows[i].why)
            assert_true(strstr(cpu.text, rows[i].why) || strstr(device.text, rows[i].why));
    }
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.dev.info.threads = 1;
    assert_int_equal(toy_applies(&t, probe, usual, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "2 CPUs"));
    t.dev.info.capabilities = AS_CAP_SIMULATED | AS_CAP_SOURCE;
    assert_int_equal(toy_applies(&t, probe, usual, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "simulated"));
}

static bool run_trial(struct toy *t, const char *axes, double *value, char *why, size_t why_size)
{
    struct toy_trial v;
    struct as_sample s = {.value = NAN};
    struct as_error err = {0};
    toy_prepare(t, probe, axes, &v, NULL);
    if (probe->sample(v.state, 1, &s, &err))
        fail_msg("%s: %s", axes, err.text);
    assert_true(s.value > 0 && s.seconds > 0);
    const bool right = probe->check(v.state, why, why_size);
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"alone_"));
    assert_true(strstr(axes, "=none") || strstr(as_buf_get(&v.tc.detail), "\"aggressor_keeps\":"));
    toy_finish(probe, &v);
    assert_int_equal(t->live, 0);
    *value = s.value;
    return right;
}

UNIT_TEST(test_other_cores)
{
    static const char *const axes[] = {
        "victim=cpu op=read aggressor=write buffers=separate" REST,
        "victim=cpu op=chase aggressor=atomic buffers=shared" REST,
        "victim=cpu op=chase aggressor=write buffers=shared" REST,
        "victim=cpu op=write aggressor=write_nt buffers=separate" REST,
        "victim=cpu op=read aggressor=chase buffers=shared" REST,
        "victim=cpu op=read aggressor=read buffers=separate threads=1 priority=nice_19 load=40 size=262144 "
        "allocator=toy",
        "victim=cpu op=chase aggressor=none buffers=separate threads=0 priority=normal load=100 size=262144 "
        "allocator=toy",
    };
    struct toy t;
    char why[256];
    double value;
    if (!need_two_cpus())
        skip();
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.dev.info.threads = 2;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        assert_true(run_trial(&t, axes[i], &value, why, sizeof why));
}

/* The kernel of op=read; args as in interference.kernel. */
static void play_read(const char *name, void *const *args)
{
    uint64_t *sums = args[0], sum = 0, items;
    const uint64_t *data = args[1];
    uint32_t passes;
    memcpy(&items, args[3], sizeof items);
    memcpy(&passes, args[5], sizeof passes);
    assert_string_equal(name, "lines");
    for (uint64_t i = 0; i < items; i++)
        sum += *(volatile const uint64_t *)&data[i];
    sums[0] += passes * sum;
}

/* A device whose launch time does not depend on the CPU's load: the aggressor has no effect. */
UNIT_TEST(test_a_device_that_nothing_slows)
{
    struct toy t;
    char why[256];
    double value;
    if (!need_two_cpus())
        skip();
    toy_init(&t, AS_CAP_SOURCE);
    t.kernel = play_read;
    t.launch_s = 0.02;
    assert_true(run_trial(&t, "victim=device op=read aggressor=write buffers=separate" REST, &value, why, sizeof why));
    assert_true(value == 1);
    assert_true(run_trial(&t, "victim=device op=read aggressor=atomic buffers=shared" REST, &value, why, sizeof why));
    assert_true(value == 1);
    t.lose_launches = 1;
    assert_false(run_trial(&t, "victim=device op=read aggressor=write buffers=separate" REST, &value, why, sizeof why));
    assert_non_null(strstr(why, "sum that the device read"));
    t.forget = true;
    assert_false(run_trial(&t, "victim=device op=read aggressor=read buffers=separate" REST, &value, why, sizeof why));
}

/* In memory that real devices keep between trials. */
UNIT_TEST(test_real_devices)
{
    static const char *const devices[][3] = {{"cpu", "malloc", "cpu op=chase"},
                                             {"opencl:0", "clCreateBuffer", "device op=read"}};
    char axes[160];
    struct real r;
    if (!need_two_cpus())
        skip();
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        snprintf(axes, sizeof axes,
                 "victim=%s aggressor=write buffers=separate threads=1 priority=nice_19 load=100 "
                 "size=16777216 allocator=%s",
                 devices[i][2], devices[i][1]);
        real_trial(probe, devices[i][0], axes, 1, 1, &r);
    }
    real_or_skip();
}

UNIT_TEST(test_no_memory)
{
    toy_check_no_memory(probe, AS_CAP_HOST_KERNELS, "victim=cpu op=read aggressor=read buffers=separate" REST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted_factor),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_faults_of_the_aggressor),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_a_thread_that_stops),
        cmocka_unit_test(test_a_priority_that_is_refused),
        cmocka_unit_test(test_work_and_its_check),
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_other_cores),
        cmocka_unit_test(test_a_device_that_nothing_slows),
        cmocka_unit_test(test_real_devices),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("interference", tests, NULL, NULL);
}
