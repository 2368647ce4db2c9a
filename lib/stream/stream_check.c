/* The check of a stream's results. */
#include "stream_internal.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sums modulo 2^32, exact for one pass over f32. */
static enum as_status check_narrow_sum(struct as_stream *s, struct as_error *err)
{
    const size_t n = s->grid.workgroups * s->grid.workgroup_size;
    uint32_t *words = malloc(n * sizeof *words), sum = 0;
    if (!words)
        return as_nomem(err, n * sizeof *words, "results");
    enum as_status st = s->dev->memory->read(s->dev, s->result, 0, words, n * sizeof *words, err);
    for (size_t i = 0; i < n && !st; i++)
        sum += words[i];
    free(words);
    s->wrong_sum |= !st && sum != (uint32_t)(s->last_reps * (uint64_t)(int64_t)s->sum);
    return st;
}

enum as_status as_stream_check_sum(struct as_stream *s, struct as_error *err)
{
    if (!s->native && as_stream_shape_of(s)->writes)
        return AS_OK; /* a device's threads write only sums */
    if (s->element != 8)
        return check_narrow_sum(s, err);
    const size_t used = s->native ? s->results
                        : s->gpu  ? s->grid.workgroups
                                  : s->grid.workgroups * s->grid.workgroup_size;
    uint64_t *words = malloc(used * sizeof *words);
    if (!words)
        return as_nomem(err, used * sizeof *words, "results");
    enum as_status st = s->dev->memory->read(s->dev, s->result, 0, words, used * sizeof *words, err);
    uint64_t u = 0;
    double f = 0;
    for (size_t i = 0; i < used && !st; i += s->native ? AS_STREAM_STRIDE : 1) {
        double v;
        memcpy(&v, &words[i], sizeof v);
        f += v;
        u += words[i];
    }
    free(words);
    if (st)
        return st;
    if (as_stream_shape_of(s)->writes)
        s->wrong_sum |= u != s->last_reps * s->n;
    else if (s->native && s->desc.op == AS_STREAM_READ)
        s->wrong_sum |= u != s->last_reps * s->sum_bits;
    else
        s->wrong_sum |= f != (double)s->last_reps * s->sum;
    return AS_OK;
}

/* want: room for as many. */
static bool check_elements(struct as_stream *s, uint64_t first, uint64_t count, const double *got, double *want,
                           char *why, size_t size)
{
    const struct as_stream_done done = {.s = s->scalar, .reps = s->reps, .scalars = s->scalars};
    as_stream_expected(s->data, s->desc.op, &done, first, count, want);
    for (uint64_t k = 0; k < count; k++) {
        if (got[k] == want[k])
            continue;
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "element %llu is %.17g, not %.17g", (unsigned long long)(first + k), got[k], want[k]);
        as_copy_text(why, size, as_buf_get(&text));
        as_buf_finish(&text);
        return false;
    }
    return true;
}

enum { CHECK_WORDS = 1 << 14, WHOLE_WORDS = 1 << 18 };

static bool check_piece(struct as_stream *s, uint64_t first, double *buffer, uint64_t words, char *why, size_t size)
{
    struct as_error err;
    uint64_t count = s->n - first < words ? s->n - first : words;
    if (as_stream_get(s, as_stream_shape_of(s)->out * s->pitch + first, buffer, count, &err)) {
        as_copy_text(why, size, err.text);
        return false;
    }
    return check_elements(s, first, count, buffer, buffer + CHECK_WORDS, why, size);
}

static bool check_output(struct as_stream *s, double *buffer, char *why, size_t size)
{
    if (s->whole_check || s->n <= WHOLE_WORDS) {
        for (uint64_t i = 0; i < s->n; i += CHECK_WORDS)
            if (!check_piece(s, i, buffer, CHECK_WORDS, why, size))
                return false;
        snprintf(why, size, "all %llu elements and the sums are correct", (unsigned long long)s->n);
        return true;
    }
    for (unsigned i = 0; i < AS_STREAM_DRAWN; i++)
        if (!check_piece(s, s->drawn[i] * AS_STREAM_BLOCK, buffer, AS_STREAM_BLOCK, why, size))
            return false;
    snprintf(why, size, "%d drawn elements and the sums are correct", AS_STREAM_DRAWN * AS_STREAM_BLOCK);
    return true;
}

static bool check_result(struct as_stream *s, char *why, size_t size)
{
    if (s->wrong_sum) {
        snprintf(why, size,
                 as_stream_shape_of(s)->writes ? "not every element was processed as often as requested"
                                               : "the sum differs from the reference");
        return false;
    }
    if (!as_stream_shape_of(s)->writes) {
        snprintf(why, size, "the sum of all %llu elements is correct", (unsigned long long)s->n);
        return true;
    }
    double *buffer = malloc(2 * CHECK_WORDS * sizeof *buffer);
    if (!buffer)
        return as_check_no_memory(why, size);
    bool right = true;
    for (size_t i = 0; i < s->places_n && right; i++) {
        s->memory = s->places[i];
        right = check_output(s, buffer, why, size);
    }
    s->memory = s->places[0];
    free(buffer);
    return right;
}

/* Wrong data must not be kept for later trials. */
static void forget(struct as_stream *s)
{
    const uint64_t first = s->content.offset / AS_ARENA_PIECE;
    const uint64_t end = (s->content.offset + s->memory->bytes + AS_ARENA_PIECE - 1) / AS_ARENA_PIECE;
    if (s->content.pieces)
        memset(s->content.pieces + first, AS_PIECE_NEW, end - first);
}

bool as_stream_check(struct as_stream *s, char *why, size_t size)
{
    const bool right = check_result(s, why, size);
    if (!right)
        forget(s);
    return right;
}
