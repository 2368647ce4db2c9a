#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct as_stream_kernels *widest(void)
{
    static const enum as_stream_width widths[] = {AS_WIDTH_SVE, AS_WIDTH_512, AS_WIDTH_256, AS_WIDTH_128,
                                                  AS_WIDTH_SCALAR};
    const struct as_stream_kernels *k = NULL;
    for (size_t i = 0; i < sizeof widths / sizeof *widths && !k; i++)
        k = as_stream_kernels(widths[i]);
    return k;
}

enum as_status as_host_work_make(struct host_work *w, enum op op, const struct lines *lines, bool keeps,
                                 unsigned threads, struct as_error *err)
{
    *w = (struct host_work){.op = op, .lines = lines, .keeps = keeps, .threads = threads, .kernels = widest()};
    if (lines->n < threads)
        return as_fail(err, AS_USAGE, "%llu lines are too few for %u threads", (unsigned long long)lines->n, threads);
    w->parts = aligned_alloc(_Alignof(struct host_part), threads * sizeof *w->parts);
    if (!w->parts)
        return as_nomem(err, threads * sizeof *w->parts, "parts");
    memset(w->parts, 0, threads * sizeof *w->parts);
    for (unsigned t = 0; t < threads; t++) {
        struct host_part *p = &w->parts[t];
        p->first = lines->n * t / threads;
        p->count = lines->n * (t + 1) / threads - p->first;
        p->line = lines->chased ? as_cycle_at(&lines->cycle, p->first) : 0;
    }
    return AS_OK;
}

void as_host_work_finish(struct host_work *w)
{
    free(w->parts);
    *w = (struct host_work){0};
}

/* ---- pieces ---- */

/* The mark that a lap writes; constant if the content must stay. */
static uint64_t mark_of(const struct host_work *w, uint64_t lap)
{
    return w->lines->mark + (w->keeps ? 0 : lap);
}

typedef uint64_t half __attribute__((vector_size(32), aligned(8), may_alias));

/* Writes whole lines but keeps the first word. */
static void write_piece(uint64_t *p, uint64_t first, uint64_t n, uint64_t mark)
{
    uint64_t v = line_value(mark, first);
    for (uint64_t i = 0; i < n; i++, p += LINE_WORDS, v += LINE_FACTOR) {
        const half all = {v, v, v, v}, start = {p[0], v, v, v};
        *(half *)p = start;
        *(half *)(p + LINE_WORDS / 2) = all;
    }
}

static double scalar_of(uint64_t lap)
{
    return 1 + (double)(lap % 7);
}

/* The addend is known at run time only: compilers turn an addition of zero into a load. */
static void atomic_piece(uint64_t *p, uint64_t n, uint32_t addend)
{
    for (uint64_t i = 0; i < n; i++)
        __atomic_fetch_add((uint32_t *)(void *)(p + i * LINE_WORDS + ATOMIC_WORD), addend, __ATOMIC_RELAXED);
}

static uint64_t chase_piece(const struct lines *l, struct host_part *p)
{
    uint64_t at = p->line;
    for (int i = 0; i < PIECE_LINES; i++)
        at = *(volatile const uint64_t *)&l->host[at * LINE_WORDS];
    p->line = at;
    p->steps += PIECE_LINES;
    return PIECE_LINES;
}

static void stream_piece(struct host_work *w, struct host_part *p, uint64_t n)
{
    const uint64_t first = p->first + p->at;
    uint64_t *from = w->lines->host + first * LINE_WORDS;
    double *words = (double *)(void *)from;
    const struct as_stream_kernels *k = w->kernels;
    if (w->op == OP_READ)
        p->sum += k->of[AS_STREAM_READ][0](NULL, words, words, n * LINE_WORDS, 0, 1).u;
    else if (w->op == OP_WRITE)
        write_piece(from, first, n, mark_of(w, p->laps + 1));
    else if (w->op == OP_WRITE_NT)
        k->of[AS_STREAM_WRITE][1](words, words, words, n * LINE_WORDS, scalar_of(p->laps), 1);
    else
        atomic_piece(from, n, !w->keeps);
}

uint64_t as_host_work_piece(void *work, unsigned thread)
{
    struct host_work *w = work;
    struct host_part *p = &w->parts[thread];
    if (w->op == OP_CHASE)
        return chase_piece(w->lines, p);
    const uint64_t left = p->count - p->at, n = left < PIECE_LINES ? left : PIECE_LINES;
    stream_piece(w, p, n);
    p->at += n;
    if (p->at == p->count) {
        p->at = 0;
        p->laps++;
    }
    return n;
}

/* ---- the check ---- */

/* Line k of a slice must hold what `laps` laps leave there. */
static bool interference_is_right(const struct host_work *w, const struct host_part *p, uint64_t k)
{
    const uint64_t laps = p->laps + (k < p->at), line = p->first + k;
    const uint64_t *words = w->lines->host + line * LINE_WORDS;
    const uint64_t value = line_value(w->op == OP_WRITE ? mark_of(w, laps) : w->lines->mark, line);
    bool right = true;
    if (w->op == OP_ATOMIC) {
        uint32_t low;
        memcpy(&low, &words[ATOMIC_WORD], sizeof low);
        return low == (uint32_t)(value + (w->keeps ? 0 : laps));
    }
    if (w->op == OP_WRITE_NT) {
        const union as_stream_sum bits = {.f = scalar_of(laps - 1)};
        for (int i = 0; i < LINE_WORDS && laps; i++)
            right = right && words[i] == bits.u;
        return right;
    }
    right = words[0] == as_lines_first(w->lines, line, w->lines->mark);
    for (int i = 1; i < LINE_WORDS; i++)
        right = right && words[i] == value;
    return right;
}

static bool part_is_right(const struct host_work *w, const struct host_part *p)
{
    const struct lines *l = w->lines;
    if (w->op == OP_CHASE)
        return p->line == as_cycle_at(&l->cycle, (p->first + p->steps) % l->n);
    if (w->op == OP_READ)
        return p->sum == p->laps * as_lines_sum(l, p->first, p->count) + as_lines_sum(l, p->first, p->at);
    for (uint64_t k = 0; k < p->count; k++)
        if (!interference_is_right(w, p, k))
            return false;
    return true;
}

bool as_host_work_check(const struct host_work *w, char *why, size_t why_size)
{
    static const char *const wrong[OPS] = {[OP_READ] = "the sum that was read differs from the reference",
                                           [OP_WRITE] = "a line does not hold what was written last",
                                           [OP_WRITE_NT] = "a line does not hold what was written last",
                                           [OP_ATOMIC] = "atomic additions were lost",
                                           [OP_CHASE] = "the chase ended at an unexpected line"};
    for (unsigned t = 0; t < w->threads; t++)
        if (!part_is_right(w, &w->parts[t])) {
            snprintf(why, why_size, "CPU thread %u: %s", t, wrong[w->op]);
            return false;
        }
    return true;
}
