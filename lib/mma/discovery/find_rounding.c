/* The rounding of aligned summands and of sums. Quarter ulps are added to both signs of a large number; each rounding
 * mode has its own pattern. */
#include "find_internal.h"

#include <math.h>

enum { QUARTERS = 6, SIGNS = 2, PATTERN = QUARTERS * SIGNS * SIGNS, LARGE = 1 << 12 };
static const int quarters[QUARTERS] = {1, 2, 3, 5, 6, 7};
/* The i-th of a pattern: the sign of the large number and the small one in quarters. */
static void pattern_at(unsigned i, int *sign, int *small)
{
    *sign = i & 1 ? -1 : 1;
    *small = quarters[i / (SIGNS * SIGNS)] * (i & 2 ? -1 : 1);
}

/* The rounding mode that explains the results `got`, in ulp, less the large number; AS_ROUNDINGS if none does. */
static unsigned find_rounding_way_of(const double *got, const bool *in, bool whole_sum)
{
    for (unsigned w = 0; w < AS_ROUNDINGS; w++) {
        bool same = true;
        for (unsigned i = 0; i < PATTERN; i++) {
            int sign, small;
            pattern_at(i, &sign, &small);
            double large = whole_sum ? (double)sign * LARGE : 0;
            same &= !in[i] || got[i] == as_round(as_roundings[w].rounding, large + small / 4.0) - large;
        }
        if (same)
            return w;
    }
    return AS_ROUNDINGS;
}

int as_find_low(const struct as_finder *f, const struct as_dots_range *range, unsigned leaf)
{
    const struct as_number_format *c = f->unit->c;
    if (leaf < f->unit->k)
        return range->low;
    return ilogb(f->subnormal_results ? as_number_smallest(c) : as_number_smallest_normal(c));
}

/* 1.5, numbers a few quarter ulps from it, and -1.5. */
static enum as_status find_cut(struct as_finder *f, const struct as_dots_range *r, bool *whole_sum, unsigned *way,
                               struct as_error *err)
{
    struct as_triple t = {0};
    const struct as_property_found *kept = &f->out->property[AS_PROPERTY_KEPT];
    int bits = (int)kept->value;
    bool found = false, in[PATTERN];
    double got[PATTERN];
    *way = AS_ROUNDINGS;
    int large = r->high;
    for (unsigned p = 0; p <= f->unit->k && !found; p++)
        found = as_find_triple(f, p, &t) && t.at_once == f->fused && large - bits - 2 >= as_find_low(f, r, p);
    if (!kept->seen || !found || kept->value == kept->at_most) {
        as_found_unseen(f, AS_PROPERTY_CUT, "no number of these formats is small enough to be truncated");
        return AS_OK;
    }
    as_dots_clear(&f->dots);
    for (unsigned i = 0; i < PATTERN; i++) {
        int sign, small;
        pattern_at(i, &sign, &small);
        size_t dot = as_dots_add(&f->dots);
        as_dots_put(&f->dots, dot, t.large, 1.5 * sign, large);
        as_dots_put(&f->dots, dot, t.small, small, large - bits - 2);
        as_dots_put(&f->dots, dot, t.minus, -1.5 * sign, large);
        in[i] = true;
    }
    enum as_status st = f->dots.lost ? AS_OK : as_dots_run(&f->dots, err);
    if (st || f->dots.lost) {
        as_found_unseen(f, AS_PROPERTY_CUT, "the formats cannot represent the numbers that show it");
        return st;
    }
    for (unsigned i = 0; i < PATTERN; i++)
        got[i] = ldexp(as_dots_result(&f->dots, i), bits - large);
    unsigned each = find_rounding_way_of(got, in, false), sum = find_rounding_way_of(got, in, true);
    /* Some modes round a summand as they would round the sum: if two are added at a time, it is the sum. */
    *whole_sum = sum < AS_ROUNDINGS && (each == AS_ROUNDINGS || !f->fused);
    *way = *whole_sum ? sum : each;
    if (*way == AS_ROUNDINGS)
        as_found_number(f, AS_PROPERTY_CUT, AS_CUT_OTHER, NAN, "in no known rounding mode");
    else
        as_found_number(f, AS_PROPERTY_CUT, AS_CUT_TOWARD_ZERO + *way, NAN, "%s, %s", as_roundings[*way].text,
                        *whole_sum ? "the sum of two as a whole" : "each summand by itself");
    return AS_OK;
}

/* Two or four times 1.5, whose sum has a leading bit one or two places higher, and a remainder below its ulp. */
struct carry {
    unsigned leaves[5], n, places;
    int large;
};

static bool carry_start(const struct as_finder *f, const struct as_dots_range *r, struct carry *c)
{
    c->n = as_find_together(f, c->leaves, 5);
    c->places = c->n == 5 ? 2 : 1;
    c->large = r->high - 3;
    return c->n >= 3;
}

static size_t put_carry(struct as_finder *f, const struct carry *c, int sign, double small, int exponent)
{
    size_t dot = as_dots_add(&f->dots);
    as_dots_put(&f->dots, dot, c->leaves[0], small, exponent);
    for (unsigned i = 1; i <= 2 * c->places; i++)
        as_dots_put(&f->dots, dot, c->leaves[i], 1.5 * sign, c->large);
    return dot;
}

/* Fraction bits of a sum that is stored without rounding; 0: unreachable. */
static enum as_status find_digits(struct as_finder *f, const struct as_dots_range *r, const struct carry *c,
                                  unsigned kept, unsigned *digits, struct as_error *err)
{
    double sum = ldexp(1.5 * 2 * c->places, c->large);
    unsigned n = 0;
    as_dots_clear(&f->dots);
    for (unsigned j = 1; j <= kept && c->large - (int)j >= as_find_low(f, r, c->leaves[0]); j++)
        put_carry(f, c, 1, 1, c->large - (int)j);
    enum as_status st = f->dots.lost ? AS_OK : as_dots_run(&f->dots, err);
    *digits = 0;
    if (st || f->dots.lost)
        return st;
    while (n < f->dots.n && as_dots_result(&f->dots, n) == sum + ldexp(1, c->large - (int)n - 1))
        n++;
    if (n < f->dots.n)
        *digits = n + c->places;
    return AS_OK;
}

static enum as_status find_result(struct as_finder *f, const struct as_dots_range *r, struct as_error *err)
{
    struct carry c;
    unsigned digits = 0, kept = (unsigned)f->out->property[AS_PROPERTY_KEPT].value;
    double got[PATTERN];
    bool in[PATTERN];
    enum as_status st = AS_OK;
    if (!carry_start(f, r, &c)) {
        as_found_unseen(f, AS_PROPERTY_ROUNDING, "no three summands are added at once");
        return st;
    }
    st = find_digits(f, r, &c, kept, &digits, err);
    if (!st && (digits == 0 || digits > kept)) {
        as_found_unseen(f, AS_PROPERTY_ROUNDING, "the sum has no more bits than are stored");
        return st;
    }
    int last = c.large + (int)c.places - (int)digits;
    double sum = ldexp(1.5 * 2 * c.places, c.large);
    as_dots_clear(&f->dots);
    for (unsigned i = 0; i < PATTERN && !st; i++) {
        int sign, small;
        pattern_at(i, &sign, &small);
        in[i] = c.places == 2 || small % 2 == 0;
        put_carry(f, &c, sign, in[i] ? small : 0, last - 2);
    }
    if (!st && !f->dots.lost)
        st = as_dots_run(&f->dots, err);
    if (st || f->dots.lost) {
        as_found_unseen(f, AS_PROPERTY_ROUNDING, "the formats cannot represent the numbers that show it");
        return st;
    }
    for (unsigned i = 0; i < PATTERN; i++)
        got[i] = ldexp(as_dots_result(&f->dots, i) - (i & 1 ? -sum : sum), -last);
    unsigned way = find_rounding_way_of(got, in, true);
    if (digits < f->unit->c->fraction)
        f->out->how.digits = digits;
    if (way == AS_ROUNDINGS) {
        as_found_number(f, AS_PROPERTY_ROUNDING, AS_CUT_OTHER, NAN, "in no known rounding mode");
        return AS_OK;
    }
    f->out->how.result = as_roundings[way].rounding;
    as_found_number(f, AS_PROPERTY_ROUNDING, AS_CUT_TOWARD_ZERO + way, NAN, "%s, to %u fraction bits",
                    as_roundings[way].text, digits);
    return AS_OK;
}

/* If two are added at a time: how far below the sum's ulp a summand still counts. *depth: its fraction bits,
 * AS_KEPT_ALL if every bit tested counted. */
static enum as_status find_depth(struct as_finder *f, const struct as_dots_range *r, enum as_rounding rounding,
                                 unsigned *depth, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    bool nearest = rounding == AS_ROUND_NEAREST_EVEN;
    int bits = (int)f->out->property[AS_PROPERTY_KEPT].value, large = r->high,
        bits_max = nearest ? (int)u->a->fraction : 100;
    int room = large - bits - 1 - r->low, sign = rounding == AS_ROUND_UP || nearest ? 1 : -1;
    struct as_triple t;
    bool found = false;
    *depth = AS_KEPT_ALL;
    for (unsigned p = 0; p < u->k && !found; p++)
        found = as_find_triple(f, p, &t);
    if (bits_max > room)
        bits_max = room;
    if (!found || rounding == AS_ROUND_NEAREST_AWAY)
        return AS_OK;
    as_dots_clear(&f->dots);
    for (int j = 1; j <= bits_max; j++) {
        size_t dot = as_dots_add(&f->dots);
        /* A half and a little more rounds up; in other modes the little alone decides. */
        double small = nearest ? 1 + ldexp(1, -j) : sign;
        as_dots_put(&f->dots, dot, t.large, 1.5, large);
        as_dots_put(&f->dots, dot, t.small, small, large - bits - (nearest ? 1 : j));
        as_dots_put(&f->dots, dot, t.minus, -1.5, large);
    }
    enum as_status st = f->dots.lost ? AS_OK : as_dots_run(&f->dots, err);
    if (st || f->dots.lost)
        return st;
    for (int j = 1; j <= bits_max && *depth == AS_KEPT_ALL; j++)
        if (as_dots_result(&f->dots, (size_t)j - 1) != ldexp(sign, large - bits))
            *depth = (unsigned)(bits + j - (nearest ? 0 : 1));
    return AS_OK;
}

/* For units that add two at a time: rounding of the sum, or truncation of a summand before. */
static enum as_status take_two(struct as_finder *f, const struct as_dots_range *r, bool whole_sum, unsigned way,
                               struct as_error *err)
{
    struct as_arithmetic *how = &f->out->how;
    unsigned kept = (unsigned)f->out->property[AS_PROPERTY_KEPT].value;
    const char *why = "the sum has no more bits than are stored";
    if (way == AS_ROUNDINGS || !whole_sum) {
        as_found_unseen(f, AS_PROPERTY_ROUNDING, "%s",
                        way == AS_ROUNDINGS ? f->out->property[AS_PROPERTY_CUT].text : why);
        how->kept = way == AS_ROUNDINGS ? AS_KEPT_ALL : kept;
        how->cut = way == AS_ROUNDINGS ? how->cut : as_roundings[way].rounding;
        return AS_OK;
    }
    how->result = as_roundings[way].rounding;
    how->digits = kept < f->unit->c->fraction ? kept : 0;
    as_found_number(f, AS_PROPERTY_ROUNDING, AS_CUT_TOWARD_ZERO + way, NAN, "%s, to %u fraction bits",
                    as_roundings[way].text, kept);
    return find_depth(f, r, how->result, &how->kept, err);
}

enum as_status as_find_rounding(struct as_finder *f, struct as_error *err)
{
    struct as_dots_range r = as_dots_range(&f->dots, f->subnormal_results);
    const struct as_property_found *kept = &f->out->property[AS_PROPERTY_KEPT];
    bool whole_sum = false;
    unsigned way = AS_ROUNDINGS;
    if (!f->tree || !kept->seen) {
        as_found_unseen(f, AS_PROPERTY_CUT, "%s", kept->text);
        as_found_unseen(f, AS_PROPERTY_ROUNDING, "%s", kept->text);
        return AS_OK;
    }
    enum as_status st = find_cut(f, &r, &whole_sum, &way, err);
    if (st || !f->fused)
        return st ? st : take_two(f, &r, whole_sum, way, err);
    f->out->how.kept = kept->value == kept->at_most ? AS_KEPT_ALL : (unsigned)kept->value;
    if (way < AS_ROUNDINGS)
        f->out->how.cut = as_roundings[way].rounding;
    return find_result(f, &r, err);
}
