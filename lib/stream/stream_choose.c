/* Finds the fastest width or grid by testing, since no single one is fastest on every machine. */
#include "lib/autotune/autotune.h"
#include "stats/stats.h"
#include "stream_internal.h"

#include <math.h>
#include <string.h>

enum {
    CANDIDATES = 8, /* at least AS_WIDTHS and AS_STREAM_GRIDS_MAX */
    ROUNDS_FIRST = 3,
    ROUNDS_LATER = 1,
    ROUNDS_ENOUGH = 8, /* on a CPU, after this many the minimum is stable */
    PARTS = 16,
    PIECES_UNIT = 8,
    GROUPS_UNIT = 16,
    GROUP_SIZE = 256,
    GROWS = 4
};
_Static_assert((int)AS_WIDTHS <= (int)CANDIDATES && (int)AS_STREAM_GRIDS_MAX <= (int)CANDIDATES, "space for all");
_Static_assert((int)CANDIDATES <= (int)AS_AUTOTUNE_MOST, "space for all");
/* In caches a test repeats until it is long compared with the timer's resolution, on a GPU compared with the start-up
 * phase of workgroups. */
static const double TRIAL_S = 50e-6, DEVICE_TRIAL_S = 200e-6, SETTLED_TRIAL_S = 2e-3, GROW_MOST = 1000;
/* Retested after this number of rounds: candidates within `within` times the best. A repetition covers several blocks,
 * a test one of them; blocks differ more than good ways do, so candidates near the best are tested on more blocks. */
static const struct heat {
    int rounds;
    double within;
} places_heats[] = {{2, 1.1}, {3, 1.05}, {5, 1}};
enum { PLACES_HEATS = sizeof places_heats / sizeof *places_heats };
/* If each access faults, a launch takes seconds; then the best within the time limit wins. */
static const double TRIALS_S = 2;

static uint64_t stream_choose_key_of(const struct as_stream *s)
{
    struct {
        uint64_t op, size, threads, grids, flags, allocator, device;
    } k = {(uint64_t)s->desc.op,
           s->desc.size,
           s->desc.threads,
           s->native ? 0
           : s->gpu  ? UINT64_MAX
                     : (uint64_t)s->desc.width, /* describes the candidates */
           (uint64_t)s->desc.nontemporal | (uint64_t)s->desc.barrier << 1 | (uint64_t)s->desc.host_timed << 2 |
               (uint64_t)s->desc.way << 3,
           as_hash(s->desc.allocator, strlen(s->desc.allocator)),
           as_hash(s->dev->info.id, strlen(s->dev->info.id))};
    return as_hash(&k, sizeof k);
}

/* Disturbance only slows a CPU down, so its minimum counts. On a GPU workgroups may start in a transient fast phase, so
 * the median counts, and over several blocks the mean. */
static double time_of(const struct as_stream *s, const struct as_autotune *m, size_t candidate)
{
    const double *times;
    const size_t n = as_autotune_times(m, candidate, &times);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += times[i];
    if (!s->gpu || n == 0)
        return as_autotune_least(m, candidate);
    return s->places_n > 1 ? sum / (double)n : as_median(times, n);
}

/* Keeps in which[] the candidates within `within` times the best; returns their number. */
static size_t near_best(const struct as_stream *s, const struct as_autotune *m, size_t *which, size_t n, double within)
{
    double best = INFINITY;
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        best = fmin(best, time_of(s, m, which[i]));
    for (size_t i = 0; i < n; i++)
        if (time_of(s, m, which[i]) <= within * best)
            which[left++] = which[i];
    return left;
}

static size_t groups_for(uint64_t items, size_t workgroup_size, uint64_t most)
{
    uint64_t workgroups = (items + workgroup_size - 1) / workgroup_size;
    workgroups = workgroups < most ? workgroups : most;
    return workgroups ? (size_t)workgroups : 1;
}

/* Ways of a GPU: pairs of f64 in flight per thread, resident workgroups per compute unit or one per tile (0),
 * and cache hints. */
static const struct way {
    const char *name;
    unsigned workgroup_size, unroll, stay, cache;
} ways[] = {
    {"tile-1x256", 256, 1, 0, 0},   {"tile-1x1024", 1024, 1, 0, 0},      {"tile-2x256", 256, 2, 0, 0},
    {"tile-4x256", 256, 4, 0, 0},   {"once-1x512", 512, 1, 0, 1},        {"once-4x256", 256, 4, 0, 1},
    {"stay-8-4x256", 256, 4, 8, 0}, {"once-stay-8-4x256", 256, 4, 8, 1},
};
const char *const as_stream_way_words[] = {
    "best",       "tile-1x256", "tile-1x1024",  "tile-2x256",        "tile-4x256",
    "once-1x512", "once-4x256", "stay-8-4x256", "once-stay-8-4x256", NULL};
_Static_assert(sizeof ways / sizeof *ways <= AS_STREAM_GRIDS_MAX, "space for all ways");
_Static_assert(sizeof ways / sizeof *ways + 2 == sizeof as_stream_way_words / sizeof *as_stream_way_words,
               "one word each");

/* Sweeps need resident workgroups, and bypass L1. */
static const struct way near_ways[] = {
    {"shared-stay-8-4x256", 256, 4, 8, 2},   {"shared-stay-4-4x512", 512, 4, 4, 2},
    {"shared-stay-2-8x512", 512, 8, 2, 2},   {"shared-stay-4-8x256", 256, 8, 4, 2},
    {"shared-stay-1-8x1024", 1024, 8, 1, 2}, {"shared-stay-8-2x256", 256, 2, 8, 2},
    {"shared-stay-8-1x128", 128, 1, 8, 2}, /* a small array for many compute units */
};

static size_t gpu_grids(const struct as_stream *s, struct as_stream_grid out[AS_STREAM_GRIDS_MAX])
{
    const struct as_device_info *info = &s->dev->info;
    uint64_t compute_units = info->compute_units ? info->compute_units : 1;
    const struct way *table = s->desc.barrier ? ways : near_ways;
    size_t n = s->desc.barrier ? sizeof ways / sizeof *ways : sizeof near_ways / sizeof *near_ways, got = 0;
    for (size_t i = 0; i < n; i++) {
        const struct way *w = &table[i];
        if (s->desc.barrier && s->desc.way && s->desc.way != i + 1)
            continue;
        if (s->desc.host_timed && !as_stream_shape_of(s)->writes && !w->stay)
            continue;
        uint64_t tiles = s->n / 2 / ((uint64_t)w->workgroup_size * w->unroll) + 1;
        uint64_t workgroups = w->stay && w->stay * compute_units < tiles ? w->stay * compute_units : tiles;
        out[got++] = (struct as_stream_grid){.workgroups = (size_t)workgroups,
                                             .workgroup_size = w->workgroup_size,
                                             .interleaved = true,
                                             .way = w->name,
                                             .unroll = w->unroll,
                                             .cache = w->cache};
    }
    return got;
}

static size_t loop_grids(const struct as_stream *s, struct as_stream_grid out[AS_STREAM_GRIDS_MAX])
{
    const struct as_device_info *info = &s->dev->info;
    uint64_t compute_units = info->compute_units ? info->compute_units : 1, items = s->n / as_stream_per_item(s);
    size_t size = info->threads && info->threads < GROUP_SIZE ? info->threads : GROUP_SIZE, n = 0;
    out[n++] = (struct as_stream_grid){
        .workgroups = groups_for(s->n / as_stream_line(s), 1, compute_units * PIECES_UNIT), .workgroup_size = 1};
    out[n++] = (struct as_stream_grid){.workgroups = groups_for(items, size, compute_units * GROUPS_UNIT),
                                       .workgroup_size = size,
                                       .interleaved = true};
    /* One thread per item; not for sums. */
    if (s->desc.barrier && as_stream_shape_of(s)->writes && out[1].workgroups < items / size)
        out[n++] = (struct as_stream_grid){
            .workgroups = groups_for(items, size, UINT32_MAX), .workgroup_size = size, .interleaved = true};
    return n;
}

/* Occupancy: as reported by the driver, else what a compute unit surely holds. */
static size_t resident_workgroups(const struct as_stream *s, struct as_kernel *kernel, size_t workgroup_size)
{
    const struct as_device_info *info = &s->dev->info;
    struct as_kernel_info known = {0};
    struct as_error err;
    if (info->is_host_cpu) /* a host thread runs them one after another */
        return 1;
    if (kernel && s->dev->program->kernel_info &&
        s->dev->program->kernel_info(s->dev, kernel, workgroup_size, 0, &known, &err) == AS_OK &&
        known.resident_workgroups)
        return known.resident_workgroups;
    const size_t threads = info->compute_unit_threads ? info->compute_unit_threads : info->threads;
    return threads > workgroup_size ? threads / workgroup_size : 1;
}

/* In a sweep every workgroup repeats its part. One that has to wait would start after all passes of another; the
 * concurrent working set would be smaller and fit a nearer cache. */
static void hold_at_once(const struct as_stream *s, struct as_stream_grid *grids, size_t n)
{
    const uint64_t compute_units = s->dev->info.compute_units ? s->dev->info.compute_units : 1;
    for (size_t i = 0; i < n; i++) {
        const uint64_t most =
            compute_units * resident_workgroups(s, s->gpu ? s->ways[i] : s->kernel, grids[i].workgroup_size);
        if (grids[i].workgroups > most)
            grids[i].workgroups = (size_t)most;
    }
}

size_t as_stream_grids(const struct as_stream *s, struct as_stream_grid out[AS_STREAM_GRIDS_MAX])
{
    const size_t n = s->gpu ? gpu_grids(s, out) : loop_grids(s, out);
    if (!s->desc.barrier && s->own.program)
        hold_at_once(s, out, n);
    return n;
}

static size_t candidates(const struct as_stream *s, const struct as_stream_grid *grids, size_t grids_n,
                         size_t out[CANDIDATES])
{
    size_t n = 0;
    (void)grids;
    for (size_t i = 0; !s->native && i < grids_n; i++)
        out[n++] = i;
    for (int w = 0; s->native && w < AS_WIDTHS; w++)
        if (as_stream_kernels((enum as_stream_width)w))
            out[n++] = (size_t)w;
    return n;
}

static void stream_choose_take(struct as_stream *s, const struct as_stream_grid *grids, size_t which)
{
    if (s->native) {
        s->desc.width = (enum as_stream_width)which;
        return;
    }
    s->grid = grids[which];
    if (s->gpu) {
        s->kernel = s->ways[which];
        s->way = grids[which].way;
    }
}

/* Beyond the caches every test gets its own, uncached part. */
static struct as_stream_part part_of(const struct as_stream *s, size_t trial)
{
    struct as_stream_part p = {.count = s->n, .reps = 1};
    if (s->native && s->footprint > as_info_memory_least(&s->dev->info, NULL, 1) / 2 &&
        s->footprint > UINT64_C(16) << 20) {
        p.count = s->n / PARTS / AS_STREAM_LINE * AS_STREAM_LINE;
        p.first = trial % PARTS * p.count;
    }
    return p;
}

/* Lengthens a test until launch overhead is negligible. *seconds: per repetition; adds all launches to *spent. */
static enum as_status stream_choose_try_once(struct as_stream *s, size_t trial, double *seconds, double *spent,
                                             struct as_error *err)
{
    struct as_timing t;
    struct as_stream_part part = part_of(s, trial);
    enum as_status st = as_stream_launch(s, &part, &t, err);
    double took = as_timing_seconds(&t);
    double wanted = s->native ? TRIAL_S : s->places_n > 1 ? SETTLED_TRIAL_S : DEVICE_TRIAL_S;
    *spent += took;
    for (int i = 0; i < GROWS && !st && took < wanted / 2 && part.count == s->n; i++) {
        double grow = took > wanted / GROW_MOST ? wanted / took : GROW_MOST;
        part.reps = (uint64_t)((double)part.reps * grow) + 1;
        st = as_stream_launch(s, &part, &t, err);
        took = as_timing_seconds(&t);
        *spent += took;
    }
    *seconds = took / (double)part.reps * ((double)s->n / (double)part.count);
    return st;
}

/* time limit of one test */
struct tried {
    size_t trials;
    double spent_s;
};

static enum as_status try_all(struct as_stream *s, struct as_autotune *m, const struct as_stream_grid *grids,
                              const size_t *which, size_t n, int rounds, struct tried *tried, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (int round = 0; round < rounds && !st; round++) {
        s->memory = s->places[m->rounds++ % s->places_n]; /* new each time, the same for all */
        for (size_t i = 0; i < n && !st && tried->spent_s < TRIALS_S; i++) {
            double seconds;
            stream_choose_take(s, grids, which[i]);
            st = stream_choose_try_once(s, tried->trials++, &seconds, &tried->spent_s, err);
            if (!st)
                as_autotune_add(m, which[i], seconds);
        }
    }
    s->memory = s->places[0];
    return st;
}

enum as_status as_stream_choose(struct as_stream *s, bool *ran, struct as_error *err)
{
    struct as_stream_grid grids[AS_STREAM_GRIDS_MAX];
    size_t which[CANDIDATES], n = candidates(s, grids, s->native ? 0 : as_stream_grids(s, grids), which);
    struct tried tried = {0, 0};
    bool known;
    enum as_status st = AS_OK;
    *ran = false;
    if (n == 1)
        stream_choose_take(s, grids, which[0]);
    if (n <= 1)
        return AS_OK;
    struct as_autotune *m = as_autotune_of(stream_choose_key_of(s), &known);
    const int later = s->native && m->rounds >= ROUNDS_ENOUGH ? 0 : ROUNDS_LATER;
    const bool over_places = s->places_n > 1;
    const struct heat one = {known ? later : ROUNDS_FIRST, 1}, *heats = over_places ? places_heats : &one;
    for (size_t h = 0; h < (over_places ? PLACES_HEATS : 1) && !st; h++) {
        st = try_all(s, m, grids, which, n, heats[h].rounds, &tried, err);
        n = near_best(s, m, which, n, heats[h].within);
    }
    stream_choose_take(s, grids, which[0]);
    *ran = tried.trials > 0;
    return st;
}
