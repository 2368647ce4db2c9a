#include "lines.h"

#include "os/memory.h"

#include <stdlib.h>

enum { PAGE = 4096, CHUNK_LINES = 1 << 14 };

uint64_t as_lines_first(const struct lines *l, uint64_t line, uint64_t mark)
{
    return l->chased ? as_cycle_next(&l->cycle, line) : line_value(mark, line);
}

static void interference_fill(const struct lines *l, uint64_t first, uint64_t count, uint64_t *to)
{
    for (uint64_t i = first; i < first + count; i++, to += LINE_WORDS) {
        to[0] = as_lines_first(l, i, l->mark);
        for (int w = 1; w < LINE_WORDS; w++)
            to[w] = line_value(l->mark, i);
    }
}

static enum as_status fill_by_copies(struct lines *l, struct as_error *err)
{
    uint64_t *chunk = malloc((size_t)CHUNK_LINES * LINE_BYTES);
    enum as_status st = chunk ? AS_OK : as_nomem(err, (size_t)CHUNK_LINES * LINE_BYTES, "lines");
    for (uint64_t i = 0; i < l->n && !st; i += CHUNK_LINES) {
        const uint64_t take = l->n - i < CHUNK_LINES ? l->n - i : CHUNK_LINES;
        interference_fill(l, i, take, chunk);
        st = l->dev->memory->write(l->dev, l->memory, i * LINE_BYTES, chunk, take * LINE_BYTES, err);
    }
    free(chunk);
    return st;
}

static enum as_status take_from_host(struct lines *l, struct as_error *err)
{
    l->host = as_take_large(l->n * LINE_BYTES);
    return l->host ? AS_OK : as_nomem(err, l->n * LINE_BYTES, "the CPU's lines");
}

static enum as_status take_from_device(struct lines *l, const struct lines_desc *desc, struct as_error *err)
{
    const struct as_arena_desc arena = {
        .memory = {.allocator = desc->allocator, .bytes = l->n * LINE_BYTES, .node = -1}, .use = desc->use};
    enum as_status st = as_arena_take(l->dev, &arena, &l->memory, err);
    if (st || !desc->mapped)
        return st;
    st = l->dev->memory->map(l->dev, l->memory, err);
    if (st)
        return st;
    l->mapped = true;
    l->host = l->memory->host;
    return l->host ? AS_OK : as_fail(err, AS_UNSUPPORTED, "the CPU does not reach memory from '%s'", desc->allocator);
}

enum as_status as_lines_make(struct lines *l, const struct lines_desc *desc, struct as_error *err)
{
    struct as_rng rng;
    as_rng_seed(&rng, desc->seed);
    *l = (struct lines){
        .dev = desc->dev, .n = desc->bytes / LINE_BYTES, .mark = as_rng_u64(&rng), .chased = desc->chased};
    if (desc->chased)
        as_cycle_init(&l->cycle, AS_PATTERN_RANDOM, l->n, LINE_BYTES, PAGE, desc->seed);
    enum as_status st = l->dev ? take_from_device(l, desc, err) : take_from_host(l, err);
    if (st)
        return st;
    if (!l->host)
        return fill_by_copies(l, err);
    interference_fill(l, 0, l->n, l->host);
    return AS_OK;
}

/* Sum of the numbers first .. first + count - 1, modulo 2^64. */
static uint64_t sum_of_numbers(uint64_t first, uint64_t count)
{
    const uint64_t below = count % 2 ? (count - 1) / 2 * count : count / 2 * (count - 1);
    return first * count + below;
}

uint64_t as_lines_sum(const struct lines *l, uint64_t first, uint64_t count)
{
    const uint64_t values = l->mark * count + LINE_FACTOR * sum_of_numbers(first, count);
    uint64_t firsts = l->chased ? 0 : values;
    if (l->chased && count == l->n)
        firsts = sum_of_numbers(0, l->n);
    else if (l->chased)
        for (uint64_t i = first; i < first + count; i++)
            firsts += as_cycle_next(&l->cycle, i);
    return firsts + (LINE_WORDS - 1) * values;
}

void as_lines_finish(struct lines *l)
{
    if (!l->dev)
        free(l->host);
    else {
        if (l->mapped)
            l->dev->memory->unmap(l->dev, l->memory, NULL);
        as_arena_give(l->dev, l->memory);
    }
    *l = (struct lines){0};
}
