/* Streams on a toy device: right results pass, every planted fault is seen. */
#include "../../probes/common/stream.h"
#include "toy_device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct as_probe as_probe_bandwidth;

static void test_operands(void **unused)
{
    struct as_stream_data d, other;
    enum { N = 5000 };
    static double filled[N];
    (void)unused;
    as_stream_data_init(&d, 1);
    as_stream_data_init(&other, 2);
    size_t alike = 0;
    for (unsigned a = 0; a < 3; a++)
        for (int output = 0; output < 2; output++) {
            as_stream_fill(&d, a, output, 100, N - 200, filled);
            for (uint64_t i = 100; i < N - 100; i++) {
                double v = as_stream_value(&d, a, output, i);
                assert_true(filled[i - 100] == v);
                assert_true(output ? v != floor(v) : v == floor(v) && v != 0 && fabs(v) < 1024);
                alike += v == as_stream_value(&other, a, output, i);
            }
        }
    assert_true(alike < 6 * N / 50); /* another seed, other operands */
}

/* Arrays that begin anywhere in an array: the same operands, and sums of what is there. */
static void test_operands_of_a_place(void **unused)
{
    static const uint64_t firsts[] = {0, 8, 504, 512, 5000, 1048584}, sizes[] = {8, 496, 504, 512, 520, 10000, 300008};
    struct as_stream_data d, all;
    (void)unused;
    as_stream_data_init(&all, 7);
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            double dot = 0, sum = 0, got[3];
            uint64_t sum_bits = 0;
            as_stream_data_init(&d, 7);
            for (unsigned a = 0; a < AS_STREAM_ARRAYS; a++) {
                d.at[a].array = 0;
                d.at[a].first = firsts[f] + a * (sizes[s] + 80);
            }
            for (uint64_t i = 0; i < sizes[s]; i++) {
                const double x = as_stream_value(&all, 0, false, d.at[0].first + i);
                const double y = as_stream_value(&all, 0, false, d.at[1].first + i);
                uint64_t bits;
                assert_true(x == as_stream_value(&d, 0, false, i) && y == as_stream_value(&d, 1, false, i));
                memcpy(&bits, &x, sizeof bits);
                dot += x * y, sum += x, sum_bits += bits;
            }
            assert_true(as_stream_expected_sum(&d, AS_STREAM_DOT, sizes[s]) == dot);
            assert_true(as_stream_expected_sum(&d, AS_STREAM_READ, sizes[s]) == sum);
            assert_true(as_stream_expected_bits(&d, AS_STREAM_READ, sizes[s]) == sum_bits);
            const struct as_stream_done done = {.s = 3, .reps = 2, .scalars = 5};
            as_stream_expected(&d, AS_STREAM_NSTREAM, &done, sizes[s] - 3, 3, got);
            for (uint64_t k = 0; k < 3; k++) {
                const uint64_t i = sizes[s] - 3 + k;
                assert_true(got[k] == as_stream_value(&d, 0, true, i) + 2 * as_stream_value(&d, 1, false, i) +
                                          5 * as_stream_value(&d, 2, false, i));
            }
        }
}

static void test_expected_sums(void **unused)
{
    static const uint64_t sizes[] = {8, 504, 512, 520, 10000, 3000008};
    struct as_stream_data d;
    (void)unused;
    as_stream_data_init(&d, 3);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double dot = 0, read = 0;
        uint64_t bits = 0;
        for (uint64_t i = 0; i < sizes[s]; i++) {
            double x = as_stream_value(&d, 0, false, i), y = as_stream_value(&d, 1, false, i);
            uint64_t u;
            memcpy(&u, &x, sizeof u);
            dot += x * y;
            read += x;
            bits += u;
        }
        assert_true(as_stream_expected_sum(&d, AS_STREAM_DOT, sizes[s]) == dot);
        assert_true(as_stream_expected_sum(&d, AS_STREAM_READ, sizes[s]) == read);
        assert_true(as_stream_expected_bits(&d, AS_STREAM_READ, sizes[s]) == bits);
    }
}

struct play {
    struct toy toy;
    struct as_stream stream;
    char why[160];
};

/* Each launch is said to take launch_s; 0: what it takes. */
static void start_with(struct play *p, double launch_s, enum as_stream_op op, unsigned threads, bool nt, uint64_t size)
{
    struct as_error err = {0};
    struct as_stream_desc d = {.op = op,
                               .allocator = "toy",
                               .size = size,
                               .threads = threads,
                               .nontemporal = nt,
                               .choose_width = true,
                               .seed = 5};
    toy_init(&p->toy, AS_CAP_HOST_KERNELS);
    p->toy.launch_s = launch_s;
    if (as_stream_prepare(&p->stream, &p->toy.dev, &d, &err))
        fail_msg("%s", err.text);
}

static void start(struct play *p, enum as_stream_op op, unsigned threads, bool nt, uint64_t size)
{
    start_with(p, 0, op, threads, nt, size);
}

static void run(struct play *p, uint64_t reps)
{
    double gbs = NAN, seconds = NAN;
    assert_int_equal(as_stream_run(&p->stream, reps, &gbs, &seconds, NULL), AS_OK);
    assert_true(gbs > 0 && seconds > 0);
}

static bool end(struct play *p)
{
    bool right = as_stream_check(&p->stream, p->why, sizeof p->why);
    as_stream_finish(&p->stream);
    assert_int_equal(p->toy.live, 0);
    assert_true(p->why[0] != 0);
    return right;
}

static void test_right_results_pass(void **unused)
{
    (void)unused;
    for (int op = 0; op < AS_STREAM_OPS; op++)
        for (int nt = 0; nt <= (as_stream_shapes[op].writes > 0); nt++)
            for (unsigned threads = 1; threads <= 4; threads++) {
                struct play p;
                start(&p, (enum as_stream_op)op, threads, nt, 100000);
                run(&p, 1);
                run(&p, 3);
                run(&p, 2);
                if (!end(&p))
                    fail_msg("%s with %u threads: %s", as_stream_shapes[op].name, threads, p.why);
            }
}

/* Beyond 2 MiB an element outside of the blocks that are drawn may be missed, but a part that was left out is not. */
static void test_wrong_results_are_seen(void **unused)
{
    (void)unused;
    for (int op = 0; op < AS_STREAM_OPS; op++) {
        struct play p;
        start(&p, (enum as_stream_op)op, 2, false, 100000);
        run(&p, 2);
        if (as_stream_shapes[op].writes) {
            double *out = (double *)p.stream.memory->host + as_stream_shapes[op].out * p.stream.pitch;
            out[p.stream.n / 3] += 1;
        } else {
            double *x = (double *)p.stream.memory->host + as_stream_shapes[op].x * p.stream.pitch;
            x[p.stream.n / 3] += 1;
            run(&p, 2);
        }
        assert_false(end(&p));
    }
}

static void test_lost_launch_is_seen(void **unused)
{
    (void)unused;
    for (int op = 0; op < AS_STREAM_OPS; op++) {
        struct play p;
        start(&p, (enum as_stream_op)op, 1, false, 100000);
        run(&p, 2);
        p.toy.lose_launches = 1;
        run(&p, 5);
        assert_false(end(&p));
    }
}

static void test_part_left_out_of_large_arrays_is_seen(void **unused)
{
    struct play p;
    (void)unused;
    start(&p, AS_STREAM_TRIAD, 2, false, UINT64_C(48) << 20);
    run(&p, 1);
    double *out = (double *)p.stream.memory->host;
    for (uint64_t i = p.stream.n / 4; i < p.stream.n / 2; i++)
        out[i] = as_stream_value(p.stream.data, 0, true, i);
    assert_false(end(&p));
}

/* ---- in memory that is kept, on the CPU of this machine ---- */

static struct as_opened real;

static struct as_stream_desc kept_desc(enum as_stream_op op, uint64_t size, bool whole_check)
{
    return (struct as_stream_desc){.op = op,
                                   .allocator = "mmap",
                                   .size = size,
                                   .threads = 1,
                                   .choose_width = true,
                                   .whole_check = whole_check,
                                   .seed = 5};
}

static void start_kept(struct as_stream *s, uint64_t trial, const struct as_stream_desc *d)
{
    struct as_error err = {0};
    as_arenas_begin(&real.device, trial, trial); /* a cell of its own each time: the arena stays */
    if (as_stream_prepare(s, &real.device, d, &err))
        fail_msg("%s", err.text);
    assert_non_null(s->content.pieces);
}

static bool run_kept(struct as_stream *s, unsigned times)
{
    double gbs, seconds;
    char why[160];
    for (unsigned i = 0; i < times; i++)
        assert_int_equal(as_stream_run(s, 2, &gbs, &seconds, NULL), AS_OK);
    return as_stream_check(s, why, sizeof why);
}

static double *array_of(struct as_stream *s, unsigned array)
{
    struct as_error err;
    if (real.device.memory->map(&real.device, s->memory, &err))
        fail_msg("%s", err.text);
    return (double *)s->memory->host + array * s->pitch;
}

/* One after the other over the same memory, of other sizes at other places: what each finds there is right. */
static void test_kept_memory_is_right(void **unused)
{
    uint64_t trial = 0;
    (void)unused;
    for (int round = 0; round < 2; round++)
        for (int op = 0; op < AS_STREAM_OPS; op++)
            for (int whole = 0; whole < 2; whole++) {
                struct as_stream s;
                const struct as_stream_desc d =
                    kept_desc((enum as_stream_op)op, (UINT64_C(12) << 20) + (UINT64_C(72) << 10) * (trial % 7), whole);
                start_kept(&s, ++trial, &d);
                if (!run_kept(&s, 2))
                    fail_msg("%s in trial %d", as_stream_shapes[op].name, (int)trial);
                as_stream_finish(&s);
            }
}

/* Operands are there from the trial before: they are not written again. */
static void test_kept_operands_stay(void **unused)
{
    struct as_stream s;
    const struct as_stream_desc d = kept_desc(AS_STREAM_READ, 16 << 20, false);
    (void)unused;
    start_kept(&s, 1000, &d);
    assert_true(run_kept(&s, 1));
    array_of(&s, 0)[s.n / 2] += 1;
    as_stream_finish(&s);
    start_kept(&s, 1001, &d);
    assert_false(run_kept(&s, 1)); /* it lies where no trial wrote since */
    as_stream_finish(&s);
    start_kept(&s, 1002, &d);
    assert_true(run_kept(&s, 1)); /* what was wrong is written anew */
    as_stream_finish(&s);
}

/* Results of the trial before do not pass for those of one that stored nothing. */
static void test_stale_results_of_kept_memory_are_seen(void **unused)
{
    (void)unused;
    for (int whole = 0; whole < 2; whole++) {
        struct as_stream s;
        char why[160];
        const struct as_stream_desc d = kept_desc(AS_STREAM_COPY, 16 << 20, whole);
        start_kept(&s, 2000, &d);
        assert_true(run_kept(&s, 1));
        as_stream_finish(&s);
        start_kept(&s, 2001, &d);
        assert_false(as_stream_check(&s, why, sizeof why));
        as_stream_finish(&s);
    }
}

/* A planted fault in a later trial is seen as in the first. */
static void test_faults_in_kept_memory_are_seen(void **unused)
{
    struct as_stream s;
    const struct as_stream_desc d = kept_desc(AS_STREAM_TRIAD, 16 << 20, false);
    char why[160];
    (void)unused;
    for (uint64_t trial = 0; trial < 3; trial++) {
        start_kept(&s, 3000 + trial, &d);
        assert_true(run_kept(&s, 1));
        double *out = array_of(&s, 0);
        for (uint64_t i = s.n / 4; i < s.n / 2; i++)
            out[i] = as_stream_value(s.data, 0, true, i);
        assert_false(as_stream_check(&s, why, sizeof why));
        as_stream_finish(&s);
    }
}

static int open_cpu(void **state)
{
    struct as_error err;
    (void)state;
    return as_device_open("cpu", &real, &err) ? -1 : 0;
}

static int close_cpu(void **state)
{
    (void)state;
    as_device_close(&real);
    return 0;
}

static void test_single_element_of_large_arrays_is_seen_by_whole_check(void **unused)
{
    struct play p;
    (void)unused;
    start(&p, AS_STREAM_COPY, 1, false, UINT64_C(32) << 20);
    p.stream.whole_check = true;
    run(&p, 1);
    ((double *)p.stream.memory->host)[p.stream.n - 12345] += 1;
    assert_false(end(&p));
}

static enum as_status refuse(const struct as_stream_desc *d, bool deny)
{
    struct toy t;
    struct as_stream s;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.deny_memory = deny;
    enum as_status st = as_stream_prepare(&s, &t.dev, d, &err);
    as_stream_finish(&s);
    assert_int_equal(t.live, 0);
    assert_true(st != AS_OK && err.text[0]);
    return st;
}

/* What a card does for writing and for filling, by the arguments of its kernels. */
static unsigned places_seen;
static double *last_place;
static void card(const char *name, void *const *args)
{
    bool fills = strcmp(name, "fill") == 0;
    double *memory = args[fills ? 0 : 1];
    uint64_t n;
    memcpy(&n, args[2], sizeof n);
    places_seen += !fills && memory != last_place;
    last_place = fills ? last_place : memory;
    for (uint64_t i = 0; i < n; i++)
        if (fills)
            memory[i] = 0.5;
        else
            memcpy(&memory[i], args[4], sizeof *memory);
}

static void init_card(struct toy *t)
{
    toy_init_sm90(t, card);
    t->dev.info.capabilities |= AS_CAP_FP64;
    t->dev.info.is_host_memory = false;
    t->dev.info.caches_n = 1;
    t->dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 1 << 20};
    t->launch_s = 1e-3;
}

static void start_card(struct toy *t, struct as_stream *s, uint64_t size, bool barrier)
{
    struct as_error err = {0};
    const struct as_stream_desc d = {.op = AS_STREAM_WRITE,
                                     .allocator = "toy",
                                     .size = size,
                                     .choose_width = true,
                                     .barrier = barrier,
                                     .device_first = true,
                                     .seed = 5};
    double gbs = 0, seconds = 0;
    init_card(t);
    if (as_stream_prepare(s, &t->dev, &d, &err))
        fail_msg("%s", err.text);
    places_seen = 0;
    last_place = NULL;
    assert_int_equal(as_stream_run(s, 3, &gbs, &seconds, &err), AS_OK);
    assert_true(fabs(gbs / (3 * as_stream_bytes(s) / 1e-3 * 1e-9) - 1) < 1e-9); /* so many times as much, as often */
}

/* A repetition within a card's cache goes over several places, each of which must be right; beyond it and in main
 * memory there is one. */
static void test_places(void **unused)
{
    struct toy t;
    struct as_stream s;
    char why[160];
    (void)unused;
    for (size_t wrong = 0; wrong <= AS_STREAM_PLACES; wrong++) {
        start_card(&t, &s, 1 << 20, false);
        assert_int_equal(s.places_n, AS_STREAM_PLACES);
        assert_int_equal(places_seen, AS_STREAM_PLACES);
        if (wrong < AS_STREAM_PLACES)
            ((double *)s.places[wrong]->host)[s.n / 2] += 1;
        assert_int_equal(as_stream_check(&s, why, sizeof why), wrong == AS_STREAM_PLACES);
        as_stream_finish(&s);
        assert_int_equal(t.live, 0);
    }
    for (int barrier = 0; barrier < 2; barrier++) {
        start_card(&t, &s, barrier ? 1 << 20 : 16 << 20, barrier);
        assert_int_equal(places_seen, 1);
        assert_true(as_stream_check(&s, why, sizeof why));
        as_stream_finish(&s);
    }
}

/* How long a repetition takes, by the size of its groups and the place: one way is quick over the first places and slow
 * over the others. */
static const struct as_queue_ops *toy_queue;
static const struct as_stream *timed;
static enum as_status timed_launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                                   struct as_error *err)
{
    enum { DECEIVES = 128, BEST = 512, QUICK_PLACES = 5, REPS_ARG = 5 };
    enum as_status s = toy_queue->launch(dev, l, out, err);
    size_t place = 0;
    while (place + 1 < timed->places_n && timed->places[place] != l->args[1].u.memory)
        place++;
    double ns = l->group_size == BEST ? 1000 : l->group_size != DECEIVES ? 1040 : place < QUICK_PLACES ? 980 : 1100;
    out->host_s = ns * 1e-9 * (double)l->args[REPS_ARG].u.u32;
    return s;
}

static void test_ways_over_places(void **unused)
{
    struct toy t;
    struct as_stream s;
    struct as_queue_ops queue;
    struct as_error err = {0};
    const struct as_stream_desc d = {.op = AS_STREAM_WRITE,
                                     .allocator = "toy",
                                     .size = 1 << 19,
                                     .choose_width = true,
                                     .device_first = true,
                                     .seed = 5};
    (void)unused;
    init_card(&t);
    toy_queue = t.dev.queue;
    queue = *toy_queue;
    queue.launch = timed_launch;
    t.dev.queue = &queue;
    timed = &s;
    if (as_stream_prepare(&s, &t.dev, &d, &err))
        fail_msg("%s", err.text);
    assert_string_equal(s.way, "shared-stay-4-4x512");
    as_stream_finish(&s);
    assert_int_equal(t.live, 0);
}

/* The most groups, and threads, a unit that a launch but those that fill has; group_size of 1 tells pieces. */
static const struct as_queue_ops *counted_queue;
static size_t most_groups, most_threads;
static enum as_status counted_launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                                     struct as_error *err)
{
    const bool fills = l->args[1].kind == AS_ARG_MEMORY && l->args_n == 7 && l->args[3].kind == AS_ARG_U64 &&
                       l->args[4].kind == AS_ARG_U32;
    const size_t groups = l->groups / dev->info.units, threads = groups * l->group_size;
    if (!fills) {
        most_groups = groups > most_groups ? groups : most_groups;
        most_threads = threads > most_threads ? threads : most_threads;
    }
    return counted_queue->launch(dev, l, out, err);
}

static enum as_status held_by_a_unit(struct as_device *dev, struct as_kernel *kernel, size_t group_size,
                                     size_t local_bytes, struct as_kernel_info *out, struct as_error *err)
{
    (void)dev, (void)kernel, (void)local_bytes, (void)err;
    *out = (struct as_kernel_info){.unit_groups = group_size > 1 ? 768 / (unsigned)group_size : 32};
    return AS_OK;
}

/* In a sweep no group waits for another to end: it would find its part in a nearer cache than the arrays are in. */
static void test_all_groups_of_a_sweep_are_held_at_once(void **unused)
{
    static const struct {
        bool barrier, is_host_cpu, is_host_memory, driver_tells;
        unsigned unit_threads;
        size_t groups, threads; /* a unit, at most */
    } cases[] = {{false, true, true, false, 0, 1, 256},
                 {false, false, true, false, 0, 8, 1024},
                 {false, false, true, false, 1536, 8, 1536},
                 {false, false, true, true, 1536, 8, 768},
                 {false, false, false, true, 2048, 8, 1024},
                 {false, false, false, false, 1024, 8, 1024},
                 {true, false, true, false, 0, SIZE_MAX, SIZE_MAX}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct as_stream s;
        struct as_queue_ops queue;
        struct as_program_ops program;
        struct as_error err = {0};
        const struct as_stream_desc d = {.op = AS_STREAM_WRITE,
                                         .allocator = "toy",
                                         .size = 1 << 20,
                                         .choose_width = true,
                                         .barrier = cases[i].barrier,
                                         .device_first = true,
                                         .seed = 5};
        init_card(&t);
        t.dev.info.is_host_cpu = cases[i].is_host_cpu;
        t.dev.info.is_host_memory = cases[i].is_host_memory;
        t.dev.info.unit_threads = cases[i].unit_threads;
        counted_queue = t.dev.queue;
        queue = *counted_queue;
        queue.launch = counted_launch;
        t.dev.queue = &queue;
        program = *t.dev.program;
        program.kernel_info = cases[i].driver_tells ? held_by_a_unit : NULL;
        t.dev.program = &program;
        most_groups = most_threads = 0;
        if (as_stream_prepare(&s, &t.dev, &d, &err))
            fail_msg("%s", err.text);
        if (cases[i].barrier)
            assert_true(most_threads > 2048);
        else if (most_groups > cases[i].groups || most_threads > cases[i].threads)
            fail_msg("case %zu: %zu groups and %zu threads a unit", i, most_groups, most_threads);
        assert_true(most_threads > 0);
        as_stream_finish(&s);
        assert_int_equal(t.live, 0);
    }
}

/* Of which kind of access is best only so much is tried as there is time for. */
static void test_slow_trials_are_few(void **unused)
{
    struct play quick, slow;
    (void)unused;
    start_with(&quick, 1e-4, AS_STREAM_TRIAD, 1, false, 3 << 20);
    start_with(&slow, 10, AS_STREAM_TRIAD, 1, false, 6 << 20);
    assert_true(quick.toy.launches >= slow.toy.launches + 2);
    run(&slow, 1);
    assert_true(end(&slow));
    run(&quick, 1);
    assert_true(end(&quick));
}

static void test_refusals(void **unused)
{
    struct as_stream_desc d = {
        .op = AS_STREAM_TRIAD, .allocator = "toy", .size = 1 << 20, .threads = 1, .choose_width = true};
    (void)unused;
    assert_int_equal(refuse(&d, true), AS_NOMEM);
    d.size = 100;
    assert_int_equal(refuse(&d, false), AS_USAGE);
    d.size = 1 << 20;
    d.threads = 0;
    assert_int_equal(refuse(&d, false), AS_USAGE);
    d.threads = 1;
    d.op = AS_STREAM_DOT;
    d.nontemporal = true;
    assert_int_equal(refuse(&d, false), AS_USAGE);
}

static void test_which_cells(void **unused)
{
    static const struct {
        const char *axes;
        enum as_applies on_cpu, on_device;
    } cases[] = {
        {"op=triad level=memory size=65536 threads=1 store=nt width=best touch=cpu", AS_APPLIES, AS_PRUNED},
        {"op=triad level=memory size=65536 threads=0 store=regular width=best touch=device", AS_PRUNED, AS_APPLIES},
        {"op=read level=sweep size=65536 threads=1 store=nt width=best touch=cpu", AS_PRUNED, AS_PRUNED},
        {"op=triad level=sweep size=128 threads=1 store=regular width=best touch=cpu", AS_PRUNED, AS_PRUNED},
        {"op=triad level=sweep size=384 threads=4 store=regular width=best touch=cpu", AS_PRUNED, AS_PRUNED},
        {"op=triad level=sweep size=768 threads=4 store=regular width=scalar touch=cpu", AS_APPLIES, AS_PRUNED},
        {"op=triad level=memory size=65536 threads=0 store=regular width=best touch=cpu way=best", AS_PRUNED,
         AS_APPLIES},
        {"op=triad level=memory size=65536 threads=1 store=nt width=best touch=cpu way=once-4x256", AS_PRUNED,
         AS_PRUNED},
    };
    struct toy cpu, device, poor;
    struct as_error err = {0};
    (void)unused;
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&device, AS_CAP_SOURCE | AS_CAP_FP64);
    toy_init(&poor, AS_CAP_SOURCE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(toy_applies(&cpu, &as_probe_bandwidth, cases[i].axes, &err), cases[i].on_cpu);
        assert_int_equal(toy_applies(&device, &as_probe_bandwidth, cases[i].axes, &err), cases[i].on_device);
    }
    assert_int_equal(toy_applies(&poor, &as_probe_bandwidth, cases[1].axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "f64"));
}

static void test_visit(void **unused)
{
    struct toy t;
    struct toy_visit v;
    struct as_sample s = {.value = NAN};
    struct as_error err = {0};
    char why[160] = "";
    (void)unused;
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.dev.info.peak_bandwidth = 5e10;
    toy_prepare(&t, &as_probe_bandwidth,
                "op=add level=memory size=268435456 threads=2 store=regular width=128 allocator=toy touch=cpu", &v,
                NULL);
    assert_true(v.vc.claims_memory);
    assert_true(v.vc.footprint >= UINT64_C(250) << 20);
    assert_true(v.vc.limit == 50);
    assert_non_null(strstr(as_buf_get(&v.vc.detail), "\"variant\":\"128\""));
    assert_int_equal(as_probe_bandwidth.sample(v.state, 1, &s, &err), AS_OK);
    assert_true(s.value > 0);
    assert_true(as_probe_bandwidth.check(v.state, why, sizeof why));
    toy_finish(&as_probe_bandwidth, &v);
    t.free_bytes = UINT64_C(256) << 20;
    assert_int_equal(
        toy_prepare(&t, &as_probe_bandwidth,
                    "op=add level=memory size=268435456 threads=2 store=regular width=128 allocator=toy touch=cpu", &v,
                    &err),
        AS_UNSUPPORTED);
    toy_finish(&as_probe_bandwidth, &v);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_expected_sums),
        cmocka_unit_test(test_right_results_pass),
        cmocka_unit_test(test_wrong_results_are_seen),
        cmocka_unit_test(test_lost_launch_is_seen),
        cmocka_unit_test(test_part_left_out_of_large_arrays_is_seen),
        cmocka_unit_test(test_operands_of_a_place),
        cmocka_unit_test_setup_teardown(test_kept_memory_is_right, open_cpu, close_cpu),
        cmocka_unit_test_setup_teardown(test_kept_operands_stay, open_cpu, close_cpu),
        cmocka_unit_test_setup_teardown(test_stale_results_of_kept_memory_are_seen, open_cpu, close_cpu),
        cmocka_unit_test_setup_teardown(test_faults_in_kept_memory_are_seen, open_cpu, close_cpu),
        cmocka_unit_test(test_single_element_of_large_arrays_is_seen_by_whole_check),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_ways_over_places),
        cmocka_unit_test(test_all_groups_of_a_sweep_are_held_at_once),
        cmocka_unit_test(test_slow_trials_are_few),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_visit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
