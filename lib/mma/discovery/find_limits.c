/* The ends of the range: subnormals, overflow, infinities and NaNs, the sign of zero. */
#include "find_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool can_be_subnormal(const struct as_number_format *f)
{
    return f->kind == AS_NUMBER_FLOAT && as_number_smallest(f) < as_number_smallest_normal(f);
}

/* ---- subnormal numbers ---- */

enum place { PLACE_A, PLACE_B, PLACE_C, PLACE_D, PLACES };
enum outcome { NOT_TRIED, KEPT, FLUSHED, OTHERWISE };

static enum outcome find_limits_outcome_of(const struct as_finder *f, size_t dot, double kept, double flushed)
{
    double d = as_dots_result(&f->dots, dot);
    return d == kept ? KEPT : d == flushed ? FLUSHED : OTHERWISE;
}

/* A subnormal operand of a normal product. */
static enum as_status try_operand(struct as_finder *f, enum place place, enum outcome *out, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    const struct as_number_format *format = place == PLACE_A ? u->a : u->b, *other = place == PLACE_A ? u->b : u->a;
    double small = as_number_smallest_normal(format) / 2, factor = ldexp(1, ilogb(as_number_largest(other)));
    while (factor >= as_number_smallest_normal(other) && small * factor > as_number_largest(u->c))
        factor /= 2;
    if (!can_be_subnormal(format) || small * factor < as_number_smallest_normal(u->c))
        return AS_OK;
    uint64_t operand = as_number_nearest(format, small), by = as_number_nearest(other, factor);
    as_dots_clear(&f->dots);
    size_t dot = as_dots_add(&f->dots);
    as_dots_put_codes(&f->dots, dot, 0, place == PLACE_A ? operand : by, place == PLACE_A ? by : operand);
    enum as_status st = as_dots_run(&f->dots, err);
    if (!st)
        *out = find_limits_outcome_of(f, dot, small * factor, 0);
    return st;
}

/* The accumulator alone, and with an equally small product, to separate input from output flushing. */
static enum as_status try_accumulator(struct as_finder *f, enum outcome *in, enum outcome *out, struct as_error *err)
{
    const struct as_number_format *c = f->unit->c;
    double normal = as_number_smallest_normal(c);
    int at = ilogb(normal);
    if (!can_be_subnormal(c))
        return AS_OK;
    as_dots_clear(&f->dots);
    size_t alone = as_dots_add(&f->dots), up = as_dots_add(&f->dots), down = as_dots_add(&f->dots);
    as_dots_put(&f->dots, alone, f->unit->k, 1, at - 1);
    enum as_status st = as_dots_run(&f->dots, err);
    if (st)
        return st;
    enum outcome both = find_limits_outcome_of(f, alone, normal / 2, 0);
    as_dots_put(&f->dots, up, f->unit->k, 1, at - 1);
    as_dots_put(&f->dots, up, 0, 1, at);
    as_dots_put(&f->dots, down, f->unit->k, 3, at - 1);
    as_dots_put(&f->dots, down, 0, -1, at);
    if (f->dots.lost || both == KEPT) {
        *in = *out = both;
        return AS_OK;
    }
    st = as_dots_run(&f->dots, err);
    *in = find_limits_outcome_of(f, up, 1.5 * normal, normal);
    *out = find_limits_outcome_of(f, down, 0.5 * normal, 0);
    return st;
}

enum as_status as_find_subnormal(struct as_finder *f, struct as_error *err)
{
    static const char *const words[] = {
        [NOT_TRIED] = "not tried", [KEPT] = "kept", [FLUSHED] = "flushed to 0", [OTHERWISE] = "changed"};
    enum outcome o[PLACES] = {NOT_TRIED};
    struct as_arithmetic *how = &f->out->how;
    enum as_status st = try_operand(f, PLACE_A, &o[PLACE_A], err);
    if (!st)
        st = try_operand(f, PLACE_B, &o[PLACE_B], err);
    if (!st)
        st = try_accumulator(f, &o[PLACE_C], &o[PLACE_D], err);
    if (st)
        return st;
    how->flush_a = o[PLACE_A] == FLUSHED;
    how->flush_b = o[PLACE_B] == FLUSHED;
    how->flush_c = o[PLACE_C] == FLUSHED;
    how->flush_d = o[PLACE_D] == FLUSHED;
    f->dots.subnormal_a = o[PLACE_A] == KEPT;
    f->dots.subnormal_b = o[PLACE_B] == KEPT;
    f->subnormal_results = o[PLACE_C] == KEPT && o[PLACE_D] == KEPT;
    unsigned tried = 0, kept = 0;
    for (unsigned i = 0; i < PLACES; i++) {
        tried += o[i] != NOT_TRIED;
        kept += o[i] == KEPT;
    }
    if (tried == 0)
        as_found_unseen(f, AS_PROPERTY_SUBNORMAL, "the formats have no subnormals");
    else
        as_found_number(f, AS_PROPERTY_SUBNORMAL, kept, tried, "a %s, b %s, accumulator %s, result %s",
                        words[o[PLACE_A]], words[o[PLACE_B]], words[o[PLACE_C]], words[o[PLACE_D]]);
    return AS_OK;
}

/* ---- overflow ---- */

static const struct {
    enum as_property_value value;
    const char *text;
} overflows[] = {
    {AS_OVERFLOW_VALUE_INFINITY, "infinity"},
    {AS_OVERFLOW_VALUE_LARGEST, "the largest finite number"},
    {AS_OVERFLOW_VALUE_NAN, "NaN"},
    {AS_OVERFLOW_VALUE_WRAPS, "the number modulo the range"},
    {AS_OVERFLOW_VALUE_OTHER, "another number"},
};

static unsigned overflow_of(double got, double largest, bool negative, bool integer)
{
    double sign = negative ? -1 : 1, limit = integer && negative ? largest + 1 : largest;
    if (isnan(got))
        return 2;
    if (isinf(got))
        return (got < 0) == negative ? 0 : 4;
    if (got == sign * limit)
        return 1;
    return integer && got == (negative ? largest : -largest - 1) ? 3 : 4;
}

static enum as_status find_overflow(struct as_finder *f, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    double largest = as_number_largest(u->c);
    bool integer = u->c->kind != AS_NUMBER_FLOAT;
    int top = ilogb(largest), product = ilogb(as_number_largest(u->a)) + ilogb(as_number_largest(u->b));
    if (!integer && product < top - (int)u->c->fraction + 1) {
        as_found_unseen(f, AS_PROPERTY_OVERFLOW, "no product is large enough to change the largest accumulator");
        return AS_OK;
    }
    as_dots_clear(&f->dots);
    for (int sign = 1; sign >= -1; sign -= 2) {
        size_t dot = as_dots_add(&f->dots);
        double end = sign < 0 && integer ? -largest - 1 : sign * largest;
        bool minus = sign < 0 && u->a->kind != AS_NUMBER_UNSIGNED;
        as_dots_put_c(&f->dots, dot, as_number_nearest(u->c, end));
        as_dots_put(&f->dots, dot, 0, minus ? -1 : 1, integer ? 0 : product < top ? product : top);
    }
    enum as_status st = f->dots.lost ? AS_OK : as_dots_run(&f->dots, err);
    if (st || f->dots.lost) {
        as_found_unseen(f, AS_PROPERTY_OVERFLOW, "the operands cannot represent large enough numbers");
        return st;
    }
    unsigned above = overflow_of(as_dots_result(&f->dots, 0), largest, false, integer);
    /* Unsigned operands reach one end only. */
    bool one_end = integer && u->a->kind == AS_NUMBER_UNSIGNED;
    unsigned below = one_end ? above : overflow_of(as_dots_result(&f->dots, 1), largest, true, integer);
    enum as_property_value value = above == below ? overflows[above].value : AS_OVERFLOW_VALUE_OTHER;
    as_found_number(f, AS_PROPERTY_OVERFLOW, value, NAN, "above the range comes %s, below it %s", overflows[above].text,
                    one_end ? "nothing (unsigned operands)" : overflows[below].text);
    f->out->how.overflow = value == AS_OVERFLOW_VALUE_LARGEST    ? AS_OVERFLOW_CLAMP
                           : value == AS_OVERFLOW_VALUE_INFINITY ? AS_OVERFLOW_INFINITY
                                                                 : AS_OVERFLOW_FORMAT;
    return AS_OK;
}

/* ---- infinities and NaNs ---- */

enum operand { ONE, ZERO, INF, MINUS_INF, QUIET_NAN };
enum { EXPECT_INF, EXPECT_MINUS_INF, EXPECT_NAN };
static const struct special {
    const char *name;
    enum operand a, b, a2, c; /* a x b + a2 x 1 + c */
    int expect;
} specials[] = {
    {"inf x 1", INF, ONE, ZERO, ZERO, EXPECT_INF},
    {"1 x -inf", ONE, MINUS_INF, ZERO, ZERO, EXPECT_MINUS_INF},
    {"inf + 1", ONE, ONE, ZERO, INF, EXPECT_INF},
    {"inf x 0", INF, ZERO, ZERO, ZERO, EXPECT_NAN},
    {"inf - inf of products", INF, ONE, MINUS_INF, ZERO, EXPECT_NAN},
    {"inf - inf with the accumulator", MINUS_INF, ONE, ZERO, INF, EXPECT_NAN},
    {"NaN x 1", QUIET_NAN, ONE, ZERO, ZERO, EXPECT_NAN},
    {"1 x NaN", ONE, QUIET_NAN, ZERO, ZERO, EXPECT_NAN},
    {"NaN x 0", QUIET_NAN, ZERO, ZERO, ZERO, EXPECT_NAN},
    {"NaN + 1", ONE, ONE, ZERO, QUIET_NAN, EXPECT_NAN},
};
enum { SPECIALS = sizeof specials / sizeof *specials };

static uint64_t code_of(const struct as_number_format *f, enum operand o, bool *none)
{
    static const double values[] = {
        [ONE] = 1, [ZERO] = 0, [INF] = INFINITY, [MINUS_INF] = -INFINITY, [QUIET_NAN] = NAN};
    *none |= (o == INF || o == MINUS_INF) && !as_number_has_infinity(f);
    *none |= o == QUIET_NAN && !as_number_has_nan(f);
    return as_number_nearest(f, values[o]);
}

/* Two NaNs with different payloads in the accumulator. */
static uint64_t payload(const struct as_number_format *c, uint64_t which)
{
    return as_number_nearest(c, NAN) | which << c->unused;
}

/* Counts the special cases that match IEEE 754; finds the first NaN. */
static void judge_specials(struct as_finder *f, const size_t *dot, const bool *none)
{
    struct as_arithmetic *how = &f->out->how;
    unsigned tried = 0, right = 0, nans = 0;
    char wrong[120] = "";
    for (unsigned i = 0; i < SPECIALS; i++) {
        if (none[i])
            continue;
        double d = as_dots_result(&f->dots, dot[i]);
        bool good = specials[i].expect == EXPECT_NAN ? isnan(d)
                                                     : isinf(d) && (d < 0) == (specials[i].expect == EXPECT_MINUS_INF);
        tried++;
        right += good;
        /* The largest number only if a sum is rounded to it: infinities stay. */
        if (how->overflow == AS_OVERFLOW_CLAMP && isinf(d))
            how->overflow = AS_OVERFLOW_FORMAT;
        if (isnan(d) && nans++ == 0)
            how->nan = f->dots.d[dot[i]];
        size_t len = strlen(wrong);
        if (!good)
            snprintf(wrong + len, sizeof wrong - len, "%s%s is %g", len ? ", " : "", specials[i].name, d);
    }
    as_found_number(f, AS_PROPERTY_SPECIAL, right, tried, "%s%s", wrong[0] ? "unlike IEEE 754: " : "all as in IEEE 754",
                    wrong);
    if (nans == 0 && !how->payload)
        as_found_unseen(f, AS_PROPERTY_NAN, "no NaN came out");
    else
        as_found_number(f, AS_PROPERTY_NAN, how->payload ? AS_NAN_VALUE_PAYLOAD : AS_NAN_VALUE_CANONICAL, NAN,
                        "%s; of a product's it is 0x%llx",
                        how->payload ? "the accumulator's NaN propagates" : "canonical NaN",
                        (unsigned long long)how->nan);
}

static enum as_status find_special(struct as_finder *f, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    size_t dot[SPECIALS], payloads[2];
    bool none[SPECIALS] = {false}, kept = true;
    as_dots_clear(&f->dots);
    for (unsigned i = 0; i < SPECIALS; i++) {
        const struct special *s = &specials[i];
        dot[i] = as_dots_add(&f->dots);
        as_dots_put_codes(&f->dots, dot[i], 0, code_of(u->a, s->a, &none[i]), code_of(u->b, s->b, &none[i]));
        if (s->a2 != ZERO)
            as_dots_put_codes(&f->dots, dot[i], 1, code_of(u->a, s->a2, &none[i]), code_of(u->b, ONE, &none[i]));
        as_dots_put_c(&f->dots, dot[i], code_of(u->c, s->c, &none[i]));
    }
    for (unsigned i = 0; i < 2; i++) {
        payloads[i] = as_dots_add(&f->dots);
        as_dots_put_c(&f->dots, payloads[i], payload(u->c, i + 1));
    }
    enum as_status st = as_dots_run(&f->dots, err);
    if (st)
        return st;
    for (unsigned i = 0; i < 2; i++)
        kept &= f->dots.d[payloads[i]] == payload(u->c, i + 1);
    f->out->how.payload = kept;
    judge_specials(f, dot, none);
    return AS_OK;
}

/* ---- the sign of zero ---- */

static enum as_status find_zero(struct as_finder *f, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    uint64_t minus = as_number_nearest(u->c, -0.0), minus_one = as_number_nearest(u->a, -1);
    uint64_t one_a = as_number_nearest(u->a, 1), one_b = as_number_nearest(u->b, 1),
             zero_b = as_number_nearest(u->b, 0);
    as_dots_clear(&f->dots);
    size_t all = as_dots_add(&f->dots), some = as_dots_add(&f->dots), gone = as_dots_add(&f->dots);
    for (unsigned p = 0; p < u->k; p++)
        as_dots_put_codes(&f->dots, all, p, minus_one, zero_b);
    as_dots_put_c(&f->dots, all, minus);
    as_dots_put_c(&f->dots, some, minus);
    as_dots_put_codes(&f->dots, gone, 0, one_a, one_b);
    as_dots_put_codes(&f->dots, gone, 1, minus_one, one_b);
    enum as_status st = as_dots_run(&f->dots, err);
    if (st)
        return st;
    bool m_all = signbit(as_dots_result(&f->dots, all)), m_some = signbit(as_dots_result(&f->dots, some)),
         m_gone = signbit(as_dots_result(&f->dots, gone));
    const bool plus = !m_all && !m_some && !m_gone;
    /* Partial sums start at +0, a summand, which suffices as the reason. */
    f->out->how.zero_plus = plus && f->out->how.sums <= 1;
    enum as_property_value v = plus ? AS_ZERO_VALUE_PLUS : m_some || m_gone ? AS_ZERO_VALUE_OTHER : AS_ZERO_VALUE_IEEE;
    as_found_number(f, AS_PROPERTY_ZERO, v, NAN, "sum of -0 only: %s0, of -0 and +0: %s0, 1 - 1: %s0",
                    m_all ? "-" : "+", m_some ? "-" : "+", m_gone ? "-" : "+");
    return AS_OK;
}

enum as_status as_find_limits(struct as_finder *f, struct as_error *err)
{
    enum as_status st = find_overflow(f, err);
    if (f->unit->c->kind != AS_NUMBER_FLOAT) {
        as_found_unseen(f, AS_PROPERTY_SPECIAL, "integers have no infinities");
        as_found_unseen(f, AS_PROPERTY_NAN, "integers have no NaN");
        as_found_unseen(f, AS_PROPERTY_ZERO, "integers have one zero");
        return st;
    }
    if (!st)
        st = find_special(f, err);
    return st ? st : find_zero(f, err);
}
