/* The check: exact sums of integers, and plausible sums of random operands. */
#include "peak_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double factor_sum(const struct as_peak *p, enum as_matrix_operand which, size_t variant, size_t at)
{
    const struct as_number_format *f = as_matrix_format(p->desc.matrix, which);
    size_t n = as_matrix_count(p->desc.matrix, which, p->desc.n);
    return as_number_decode(f, p->numbers[which][0][variant * n + at]) +
           as_number_decode(f, p->numbers[which][1][variant * n + at]);
}

/* Four steps, (0, 0), (1, 1), (0, 1), (1, 0), multiply both fragments of A by both of B. In shared memory all warps use
 * the first variant. */
static void reference(const struct as_peak *p, size_t variant, double *sums)
{
    const struct as_matrix *m = p->desc.matrix;
    size_t va = m->held[AS_MATRIX_A].held == AS_HELD_SHARED ? 0 : variant;
    size_t vb = m->held[AS_MATRIX_B].held == AS_HELD_SHARED ? 0 : variant;
    unsigned n = p->desc.n;
    memset(sums, 0, (size_t)m->m * n * sizeof *sums);
    for (unsigned i = 0; i < m->m; i++)
        for (unsigned k = 0; k < m->k; k++) {
            double a = factor_sum(p, AS_MATRIX_A, va, (size_t)i * m->k + k);
            for (unsigned j = 0; j < n && a != 0; j++)
                sums[(size_t)i * n + j] += a * factor_sum(p, AS_MATRIX_B, vb, (size_t)k * n + j);
        }
}

static enum as_status read_ends(struct as_peak *p, struct as_error *err)
{
    return p->timer.dev->memory->read(p->timer.dev, p->ends, 0, p->end, p->ends_bytes, err);
}

/* An accumulator of a warp of a workgroup. */
struct end {
    size_t group, team, chain;
};
static size_t end_at(const struct as_peak *p, const struct end *e)
{
    return ((e->group * p->teams + e->team) * p->body.chains + e->chain) *
           as_image_bytes(p->desc.matrix, AS_MATRIX_C, p->desc.n);
}

/* Compares one accumulator element by element; false with the reason on a difference. */
static bool peak_check_compare_one(const struct as_peak *p, const struct end *e, const double *sums, double scale,
                                   uint64_t *codes, char *why, size_t size)
{
    const struct as_matrix *m = p->desc.matrix;
    const struct as_number_format *f = as_matrix_format(m, AS_MATRIX_C);
    as_image_unpack(m, AS_MATRIX_C, p->desc.n, p->end + end_at(p, e), codes);
    for (unsigned row = 0; row < m->m; row++)
        for (unsigned column = 0; column < p->desc.n; column++) {
            size_t i = (size_t)row * p->desc.n + column;
            double got = as_number_decode(f, codes[i]);
            if (got == scale * sums[i])
                continue;
            snprintf(why, size, "row %u, column %u of accumulator %zu of warp %zu of workgroup %zu is %g, not %g", row,
                     column, e->chain, e->team, e->group, got, scale * sums[i]);
            return false;
        }
    return true;
}

/* All accumulators of a variant in a workgroup; element by element only if their bits differ, as zeros may. */
static bool compare_group(const struct as_peak *p, size_t group, size_t variant, const unsigned char *want,
                          const double *sums, double scale, uint64_t *codes, char *why, size_t size)
{
    size_t bytes = as_image_bytes(p->desc.matrix, AS_MATRIX_C, p->desc.n);
    for (size_t team = variant; team < p->teams; team += AS_MATRIX_VARIANTS)
        for (size_t chain = 0; chain < p->body.chains; chain++) {
            const struct end e = {group, team, chain};
            if (memcmp(p->end + end_at(p, &e), want, bytes) != 0 &&
                !peak_check_compare_one(p, &e, sums, scale, codes, why, size))
                return false;
        }
    return true;
}

static bool peak_check_compare(const struct as_peak *p, double scale, double *sums, uint64_t *codes, char *why,
                               size_t size)
{
    const struct as_matrix *m = p->desc.matrix;
    const struct as_number_format *f = as_matrix_format(m, AS_MATRIX_C);
    unsigned char *want = calloc(1, as_image_bytes(m, AS_MATRIX_C, p->desc.n));
    bool good = want != NULL;
    if (!good)
        as_check_no_memory(why, size);
    for (size_t v = 0; v < AS_MATRIX_VARIANTS && v < p->teams && good; v++) {
        reference(p, v, sums);
        for (size_t i = 0; i < (size_t)m->m * p->desc.n; i++)
            codes[i] = as_number_nearest(f, scale * sums[i]);
        as_image_pack(m, AS_MATRIX_C, p->desc.n, 0, codes, want);
        for (size_t g = 0; g < p->workgroups && good; g++)
            good = compare_group(p, g, v, want, sums, scale, codes, why, size);
    }
    free(want);
    return good;
}

/* A workgroup's final accumulators after random operands; integers wrap. */
static bool check_possible(const struct as_peak *p, uint64_t *codes, char *why, size_t size)
{
    const struct as_matrix *m = p->desc.matrix;
    const struct as_number_format *f = as_matrix_format(m, AS_MATRIX_C);
    size_t bytes = as_image_bytes(m, AS_MATRIX_C, p->desc.n);
    for (size_t at = 0; at < p->teams * p->body.chains && f->kind == AS_NUMBER_FLOAT; at++) {
        as_image_unpack(m, AS_MATRIX_C, p->desc.n, p->end + at * bytes, codes);
        for (size_t i = 0; i < (size_t)m->m * p->desc.n; i++) {
            double got = as_number_decode(f, codes[i]);
            if (fabs(got) <= p->bound)
                continue;
            snprintf(why, size, "an accumulator holds %g, but sums stay below %u", got, p->bound);
            return false;
        }
    }
    return true;
}

static bool check_whole(struct as_peak *p, double *sums, uint64_t *codes, char *why, size_t size)
{
    struct as_error err = {0};
    double cycles, seconds;
    enum as_status st = as_peak_write(p, AS_PEAK_WHOLE, &err);
    for (int k = 0; k < AS_PEAK_KERNELS && !st; k++) {
        unsigned steps = k == AS_PEAK_HALF ? p->body.steps / 2 : p->body.steps;
        memset(p->end, 0x5a, p->ends_bytes);
        st = p->timer.dev->memory->write(p->timer.dev, p->ends, 0, p->end, p->ends_bytes, &err);
        if (!st)
            st = as_peak_launch(p, k, 1, &cycles, &seconds, &err);
        if (!st)
            st = read_ends(p, &err);
        if (!st && !peak_check_compare(p, steps / 4.0, sums, codes, why, size))
            return false;
    }
    if (st)
        snprintf(why, size, "%s", err.text);
    return !st;
}

bool as_peak_check(struct as_peak *p, char *why, size_t size)
{
    size_t numbers = (size_t)p->desc.matrix->m * p->desc.n;
    struct as_error err = {0};
    double *sums = malloc(numbers * sizeof *sums);
    uint64_t *codes = malloc(numbers * sizeof *codes);
    bool good = sums && codes;
    if (!good)
        as_check_no_memory(why, size);
    else if (read_ends(p, &err)) {
        snprintf(why, size, "%s", err.text);
        good = false;
    }
    good = good && check_possible(p, codes, why, size) && check_whole(p, sums, codes, why, size);
    if (good)
        snprintf(why, size, "all %zu accumulators equal the host's exactly",
                 p->workgroups * p->teams * p->body.chains * numbers);
    free(sums);
    free(codes);
    return good;
}
