#include "trial.h"

#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of the victim's fixed work, and of a launch of an aggressor, which must be short against it. */
static const double WORK_S = 10e-3, LAUNCH_S = 3e-3;
/* Blocks of a sample: in so many each arm takes each position equally often, be there two arms or three. */
enum { TRIES = 3, BLOCKS = 6 };

static enum op op_of(const struct as_axes *a, const char *axis)
{
    static const char *const words[] = {
        [OP_READ] = "read",   [OP_WRITE] = "write", [OP_WRITE_NT] = "write_nt", [OP_ATOMIC] = "atomic",
        [OP_CHASE] = "chase", [OP_H2D] = "h2d",     [OP_D2H] = "d2h",           [OPS] = NULL};
    return (enum op)as_word_index(a, axis, words);
}

static bool is_copy(enum op op)
{
    return op == OP_H2D || op == OP_D2H;
}

static bool is_native(const struct trial *t)
{
    return (t->vc->dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
}

static bool is_shared(const struct trial *t)
{
    return as_word_is(t->vc->axes, "buffers", "shared");
}

static const struct lines *lines_of(const struct trial *t, int side)
{
    return &t->lines[is_shared(t) ? VICTIM : side];
}

static enum as_status make_lines(struct trial *t, struct as_error *err)
{
    const struct as_axes *a = t->vc->axes;
    enum as_status st = AS_OK;
    for (int i = 0; i < (is_shared(t) || t->control ? 1 : SIDES) && !st; i++) {
        const bool own = is_native(t) || is_shared(t) || t->on_device[i];
        const struct lines_desc desc = {.dev = own ? t->vc->dev : NULL,
                                        .allocator = as_axes_text(a, "allocator"),
                                        .use = i == VICTIM ? "interference victim" : "interference aggressor",
                                        .bytes = as_axes_u64(a, "size"),
                                        .seed = t->vc->seed + (uint64_t)i,
                                        .chased =
                                            t->op[i] == OP_CHASE || (is_shared(t) && t->op[AGGRESSOR] == OP_CHASE),
                                        .mapped = is_shared(t) || !t->on_device[i]};
        if (!is_copy(t->op[i]))
            st = lines_make(&t->lines[i], &desc, err);
    }
    return st;
}

static enum as_status make_device_side(struct trial *t, int side, struct as_error *err)
{
    const struct as_axes *a = t->vc->axes;
    const struct gpu_desc desc = {.dev = t->vc->dev,
                                  .op = t->op[side],
                                  .lines = is_copy(t->op[side]) ? NULL : lines_of(t, side),
                                  .keeps = is_shared(t),
                                  .allocator = as_axes_text(a, "allocator"),
                                  .bytes = as_axes_u64(a, "size") / LINE_BYTES * LINE_BYTES,
                                  .seed = t->vc->seed,
                                  .launch_s = side == VICTIM ? WORK_S : LAUNCH_S};
    const unsigned load = side == AGGRESSOR ? (unsigned)as_axes_u64(a, "load") : 100;
    return device_side_make(&t->device, &desc, load, err);
}

static enum as_status make_cpu_side(struct trial *t, int side, unsigned threads, const int *cpus, struct as_error *err)
{
    const struct as_axes *a = t->vc->axes;
    const struct cpu_side_desc desc = {
        .op = t->op[side],
        .lines = lines_of(t, side),
        .keeps = is_shared(t),
        .threads = threads,
        .load = side == AGGRESSOR ? (unsigned)as_axes_u64(a, "load") : 100,
        .cpus = cpus,
        .priority = priority_find(side == AGGRESSOR ? as_axes_text(a, "priority") : priority_words[0])};
    if (!desc.priority)
        return as_fail(err, AS_UNSUPPORTED, "this system has no priority '%s'", as_axes_text(a, "priority"));
    enum as_status st = cpu_side_make(&t->cpu[side], &desc, err);
    return st || side == AGGRESSOR ? st : cpu_side_calibrate(&t->cpu[side], WORK_S, err);
}

/* The launching thread must not take time from the threads of the CPU's side. */
static void bind_here(struct trial *t, int cpu)
{
    struct as_cpus one = {{0}};
    as_cpus_add(&one, cpu);
    t->bound = as_thread_cpus(&t->before) && as_thread_keep_on(&one);
}

/* The first CPU is the victim's core beside other cores; beside a device it is left to the thread that launches. */
static enum as_status make_sides(struct trial *t, struct as_error *err)
{
    unsigned n = (unsigned)as_axes_u64(t->vc->axes, "threads");
    int *cpus = NULL;
    n = n ? n + 1 : 0;
    enum as_status st = t->on_device[VICTIM] && t->control ? AS_OK : cpus_find(t->vc->dev, &n, &cpus, err);
    for (int i = 0; i < (t->control ? 1 : SIDES) && !st; i++) {
        const bool one = i == VICTIM && (is_native(t) || t->op[i] == OP_CHASE);
        st = t->on_device[i] ? make_device_side(t, i, err)
                             : make_cpu_side(t, i, one ? 1 : n - 1, cpus + !(i == VICTIM && is_native(t)), err);
    }
    if (!st && cpus && !is_native(t))
        bind_here(t, cpus[0]);
    free(cpus);
    return st;
}

static struct side side_of(struct trial *t, int side)
{
    return t->on_device[side] ? (struct side){&device_side_ops, &t->device}
                              : (struct side){&cpu_side_ops, &t->cpu[side]};
}

static void expect_code(struct trial *t)
{
    static const char *const operations[OPS] = {[OP_READ] = "load.global",
                                                [OP_WRITE] = "store.global",
                                                [OP_ATOMIC] = "atomic.global",
                                                [OP_CHASE] = "load.global"};
    const struct gpu_work *g = &t->device.work;
    if (g->kernel && operations[g->op])
        as_expect_code(t->vc, g->kernel, operations[g->op], 1);
}

enum as_status trial_prepare(struct as_trial_context *vc, void *state, struct as_error *err)
{
    struct trial *t = state;
    const bool of_device = as_word_is(vc->axes, "victim", "device");
    const uint64_t size = as_axes_u64(vc->axes, "size");
    t->vc = vc;
    t->control = as_word_is(vc->axes, "aggressor", "none");
    t->op[VICTIM] = op_of(vc->axes, "op");
    t->op[AGGRESSOR] = op_of(vc->axes, "aggressor");
    t->on_device[VICTIM] = of_device && !is_native(t);
    t->on_device[AGGRESSOR] = !of_device && !is_native(t);
    vc->footprint = size * (is_shared(t) || t->control ? 1 : SIDES);
    vc->min_reps = vc->max_reps = 1;
    /* The core's clock cancels in the ratio, and an aggressor's thread that the calling one preempts is no contention.
     */
    vc->host_work = false;
    enum as_status st = as_check_room(vc->dev, vc->footprint, size, err);
    if (!st)
        st = make_lines(t, err);
    if (!st)
        st = make_sides(t, err);
    if (st)
        return st;
    expect_code(t);
    t->pair.victim = side_of(t, VICTIM);
    t->pair.aggressor = side_of(t, AGGRESSOR);
    t->pair.control = t->control;
    t->pair.starves = !as_word_is(vc->axes, "priority", priority_words[0]);
    /* As of a block below. */
    st = AS_FAILED;
    for (int i = 0; i < TRIES && st == AS_FAILED; i++)
        st = pair_start(&t->pair, vc->seed, err);
    return st;
}

/* A block in which the aggressor did not work all the time is repeated: where the device's threads are the host's, the
 * scheduler may leave the aggressor out. */
static enum as_status make_block(struct trial *t, double *slowdown, double *seconds, struct as_error *err)
{
    enum as_status st = AS_FAILED;
    for (int i = 0; i < TRIES && st == AS_FAILED; i++) {
        st = pair_block(&t->pair, slowdown, seconds, err);
        t->rejected += st == AS_FAILED;
    }
    return st;
}

enum as_status trial_sample(struct trial *t, struct as_sample *out, struct as_error *err)
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

void trial_note(struct trial *t)
{
    static const char *const names[2][2] = {{"alone_bandwidth", "loaded_bandwidth"},
                                            {"alone_latency", "loaded_latency"}};
    const struct pair *p = &t->pair;
    const bool chase = t->op[VICTIM] == OP_CHASE;
    if (!(p->done > 0))
        return;
    for (int arm = PAIR_ALONE; arm <= PAIR_LOADED; arm++) {
        const double each = pair_mean(p, (enum pair_arm)arm);
        as_note_number(t->vc, names[chase][arm], chase ? 1e9 * each : LINE_BYTES * 1e-9 / each);
    }
    if (t->rejected)
        as_note_number(t->vc, "rejected_blocks", t->rejected);
    if (t->control)
        return;
    const double alone = pair_mean(p, PAIR_AGGRESSOR), loaded = pair_loaded_rate(p);
    as_note_number(t->vc, "aggressor_alone", alone * LINE_BYTES * 1e-9);
    as_note_number(t->vc, "aggressor_loaded", loaded * LINE_BYTES * 1e-9);
    if (t->keeps_n) /* paired, as the slowdown is */
        as_note_number(t->vc, "aggressor_keeps", 100 * as_median(t->keeps, t->keeps_n));
}

bool trial_check(struct trial *t, char *why, size_t why_size)
{
    bool right = true;
    for (int i = 0; i < (t->control ? 1 : SIDES) && right; i++)
        right = t->on_device[i] ? gpu_work_check(&t->device.work, why, why_size)
                                : host_work_check(&t->cpu[i].work, why, why_size);
    if (right)
        snprintf(why, why_size, "sums, chases, written lines and copies are correct");
    return right;
}

void trial_finish(void *state)
{
    struct trial *t = state;
    if (t->bound)
        as_thread_keep_on(&t->before);
    for (int i = 0; i < SIDES; i++)
        cpu_side_finish(&t->cpu[i]);
    device_side_finish(&t->device);
    for (int i = 0; i < SIDES; i++)
        lines_finish(&t->lines[i]);
}
