/* The experiments in order, and their verification: the model found must reproduce the unit's results bit for bit. */
#include "find_internal.h"

#include "base/clock.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONSISTENT_PROBLEMS = 8, RESULTS_MOST = 8192 };

const struct as_property_info as_properties[AS_PROPERTIES] = {
    {"product", "product width"},
    {"accumulator", "accumulator width"},
    {"kept", "alignment width"},
    {"cut", "rounding of aligned summands"},
    {"aligned", "alignment of a product"},
    {"step", "products per step"},
    {"sums", "partial sums"},
    {"start", "position of the accumulator"},
    {"rounding", "rounding of a sum"},
    {"subnormal", "subnormal numbers"},
    {"overflow", "overflow"},
    {"special", "infinities and NaNs"},
    {"nan", "code of a NaN"},
    {"zero", "sign of zero"},
    {"explained", "results that the model found reproduces bit for bit"},
};

void as_found_number(struct as_finder *f, enum as_property what, double value, double at_most, const char *fmt, ...)
{
    struct as_property_found *p = &f->out->property[what];
    va_list args;
    *p = (struct as_property_found){.seen = true, .value = value, .at_most = at_most};
    va_start(args, fmt);
    vsnprintf(p->text, sizeof p->text, fmt, args);
    va_end(args);
}

void as_found_unseen(struct as_finder *f, enum as_property what, const char *fmt, ...)
{
    struct as_property_found p = {.value = NAN, .at_most = NAN};
    va_list args;
    va_start(args, fmt);
    vsnprintf(p.text, sizeof p.text, fmt, args);
    va_end(args);
    f->out->property[what] = p;
}

/* ---- whole matrices ---- */

struct problems {
    size_t n;
    uint64_t *a, *b, *c, *d, *e;
    size_t of_a, of_b, of_c; /* elements of all problems */
};

static enum as_status problems_start(struct problems *p, const struct as_matrix_unit *u, size_t n, struct as_error *err)
{
    *p = (struct problems){.n = n, .of_a = n * u->m * u->k, .of_b = n * u->k * u->n, .of_c = n * u->m * u->n};
    size_t numbers = p->of_a + p->of_b + 3 * p->of_c;
    p->a = calloc(numbers, sizeof *p->a);
    if (!p->a)
        return as_nomem(err, numbers * sizeof *p->a, "matrices");
    p->b = p->a + p->of_a;
    p->c = p->b + p->of_b;
    p->d = p->c + p->of_c;
    p->e = p->d + p->of_c;
    return AS_OK;
}

/* Small integers, whose dot products are exact in any accumulator. */
static double small_integer(const struct as_number_format *f, struct as_rng *rng)
{
    uint64_t r = as_rng_u64(rng);
    bool is_signed = f->kind != AS_NUMBER_UNSIGNED;
    double largest = as_number_largest(f) < 2 ? 1 : 2;
    return (double)(r % 3) * largest / 2 * (is_signed && r >> 32 & 1 ? -1 : 1);
}

static bool holds_products(const struct as_matrix_unit *u, const struct problems *p, struct as_error *err)
{
    for (size_t at = 0; at < p->of_c; at++) {
        size_t problem = at / ((size_t)u->m * u->n), row = at / u->n % u->m, column = at % u->n;
        const uint64_t *a = p->a + (problem * u->m + row) * u->k, *b = p->b + problem * u->k * u->n + column;
        double want = as_number_decode(u->c, p->c[at]), got = as_number_decode(u->c, p->d[at]);
        for (unsigned k = 0; k < u->k; k++)
            want += as_number_decode(u->a, a[k]) * as_number_decode(u->b, b[(size_t)k * u->n]);
        if (got != want) {
            as_fail(err, AS_FAILED, "row %zu, column %zu of a product of small integers is %g, not %g", row, column,
                    got, want);
            return false;
        }
    }
    return true;
}

static enum as_status find_consistent(struct as_finder *f, struct as_rng *rng, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    struct problems p;
    enum as_status st = problems_start(&p, u, CONSISTENT_PROBLEMS, err);
    if (st)
        return st;
    for (size_t i = 0; i < p.of_a; i++)
        p.a[i] = as_number_nearest(u->a, small_integer(u->a, rng));
    for (size_t i = 0; i < p.of_b; i++)
        p.b[i] = as_number_nearest(u->b, small_integer(u->b, rng));
    for (size_t i = 0; i < p.of_c; i++)
        p.c[i] = as_number_nearest(u->c, small_integer(u->c, rng));
    st = u->multiply(u->ctx, p.n, p.a, p.b, p.c, p.d, err);
    if (!st && !holds_products(u, &p, err))
        st = AS_FAILED;
    free(p.a);
    return st;
}

/* ---- verification ---- */

/* Random values within some powers of two of 1, so that sums cancel and carry; integers of any size. */
static uint64_t random_code(const struct as_number_format *f, int spread, struct as_rng *rng)
{
    uint64_t r = as_rng_u64(rng);
    if (f->kind != AS_NUMBER_FLOAT)
        return r & (f->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1);
    int low = ilogb(as_number_smallest_normal(f)), high = ilogb(as_number_largest(f)) - 1;
    low = low < -spread ? -spread : low;
    high = high > spread ? spread : high;
    int exponent = low + (int)(r % (uint64_t)(high - low + 1));
    double digits = 1 + ldexp((double)(as_rng_u64(rng) >> 12), -52);
    return as_number_encode(f, ldexp(r >> 32 & 1 ? -digits : digits, exponent), AS_ROUND_TOWARD_ZERO,
                            AS_OVERFLOW_CLAMP);
}

static void find_compare(struct as_finder *f, const struct problems *p)
{
    const struct as_matrix_unit *u = f->unit;
    f->out->compared = f->out->unequal = 0;
    for (size_t i = 0; i < p->of_c; i++) {
        f->out->compared++;
        if (p->d[i] == p->e[i])
            continue;
        if (f->out->unequal++ == 0)
            snprintf(f->out->first, sizeof f->out->first,
                     "row %zu, column %zu of problem %zu is %.17g, of the model %.17g", i / u->n % u->m, i % u->n,
                     i / ((size_t)u->m * u->n), as_number_decode(u->c, p->d[i]), as_number_decode(u->c, p->e[i]));
    }
}

/* Compares the model's results with the unit's. */
static enum as_status run_model(struct as_finder *f, struct problems *p, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    struct as_matrix_model model;
    enum as_status st =
        as_matrix_model_start(&model, u->a->word, u->b->word, u->c->word, u->m, u->n, u->k, &f->out->how, err);
    if (!st)
        st = model.unit.multiply(model.unit.ctx, p->n, p->a, p->b, p->c, p->e, err);
    if (!st)
        find_compare(f, p);
    return st;
}

/* Powers of two do not reveal a product's alignment; random problems do, since at most one of the two models explains
 * them all. The better one is kept. */
static enum as_status find_aligned(struct as_finder *f, struct problems *p, struct as_error *err)
{
    struct as_matrix_found *out = f->out;
    enum as_status st = run_model(f, p, err);
    const struct as_matrix_found by_digit = *out;
    if (st || out->how.kept == AS_KEPT_ALL || f->unit->c->kind != AS_NUMBER_FLOAT) {
        as_found_unseen(f, AS_PROPERTY_ALIGNED, "no bit of a summand is lost");
        return st;
    }
    out->how.by_factors = true;
    if ((st = run_model(f, p, err)))
        return st;
    const uint64_t digit = by_digit.unequal, factors = out->unequal;
    if (digit <= factors)
        *out = by_digit;
    if (digit == factors)
        as_found_unseen(f, AS_PROPERTY_ALIGNED, "both alignments explain equally many results");
    else
        as_found_number(f, AS_PROPERTY_ALIGNED, factors < digit ? AS_ALIGNED_BY_FACTORS : AS_ALIGNED_BY_DIGIT, NAN,
                        "aligned by %s: %llu of %llu results of random problems differ, with the other alignment %llu",
                        factors < digit ? "the exponents of the factors" : "its leading bit",
                        (unsigned long long)(factors < digit ? factors : digit), (unsigned long long)out->compared,
                        (unsigned long long)(factors < digit ? digit : factors));
    return AS_OK;
}

static enum as_status run_both(struct as_finder *f, struct problems *p, struct as_rng *rng, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    for (size_t i = 0; i < p->of_a; i++)
        p->a[i] = random_code(u->a, 6, rng);
    for (size_t i = 0; i < p->of_b; i++)
        p->b[i] = random_code(u->b, 6, rng);
    for (size_t i = 0; i < p->of_c; i++)
        p->c[i] = random_code(u->c, 12, rng);
    enum as_status st = u->multiply(u->ctx, p->n, p->a, p->b, p->c, p->d, err);
    return st ? st : find_aligned(f, p, err);
}

static enum as_status find_explained(struct as_finder *f, struct as_rng *rng, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    const struct as_property_found *step = &f->out->property[AS_PROPERTY_STEP];
    size_t each = (size_t)u->m * u->n, n = each < RESULTS_MOST / 4 ? RESULTS_MOST / each : 4;
    struct problems p;
    if (u->c->kind == AS_NUMBER_FLOAT && !step->seen) {
        as_found_unseen(f, AS_PROPERTY_EXPLAINED, "%s", step->text);
        as_found_unseen(f, AS_PROPERTY_ALIGNED, "%s", step->text);
        return AS_OK;
    }
    enum as_status st = problems_start(&p, u, n, err);
    if (!st) {
        st = run_both(f, &p, rng, err);
        free(p.a);
    }
    if (st)
        return st;
    double share = 100 * (double)(f->out->compared - f->out->unequal) / (double)f->out->compared;
    as_found_number(f, AS_PROPERTY_EXPLAINED, share, 100, "%llu of %llu results differ%s%s",
                    (unsigned long long)f->out->unequal, (unsigned long long)f->out->compared,
                    f->out->unequal ? ", the first: " : "", f->out->first);
    return AS_OK;
}

enum as_status as_arithmetic_find(const struct as_matrix_unit *unit, uint64_t seed, struct as_matrix_found *found,
                                  struct as_error *err)
{
    *found = (struct as_matrix_found){.how = as_arithmetic_of_fma(unit->c)};
    if (unit->k + 1 > LEAVES_MOST || unit->k < 2)
        return as_fail(err, AS_UNSUPPORTED, "sums of %u products are not examined, only of 2 to %d", unit->k,
                       LEAVES_MOST - 1);
    /* Integer sums are exact in any order. */
    if (unit->c->kind != AS_NUMBER_FLOAT)
        found->how.step = unit->k;
    struct as_finder *f = calloc(1, sizeof *f);
    if (!f)
        return as_nomem(err, sizeof *f, "experiments");
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    f->unit = unit;
    f->out = found;
    as_dots_start(&f->dots, unit);
    enum as_status st = find_consistent(f, &rng, err);
    if (!st)
        st = as_find_subnormal(f, err);
    if (!st)
        st = as_find_order(f, err);
    if (!st)
        st = as_find_widths(f, err);
    if (!st)
        st = as_find_rounding(f, err);
    if (!st)
        st = as_find_limits(f, err);
    if (!st)
        st = find_explained(f, &rng, err);
    as_dots_finish(&f->dots);
    free(f);
    return st;
}
