/* Software models of matrix units. A summand is a 128-bit integer and an exponent: exact for products of f64. */
#include "model.h"

#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

enum {
    SUMMANDS_MOST = AS_MATRIX_K_MOST + 1,
    WIDE = 116,  /* fraction bits if all are kept: more than 106 of a product, with carry bits */
    ROUNDED = 62 /* bits available to rounding; the last one is sticky */
};

enum summand_kind { IS_FINITE, IS_INFINITE, IS_NAN };
struct summand {
    enum summand_kind kind;
    bool negative;
    u128 digits;
    int exponent; /* of the last bit */
    int lead;     /* exponent by which it is aligned, if not its leading bit's; for nonzero digits */
};

static int top_of(u128 v)
{
    uint64_t high = (uint64_t)(v >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)v);
}

static struct summand of_number(const struct as_number_format *f, uint64_t code, bool flush)
{
    double value = as_number_decode(f, code);
    struct summand s = {.negative = signbit(value)};
    if (!isfinite(value)) {
        s.kind = isnan(value) ? IS_NAN : IS_INFINITE;
        return s;
    }
    if (value == 0) /* most values of most experiments */
        return s;
    const double least = as_number_smallest_normal(f);
    if (flush && fabs(value) < least)
        return s;
    double share = frexp(fabs(value), &s.exponent);
    s.digits = (uint64_t)(share * 0x1p53);
    s.lead = ilogb(fabs(value) < least ? least : value);
    s.exponent -= 53;
    return s;
}

static struct summand product_of(const struct summand *a, const struct summand *b, unsigned fraction)
{
    struct summand p = {.negative = a->negative != b->negative};
    bool none = (a->kind == IS_FINITE && a->digits == 0) || (b->kind == IS_FINITE && b->digits == 0);
    if (a->kind == IS_NAN || b->kind == IS_NAN)
        p.kind = IS_NAN;
    else if (a->kind == IS_INFINITE || b->kind == IS_INFINITE)
        p.kind = none ? IS_NAN : IS_INFINITE;
    else {
        p.digits = a->digits * b->digits;
        p.exponent = a->exponent + b->exponent;
        p.lead = a->lead + b->lead;
        int drop = fraction && p.digits ? top_of(p.digits) - (int)fraction : 0;
        if (drop > 0)
            p.digits = p.digits >> drop << drop;
    }
    return p;
}

/* As a fraction of one unit. */
static double model_share_of(u128 rest, u128 half)
{
    return rest == 0 ? 0 : rest < half ? 0.25 : rest == half ? 0.5 : 0.75;
}

/* The summand as a multiple of 2^last. */
static i128 aligned(const struct summand *s, int last, bool all, enum as_rounding cut)
{
    u128 v = 0;
    int drop = last - s->exponent;
    if (s->digits == 0)
        return 0;
    if (drop <= 0)
        v = s->digits << -drop;
    else {
        u128 whole = drop > 127 ? 0 : s->digits >> drop;
        u128 rest = drop > 127 ? 1 : s->digits & (((u128)1 << drop) - 1);
        u128 half = drop > 127 ? 2 : (u128)1 << (drop - 1);
        bool up = all ? rest && !(whole & 1) : as_rounds_up(cut, s->negative, whole & 1, model_share_of(rest, half));
        v = whole + (up ? 1 : 0);
    }
    return s->negative ? -(i128)v : (i128)v;
}

/* Infinities and NaNs; false if no summand is one. */
static bool add_special(const struct summand *s, size_t n, struct summand *sum)
{
    bool plus = false, minus = false, nan = false;
    for (size_t i = 0; i < n; i++) {
        nan |= s[i].kind == IS_NAN;
        plus |= s[i].kind == IS_INFINITE && !s[i].negative;
        minus |= s[i].kind == IS_INFINITE && s[i].negative;
    }
    *sum = (struct summand){.kind = nan || (plus && minus) ? IS_NAN : IS_INFINITE, .negative = minus};
    return nan || plus || minus;
}

static struct summand model_add_at_once(const struct as_arithmetic *how, const struct summand *s, size_t n)
{
    struct summand sum;
    if (add_special(s, n, &sum))
        return sum;
    int top = INT32_MIN;
    bool all_minus = n > 0;
    for (size_t i = 0; i < n; i++) {
        int lead = !s[i].digits ? INT32_MIN : how->by_factors ? s[i].lead : top_of(s[i].digits) + s[i].exponent;
        if (lead > top)
            top = lead;
        all_minus &= s[i].negative;
    }
    sum = (struct summand){.negative = all_minus && !how->zero_plus};
    if (top == INT32_MIN)
        return sum;
    bool all = how->kept == AS_KEPT_ALL;
    sum.exponent = top - (int)(all ? WIDE : how->kept);
    i128 total = 0;
    for (size_t i = 0; i < n; i++)
        total += aligned(&s[i], sum.exponent, all, how->cut);
    if (total)
        sum.negative = total < 0;
    else
        sum.negative = all_minus ? sum.negative : how->result == AS_ROUND_DOWN;
    sum.digits = total < 0 ? (u128)-total : (u128)total;
    return sum;
}

/* ---- results ---- */

static uint64_t round_integer(const struct as_number_format *c, const struct as_arithmetic *how,
                              const struct summand *s)
{
    double size = ldexp((double)s->digits, s->exponent);
    return as_number_encode(c, s->negative ? -size : size, how->result, how->overflow);
}

static uint64_t round_sum(const struct as_number_format *c, const struct as_arithmetic *how, const struct summand *s)
{
    struct as_number_format f = *c;
    if (how->digits && how->digits < f.fraction) {
        f.unused += f.fraction - how->digits;
        f.fraction = how->digits;
    }
    if (s->kind == IS_NAN)
        return how->nan;
    if (s->kind == IS_INFINITE)
        return as_number_encode(&f, s->negative ? -INFINITY : INFINITY, how->result, how->overflow);
    if (c->kind != AS_NUMBER_FLOAT)
        return round_integer(c, how, s);
    u128 digits = s->digits;
    int exponent = s->exponent, more = digits ? top_of(digits) - ROUNDED + 1 : 0;
    if (more > 0) {
        bool rest = digits & (((u128)1 << more) - 1);
        digits = digits >> more | (rest ? 1 : 0);
        exponent += more;
    }
    uint64_t code = as_number_round(&f, s->negative, (uint64_t)digits, exponent, how->result, how->overflow);
    if (!how->flush_d)
        return code;
    double value = as_number_decode(&f, code);
    bool flushed = value != 0 && fabs(value) < as_number_smallest_normal(c);
    return flushed ? as_number_nearest(c, signbit(value) && !how->zero_plus ? -0.0 : 0.0) : code;
}

struct adder {
    const struct as_number_format *c;
    const struct as_arithmetic *how;
};

/* A rounded sum, as the next summand. */
static struct summand rounded(const struct adder *r, const struct summand *s, size_t n)
{
    struct summand sum = model_add_at_once(r->how, s, n);
    return of_number(r->c, round_sum(r->c, r->how, &sum), false);
}

static struct summand in_pairs(const struct adder *r, struct summand *s, size_t n)
{
    for (; n > 1; n = (n + 1) / 2)
        for (size_t i = 0; i < n; i += 2)
            s[i / 2] = i + 1 < n ? rounded(r, s + i, 2) : s[i];
    return s[0];
}

/* The products of one step, followed by the previous sum. */
static struct summand add_step(const struct adder *r, struct summand *s, size_t n, const struct summand *before)
{
    bool pairs = r->how->inside == AS_SUM_PAIRS;
    if (before && !pairs && r->how->start != AS_START_EACH) {
        s[n] = *before;
        return rounded(r, s, n + 1);
    }
    struct summand sum = pairs ? in_pairs(r, s, n) : rounded(r, s, n);
    if (!before)
        return sum;
    struct summand two[] = {sum, *before};
    return rounded(r, two, 2);
}

static unsigned model_sums_of(const struct as_arithmetic *how)
{
    return how->sums > 1 ? how->sums : 1;
}

/* The step of each k; returns the number of steps. */
static unsigned model_steps_of(const struct as_matrix_model *m, uint8_t *at)
{
    unsigned k = m->unit.k, most = 0;
    bool told = false;
    for (unsigned i = 0; i < k; i++)
        told |= m->how.of_step[i] != 0;
    for (unsigned i = 0; i < k; i++) {
        at[i] = told ? m->how.of_step[i] : (uint8_t)(i / model_sums_of(&m->how) / m->how.step);
        most = at[i] > most ? at[i] : most;
    }
    return most + 1;
}

struct steps {
    unsigned n;
    uint8_t at[AS_MATRIX_K_MOST];
};

/* Adds the products of every k from `first` on, step by step, to the previous sum. a: a row, b: a column, n apart. */
static struct summand add_products(const struct as_matrix_model *m, const struct steps *steps, const struct summand *a,
                                   const struct summand *b, unsigned first, const struct summand *before)
{
    const struct as_matrix_unit *u = &m->unit;
    struct adder r = {u->c, &m->how};
    struct summand total = before ? *before : (struct summand){0}, step[SUMMANDS_MOST];
    bool begun = before != NULL;
    for (unsigned at = 0; at < steps->n; at++) {
        size_t n = 0;
        for (unsigned i = first; i < u->k; i += model_sums_of(&m->how))
            if (steps->at[i] == at && i + 1 != m->skipped_k)
                step[n++] = product_of(&a[i], &b[(size_t)i * u->n], m->how.product);
        if (n == 0)
            continue;
        total = add_step(&r, step, n, begun ? &total : NULL);
        begun = true;
    }
    return total;
}

static struct summand add_sums(const struct as_matrix_model *m, const struct steps *steps, const struct summand *a,
                               const struct summand *b)
{
    static const struct summand zero;
    struct adder r = {m->unit.c, &m->how};
    struct summand sums[SUMMANDS_MOST];
    for (unsigned s = 0; s < m->how.sums; s++)
        sums[s] = add_products(m, steps, a, b, s, &zero);
    return in_pairs(&r, sums, m->how.sums);
}

static uint64_t one_result(const struct as_matrix_model *m, const struct steps *steps, const struct summand *a,
                           const struct summand *b, uint64_t c)
{
    const struct as_matrix_unit *u = &m->unit;
    const bool last = m->how.start == AS_START_LAST;
    struct adder r = {u->c, &m->how};
    struct summand start = of_number(u->c, c, m->how.flush_c);
    if (m->how.payload && start.kind == IS_NAN)
        return c;
    struct summand total =
        m->how.sums > 1 ? add_sums(m, steps, a, b) : add_products(m, steps, a, b, 0, last ? NULL : &start);
    if (last) {
        struct summand two[] = {total, start};
        total = rounded(&r, two, 2);
    }
    return round_sum(u->c, &m->how, &total);
}

static enum as_status model_multiply(void *ctx, size_t count, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                                     uint64_t *d, struct as_error *err)
{
    const struct as_matrix_model *model = ctx;
    const struct as_matrix_unit *u = &model->unit;
    size_t of_a = (size_t)u->m * u->k, of_b = (size_t)u->k * u->n, of_c = (size_t)u->m * u->n;
    struct steps steps;
    struct summand *x = malloc((of_a + of_b) * sizeof *x);
    if (!x)
        return as_nomem(err, (of_a + of_b) * sizeof *x, "operands of a model");
    steps.n = model_steps_of(model, steps.at);
    for (size_t p = 0; p < count; p++) {
        for (size_t i = 0; i < of_a; i++)
            x[i] = of_number(u->a, a[p * of_a + i], model->how.flush_a);
        for (size_t i = 0; i < of_b; i++)
            x[of_a + i] = of_number(u->b, b[p * of_b + i], model->how.flush_b);
        for (size_t i = 0; i < of_c; i++)
            d[p * of_c + i] = one_result(model, &steps, x + i / u->n * u->k, x + of_a + i % u->n, c[p * of_c + i]);
    }
    free(x);
    return AS_OK;
}

enum as_status as_matrix_model_start(struct as_matrix_model *model, const char *a, const char *b, const char *c,
                                     unsigned m, unsigned n, unsigned k, const struct as_arithmetic *how,
                                     struct as_error *err)
{
    const struct as_number_format *fa = as_number_format(a), *fb = as_number_format(b), *fc = as_number_format(c);
    if (!fa || !fb || !fc)
        return as_fail(err, AS_USAGE, "'%s', '%s' or '%s' is not a numeric format", a, b, c);
    if (k > AS_MATRIX_K_MOST)
        return as_fail(err, AS_UNSUPPORTED, "a model adds %d products at most, not %u", AS_MATRIX_K_MOST, k);
    if (how->step == 0)
        return as_fail(err, AS_USAGE, "a step of no products adds nothing");
    if (how->sums > 1 && (how->start != AS_START_LAST || how->inside != AS_SUM_AT_ONCE || how->sums > k))
        return as_fail(err, AS_USAGE, "%u partial sums of %u products have the accumulator added last", how->sums, k);
    *model = (struct as_matrix_model){
        .unit = {.a = fa, .b = fb, .c = fc, .m = m, .n = n, .k = k, .multiply = model_multiply, .ctx = model},
        .how = *how};
    return AS_OK;
}

struct as_arithmetic as_arithmetic_of_fma(const struct as_number_format *c)
{
    return (struct as_arithmetic){.step = 1,
                                  .start = AS_START_TOGETHER,
                                  .kept = AS_KEPT_ALL,
                                  .cut = AS_ROUND_TOWARD_ZERO,
                                  .result = AS_ROUND_NEAREST_EVEN,
                                  .overflow = AS_OVERFLOW_FORMAT,
                                  .nan = as_number_nearest(c, NAN)};
}
