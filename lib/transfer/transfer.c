#include "transfer.h"
#include "lib/buffers/buffers.h"

#include "lib/autotune/autotune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_transfer[];

enum {
    ITEM = 16,           /* bytes per access of a kernel thread */
    PIECE = 8 << 20,     /* bytes filled or read back per call */
    BLOCK = 4096,        /* bytes per checked block */
    BLOCKS = 64,         /* checked blocks, if not all */
    WHOLE_MAX = 2 << 20, /* up to this many bytes, everything is checked */
    ENGINE_LANES = 2,    /* forth and back */
    GRIDS_MAX = 6,
    ROUNDS_FIRST = 3,
    ROUNDS_LATER = 1
};

/* ---- the pattern ---- */

/* Random bits from a position (the finalizer of splitmix64: Steele, Lea, Flood 2014). */
static uint64_t transfer_mixed(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t pattern(const struct as_transfer *t, unsigned lane, uint64_t i)
{
    return transfer_mixed(t->desc.seed + lane * UINT64_C(0xd1342543de82ef95) + i * UINT64_C(0x9e3779b97f4a7c15));
}

/* The first and the last word change from sample to sample, so that stale data fails. */
static uint64_t transfer_word(const struct as_transfer *t, unsigned lane, uint64_t i)
{
    bool marked = i == 0 || i + 1 == t->desc.bytes / sizeof(uint64_t);
    return pattern(t, lane, i) ^ (marked ? transfer_mixed(t->sample) : 0);
}

/* ---- memory ---- */

uint64_t as_transfer_footprint(const struct as_transfer_desc *desc)
{
    return 2 * desc->lanes * desc->bytes;
}

static enum as_status transfer_write_words(struct as_transfer *t, struct as_memory *to, uint64_t offset,
                                           const uint64_t *words, uint64_t bytes, struct as_error *err)
{
    if (to)
        return t->dev->memory->write(t->dev, to, offset, words, bytes, err);
    if (!t->plain) /* each end has one kind of memory or the other */
        return as_fail(err, AS_FAILED, "a copy has no memory at one end");
    memcpy((char *)t->plain + offset, words, bytes);
    return AS_OK;
}

/* Sources get the pattern, destinations its complement. */
static enum as_status fill_lane(struct as_transfer *t, unsigned lane, uint64_t *words, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (uint64_t at = 0; at < t->desc.bytes && !st; at += PIECE) {
        uint64_t bytes = t->desc.bytes - at < PIECE ? t->desc.bytes - at : PIECE, n = bytes / sizeof *words;
        for (uint64_t i = 0; i < n; i++)
            words[i] = transfer_word(t, lane, at / sizeof *words + i);
        st = transfer_write_words(t, t->from[lane], at, words, bytes, err);
        for (uint64_t i = 0; i < n; i++)
            words[i] = ~words[i];
        if (!st)
            st = transfer_write_words(t, t->to[lane], at, words, bytes, err);
    }
    return st;
}

static enum as_status transfer_fill(struct as_transfer *t, struct as_error *err)
{
    uint64_t *words = calloc(1, PIECE); /* a size need not be a multiple of a word */
    enum as_status st = words ? AS_OK : as_nomem(err, PIECE, "the pattern of a copy");
    for (unsigned l = 0; l < t->desc.lanes && !st; l++)
        st = fill_lane(t, l, words, err);
    free(words);
    return st;
}

enum as_status as_transfer_mark(struct as_transfer *t, struct as_error *err)
{
    enum as_status st = AS_OK;
    t->sample++;
    for (unsigned l = 0; l < t->desc.lanes && !st; l++) {
        uint64_t last = t->desc.bytes / sizeof(uint64_t) - 1;
        uint64_t words[2] = {transfer_word(t, l, 0), transfer_word(t, l, last)};
        st = transfer_write_words(t, t->from[l], 0, &words[0], sizeof words[0], err);
        if (!st)
            st = transfer_write_words(t, t->from[l], last * sizeof words[1], &words[1], sizeof words[1], err);
    }
    return st;
}

static enum as_status transfer_obtain(struct as_transfer *t, const struct as_transfer_end *end, struct as_memory **out,
                                      struct as_error *err)
{
    struct as_memory_desc desc = {
        .allocator = end->allocator, .bytes = t->desc.bytes, .node = end->node, .owner = end->owner};
    if (end->allocator)
        return t->dev->memory->alloc(t->dev, &desc, out, err);
    if (t->plain)
        return as_fail(err, AS_USAGE, "a copy has pageable memory at one end at most");
    t->plain = aligned_alloc(BLOCK, (size_t)((t->desc.bytes + BLOCK - 1) / BLOCK * BLOCK));
    return t->plain ? AS_OK : as_nomem(err, (size_t)t->desc.bytes, "pageable memory for a copy");
}

/* ---- running ---- */

/* By the call that takes a host address, the only one for memory unknown to the API. */
static enum as_status run_calls(const struct as_transfer *t, uint64_t reps, struct as_timing *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    double start = as_now();
    for (uint64_t r = 0; r < reps && !st; r++)
        st = t->to[0] ? t->dev->memory->write(t->dev, t->to[0], 0, t->plain, t->desc.bytes, err)
                      : t->dev->memory->read(t->dev, t->from[0], 0, t->plain, t->desc.bytes, err);
    *out = (struct as_timing){.host_s = as_now() - start, .device_s = NAN, .cycles = NAN};
    return st;
}

static struct as_copy engine_copy(const struct as_transfer *t, uint64_t reps)
{
    struct as_copy copy = {.to = t->to[0], .from = t->from[0], .bytes = t->desc.bytes, .reps = reps};
    if (t->desc.lanes == ENGINE_LANES) {
        copy.back_to = t->to[1];
        copy.back_from = t->from[1];
    }
    return copy;
}

static struct as_launch kernel_launch(const struct as_transfer *t, uint64_t reps, struct as_arg args[AS_TRANSFER_ARGS])
{
    for (size_t l = 0; l < AS_TRANSFER_LANES; l++) {
        size_t used = l < t->desc.lanes ? l : 0; /* arguments of unused lanes must be valid memory too */
        args[2 * l] = as_memory_arg(t->to[used]);
        args[2 * l + 1] = as_memory_arg(t->from[used]);
    }
    args[2 * AS_TRANSFER_LANES] = as_u64_arg(t->desc.bytes / ITEM);
    args[2 * AS_TRANSFER_LANES + 1] = as_u32_arg(t->desc.lanes);
    return (struct as_launch){.kernel = t->copy,
                              .args = args,
                              .args_n = AS_TRANSFER_ARGS,
                              .workgroups = t->grid.workgroups,
                              .workgroup_size = t->grid.workgroup_size,
                              .reps = reps,
                              .work = {.bytes = (double)(t->desc.lanes * t->desc.bytes),
                                       .footprint = (double)as_transfer_footprint(&t->desc)}};
}

struct as_part as_transfer_part(const struct as_transfer *t, uint64_t reps, struct as_transfer_work *work)
{
    if (t->desc.kernel)
        work->launch = kernel_launch(t, reps, work->args);
    else
        work->copy = engine_copy(t, reps);
    return (struct as_part){
        .dev = t->dev, .copy = t->desc.kernel ? NULL : &work->copy, .launch = t->desc.kernel ? &work->launch : NULL};
}

static enum as_status transfer_run(const struct as_transfer *t, uint64_t reps, struct as_timing *out,
                                   struct as_error *err)
{
    struct as_transfer_work work;
    if (t->plain)
        return run_calls(t, reps, out, err);
    const struct as_part part = as_transfer_part(t, reps, &work);
    return part.launch ? t->dev->queue->launch(t->dev, part.launch, out, err)
                       : t->dev->queue->copy(t->dev, part.copy, out, err);
}

enum as_status as_transfer_sample(void *transfer, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_transfer *t = transfer;
    struct as_timing timing;
    enum as_status st = as_transfer_mark(t, err);
    if (!st)
        st = transfer_run(t, reps, &timing, err);
    if (st)
        return st;
    out->seconds = as_timing_seconds(&timing);
    out->value = (double)(t->desc.lanes * t->desc.bytes) * (double)reps / out->seconds * 1e-9;
    return AS_OK;
}

/* ---- the grid: tested, since some links prefer few workgroups and others many ---- */

static uint64_t transfer_key_of(const struct as_transfer *t)
{
    uint64_t parts[3 + 4 * AS_TRANSFER_LANES] = {as_hash(t->dev->info.id, strlen(t->dev->info.id)), t->desc.bytes,
                                                 t->desc.lanes};
    for (size_t l = 0; l < t->desc.lanes; l++) {
        const struct as_transfer_end *ends[2] = {&t->desc.lane[l].from, &t->desc.lane[l].to};
        for (size_t e = 0; e < 2; e++) {
            const char *owner = ends[e]->owner ? ends[e]->owner : "";
            parts[3 + 4 * l + 2 * e] = as_hash(ends[e]->allocator, strlen(ends[e]->allocator));
            parts[4 + 4 * l + 2 * e] = as_hash(owner, strlen(owner)) + (uint64_t)(ends[e]->node + 1);
        }
    }
    return as_hash(parts, sizeof parts);
}

/* Each lane gets the same number of workgroups, at most one per item. */
static struct as_transfer_grid grid_of(const struct as_transfer *t, uint64_t workgroups, size_t workgroup_size)
{
    const struct as_device_info *info = &t->dev->info;
    size_t size = info->threads && info->threads < workgroup_size ? info->threads : workgroup_size;
    uint64_t most = (t->desc.bytes / ITEM + size - 1) / size, each = workgroups / t->desc.lanes;
    each = each < 1 ? 1 : each > most ? most : each;
    return (struct as_transfer_grid){(size_t)(each * t->desc.lanes), size};
}

static size_t list_grids(const struct as_transfer *t, struct as_transfer_grid out[GRIDS_MAX])
{
    static const struct {
        unsigned workgroups; /* workgroups per compute unit; 0: one thread per item */
        unsigned workgroup_size;
    } shapes[GRIDS_MAX] = {{1, 256}, {1, 1024}, {2, 1024}, {8, 256}, {32, 256}, {0, 256}};
    const struct as_device_info *info = &t->dev->info;
    size_t n = 0;
    if (info->capabilities & AS_CAP_HOST_KERNELS) {
        out[0] = (struct as_transfer_grid){info->threads ? info->threads : 1, 1};
        return 1;
    }
    for (size_t i = 0; i < GRIDS_MAX; i++) {
        uint64_t workgroups = shapes[i].workgroups
                                  ? (uint64_t)shapes[i].workgroups * (info->compute_units ? info->compute_units : 1)
                                  : UINT32_MAX;
        struct as_transfer_grid g = grid_of(t, workgroups, shapes[i].workgroup_size);
        bool seen = false;
        for (size_t k = 0; k < n; k++)
            seen |= out[k].workgroups == g.workgroups && out[k].workgroup_size == g.workgroup_size;
        if (!seen)
            out[n++] = g;
    }
    return n;
}

static enum as_status transfer_choose_grid(struct as_transfer *t, struct as_error *err)
{
    struct as_transfer_grid grids[GRIDS_MAX];
    const size_t n = list_grids(t, grids);
    bool known;
    enum as_status st = AS_OK;
    t->grid = grids[0];
    if (n == 1)
        return AS_OK;
    struct as_autotune *c = as_autotune_of(transfer_key_of(t), &known);
    const int rounds = known ? ROUNDS_LATER : ROUNDS_FIRST;
    for (int round = 0; round < rounds && !st; round++)
        for (size_t i = 0; i < n && !st; i++) {
            struct as_timing timing;
            t->grid = grids[i];
            st = transfer_run(t, 1, &timing, err);
            if (!st)
                as_autotune_add(c, i, as_timing_seconds(&timing));
        }
    t->grid = grids[as_autotune_best(c, n)];
    return st;
}

/* ---- native kernel: each thread copies a piece of every lane ---- */

static void host_copy(const struct as_host_call *call)
{
    uint64_t n = *(const uint64_t *)call->args[2 * AS_TRANSFER_LANES];
    uint32_t lanes = *(const uint32_t *)call->args[2 * AS_TRANSFER_LANES + 1];
    uint64_t first = n / call->threads * call->thread;
    uint64_t count = call->thread + 1 == call->threads ? n - first : n / call->threads;
    for (uint64_t r = 0; r < call->reps; r++)
        for (uint32_t l = 0; l < lanes; l++)
            memcpy((char *)call->args[2 * l] + first * ITEM, (const char *)call->args[2 * l + 1] + first * ITEM,
                   (size_t)(count * ITEM));
}
static const struct as_host_kernel host_kernels[] = {{"copy", host_copy}, {NULL, NULL}};

/* ---- preparing and checking ---- */

enum as_status as_transfer_prepare(struct as_transfer *t, struct as_device *dev, const struct as_transfer_desc *desc,
                                   struct as_error *err)
{
    *t = (struct as_transfer){.dev = dev, .desc = *desc};
    if (desc->lanes == 0 || desc->lanes > (desc->kernel ? AS_TRANSFER_LANES : ENGINE_LANES))
        return as_fail(err, AS_USAGE, "%u concurrent copies; a kernel makes 1 to %d, copy engines 1 or 2", desc->lanes,
                       AS_TRANSFER_LANES);
    if (desc->bytes < ITEM || desc->bytes % ITEM)
        return as_fail(err, AS_USAGE, "a copy of %llu bytes is not a multiple of %d", (unsigned long long)desc->bytes,
                       ITEM);
    enum as_status st = AS_OK;
    for (unsigned l = 0; l < desc->lanes && !st; l++) {
        st = transfer_obtain(t, &desc->lane[l].from, &t->from[l], err);
        if (!st)
            st = transfer_obtain(t, &desc->lane[l].to, &t->to[l], err);
    }
    if (!st && t->plain && (desc->kernel || desc->lanes > 1))
        st = as_fail(err, AS_USAGE, "pageable memory is copied by one call at a time only");
    if (!st)
        st = transfer_fill(t, err);
    if (st || !desc->kernel)
        return st;
    struct as_program_desc program = {.name = "copy", .source = as_kernel_transfer, .host = host_kernels};
    as_buffers_open(&t->own, dev, &program, err);
    t->copy = as_buffers_kernel(&t->own, "copy", err);
    return t->own.status ? t->own.status : transfer_choose_grid(t, err);
}

void as_transfer_variant(const struct as_transfer *t, char *out, size_t size)
{
    if (t->desc.kernel)
        snprintf(out, size, "%zu workgroups of %zu", t->grid.workgroups, t->grid.workgroup_size);
    else
        snprintf(out, size, "%s", !t->plain ? "copy engine" : t->to[0] ? "write call" : "read call");
}

static bool block_is_right(struct as_transfer *t, unsigned lane, uint64_t at, uint64_t *words, uint64_t bytes,
                           char *why, size_t size)
{
    struct as_error err = {0};
    if (!t->to[lane])
        memcpy(words, (const char *)t->plain + at, bytes);
    else if (t->dev->memory->read(t->dev, t->to[lane], at, words, bytes, &err)) {
        snprintf(why, size, "%s", err.text);
        return false;
    }
    for (uint64_t i = 0; i < bytes / sizeof *words; i++) {
        uint64_t want = transfer_word(t, lane, at / sizeof *words + i);
        if (words[i] == want)
            continue;
        snprintf(why, size, "byte %llu of copy %u holds %016llx, not %016llx",
                 (unsigned long long)(at + i * sizeof *words), lane, (unsigned long long)words[i],
                 (unsigned long long)want);
        return false;
    }
    return true;
}

static bool lane_is_right(struct as_transfer *t, unsigned lane, uint64_t *words, char *why, size_t size)
{
    uint64_t all = t->desc.bytes;
    if (t->desc.whole_check || all <= WHOLE_MAX) {
        for (uint64_t at = 0; at < all; at += PIECE)
            if (!block_is_right(t, lane, at, words, all - at < PIECE ? all - at : PIECE, why, size))
                return false;
        return true;
    }
    struct as_rng rng;
    as_rng_seed(&rng, t->desc.seed + t->sample);
    for (unsigned b = 0; b < BLOCKS; b++) {
        uint64_t at = b == 0 ? 0 : b == 1 ? all - BLOCK : as_rng_below(&rng, (all - BLOCK) / ITEM) * ITEM;
        if (!block_is_right(t, lane, at, words, BLOCK, why, size))
            return false;
    }
    return true;
}

bool as_transfer_check(void *transfer, char *why, size_t size)
{
    struct as_transfer *t = transfer;
    bool right = true;
    uint64_t *words = calloc(1, PIECE); /* a size need not be a multiple of a word */
    if (!words)
        return as_check_no_memory(why, size);
    for (unsigned l = 0; l < t->desc.lanes && right; l++)
        right = lane_is_right(t, l, words, why, size);
    if (right)
        snprintf(why, size, "destination equals the source's pattern (%s)",
                 t->desc.whole_check || t->desc.bytes <= WHOLE_MAX ? "every byte" : "64 blocks of 4 KiB");
    free(words);
    return right;
}

void as_transfer_finish(void *transfer)
{
    struct as_transfer *t = transfer;
    if (!t->dev)
        return;
    as_buffers_finish(&t->own);
    for (size_t l = 0; l < AS_TRANSFER_LANES; l++) {
        t->dev->memory->free(t->dev, t->from[l]);
        t->dev->memory->free(t->dev, t->to[l]);
    }
    free(t->plain);
    *t = (struct as_transfer){0};
}
