/* Device threads that update the array. Each workgroup counts in its own cache line, which the host reads while the
 * kernel runs if both access the memory. */
#include "atomics.h"
#include "lib/buffers/buffers.h"

#include "lib/chase/chase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_atomics[];

enum { GROUP_THREADS = 64, WORDS = 16, FIRST_BATCH = 16, MOST_BATCH = 1 << 20, ABLE_WORDS = 4 };
/* A workgroup polls the stop flag after each batch, usually in host memory: rarely enough to spare the link, often
 * enough for fresh counts. */
static const double LOOKS = 2e6, BATCH_LEAST_S = 50e-6, BATCH_MOST_S = 1e-3;
static const double ALONE_S = 5; /* an unstopped kernel ends after about this time */

struct as_atomics_device {
    struct as_device *dev;
    const struct as_atomics_array *array;
    struct as_buffers own;
    struct as_kernel *kernel;
    struct as_memory *control;
    uint32_t *lines; /* copy of `control` after an unwatched run */
    size_t workgroups, workgroup_size;
    bool watched;
    uint32_t batch;         /* updates per thread between polls */
    uint32_t used, batches; /* this run's batch size and number of batches */
    uint32_t forever;       /* batches until an unstopped kernel ends */
};

static const char *scope_of(bool system)
{
    return system ? "SCOPE_SYSTEM" : "SCOPE_DEVICE";
}

static void atomics_device_make_defines(const struct as_atomics_device_desc *d, char *out, size_t size)
{
    static const struct {
        const char *value, *element, *add, *has;
    } types[ATOMICS_TYPES] = {{"u32", "atomic_u32", "ATOMIC_ADD", "1"},
                              {"u64", "atomic_u64", "ATOMIC_ADD_U64", "HAVE_ATOMIC_ADD_U64"},
                              {"f32", "atomic_f32", "ATOMIC_ADD_F32", "HAVE_ATOMIC_ADD_F32"},
                              {"f64", "atomic_f64", "ATOMIC_ADD_F64", "HAVE_ATOMIC_ADD_F64"}};
    const enum as_atomics_type type = d->array->type;
    snprintf(out, size,
             "-DVALUE=%s -DELEMENT=%s -DADD=%s -DHAS_ADD=%s -DORDER=%s -DSCOPE=%s -DPLAIN=%d -DNEEDS_ORDER=%d "
             "-DNEEDS_SEQ_CST=%d -DNEEDS_SYSTEM=%d -DCONTROL_WORDS=%du -DCONTROL_SCOPE=%s",
             types[type].value, types[type].element, types[type].add, types[type].has,
             d->seq_cst ? "ORDER_SEQ_CST" : "ORDER_RELAXED", scope_of(d->system), d->plain, d->seq_cst || d->system,
             d->seq_cst, d->system, WORDS, d->watched ? "SCOPE_SYSTEM" : "SCOPE_DEVICE");
}

/* ---- capabilities of the device's kernels ---- */

static enum as_status judge_able(const uint32_t able[ABLE_WORDS], const struct as_atomics_device_desc *d,
                                 struct as_error *err)
{
    const struct {
        bool lacks;
        const char *what;
    } rows[] = {{!able[0], "addition of this type"},
                {(d->seq_cst || d->system) && !able[1], "orders and scopes: they are relaxed, at device scope"},
                {d->seq_cst && !able[2], "order seq_cst"},
                {d->system && !able[3], "system scope"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].lacks)
            return as_fail(err, AS_UNSUPPORTED, "atomics of this device's kernels have no %s", rows[i].what);
    return AS_OK;
}

static enum as_status look_at_able(struct as_atomics_device *g, struct as_trial_context *tc,
                                   const struct as_atomics_device_desc *d, struct as_error *err)
{
    uint32_t able[ABLE_WORDS] = {1, 1, 1, 1}; /* without a device only the existence of the kernel is checked */
    struct as_timing unused;
    const struct as_arg arg = as_memory_arg(g->control);
    const struct as_launch l = as_launch_of(as_buffers_kernel(&g->own, "able", err), &arg, 1, 1, 1);
    as_buffers_write(&g->own, g->control, able, sizeof able, err);
    enum as_status st = g->own.status;
    if (!st)
        st = g->dev->queue->launch(g->dev, &l, &unused, err);
    if (!st)
        st = g->dev->memory->read(g->dev, g->control, 0, able, sizeof able, err);
    if (!st)
        st = judge_able(able, d, err);
    if (!st && !d->plain)
        as_note(tc, "device_addition", able[0] == 1 ? "by an atomic of the API" : "by a compare-and-swap loop");
    return st;
}

/* ---- launches ---- */

static size_t control_bytes(const struct as_atomics_device *g)
{
    return (1 + g->workgroups) * WORDS * sizeof(uint32_t);
}

static _Atomic uint32_t *word_at(const struct as_atomics_device *g, size_t line)
{
    return (_Atomic uint32_t *)(void *)((uint32_t *)g->control->host + line * WORDS);
}

static enum as_status atomics_device_reset(struct as_atomics_device *g, struct as_error *err)
{
    for (size_t i = 0; i < (1 + g->workgroups) * WORDS; i++)
        g->lines[i] = 0;
    if (!g->watched)
        return g->dev->memory->write(g->dev, g->control, 0, g->lines, control_bytes(g), err);
    for (size_t i = 0; i <= g->workgroups; i++)
        atomic_store_explicit(word_at(g, i), 0, memory_order_release);
    return AS_OK;
}

static struct as_launch atomics_device_make_launch(const struct as_atomics_device *g, uint64_t seed,
                                                   struct as_arg args[7])
{
    const struct as_atomics_array *a = g->array;
    args[0] = as_memory_arg(a->memory);
    args[1] = as_memory_arg(g->control);
    args[2] = as_u64_arg(ATOMICS_GUARD / as_atomics_type_bytes(a->type));
    args[3] = as_u64_arg(a->elements);
    args[4] = as_u64_arg(seed);
    args[5] = as_u32_arg(g->used);
    args[6] = as_u32_arg(g->batches);
    return (struct as_launch){.kernel = g->kernel,
                              .args = args,
                              .args_n = 7,
                              .workgroups = g->workgroups,
                              .workgroup_size = g->workgroup_size,
                              .reps = 1};
}

static enum as_status time_batch(struct as_atomics_device *g, uint32_t batch, double *seconds, struct as_error *err)
{
    struct as_arg args[7];
    struct as_timing t;
    g->used = batch;
    g->batches = 1;
    struct as_launch l = atomics_device_make_launch(g, batch, args);
    enum as_status st = atomics_device_reset(g, err);
    if (!st)
        st = g->dev->queue->launch(g->dev, &l, &t, err);
    *seconds = st ? NAN : as_timing_seconds(&t);
    return st;
}

/* A batch takes long compared with a poll. The first launches have extra costs. */
static enum as_status choose_batch(struct as_atomics_device *g, struct as_error *err)
{
    const double wanted = fmin(fmax((double)g->workgroups / LOOKS, BATCH_LEAST_S), BATCH_MOST_S);
    double nothing, took = 0;
    enum as_status st = time_batch(g, 1, &nothing, err);
    if (!st)
        st = time_batch(g, 1, &nothing, err);
    for (g->batch = FIRST_BATCH; !st; g->batch *= 4) {
        st = time_batch(g, g->batch, &took, err);
        took = fmax(took - nothing, 0);
        if (took >= wanted / 2 || g->batch >= MOST_BATCH)
            break;
    }
    double forever = took > 0 ? ALONE_S / took : 0;
    g->forever = forever < 1e9 ? (uint32_t)forever + 64 : 1000000000;
    return st;
}

/* Splits few updates into at least eight batches, so that their start is visible. */
static uint32_t batch_for(const struct as_atomics_device *g, uint64_t each)
{
    return each / 8 == 0 ? 1 : each / 8 < g->batch ? (uint32_t)(each / 8) : g->batch;
}

uint64_t as_atomics_device_whole(const struct as_atomics_device *g, uint64_t each)
{
    each = each ? each : 1;
    return each / batch_for(g, each) * batch_for(g, each);
}

enum as_status as_atomics_device_start(struct as_atomics_device *g, uint64_t seed, uint64_t each, struct as_error *err)
{
    struct as_arg args[7];
    g->used = batch_for(g, each);
    uint64_t batches = each == UINT64_MAX ? g->forever : each / g->used;
    g->batches = batches < UINT32_MAX ? (uint32_t)batches : UINT32_MAX;
    struct as_launch l = atomics_device_make_launch(g, seed, args);
    enum as_status st = atomics_device_reset(g, err);
    return st ? st : g->dev->queue->submit(g->dev, &l, err);
}

void as_atomics_device_stop(struct as_atomics_device *g)
{
    if (g->watched)
        atomic_store_explicit(word_at(g, 0), 1, memory_order_release);
}

enum as_status as_atomics_device_wait(struct as_atomics_device *g, struct as_error *err)
{
    enum as_status st = g->dev->queue->wait(g->dev, AS_WAIT_BLOCK, err);
    if (!st && !g->watched)
        st = g->dev->memory->read(g->dev, g->control, 0, g->lines, control_bytes(g), err);
    return st;
}

static uint32_t batches_of(const struct as_atomics_device *g, size_t group)
{
    return g->watched ? atomic_load_explicit(word_at(g, 1 + group), memory_order_acquire)
                      : g->lines[(1 + group) * WORDS];
}

uint64_t as_atomics_device_count(const struct as_atomics_device *g)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < g->workgroups; i++)
        sum += batches_of(g, i);
    return sum * g->used * g->workgroup_size;
}

uint64_t as_atomics_device_groups_seen(const struct as_atomics_device *g)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < g->workgroups; i++)
        seen += batches_of(g, i) != 0;
    return seen;
}

/* ---- the side ---- */

static enum as_status make_control(struct as_atomics_device *g, struct as_error *err)
{
    const struct as_device_info *info = &g->dev->info;
    const char *allocator = g->watched ? as_chase_shared_allocator(info) : info->allocators[0].name;
    if (!allocator)
        return as_fail(err, AS_UNSUPPORTED, "%s", AS_CHASE_NOT_SHARED);
    g->lines = calloc(1, control_bytes(g));
    if (!g->lines)
        return as_nomem(err, control_bytes(g), "counters");
    g->control = as_buffers_memory(&g->own, allocator, control_bytes(g), err);
    return g->own.status || !g->watched ? g->own.status : g->dev->memory->map(g->dev, g->control, err);
}

enum as_status as_atomics_device_create(struct as_trial_context *tc, const struct as_atomics_device_desc *desc,
                                        struct as_atomics_device **out, struct as_error *err)
{
    char defines[512];
    struct as_atomics_device *g = *out = calloc(1, sizeof *g);
    if (!g)
        return as_nomem(err, sizeof *g, "device threads");
    g->dev = tc->dev;
    g->array = desc->array;
    g->watched = desc->watched;
    g->workgroup_size = desc->threads < GROUP_THREADS ? desc->threads : GROUP_THREADS;
    g->workgroups = desc->threads / g->workgroup_size;
    atomics_device_make_defines(desc, defines, sizeof defines);
    struct as_program_desc program = {.name = "atomics", .source = as_kernel_atomics, .defines = defines};
    as_buffers_open(&g->own, tc->dev, &program, err);
    enum as_status st = g->own.status ? g->own.status : make_control(g, err);
    if (!st)
        st = look_at_able(g, tc, desc, err);
    if (st)
        return st;
    g->kernel = as_buffers_kernel(&g->own, "histogram", err);
    if (g->own.status)
        return g->own.status;
    as_expect_code(tc, g->kernel, desc->plain ? "store.global" : "atomic.global", 1);
    st = choose_batch(g, err);
    as_note_number(tc, "batch", g->batch);
    as_note_number(tc, "workgroups", (double)g->workgroups);
    return st;
}

void as_atomics_device_destroy(struct as_atomics_device *g)
{
    if (!g)
        return;
    if (g->control && g->watched)
        g->dev->memory->unmap(g->dev, g->control, NULL);
    as_buffers_finish(&g->own);
    free(g->lines);
    free(g);
}
