/* occupancy: resident workgroups per compute unit. See method.md. */
#include "lib/kernel_timer/kernel_timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_occupancy[];

static const struct as_axis axes[] = {
    AS_COUNT_AXIS("threads", 1, 1024, "64", "threads per workgroup"),
    AS_COUNT_AXIS("values", 0, 240, "0", "extra 32-bit values that a thread holds in registers"),
    AS_SIZE_AXIS("shared", 0, 0, "0", "bytes of shared memory per workgroup"),
    {0},
};
/* One grid for all suites, so that the limits rest on the same cells: those that tell the capacity, the granularity and
 * the partitions of the compute units of known GPUs as well as every number of values and threads would. */
static const char *const grid[] = {
    "threads=32,64,128,416 values=0 shared=0",
    "threads=128 values=24,32,36,48,56,64,76,80,90,128 shared=0",
    "threads=32 values=112,128,208 shared=0",
    "threads=64 values=96,160 shared=0",
    "threads=256 values=40,224,240 shared=0",
    "threads=32 values=0 shared=7000,9000,11000,15000,20000,25000",
    NULL,
};

enum {
    MEETING_WORDS = 3, /* as in the kernel: arrivals, the timeout flag, 0 */
    MEETING_TRIES = 2, /* once more, since another process may have held a compute unit */
    STEP_BYTES = 16,   /* of requests for shared memory: no device allocates it in smaller pieces */
    LOOKS = 100000     /* polls: some tens of milliseconds, in which a launch starts all the workgroups that fit */
};
/* Workgroups per compute unit: more than any device holds (GCN: 40 of one wave; Apple: 96 simdgroups). */
enum { GROUPS_MAX = 64, MEETING_MAX = 128 };
static const uint64_t STAY_CYCLES = 200000;

static enum as_applies occupancy_applies(const struct as_device_info *info, const struct as_axes *a,
                                         struct as_error *err)
{
    if (!(info->capabilities & AS_CAP_CYCLES) && info->is_host_cpu)
        return as_inapplicable(err, "a core of a CPU has one workgroup at a time");
    if (as_axes_number(a, "threads") > info->threads)
        return as_pruned(err, "the device's largest workgroup has %u threads", info->threads);
    double shared = as_axes_number(a, "shared");
    return info->compute_units == 0 || (info->workgroup_shared && shared > (double)info->workgroup_shared) ? AS_PRUNED
                                                                                                           : AS_APPLIES;
}

struct state {
    struct as_kernel_timer timer;
    struct as_kernel *kernel;
    struct as_memory *in, *sums, *meeting; /* for devices whose kernels have no clock */
    uint32_t *value, *sum;                 /* of the host */
    uint64_t threads, values, shared;
    bool meets; /* kernels have no clock: workgroups are resident together if they can wait for each other */
    size_t workgroups;
    unsigned compute_units;
    double *at_a_time; /* scratch: workgroups by compute unit */
    int wrong;
};

static enum as_status occupancy_build(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    struct as_buf head = AS_BUF_INIT;
    as_buf_str(&head, "#define TAKE");
    for (uint64_t i = 0; i < s->values; i++)
        as_buf_printf(&head, " u32 v%llu = from[%llu];", (unsigned long long)i, (unsigned long long)(i * s->threads));
    as_buf_str(&head, "\n#define GIVE");
    for (uint64_t i = 0; i < s->values; i++)
        as_buf_printf(&head, " sum += v%llu ^ late;", (unsigned long long)i);
    as_buf_printf(&head, "\n#define SHARED_WORDS %llu\n", s->meets ? (unsigned long long)(s->shared + 3) / 4 : 0);
    enum as_status st = as_buf_check(&head, err);
    if (!st)
        st = as_kernel_timer_prepare(&s->timer, tc->dev, "occupancy", as_buf_get(&head), as_kernel_occupancy, NULL,
                                     s->workgroups, err);
    as_buf_finish(&head);
    return st ? st : as_kernel_timer_keep_kernel(&s->timer, s->meets ? "meet" : "stay", &s->kernel, err);
}

/* The compiler's register count, and the occupancy that the driver reports. */
static enum as_status note_claim(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    struct as_kernel_info info = {0};
    struct as_device *dev = tc->dev;
    if (!dev->program->kernel_info)
        return AS_OK;
    enum as_status st = dev->program->kernel_info(dev, s->kernel, s->threads, s->meets ? 0 : s->shared, &info, err);
    if (st)
        return st;
    if (s->threads > info.max_threads && info.max_threads)
        return as_fail(err, AS_UNSUPPORTED, "with %llu values a workgroup has at most %u threads",
                       (unsigned long long)s->values, info.max_threads);
    if (info.registers) {
        as_note_number(tc, "registers", info.registers);
        as_note_number(tc, "spilled_bytes", (double)info.private_bytes);
    }
    if (info.max_threads)
        as_note_number(tc, "most_threads", info.max_threads);
    as_note_number(tc, "shared_bytes", (double)(info.shared_bytes + (s->meets ? 0 : s->shared)));
    if (info.resident_workgroups)
        as_note_number(tc, "reported_workgroups", info.resident_workgroups);
    return AS_OK;
}

static enum as_status occupancy_fill(struct state *s, uint64_t seed, struct as_error *err)
{
    struct as_rng rng;
    size_t n = (size_t)(s->values * s->threads);
    s->value = calloc(n ? n : 1, sizeof *s->value);
    s->sum = calloc(s->workgroups * s->threads, sizeof *s->sum);
    s->at_a_time = calloc(s->compute_units, sizeof *s->at_a_time);
    if (!s->value || !s->sum || !s->at_a_time)
        return as_nomem(err, s->workgroups * s->threads * sizeof *s->sum, "workgroups");
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < n; i++)
        s->value[i] = (uint32_t)as_rng_u64(&rng);
    struct as_device *dev = s->timer.dev;
    enum as_status st = as_kernel_timer_keep_memory(&s->timer, (n ? n : 1) * sizeof *s->value, &s->in, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, s->workgroups * s->threads * sizeof *s->sum, &s->sums, err);
    if (!st && s->meets)
        st = as_kernel_timer_keep_memory(&s->timer, MEETING_WORDS * sizeof(uint32_t), &s->meeting, err);
    return st || !n ? st : dev->memory->write(dev, s->in, 0, s->value, n * sizeof *s->value, err);
}

static void check_sums(struct state *s, size_t workgroups)
{
    for (uint64_t thread = 0; thread < s->threads; thread++) {
        uint32_t want = 0;
        for (uint64_t i = 0; i < s->values; i++)
            want += s->value[i * s->threads + thread];
        for (size_t g = 0; g < workgroups; g++)
            s->wrong |= s->sum[g * s->threads + thread] != want;
    }
}

static int by_unit_then_start(const void *a, const void *b)
{
    const struct as_record *p = a, *q = b;
    if (p->unit != q->unit)
        return p->unit < q->unit ? -1 : 1;
    return (p->start > q->start) - (p->start < q->start);
}

/* All workgroups stay equally long, so those resident at a start are those that started less than one stay earlier.
 * Median over compute units. */
static double groups_at_a_time(struct state *s)
{
    const struct as_record *r = s->timer.record;
    size_t compute_units = 0;
    qsort(s->timer.record, s->workgroups, sizeof *r, by_unit_then_start);
    for (size_t i = 0, first = 0, end; i < s->workgroups; i = end) {
        size_t most = 0;
        for (end = i, first = i; end < s->workgroups && r[end].unit == r[i].unit; end++) {
            while (r[first].end <= r[end].start)
                first++;
            most = end - first + 1 > most ? end - first + 1 : most;
        }
        if (r[i].unit && compute_units < s->compute_units)
            s->at_a_time[compute_units++] = (double)most;
    }
    return as_median(s->at_a_time, compute_units);
}

/* One launch in which every workgroup stays, with `shared` bytes each. */
static enum as_status occupancy_stay(struct state *s, uint64_t shared, double *workgroups, double *seconds,
                                     struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    struct as_arg args[] = {as_memory_arg(s->timer.memory), as_memory_arg(s->in), as_memory_arg(s->sums),
                            as_u64_arg(STAY_CYCLES)};
    struct as_launch l = as_launch_of(s->kernel, args, 4, s->workgroups, s->threads);
    l.shared_bytes = shared;
    enum as_status st = as_kernel_timer_launch(&s->timer, &l, seconds, err);
    if (!st)
        st = dev->memory->read(dev, s->sums, 0, s->sum, s->workgroups * s->threads * sizeof *s->sum, err);
    if (st)
        return st;
    check_sums(s, s->workgroups);
    st = as_kernel_timer_need(&s->timer, AS_HAS_CYCLES | AS_HAS_UNIT | (shared ? AS_HAS_SHARED : 0), err);
    *workgroups = st ? 0 : groups_at_a_time(s);
    return st;
}

/* Between which two requests the number of resident workgroups falls, by bisection; only the first is noted if even the
 * largest request leaves it. */
static enum as_status note_step(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    const uint64_t largest = tc->dev->info.workgroup_shared / STEP_BYTES * STEP_BYTES;
    uint64_t most = s->shared / STEP_BYTES * STEP_BYTES, over = largest + STEP_BYTES;
    if (largest < most)
        return AS_OK;
    double wanted = 0, found = 0, seconds;
    enum as_status st = occupancy_stay(s, s->shared, &wanted, &seconds, err);
    while (!st && over - most > STEP_BYTES) {
        const uint64_t middle = most + (over - most) / 2 / STEP_BYTES * STEP_BYTES;
        st = occupancy_stay(s, middle, &found, &seconds, err);
        *(found >= wanted ? &most : &over) = middle;
    }
    if (st)
        return st;
    as_note_number(tc, "shared_most", (double)most);
    if (over <= largest)
        as_note_number(tc, "shared_over", (double)over);
    return AS_OK;
}

static enum as_status occupancy_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->threads = as_axes_u64(tc->axes, "threads");
    s->values = as_axes_u64(tc->axes, "values");
    s->shared = as_axes_u64(tc->axes, "shared");
    s->meets = !(tc->dev->info.capabilities & AS_CAP_CYCLES);
    s->compute_units = tc->dev->info.compute_units;
    s->workgroups = (size_t)s->compute_units * (s->meets ? MEETING_MAX : GROUPS_MAX);
    tc->min_reps = tc->max_reps = 1;
    enum as_status st = occupancy_build(s, tc, err);
    if (!st)
        st = note_claim(s, tc, err);
    if (!st)
        st = occupancy_fill(s, tc->seed, err);
    if (!st && s->shared && !s->meets)
        st = note_step(s, tc, err);
    unsigned most = tc->dev->info.compute_unit_threads;
    if (most) {
        tc->limit = floor((double)most / (double)s->threads);
        snprintf(tc->limit_why, sizeof tc->limit_why, "a compute unit holds %u threads", most);
    }
    return st;
}

/* Do all workgroups meet? They can only if all are resident at once. */
static enum as_status occupancy_meet(struct state *s, size_t workgroups, bool *met, double *seconds,
                                     struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    uint32_t meeting[MEETING_WORDS] = {0};
    struct as_timing t;
    const struct as_arg args[] = {as_memory_arg(s->in), as_memory_arg(s->sums), as_memory_arg(s->meeting),
                                  as_u32_arg(LOOKS)};
    const struct as_launch l = as_launch_of(s->kernel, args, 4, workgroups, s->threads);
    enum as_status st = dev->memory->write(dev, s->meeting, 0, meeting, sizeof meeting, err);
    if (!st)
        st = dev->queue->launch(dev, &l, &t, err);
    if (!st)
        st = dev->memory->read(dev, s->meeting, 0, meeting, sizeof meeting, err);
    if (!st)
        st = dev->memory->read(dev, s->sums, 0, s->sum, workgroups * s->threads * sizeof *s->sum, err);
    if (st)
        return st;
    check_sums(s, workgroups);
    s->wrong |= meeting[0] != workgroups; /* all must arrive, even if too late */
    *met = meeting[1] == 0;
    *seconds += as_timing_seconds(&t);
    return AS_OK;
}

/* The largest multiple of `each` workgroups, up to `most` times, that meets; 0: none. */
static enum as_status most_that_meet(struct state *s, size_t each, size_t most, size_t *found, double *seconds,
                                     struct as_error *err)
{
    size_t lo = 0, hi = most + 1;
    while (hi - lo > 1) {
        const size_t middle = lo + (hi - lo) / 2;
        bool met = false;
        for (int i = 0; i < MEETING_TRIES && !met; i++) {
            enum as_status st = occupancy_meet(s, middle * each, &met, seconds, err);
            if (st)
                return st;
        }
        lo = met ? middle : lo;
        hi = met ? hi : middle;
    }
    *found = lo;
    return AS_OK;
}

/* In whole workgroups per compute unit. If not even one per unit is resident, another process shares the device. */
static enum as_status sample_meeting(struct state *s, struct as_sample *out, struct as_error *err)
{
    size_t found = 0;
    *out = (struct as_sample){.clock_hz = NAN};
    enum as_status st = most_that_meet(s, s->compute_units, MEETING_MAX, &found, &out->seconds, err);
    out->value = (double)found;
    if (st || found)
        return st;
    st = most_that_meet(s, 1, s->compute_units, &found, &out->seconds, err);
    out->value = (double)found / s->compute_units;
    return st;
}

static enum as_status occupancy_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    (void)reps;
    if (s->meets)
        return sample_meeting(s, out, err);
    enum as_status st = occupancy_stay(s, s->shared, &out->value, &out->seconds, err);
    if (!st)
        out->clock_hz = as_kernel_timer_clock(&s->timer);
    return st;
}

static bool occupancy_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, s->wrong ? "a workgroup lost its values" : "every workgroup ran and kept its values");
    return !s->wrong;
}

static void occupancy_finish(void *state)
{
    struct state *s = state;
    as_kernel_timer_finish(&s->timer);
    free(s->value);
    free(s->sum);
    free(s->at_a_time);
}

const struct as_probe as_probe_occupancy = {
    .name = "occupancy",
    .title = "Occupancy",
    .question = "How many workgroups are resident on a compute unit, by their registers and shared memory?",
    .metric = "workgroups",
    .unit = "workgroups",
    .counts = "resident workgroups per compute unit: by overlap, median over compute units; without a clock in kernels "
              "by a barrier across the launch",
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, grid, grid, occupancy_applies),
    .patience_s = 30, /* the driver compiles the kernel first */
    AS_TRIAL(struct state, occupancy_prepare, occupancy_sample, occupancy_check, occupancy_finish),
};
