/* Streams on a GPU-like toy: placement in its cache, ways to stream, and resident workgroups. */
#include "lib/stream/stream.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writing and filling as a GPU does, by its kernels' arguments. */
static unsigned places_seen;
static double *last_place;
static void gpu(const char *name, void *const *args)
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

static void init_gpu(struct toy *t)
{
    toy_init_sm90(t, gpu);
    t->dev.info.capabilities |= AS_CAP_FP64;
    t->dev.info.caches_n = 1;
    t->dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 1 << 20};
    t->launch_s = 1e-3;
}

static void start_gpu(struct toy *t, struct as_stream *s, uint64_t size, bool barrier, bool is_host_memory)
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
    init_gpu(t);
    t->dev.info.is_host_memory = is_host_memory;
    if (as_stream_prepare(s, &t->dev, &d, &err))
        fail_msg("%s", err.text);
    places_seen = 0;
    last_place = NULL;
    assert_int_equal(as_stream_run(s, 3, &gbs, &seconds, &err), AS_OK);
    assert_true(fabs(gbs / (3 * as_stream_bytes(s) / 1e-3 * 1e-9) - 1) < 1e-9); /* so many times as much, as often */
}

/* A repetition within a GPU's cache covers several places, each of which must be correct; beyond the cache and in main
 * memory there is one. */
UNIT_TEST(test_places)
{
    struct toy t;
    struct as_stream s;
    char why[160];
    for (size_t wrong = 0; wrong <= AS_STREAM_PLACES; wrong++) {
        start_gpu(&t, &s, 1 << 20, false, wrong % 2); /* an APU's GPU too */
        assert_int_equal(s.places_n, AS_STREAM_PLACES);
        assert_int_equal(places_seen, AS_STREAM_PLACES);
        if (wrong < AS_STREAM_PLACES)
            ((double *)s.places[wrong]->host)[s.n / 2] += 1;
        assert_int_equal(as_stream_check(&s, why, sizeof why), wrong == AS_STREAM_PLACES);
        as_stream_finish(&s);
        assert_int_equal(t.live, 0);
    }
    for (int barrier = 0; barrier < 2; barrier++) {
        start_gpu(&t, &s, barrier ? 1 << 20 : 16 << 20, barrier, false);
        assert_int_equal(places_seen, 1);
        assert_true(as_stream_check(&s, why, sizeof why));
        as_stream_finish(&s);
    }
}

/* Time of a repetition by workgroup size and place: one way is fast over the first places and slow over the others. */
static const struct as_queue_ops *toy_queue;
static const struct as_stream *timed;
static enum as_status timed_launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                                   struct as_error *err)
{
    enum { DECEIVES = 128, BEST = 512, QUICK_PLACES = 5, REPS_ARG = 5 };
    enum as_status st = toy_queue->launch(dev, l, out, err);
    size_t place = 0;
    while (place + 1 < timed->places_n && timed->places[place] != l->args[1].u.memory)
        place++;
    double ns = l->workgroup_size == BEST       ? 1000
                : l->workgroup_size != DECEIVES ? 1040
                : place < QUICK_PLACES          ? 980
                                                : 1100;
    out->host_s = ns * 1e-9 * (double)l->args[REPS_ARG].u.u32;
    return st;
}

UNIT_TEST(test_ways_over_places)
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
    init_gpu(&t);
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

/* The most workgroups and threads per compute unit in launches other than those that fill; workgroup_size of 1
 * identifies pieces. */
static const struct as_queue_ops *counted_queue;
static size_t most_groups, most_threads;
static enum as_status counted_launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                                     struct as_error *err)
{
    const bool fills = l->args[1].kind == AS_ARG_MEMORY && l->args_n == 7 && l->args[3].kind == AS_ARG_U64 &&
                       l->args[4].kind == AS_ARG_U32;
    const size_t workgroups = l->workgroups / dev->info.compute_units, threads = workgroups * l->workgroup_size;
    if (!fills) {
        most_groups = workgroups > most_groups ? workgroups : most_groups;
        most_threads = threads > most_threads ? threads : most_threads;
    }
    return counted_queue->launch(dev, l, out, err);
}

static enum as_status held_by_a_unit(struct as_device *dev, struct as_kernel *kernel, size_t workgroup_size,
                                     size_t shared_bytes, struct as_kernel_info *out, struct as_error *err)
{
    (void)dev, (void)kernel, (void)shared_bytes, (void)err;
    *out = (struct as_kernel_info){.resident_workgroups = workgroup_size > 1 ? 768 / (unsigned)workgroup_size : 32};
    return AS_OK;
}

/* In a sweep no workgroup waits for another to end: its part would lie in a nearer cache than the arrays. */
UNIT_TEST(test_all_groups_of_a_sweep_are_held_at_once)
{
    static const struct {
        bool barrier, is_host_cpu, has_ways, driver_tells;
        unsigned compute_unit_threads;
        size_t workgroups, threads; /* per compute unit, at most */
    } cases[] = {{false, true, false, false, 0, 1, 256},
                 {false, false, false, false, 0, 8, 1024},
                 {false, false, false, false, 1536, 8, 1536},
                 {false, false, false, true, 1536, 8, 768},
                 {false, false, true, true, 2048, 8, 1024},
                 {false, false, true, false, 1024, 8, 1024},
                 {true, false, false, false, 0, SIZE_MAX, SIZE_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct as_stream s;
        struct as_queue_ops queue;
        struct as_program_ops program;
        struct as_error err = {0};
        const struct as_stream_desc d = {.op = AS_STREAM_WRITE,
                                         .allocator = "toy",
                                         .size = 1 << 20,
                                         .width = AS_WIDTH_256, /* a plain loop */
                                         .choose_width = cases[i].has_ways,
                                         .barrier = cases[i].barrier,
                                         .device_first = true,
                                         .seed = 5};
        init_gpu(&t);
        t.dev.info.is_host_cpu = cases[i].is_host_cpu;
        t.dev.info.compute_unit_threads = cases[i].compute_unit_threads;
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
        else if (most_groups > cases[i].workgroups || most_threads > cases[i].threads)
            fail_msg("case %zu: %zu groups and %zu threads a unit", i, most_groups, most_threads);
        assert_true(most_threads > 0);
        as_stream_finish(&s);
        assert_int_equal(t.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_ways_over_places),
        cmocka_unit_test(test_all_groups_of_a_sweep_are_held_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
