/* Widths of products, aligned summands and the accumulator. Every width is tested, from the narrowest, at every k
 * index, until one is inexact. */
#include "find_internal.h"

#include <math.h>

/* Counts the leading exact results: large + 2^-j, j = 1, 2, ... */
static unsigned exact_until(const struct as_finder *f, size_t first, unsigned n, double base, int exponent)
{
    for (unsigned j = 1; j <= n; j++)
        if (as_dots_result(&f->dots, first + j - 1) != ldexp(base, exponent) + ldexp(1, exponent - (int)j))
            return j - 1;
    return n;
}

static int near_one(int low, int high)
{
    return low > 0 ? low : high < 0 ? high : 0;
}

struct widths {
    unsigned min, max;
    unsigned at; /* leaf with the minimum */
    unsigned places;
};

static void take_width(struct widths *w, unsigned leaf, unsigned bits)
{
    if (w->places == 0 || bits < w->min) {
        w->min = bits;
        w->at = leaf;
    }
    if (w->places == 0 || bits > w->max)
        w->max = bits;
    w->places++;
}

/* The accumulator is 1, one product is 2^-j: the result has both, or the product is lost. */
static enum as_status find_accumulator(struct as_finder *f, const struct as_dots_range *r, struct as_error *err)
{
    unsigned k = f->unit->k, bits_max = f->unit->c->fraction;
    if ((int)bits_max > r->high - r->low)
        bits_max = (unsigned)(r->high - r->low);
    int large = near_one(r->low + (int)bits_max, r->high);
    as_dots_clear(&f->dots);
    for (unsigned p = 0; p < k; p++)
        for (unsigned j = 1; j <= bits_max; j++) {
            size_t dot = as_dots_add(&f->dots);
            as_dots_put(&f->dots, dot, k, 1, large);
            as_dots_put(&f->dots, dot, p, 1, large - (int)j);
        }
    enum as_status st = f->dots.lost ? AS_OK : as_dots_run(&f->dots, err);
    if (st || f->dots.lost) {
        as_found_unseen(f, AS_PROPERTY_ACCUMULATOR, "the operands cannot represent such small numbers");
        return st;
    }
    struct widths w = {0};
    for (unsigned p = 0; p < k; p++)
        take_width(&w, p, exact_until(f, (size_t)p * bits_max, bits_max, 1, large));
    struct as_property_found *found = &f->out->property[AS_PROPERTY_ACCUMULATOR];
    if (w.min != w.max)
        as_found_number(f, AS_PROPERTY_ACCUMULATOR, w.min + 1, bits_max + 1,
                        "%u bits at k = %u, but %u elsewhere; %s has %u", w.min + 1, w.at, w.max + 1, f->unit->c->word,
                        f->unit->c->fraction + 1);
    else
        as_found_number(f, AS_PROPERTY_ACCUMULATOR, w.min + 1, bits_max + 1, "%u significant bits of the %u of %s",
                        w.min + 1, f->unit->c->fraction + 1, f->unit->c->word);
    /* No result has more bits than its format, which ends the scale. */
    if (bits_max == f->unit->c->fraction)
        found->at_most = NAN;
    return AS_OK;
}

/* Dot products 1 + 2^-j - 1, for leaves where 1 and 2^-j are added before or together with -1. */
static enum as_status find_kept_of(struct as_finder *f, unsigned first, unsigned last, int low, int high,
                                   unsigned *bits_max, struct widths *w, struct as_error *err)
{
    enum { BITS_MAX = 110 };
    struct as_triple t;
    *bits_max = high - low < BITS_MAX ? (unsigned)(high - low) : BITS_MAX;
    int large = near_one(low + (int)*bits_max, high);
    as_dots_clear(&f->dots);
    for (unsigned p = first; p <= last; p++) {
        if (!as_find_triple(f, p, &t) || t.at_once != f->fused)
            continue;
        for (unsigned j = 1; j <= *bits_max; j++) {
            size_t dot = as_dots_add(&f->dots);
            as_dots_put(&f->dots, dot, t.large, 1, large);
            as_dots_put(&f->dots, dot, t.small, 1, large - (int)j);
            as_dots_put(&f->dots, dot, t.minus, -1, large);
        }
    }
    enum as_status st = f->dots.lost ? AS_OK : as_dots_run(&f->dots, err);
    size_t at = 0;
    for (unsigned p = first; p <= last && !st && !f->dots.lost; p++)
        if (as_find_triple(f, p, &t) && t.at_once == f->fused) {
            take_width(w, p, exact_until(f, at, *bits_max, 0, large));
            at += *bits_max;
        }
    return st;
}

static enum as_status find_kept(struct as_finder *f, const struct as_dots_range *r, struct as_error *err)
{
    unsigned k = f->unit->k, bits_max = 0, bits_max_of_c = 0;
    struct widths w = {0}, of_c = {0};
    enum as_status st = find_kept_of(f, 0, k - 1, r->low, r->high, &bits_max, &w, err);
    /* If products are not small enough, the accumulator is. */
    if (!st && w.places && w.min == bits_max)
        st = find_kept_of(f, k, k, as_find_low(f, r, k), r->high, &bits_max_of_c, &of_c, err);
    if (of_c.places && of_c.min > w.min) {
        w = of_c;
        bits_max = bits_max_of_c;
    }
    if (st || w.places == 0)
        as_found_unseen(f, AS_PROPERTY_KEPT, "no three summands show it");
    else if (w.min != w.max)
        as_found_number(f, AS_PROPERTY_KEPT, w.min, bits_max, "%u bits at k = %u, but %u elsewhere", w.min, w.at,
                        w.max);
    else
        as_found_number(f, AS_PROPERTY_KEPT, w.min, bits_max, "%u fraction bits%s below a larger summand, %s", w.min,
                        w.min == bits_max ? " at least" : "",
                        f->fused ? "summands aligned to the largest" : "the width of the sum");
    return st;
}

/* (1 + 2^-j)^2 minus all but its last bit; the last case uses the largest significands. */
static void put_squares(struct as_finder *f, unsigned fraction, unsigned product, unsigned minus, int scale)
{
    for (unsigned j = 1; j <= fraction + 1; j++) {
        size_t dot = as_dots_add(&f->dots);
        bool power = j <= fraction;
        double x = power ? 1 + ldexp(1, -(int)j) : 2 - ldexp(1, -(int)fraction);
        double rest = power ? 1 + ldexp(2, -(int)j) : 4 - ldexp(4, -(int)fraction);
        double x_scaled = ldexp(x, scale);
        uint64_t a = as_number_nearest(f->unit->a, x_scaled), b = as_number_nearest(f->unit->b, x_scaled);
        f->dots.lost |= as_number_decode(f->unit->a, a) != x_scaled || as_number_decode(f->unit->b, b) != x_scaled;
        as_dots_put_codes(&f->dots, dot, product, a, b);
        as_dots_put(&f->dots, dot, minus, -rest, 2 * scale);
    }
}

static enum as_status find_product(struct as_finder *f, const struct as_dots_range *r, struct as_error *err)
{
    const struct as_matrix_unit *u = f->unit;
    unsigned fraction = u->a->fraction < u->b->fraction ? u->a->fraction : u->b->fraction, bits = 0;
    /* The product's last bit must be representable in the result. */
    int scale = r->low > -2 * (int)fraction ? (r->low + 2 * (int)fraction + 1) / 2 : 0;
    if (u->c->fraction < fraction || 2 * scale + 1 > r->high) {
        as_found_unseen(f, AS_PROPERTY_PRODUCT, "the accumulator cannot represent the subtrahend");
        return AS_OK;
    }
    as_dots_clear(&f->dots);
    put_squares(f, fraction, 0, u->k, scale);
    enum as_status st = f->dots.lost ? AS_OK : as_dots_run(&f->dots, err);
    if (st || f->dots.lost) {
        as_found_unseen(f, AS_PROPERTY_PRODUCT, "the formats cannot represent the numbers that show it");
        return st;
    }
    for (unsigned j = 1; j <= fraction + 1; j++) {
        unsigned last = j <= fraction ? j : fraction;
        if (as_dots_result(&f->dots, j - 1) != ldexp(1, 2 * scale - 2 * (int)last))
            break;
        bits = 2 * last;
    }
    bool exact = bits == 2 * fraction && as_dots_result(&f->dots, fraction) == ldexp(1, 2 * scale - 2 * (int)fraction);
    const struct as_property_found *kept = &f->out->property[AS_PROPERTY_KEPT];
    if (bits < 2 * fraction && bits + 2 <= u->c->fraction && kept->seen && kept->value >= bits + 2)
        f->out->how.product = bits;
    as_found_number(f, AS_PROPERTY_PRODUCT, bits, NAN, "%s: %u of its %u fraction bits survive",
                    exact ? "exact" : "not exact", bits, 2 * fraction);
    return AS_OK;
}

enum as_status as_find_widths(struct as_finder *f, struct as_error *err)
{
    struct as_dots_range r = as_dots_range(&f->dots, f->subnormal_results);
    if (f->unit->c->kind != AS_NUMBER_FLOAT) {
        for (enum as_property p = AS_PROPERTY_PRODUCT; p <= AS_PROPERTY_KEPT; p++)
            as_found_unseen(f, p, "integers lose only bits past the range");
        return AS_OK;
    }
    enum as_status st = find_accumulator(f, &r, err);
    if (!st && f->tree)
        st = find_kept(f, &r, err);
    else if (!st)
        as_found_unseen(f, AS_PROPERTY_KEPT, "the order of additions is unknown");
    if (!st)
        st = find_product(f, &r, err);
    return st;
}
