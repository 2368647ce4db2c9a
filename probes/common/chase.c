#include "chase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_latency[];

/* Bytes from which it pays to write with all threads. */
enum { FILL_TOGETHER = 8 << 20 };

/* Inverse of an odd number modulo 2^64 by Newton's iteration: each step doubles the number of right bits. */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

void as_bijection_init(struct as_bijection *b, uint64_t n, uint64_t seed)
{
    struct as_rng rng;
    unsigned bits = 1;
    as_rng_seed(&rng, seed);
    while (bits < 48 && (UINT64_C(1) << bits) < n)
        bits++;
    *b = (struct as_bijection){.n = n, .mask = (UINT64_C(1) << bits) - 1, .shift = (bits + 1) / 2};
    for (int r = 0; r < AS_BIJECTION_ROUNDS; r++) {
        b->multiply[r] = as_rng_u64(&rng) | 1;
        b->inverse[r] = inverse_of(b->multiply[r]);
        b->add[r] = as_rng_u64(&rng);
    }
}

/* Of the next power of two; x ^ x >> shift undoes itself, since shift is at least half of the bits. */
static uint64_t mix(const struct as_bijection *b, uint64_t x)
{
    for (int r = 0; r < AS_BIJECTION_ROUNDS; r++) {
        x = (x * b->multiply[r] + b->add[r]) & b->mask;
        x ^= x >> b->shift;
    }
    return x;
}

static uint64_t unmix(const struct as_bijection *b, uint64_t x)
{
    for (int r = AS_BIJECTION_ROUNDS - 1; r >= 0; r--) {
        x ^= x >> b->shift;
        x = ((x - b->add[r]) * b->inverse[r]) & b->mask;
    }
    return x;
}

/* Values outside [0, n) are mixed again until they fall into it (cycle walking: Black, Rogaway 2002). */
uint64_t as_bijection_at(const struct as_bijection *b, uint64_t i)
{
    do
        i = mix(b, i);
    while (i >= b->n);
    return i;
}

uint64_t as_bijection_index(const struct as_bijection *b, uint64_t value)
{
    do
        value = unmix(b, value);
    while (value >= b->n);
    return value;
}

void as_cycle_init(struct as_cycle *c, enum as_pattern pattern, uint64_t lines, uint64_t stride, uint64_t page,
                   uint64_t seed)
{
    uint64_t per_page = page / stride;
    *c = (struct as_cycle){.lines = lines, .per_page = lines, .pattern = pattern};
    /* Less than two pages, or lines that are pages themselves, leave nothing to keep together. */
    if (pattern == AS_PATTERN_PAGE && per_page > 1 && lines >= 2 * per_page) {
        c->per_page = per_page;
        c->lines = lines - lines % per_page;
    }
    as_bijection_init(&c->page, c->lines / c->per_page, seed ^ UINT64_C(0x9e3779b97f4a7c15));
    as_bijection_init(&c->line, c->per_page, seed);
}

/* Lines of each page start at another place of the order, so that pages do not look alike. */
static uint64_t turn(const struct as_cycle *c, uint64_t page)
{
    return (page * UINT64_C(0x9e3779b97f4a7c15) >> 20) % c->per_page;
}

uint64_t as_cycle_at(const struct as_cycle *c, uint64_t i)
{
    if (c->pattern == AS_PATTERN_STRIDE)
        return i;
    if (c->per_page == c->lines)
        return as_bijection_at(&c->line, i);
    uint64_t page = as_bijection_at(&c->page, i / c->per_page);
    uint64_t line = as_bijection_at(&c->line, (i % c->per_page + turn(c, page)) % c->per_page);
    return page * c->per_page + line;
}

uint64_t as_cycle_next(const struct as_cycle *c, uint64_t line)
{
    uint64_t i;
    if (c->pattern == AS_PATTERN_STRIDE)
        i = line;
    else if (c->per_page == c->lines)
        i = as_bijection_index(&c->line, line);
    else {
        uint64_t page = line / c->per_page;
        uint64_t at = as_bijection_index(&c->line, line % c->per_page);
        i = as_bijection_index(&c->page, page) * c->per_page + (at + c->per_page - turn(c, page)) % c->per_page;
    }
    return as_cycle_at(c, i + 1 < c->lines ? i + 1 : 0);
}

#define STEP4 "mov (%0), %0\n\tmov (%0), %0\n\tmov (%0), %0\n\tmov (%0), %0\n\t"
#define STEP4_ARM "ldr %0, [%0]\n\tldr %0, [%0]\n\tldr %0, [%0]\n\tldr %0, [%0]\n\t"
#define TIMES16(x) x x x x x x x x x x x x x x x x

/* args: 0 result (u64), 1 buffer, 2 start line (u64), 3 stride (u64) */
static void host_walk(const struct as_host_call *call)
{
    char *base = call->args[1];
    uint64_t start, stride;
    memcpy(&start, call->args[2], sizeof start);
    memcpy(&stride, call->args[3], sizeof stride);
    void *p = base + start * stride;
    for (uint64_t r = call->reps; r; r--) {
#if defined(__x86_64__)
        __asm__ volatile(TIMES16(STEP4) : "+r"(p) : : "memory");
#elif defined(__aarch64__)
        __asm__ volatile(TIMES16(STEP4_ARM) : "+r"(p) : : "memory");
#else
        for (int i = 0; i < AS_CHASE_STEPS; i++)
            p = *(void *volatile *)p;
#endif
    }
    *(uint64_t *)call->args[0] = (uint64_t)((char *)p - base) / stride;
}
/* Both walk addresses; those of a device only the device knows, so that it gets the index of the next line's first word
 * and makes an address of it itself. */
static void write_cycle(const struct as_chase *c, char *buffer, uint64_t first, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        uint64_t next = as_cycle_next(&c->cycle, first + k);
        if (c->native) {
            void *target = (char *)c->memory->host + next * c->stride;
            memcpy(buffer + k * c->stride, &target, sizeof target);
        } else {
            uint64_t word = next * c->stride / 8;
            memcpy(buffer + k * c->stride, &word, sizeof word);
        }
    }
}

/* args: 0 buffer, 1 the chase as a number. Each thread writes a piece of the cycle. */
static void host_fill(const struct as_host_call *call)
{
    const struct as_chase *c;
    memcpy(&c, call->args[1], sizeof c);
    uint64_t each = c->cycle.lines / call->threads, first = each * call->thread;
    uint64_t count = call->thread + 1 == call->threads ? c->cycle.lines - first : each;
    write_cycle(c, (char *)call->args[0] + first * c->stride, first, count);
}
static const struct as_host_kernel host_kernels[] = {{"walk", host_walk}, {"fill", host_fill}, {NULL, NULL}};

/* The thread that walks touches the memory first, so that it is near; where all of it is equally near, all help. */
static enum as_status launch_fill(struct as_chase *c, struct as_error *err)
{
    struct as_kernel *fill = NULL;
    struct as_arg args[2] = {{.kind = AS_ARG_MEMORY, .u.memory = c->memory},
                             {.kind = AS_ARG_U64, .u.u64 = (uint64_t)(uintptr_t)c}};
    bool help = c->dev->info.numa_nodes <= 1 && c->footprint >= FILL_TOGETHER && c->dev->info.threads > 1;
    struct as_launch l = {.args = args,
                          .args_n = 2,
                          .groups = help ? c->dev->info.threads : 1,
                          .group_size = 1,
                          .reps = 1,
                          .work = {.bytes = (double)c->footprint, .footprint = (double)c->footprint}};
    struct as_timing t;
    enum as_status s = c->dev->program->kernel(c->dev, c->program, "fill", &fill, err);
    l.kernel = fill;
    if (!s)
        s = c->dev->queue->launch(c->dev, &l, &t, err);
    c->dev->program->kernel_destroy(c->dev, fill);
    return s;
}

static enum as_status fill_mapped(struct as_chase *c, struct as_error *err)
{
    enum as_status s = c->dev->memory->map(c->dev, c->memory, err);
    if (s)
        return s;
    s = launch_fill(c, err);
    if (s)
        return s;
    return c->dev->memory->map(c->dev, c->memory, err); /* now that it is backed, its page size is known */
}

/* In pieces, since the host may have less memory than the device. */
static enum as_status fill_copied(struct as_chase *c, struct as_error *err)
{
    uint64_t piece = (UINT64_C(16) << 20) / c->stride;
    piece = piece ? piece : 1;
    char *buffer = calloc(piece, c->stride);
    enum as_status s = buffer ? AS_OK : as_nomem(err, piece * c->stride, "a chase");
    for (uint64_t first = 0; first < c->cycle.lines && !s; first += piece) {
        uint64_t count = c->cycle.lines - first < piece ? c->cycle.lines - first : piece;
        write_cycle(c, buffer, first, count);
        s = c->dev->memory->write(c->dev, c->memory, first * c->stride, buffer, count * c->stride, err);
    }
    free(buffer);
    return s;
}

static enum as_status relocate(struct as_chase *c, struct as_error *err)
{
    struct as_kernel *kernel = NULL;
    const struct as_arg args[3] = {{.kind = AS_ARG_MEMORY, .u.memory = c->memory},
                                   {.kind = AS_ARG_U64, .u.u64 = c->cycle.lines},
                                   {.kind = AS_ARG_U64, .u.u64 = c->stride / 8}};
    unsigned units = c->dev->info.units ? c->dev->info.units : 1;
    struct as_timing t;
    enum as_status s = c->dev->program->kernel(c->dev, c->program, "relocate", &kernel, err);
    struct as_launch l = {.kernel = kernel,
                          .args = args,
                          .args_n = 3,
                          .groups = 8 * units,
                          .group_size = c->dev->info.threads && c->dev->info.threads < 64 ? c->dev->info.threads : 64,
                          .reps = 1,
                          .work = {.bytes = (double)c->footprint, .footprint = (double)c->footprint}};
    if (!s)
        s = c->dev->queue->launch(c->dev, &l, &t, err);
    c->dev->program->kernel_destroy(c->dev, kernel);
    return s;
}

static enum as_status launch(struct as_chase *c, uint64_t reps, struct as_timing *t, struct as_error *err)
{
    uint64_t steps = reps * AS_CHASE_STEPS;
    struct as_arg args[4] = {{.kind = AS_ARG_MEMORY, .u.memory = c->result},
                             {.kind = AS_ARG_MEMORY, .u.memory = c->memory}};
    if (c->native) {
        args[2] = (struct as_arg){.kind = AS_ARG_U64, .u.u64 = c->at};
        args[3] = (struct as_arg){.kind = AS_ARG_U64, .u.u64 = c->stride};
    } else {
        args[2] = (struct as_arg){.kind = AS_ARG_U64, .u.u64 = c->at * c->stride / 8};
        args[3] = (struct as_arg){.kind = AS_ARG_U32, .u.u32 = (uint32_t)reps};
    }
    struct as_launch l = {
        .kernel = c->kernel,
        .args = args,
        .args_n = 4,
        .groups = 1,
        .group_size = 1,
        .reps = c->native ? reps : 1,
        .work = {.accesses = c->native ? AS_CHASE_STEPS : (double)steps, .footprint = (double)c->footprint}};
    return c->dev->queue->launch(c->dev, &l, t, err);
}

static enum as_status read_position(struct as_chase *c, uint64_t *line, struct as_error *err)
{
    uint64_t value = 0;
    enum as_status s = c->dev->memory->read(c->dev, c->result, 0, &value, sizeof value, err);
    *line = c->native ? value : value * 8 / c->stride;
    return s;
}

static enum as_status build(struct as_chase *c, struct as_error *err)
{
    struct as_program_desc desc = {.name = "latency", .source = as_kernel_latency, .host = host_kernels};
    enum as_status s = c->dev->program->build(c->dev, &desc, &c->program, err);
    return s ? s : c->dev->program->kernel(c->dev, c->program, "walk", &c->kernel, err);
}

static enum as_status measure_overhead(struct as_chase *c, struct as_error *err)
{
    double s[5];
    struct as_timing t;
    for (int i = 0; i < 5; i++) {
        enum as_status st = launch(c, 0, &t, err);
        if (st)
            return st;
        s[i] = as_timing_seconds(&t);
    }
    c->overhead_s = as_median(s, 5);
    return AS_OK;
}

enum as_status as_chase_prepare(struct as_chase *c, struct as_device *dev, const struct as_chase_desc *desc,
                                struct as_error *err)
{
    *c = (struct as_chase){
        .dev = dev, .stride = desc->stride, .native = (dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0};
    if (desc->stride < 8 || desc->stride % 8 || desc->size < 2 * desc->stride)
        return as_fail(err, AS_USAGE, "a chase needs a stride that is a multiple of 8 bytes and a size of two of them");
    as_cycle_init(&c->cycle, desc->pattern, desc->size / desc->stride, desc->stride, 4096, desc->seed);
    c->footprint = c->cycle.lines * c->stride;
    c->at = as_cycle_at(&c->cycle, 0);
    struct as_memory_desc memory = {
        .allocator = desc->allocator, .bytes = desc->size, .node = -1, .fresh = desc->fresh, .owner = desc->owner};
    const char *own = dev->info.allocators[0].name; /* where the result goes when the buffer is a neighbour's */
    struct as_memory_desc result = {.allocator = desc->owner ? own : desc->allocator, .bytes = 64, .node = -1};
    enum as_status s = dev->memory->alloc(dev, &memory, &c->memory, err);
    if (!s)
        s = dev->memory->alloc(dev, &result, &c->result, err);
    if (!s)
        s = build(c, err);
    if (!s && c->native)
        s = fill_mapped(c, err);
    else if (!s)
        s = fill_copied(c, err);
    if (!s && !c->native)
        s = relocate(c, err);
    if (!s && !c->native)
        s = measure_overhead(c, err);
    return s;
}

void as_chase_expect(struct as_visit_context *vc, const struct as_chase *c)
{
    as_expect_code(vc, c->kernel, "load.global", AS_CHASE_STEPS);
}

enum as_status as_chase_walk(struct as_chase *c, uint64_t reps, double *ns, double *seconds, struct as_error *err)
{
    struct as_timing t;
    uint64_t line, steps = reps * AS_CHASE_STEPS;
    enum as_status s = launch(c, reps, &t, err);
    if (!s)
        s = read_position(c, &line, err);
    if (s)
        return s;
    double took = as_timing_seconds(&t) - c->overhead_s;
    *seconds = as_timing_seconds(&t);
    *ns = (took > 0 ? took : *seconds) / (double)steps * 1e9;
    c->walked = (c->walked + steps % c->cycle.lines) % c->cycle.lines;
    /* A wrong result must not become an address: the walk goes on where it should be, and the check fails. */
    uint64_t expected = as_cycle_at(&c->cycle, c->walked);
    c->lost |= line != expected;
    c->at = expected;
    return AS_OK;
}

bool as_chase_check(const struct as_chase *c, char *why, size_t size)
{
    snprintf(why, size,
             c->lost ? "the walk did not end at the line where it had to"
                     : "every walk ended at the line where it had to");
    return !c->lost;
}

void as_chase_finish(struct as_chase *c)
{
    if (!c->dev)
        return;
    c->dev->program->kernel_destroy(c->dev, c->kernel);
    c->dev->program->destroy(c->dev, c->program);
    c->dev->memory->free(c->dev, c->result);
    c->dev->memory->free(c->dev, c->memory);
    *c = (struct as_chase){0};
}
