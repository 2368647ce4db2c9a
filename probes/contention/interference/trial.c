#include "trial.h"

#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Length of the victim's fixed work, and of an aggressor's launch, which must be short in comparison. */
static const double WORK_S = 10e-3, LAUNCH_S = 3e-3;
/* BLOCKS per sample: a number in which each of two or three arms takes each position equally often. */
enum { TRIES = 3, BLOCKS = 6 };

static enum op interference_op_of(const struct as_axes *a, const char *axis)
{
    static const char *const words[] = {
        [OP_READ] = "read",   [OP_WRITE] = "write", [OP_WRITE_NT] = "write_nt", [OP_ATOMIC] = "atomic",
        [OP_CHASE] = "chase", [OP_H2D] = "h2d",     [OP_D2H] = "d2h",           [OPS] = NULL};
    return (enum op)as_word_index(a, axis, words);
}

static bool interference_trial_is_copy(enum op op)
{
    return op == OP_H2D || op == OP_D2H;
}

static bool is_shared(const struct trial *t)
{
    return as_word_is(t->tc->axes, "buffers", "shared");
}

static const struct lines *lines_of(const struct trial *t, int side)
{
    return &t->lines[is_shared(t) ? VICTIM : side];
}

static enum as_status make_lines(struct trial *t, struct as_error *err)
{
    const struct as_axes *a = t->tc->axes;
    enum as_status st = AS_OK;
    for (int i = 0; i < (is_shared(t) || t->control ? 1 : SIDES) && !st; i++) {
        const bool own = as_info_has_host_kernels(&t->tc->dev->info) || is_shared(t) || t->on_device[i];
        const struct lines_desc desc = {.dev = own ? t->tc->dev : NULL,
                                        .allocator = as_axes_text(a, "allocator"),
                                        .use = i == VICTIM ? "interference victim" : "interference aggressor",
                                        .bytes = as_axes_u64(a, "size"),
                                        .seed = t->tc->seed + (uint64_t)i,
                                        .chased =
                                            t->op[i] == OP_CHASE || (is_shared(t) && t->op[AGGRESSOR] == OP_CHASE),
                                        .mapped = is_shared(t) || !t->on_device[i]};
        if (!interference_trial_is_copy(t->op[i]))
            st = as_lines_make(&t->lines[i], &desc, err);
    }
    return st;
}

static enum as_status make_device_side(struct trial *t, int side, struct as_error *err)
{
    const struct as_axes *a = t->tc->axes;
    const struct gpu_desc desc = {.dev = t->tc->dev,
                                  .op = t->op[side],
                                  .lines = interference_trial_is_copy(t->op[side]) ? NULL : lines_of(t, side),
                                  .keeps = is_shared(t),
                                  .allocator = as_axes_text(a, "allocator"),
                                  .bytes = as_axes_u64(a, "size") / LINE_BYTES * LINE_BYTES,
                                  .seed = t->tc->seed,
                                  .launch_s = side == VICTIM ? WORK_S : LAUNCH_S};
    const unsigned load = side == AGGRESSOR ? (unsigned)as_axes_u64(a, "load") : 100;
    return as_device_side_make(&t->device, &desc, load, err);
}

static enum as_status make_cpu_side(struct trial *t, int side, unsigned threads, const int *cpus, struct as_error *err)
{
    const struct as_axes *a = t->tc->axes;
    const struct cpu_side_desc desc = {
        .op = t->op[side],
        .lines = lines_of(t, side),
        .keeps = is_shared(t),
        .threads = threads,
        .load = side == AGGRESSOR ? (unsigned)as_axes_u64(a, "load") : 100,
        .cpus = cpus,
        .priority = as_interference_priority(side == AGGRESSOR ? as_axes_text(a, "priority") : priority_words[0])};
    if (!desc.priority)
        return as_fail(err, AS_UNSUPPORTED, "this system has no priority '%s'", as_axes_text(a, "priority"));
    enum as_status st = as_cpu_side_make(&t->cpu[side], &desc, err);
    return st || side == AGGRESSOR ? st : as_cpu_side_calibrate(&t->cpu[side], WORK_S, err);
}

/* The launching thread must not take time from the CPU side's threads. */
static void bind_here(struct trial *t, int cpu)
{
    struct as_cpus one = {{0}};
    as_cpus_add(&one, cpu);
    t->bound = as_thread_cpus(&t->before) && as_thread_keep_on(&one);
}

/* The first CPU is the victim's core against other cores; against a device it is left to the launching thread. */
static enum as_status make_sides(struct trial *t, struct as_error *err)
{
    unsigned n = (unsigned)as_axes_u64(t->tc->axes, "threads");
    int *cpus = NULL;
    n = n ? n + 1 : 0;
    enum as_status st =
        t->on_device[VICTIM] && t->control ? AS_OK : as_interference_cpus_find(t->tc->dev, &n, &cpus, err);
    for (int i = 0; i < (t->control ? 1 : SIDES) && !st; i++) {
        const bool one = i == VICTIM && (as_info_has_host_kernels(&t->tc->dev->info) || t->op[i] == OP_CHASE);
        st = t->on_device[i] ? make_device_side(t, i, err)
                             : make_cpu_side(t, i, one ? 1 : n - 1,
                                             cpus + !(i == VICTIM && as_info_has_host_kernels(&t->tc->dev->info)), err);
    }
    if (!st && cpus && !as_info_has_host_kernels(&t->tc->dev->info))
        bind_here(t, cpus[0]);
    free(cpus);
    return st;
}

static struct side side_of(struct trial *t, int side)
{
    return t->on_device[side] ? (struct side){&device_side_ops, &t->device}
                              : (struct side){&cpu_side_ops, &t->cpu[side]};
}

static void interference_expect_code(struct trial *t)
{
    static const char *const operations[OPS] = {[OP_READ] = "load.global",
                                                [OP_WRITE] = "store.global",
                                                [OP_ATOMIC] = "atomic.global",
                                                [OP_CHASE] = "load.global"};
    const struct gpu_work *g = &t->device.work;
    if (g->kernel && operations[g->op])
        as_expect_code(t->tc, g->kernel, operations[g->op], 1);
}

enum as_status as_interference_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct trial *t = state;
    const bool of_device = as_word_is(tc->axes, "victim", "device");
    const uint64_t size = as_axes_u64(tc->axes, "size");
    t->tc = tc;
    t->control = as_word_is(tc->axes, "aggressor", "none");
    t->op[VICTIM] = interference_op_of(tc->axes, "op");
    t->op[AGGRESSOR] = interference_op_of(tc->axes, "aggressor");
    t->on_device[VICTIM] = of_device && !as_info_has_host_kernels(&t->tc->dev->info);
    t->on_device[AGGRESSOR] = !of_device && !as_info_has_host_kernels(&t->tc->dev->info);
    tc->footprint = size * (is_shared(t) || t->control ? 1 : SIDES);
    tc->min_reps = tc->max_reps = 1;
    /* The core's clock cancels in the ratio, and preempting one of the aggressor's threads is not contention. */
    tc->host_work = false;
    enum as_status st = as_check_room(tc->dev, tc->footprint, size, err);
    if (!st)
        st = make_lines(t, err);
    if (!st)
        st = make_sides(t, err);
    if (st)
        return st;
    interference_expect_code(t);
    t->pair.victim = side_of(t, VICTIM);
    t->pair.aggressor = side_of(t, AGGRESSOR);
    t->pair.control = t->control;
    t->pair.starves = !as_word_is(tc->axes, "priority", priority_words[0]);
    /* Repeated for the same reason as in make_block. */
    st = AS_FAILED;
    for (int i = 0; i < TRIES && st == AS_FAILED; i++)
        st = as_pair_start(&t->pair, tc->seed, err);
    return st;
}

/* Repeats blocks in which the aggressor did not work all the time: if the device's threads run on the host, the
 * scheduler may leave it out. */
static enum as_status make_block(struct trial *t, double *slowdown, double *seconds, struct as_error *err)
{
    enum as_status st = AS_FAILED;
    for (int i = 0; i < TRIES && st == AS_FAILED; i++) {
        st = as_pair_block(&t->pair, slowdown, seconds, err);
        t->rejected += st == AS_FAILED;
    }
    return st;
}

enum as_status as_interference_sample(struct trial *t, struct as_sample *out, struct as_error *err)
{
    double slowdown[BLOCKS], seconds;
    *out = (struct as_sample){.clock_hz = NAN};
    for (int i = 0; i < BLOCKS; i++) {
        enum as_status st = make_block(t, &slowdown[i], &seconds, err);
        if (st)
            return st;
        out->seconds += seconds;
        if (!t->control && t->keeps_n < TRIAL_KEEPS)
            t->keeps[t->keeps_n++] = t->pair.loaded_rate / t->pair.value[PAIR_AGGRESSOR];
    }
    out->value = as_median(slowdown, BLOCKS);
    return AS_OK;
}

void as_interference_note(struct trial *t)
{
    static const char *const names[2][2] = {{"alone_bandwidth", "loaded_bandwidth"},
                                            {"alone_latency", "loaded_latency"}};
    const struct pair *p = &t->pair;
    const bool chase = t->op[VICTIM] == OP_CHASE;
    if (!(p->done > 0))
        return;
    for (int arm = PAIR_ALONE; arm <= PAIR_LOADED; arm++) {
        const double each = as_pair_mean(p, (enum pair_arm)arm);
        as_note_number(t->tc, names[chase][arm], chase ? 1e9 * each : LINE_BYTES * 1e-9 / each);
    }
    if (t->rejected)
        as_note_number(t->tc, "rejected_blocks", t->rejected);
    if (t->control)
        return;
    const double alone = as_pair_mean(p, PAIR_AGGRESSOR), loaded = as_pair_loaded_rate(p);
    as_note_number(t->tc, "aggressor_alone", alone * LINE_BYTES * 1e-9);
    as_note_number(t->tc, "aggressor_loaded", loaded * LINE_BYTES * 1e-9);
    if (t->keeps_n) /* paired, like the slowdown */
        as_note_number(t->tc, "aggressor_keeps", 100 * as_median(t->keeps, t->keeps_n));
}

bool as_interference_check(struct trial *t, char *why, size_t why_size)
{
    bool right = true;
    for (int i = 0; i < (t->control ? 1 : SIDES) && right; i++)
        right = t->on_device[i] ? as_gpu_work_check(&t->device.work, why, why_size)
                                : as_host_work_check(&t->cpu[i].work, why, why_size);
    if (right)
        snprintf(why, why_size, "sums, chases, written lines and copies are correct");
    return right;
}

void as_interference_finish(void *state)
{
    struct trial *t = state;
    if (t->bound)
        as_thread_keep_on(&t->before);
    for (int i = 0; i < SIDES; i++)
        as_cpu_side_finish(&t->cpu[i]);
    as_device_side_finish(&t->device);
    for (int i = 0; i < SIDES; i++)
        as_lines_finish(&t->lines[i]);
}
