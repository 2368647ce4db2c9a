#include "gpu.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_interference[];

enum { GROUP_SIZE = 256, PER_UNIT = 8, CHASE_STEPS = 64, ARGS = 9, CHECKED = 64, PASSES_MAX = 1 << 24 };

static bool interference_is_copy(const struct gpu_work *g)
{
    return g->op == OP_H2D || g->op == OP_D2H;
}

/* On a device whose work-items are loop iterations on cores: one per core, each with its own piece. */
static void interference_choose_grid(struct gpu_work *g)
{
    const struct as_device_info *info = &g->dev->info;
    const size_t units = info->compute_units ? info->compute_units : 1;
    const uint64_t items = g->lines->n * (g->op == OP_ATOMIC ? 1 : LINE_WORDS);
    g->workgroups = g->workgroup_size = 1;
    if (g->op == OP_CHASE)
        return;
    if (as_runs_on_host(info)) {
        g->workgroups = units;
        g->piece = (items + units - 1) / units;
        return;
    }
    g->workgroups = units * PER_UNIT;
    g->workgroup_size = info->threads && info->threads < GROUP_SIZE ? info->threads : GROUP_SIZE;
}

static enum as_status interference_build(struct gpu_work *g, struct as_error *err)
{
    char defines[64];
    snprintf(defines, sizeof defines, "-DOP=%d -DSCOPE=%s", (int)g->op, g->keeps ? "SCOPE_SYSTEM" : "SCOPE_DEVICE");
    const struct as_program_desc desc = {.name = "interference", .source = as_kernel_interference, .defines = defines};
    as_buffers_open(&g->own, g->dev, &desc, err);
    g->kernel = as_buffers_kernel(&g->own, "lines", err);
    return g->own.status;
}

static enum as_status make_sums(struct gpu_work *g, struct as_error *err)
{
    const uint64_t bytes = (uint64_t)g->workgroups * g->workgroup_size * sizeof(uint64_t);
    uint64_t *words = calloc(1, bytes);
    if (!words)
        return as_nomem(err, bytes, "sums");
    if (g->op == OP_CHASE)
        words[0] = as_cycle_at(&g->lines->cycle, 0);
    g->sums = as_buffers_memory(&g->own, NULL, bytes, err);
    as_buffers_write(&g->own, g->sums, words, bytes, err);
    free(words);
    return g->own.status;
}

static enum as_status interference_run_kernel(struct gpu_work *g, double *seconds, struct as_error *err)
{
    const struct lines *l = g->lines;
    const uint64_t items = l->n * (g->op == OP_ATOMIC ? 1 : LINE_WORDS);
    const struct as_arg args[ARGS] = {as_memory_arg(g->sums),
                                      as_memory_arg(l->memory),
                                      as_memory_arg(l->memory),
                                      as_u64_arg(items),
                                      as_u64_arg(g->piece),
                                      as_u32_arg(g->passes),
                                      as_u64_arg(l->mark + (g->keeps ? 0 : g->done + 1)),
                                      as_u64_arg(!g->keeps),
                                      as_u32_arg(!g->keeps)};
    struct as_launch launch = as_launch_of(g->kernel, args, ARGS, g->workgroups, g->workgroup_size);
    struct as_timing timing;
    launch.work = (struct as_work){.bytes = as_gpu_work_items(g) * LINE_BYTES, .footprint = (double)l->n * LINE_BYTES};
    enum as_status st = g->dev->queue->launch(g->dev, &launch, &timing, err);
    *seconds = st ? NAN : as_timing_seconds(&timing);
    return st;
}

enum as_status as_gpu_work_run(struct gpu_work *g, double *seconds, struct as_error *err)
{
    struct as_sample sample = {.seconds = NAN};
    enum as_status st = interference_is_copy(g) ? as_transfer_sample(&g->copy, g->passes, &sample, err)
                                                : interference_run_kernel(g, &sample.seconds, err);
    g->ended = as_now();
    g->done += st ? 0 : g->passes;
    *seconds = sample.seconds;
    return st;
}

double as_gpu_work_items(const struct gpu_work *g)
{
    const double each = interference_is_copy(g) ? (double)g->copy.desc.bytes / LINE_BYTES
                        : g->op == OP_CHASE     ? CHASE_STEPS
                                                : (double)g->lines->n;
    return each * (double)g->passes;
}

/* The first launches have extra costs. */
static enum as_status choose_passes(struct gpu_work *g, double wanted, struct as_error *err)
{
    double took = 0;
    enum as_status st = AS_OK;
    g->passes = 1;
    for (int tries = 0; tries < 12 && !st; tries++) {
        st = as_gpu_work_run(g, &took, err);
        if (st || took >= 0.6 * wanted)
            break;
        const double grow = took > 0 ? fmin(fmax(wanted / took, 1.5), 64) : 64;
        g->passes = (uint64_t)fmin(ceil((double)g->passes * grow), PASSES_MAX);
    }
    return st;
}

static enum as_status make_copy(struct gpu_work *g, const struct gpu_desc *desc, struct as_error *err)
{
    const struct as_transfer_end host = {.allocator = desc->allocator, .node = -1},
                                 own = {.allocator = desc->dev->info.allocators[0].name, .node = -1};
    const bool in = g->op == OP_H2D;
    const struct as_transfer_desc copy = {
        .lane = {{in ? host : own, in ? own : host}}, .lanes = 1, .bytes = desc->bytes, .seed = desc->seed};
    return as_transfer_prepare(&g->copy, g->dev, &copy, err);
}

enum as_status as_gpu_work_make(struct gpu_work *g, const struct gpu_desc *desc, struct as_error *err)
{
    enum as_status st;
    *g = (struct gpu_work){.dev = desc->dev, .op = desc->op, .lines = desc->lines, .keeps = desc->keeps, .passes = 1};
    if (interference_is_copy(g))
        st = make_copy(g, desc, err);
    else {
        interference_choose_grid(g);
        st = interference_build(g, err);
        if (!st)
            st = make_sums(g, err);
    }
    return st ? st : choose_passes(g, desc->launch_s, err);
}

/* ---- the check ---- */

static bool read_sums(struct gpu_work *g, uint64_t *first, uint64_t *sum)
{
    struct as_error unused;
    const size_t n = g->workgroups * g->workgroup_size;
    uint64_t *words = calloc(n, sizeof *words);
    const bool read = words && !g->dev->memory->read(g->dev, g->sums, 0, words, n * sizeof *words, &unused);
    *sum = 0;
    for (size_t i = 0; i < n && read; i++)
        *sum += words[i];
    *first = read ? words[0] : 0;
    free(words);
    return read;
}

static bool line_is_right(struct gpu_work *g, uint64_t line)
{
    struct as_error unused;
    uint64_t words[LINE_WORDS];
    const uint64_t done = g->keeps ? 0 : g->done, mark = g->lines->mark;
    if (g->dev->memory->read(g->dev, g->lines->memory, line * LINE_BYTES, words, sizeof words, &unused))
        return false;
    if (g->op == OP_ATOMIC)
        return (uint32_t)words[ATOMIC_WORD] == (uint32_t)(line_value(mark, line) + done);
    for (int w = 1; w < LINE_WORDS; w++)
        if (words[w] != line_value(mark + done, line))
            return false;
    return words[0] == as_lines_first(g->lines, line, mark);
}

static bool check_lines(struct gpu_work *g, char *why, size_t why_size)
{
    struct as_rng rng;
    as_rng_seed(&rng, g->done);
    for (uint64_t i = 0; i < CHECKED; i++) {
        const uint64_t line = i == 0 ? 0 : i == 1 ? g->lines->n - 1 : as_rng_below(&rng, g->lines->n);
        if (line_is_right(g, line))
            continue;
        snprintf(why, why_size, "line %" PRIu64 " does not hold what the device %s", line,
                 g->op == OP_ATOMIC ? "added to it" : "wrote last");
        return false;
    }
    return true;
}

bool as_gpu_work_check(struct gpu_work *g, char *why, size_t why_size)
{
    uint64_t first, sum;
    if (interference_is_copy(g))
        return as_transfer_check(&g->copy, why, why_size);
    if (g->op == OP_WRITE || g->op == OP_ATOMIC)
        return check_lines(g, why, why_size);
    if (!read_sums(g, &first, &sum)) {
        snprintf(why, why_size, "the device's results cannot be read");
        return false;
    }
    if (g->op == OP_CHASE) {
        snprintf(why, why_size, "the device's chase ended at an unexpected line");
        return first == as_cycle_at(&g->lines->cycle, g->done * CHASE_STEPS % g->lines->n);
    }
    snprintf(why, why_size, "the sum that the device read differs from the reference");
    return sum == g->done * as_lines_sum(g->lines, 0, g->lines->n);
}

void as_gpu_work_finish(struct gpu_work *g)
{
    as_transfer_finish(&g->copy);
    as_buffers_finish(&g->own);
    *g = (struct gpu_work){0};
}
