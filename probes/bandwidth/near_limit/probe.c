/* near_limit: rate of writing nearly the whole recommended working set. See method.md. */
#include "lib/buffers/buffers.h"

#include <stdio.h>

extern const char as_kernel_near_limit[];

enum {
    BLOCKS = 16,
    BLOCK_STEP = 64 << 10,
    WORD = sizeof(uint32_t),
    WORKGROUP = 256,
    RESIDENT = 2048,
    LOOK_WORDS = 1024
};

static const struct as_axis axes[] = {
    AS_COUNT_AXIS("share", 1, 1000, "50,90,98", "percent of the recommended maximum working set"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"),
    {0},
};
static const char *const grids[] = {"share=50,90,98,110 allocator=device,pinned", NULL};

struct trial {
    struct as_buffers own;
    struct as_kernel *kernel;
    struct as_memory *block[BLOCKS];
    uint64_t words; /* of a block */
    uint32_t key;   /* of the last pass */
    size_t workgroups, workgroup_size;
};

static uint64_t near_limit_block(const struct as_device_info *info, const struct as_axes *a)
{
    const double bytes = as_axes_number(a, "share") / 100 * (double)info->memory_bytes / BLOCKS;
    return (uint64_t)bytes / BLOCK_STEP * BLOCK_STEP;
}

static enum as_status near_limit_fits(double bytes, double free_bytes, struct as_error *err)
{
    return bytes <= free_bytes
               ? AS_OK
               : as_too_large(bytes, "only", free_bytes, " of the recommended working set are free", err);
}

static enum as_applies near_limit_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    const uint64_t block = near_limit_block(info, a);
    if (!(info->capabilities & AS_CAP_RECOMMENDED))
        return as_pruned(err, "the system recommends no working-set limit for this device");
    if (as_axes_number(a, "share") > 100)
        return as_inapplicable(err,
                               "exceeds the recommended working set: the system would page buffers out while kernels "
                               "run, and slow other programs down");
    if (block == 0)
        return as_pruned(err, "the device has too little memory");
    if (info->max_alloc && block > info->max_alloc)
        return as_inapplicable(err, "a sixteenth of it exceeds the largest allocation");
    return near_limit_fits((double)block * BLOCKS, (double)info->memory_free, err) ? AS_INAPPLICABLE : AS_APPLIES;
}

/* The first touch may be slow: at a GB/s. */
static double near_limit_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return as_compile_patience(info, a) + (double)near_limit_block(info, a) * BLOCKS / 1e9;
}

static enum as_status near_limit_pass(struct trial *t, double *seconds, struct as_error *err)
{
    *seconds = 0;
    t->key++; /* stale words fail */
    for (size_t i = 0; i < BLOCKS; i++) {
        const struct as_arg args[] = {as_memory_arg(t->block[i]), as_u64_arg(t->words), as_u32_arg(t->key + i)};
        struct as_launch l =
            as_launch_of(t->kernel, args, sizeof args / sizeof *args, t->workgroups, t->workgroup_size);
        struct as_timing timing;
        l.work = (struct as_work){.bytes = (double)(t->words * WORD), .footprint = (double)(t->words * WORD)};
        const enum as_status st = t->own.dev->queue->launch(t->own.dev, &l, &timing, err);
        if (st)
            return st;
        *seconds += as_timing_seconds(&timing);
    }
    return AS_OK;
}

static enum as_status near_limit_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct trial *t = state;
    const struct as_device_info *info = &tc->dev->info;
    const struct as_program_desc program = {.name = "near_limit", .source = as_kernel_near_limit};
    const uint64_t bytes = near_limit_block(info, tc->axes);
    const size_t threads = info->compute_unit_threads ? info->compute_unit_threads : RESIDENT;
    uint64_t free_bytes;
    double unused;
    enum as_status st = as_device_memory_free(tc->dev, &free_bytes, err);
    if (!st)
        st = near_limit_fits((double)bytes * BLOCKS, (double)free_bytes, err);
    if (st)
        return st;
    t->key = (uint32_t)tc->seed;
    t->words = bytes / WORD;
    t->workgroup_size = info->threads && info->threads < WORKGROUP ? info->threads : WORKGROUP;
    t->workgroups = (info->compute_units ? info->compute_units : 1) * (threads / t->workgroup_size + 1);
    as_buffers_open(&t->own, tc->dev, &program, err);
    t->kernel = as_buffers_kernel(&t->own, "write", err);
    for (size_t i = 0; i < BLOCKS; i++)
        t->block[i] = as_buffers_memory(&t->own, as_axes_text(tc->axes, "allocator"), bytes, err);
    if (t->own.status)
        return t->own.status;
    tc->footprint = bytes * BLOCKS;
    tc->min_reps = tc->max_reps = 1;
    as_note_number(tc, "blocks", BLOCKS);
    as_note_number(tc, "bytes", (double)(bytes * BLOCKS));
    as_note_number(tc, "recommended", (double)info->memory_bytes);
    as_expect_code(tc, t->kernel, "store.global", 1);
    return near_limit_pass(t, &unused, err); /* touches the memory */
}

static enum as_status near_limit_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct trial *t = state;
    (void)reps; /* always 1 */
    const enum as_status st = near_limit_pass(t, &out->seconds, err);
    out->value = (double)(t->words * WORD) * BLOCKS / out->seconds * 1e-9;
    return st;
}

static bool near_limit_is_right(const struct trial *t, size_t block, uint64_t first, char *why, size_t why_size)
{
    uint32_t words[LOOK_WORDS];
    struct as_error err = {0};
    if (t->own.dev->memory->read(t->own.dev, t->block[block], first * WORD, words, sizeof words, &err)) {
        snprintf(why, why_size, "%s", err.text);
        return false;
    }
    for (uint64_t i = 0; i < LOOK_WORDS; i++) {
        const uint32_t want = (uint32_t)(first + i) + t->key + (uint32_t)block;
        if (words[i] == want)
            continue;
        snprintf(why, why_size, "word %llu of block %zu is %08x, not %08x", (unsigned long long)(first + i), block,
                 words[i], want);
        return false;
    }
    return true;
}

static bool near_limit_check(void *state, char *why, size_t why_size)
{
    const struct trial *t = state;
    for (size_t i = 0; i < BLOCKS; i++)
        if (!near_limit_is_right(t, i, 0, why, why_size) ||
            !near_limit_is_right(t, i, t->words - LOOK_WORDS, why, why_size))
            return false;
    snprintf(why, why_size, "words at both ends of all blocks match the last pass");
    return true;
}

static void near_limit_finish(void *state)
{
    as_buffers_finish(&((struct trial *)state)->own);
}

const struct as_probe as_probe_near_limit = {
    .name = "near_limit",
    .title = "Memory near the recommended limit",
    .question = "Does write bandwidth hold up to the recommended working set?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "each byte of all blocks once; decimal GB",
    AS_CELLS(axes, grids, grids, near_limit_applies),
    .kernel_reaches = as_always_by_kernel,
    .patience = near_limit_patience,
    AS_TRIAL(struct trial, near_limit_prepare, near_limit_sample, near_limit_check, near_limit_finish),
};
