/* The order of additions, after FPRev (Xie, Gao, Xue 2024): one summand is M, which absorbs 1, another -M, all
 * others 1. Those added to M before -M cancels it are lost; so the result counts the summands outside the node where
 * the two meet, and all pairs give the whole tree. Nodes may have more than two inputs. */
#include "find_internal.h"

#include <math.h>
#include <string.h>

enum { SPREAD_MOST = 120, UNIT_LEAST = -60 };

/* Directed rounding absorbs numbers of one sign only, possibly depending on M's: so each pair is tested with both signs
 * of both. An absorbed 1 is not counted, others may count more than once.
 */
enum { VARIANTS = 4 };

static size_t pair_index(unsigned leaves, unsigned i, unsigned j)
{
    return ((size_t)i * (2 * leaves - i - 1) / 2 + (j - i - 1)) * VARIANTS;
}

static int sign_of_ones(unsigned variant)
{
    return variant & 1 ? -1 : 1;
}

static void put_all(struct as_finder *f, unsigned leaves, int one, int large)
{
    as_dots_clear(&f->dots);
    for (unsigned i = 0; i < leaves; i++)
        for (unsigned j = i + 1; j < leaves; j++)
            for (unsigned v = 0; v < VARIANTS; v++) {
                size_t dot = as_dots_add(&f->dots);
                for (unsigned l = 0; l < leaves; l++)
                    if (l != i && l != j)
                        as_dots_put(&f->dots, dot, l, sign_of_ones(v), one);
                as_dots_put(&f->dots, dot, i, v & 2 ? -1 : 1, large);
                as_dots_put(&f->dots, dot, j, v & 2 ? 1 : -1, large);
            }
}

/* False: a result is not a count of summands. */
static bool take_sizes(struct as_finder *f, unsigned leaves, int one)
{
    for (unsigned i = 0; i < leaves; i++) {
        f->size[i][i] = 1;
        for (unsigned j = i + 1; j < leaves; j++) {
            double smallest = leaves;
            for (unsigned v = 0; v < VARIANTS; v++) {
                double left = sign_of_ones(v) * ldexp(as_dots_result(&f->dots, pair_index(leaves, i, j) + v), -one);
                if (left >= 0 && left < smallest && left == floor(left))
                    smallest = left;
            }
            if (smallest > leaves - 2)
                return false;
            f->size[i][j] = f->size[j][i] = (uint16_t)(leaves - (unsigned)smallest);
        }
    }
    return true;
}

/* Of any three leaves in a tree the closest two are equally far from the third. */
static bool is_tree(const struct as_finder *f, unsigned leaves)
{
    for (unsigned i = 0; i < leaves; i++)
        for (unsigned j = i + 1; j < leaves; j++)
            for (unsigned l = 0; l < leaves; l++) {
                unsigned a = f->size[i][l], b = f->size[j][l];
                if (f->size[i][j] > (a > b ? a : b))
                    return false;
            }
    return true;
}

static void take_own(struct as_finder *f, unsigned leaves)
{
    for (unsigned i = 0; i < leaves; i++) {
        f->own[i] = (uint16_t)leaves;
        for (unsigned j = 0; j < leaves; j++)
            if (i != j && f->size[i][j] < f->own[i])
                f->own[i] = f->size[i][j];
    }
}

/* Are two leaves added at the same node? */
static bool find_order_beside(const struct as_finder *f, unsigned i, unsigned j)
{
    return f->own[i] == f->own[j] && f->size[i][j] == f->own[i];
}

static unsigned products_beside(const struct as_finder *f, unsigned product)
{
    unsigned n = 1;
    for (unsigned i = 0; i < f->unit->k; i++)
        n += i != product && find_order_beside(f, product, i);
    return n;
}

bool as_find_triple(const struct as_finder *f, unsigned small, struct as_triple *out)
{
    unsigned leaves = f->unit->k + 1, best = UINT32_MAX;
    for (unsigned x = 0; x < leaves; x++)
        for (unsigned z = 0; z < leaves; z++) {
            if (x == small || z == small || x == z || f->size[x][small] != f->own[small] ||
                f->size[x][z] < f->size[x][small] || f->size[x][z] >= best)
                continue;
            best = f->size[x][z];
            *out = (struct as_triple){x, small, z, find_order_beside(f, x, small) && find_order_beside(f, z, small)};
        }
    return best != UINT32_MAX;
}

unsigned as_find_together(const struct as_finder *f, unsigned *leaves, unsigned leaves_max)
{
    unsigned k = f->unit->k, best = 0, count = 0;
    for (unsigned i = 0; i <= k; i++) {
        unsigned n = 0;
        for (unsigned j = 0; j <= k; j++)
            n += j == i || find_order_beside(f, i, j);
        if (n > count) {
            count = n;
            best = i;
        }
    }
    unsigned n = 0;
    for (unsigned l = k + 1; l-- > 0 && n < leaves_max;)
        if (l == best || find_order_beside(f, best, l))
            leaves[n++] = l;
    return n;
}

/* ---- naming the tree ---- */

/* Products that meet the others of their step pairwise, and the accumulator only afterwards. */
static unsigned pairs_of(const struct as_finder *f)
{
    unsigned k = f->unit->k, smallest = k + 1;
    for (unsigned p = 0; p < k; p++) {
        if (f->own[p] != 2 || f->size[p][k] < 5)
            return 0;
        if (f->size[p][k] < smallest)
            smallest = f->size[p][k];
    }
    /* In a step of products only, all sizes are powers of two. */
    for (unsigned p = 0; p < k; p++)
        for (unsigned q = 0; q < k; q++)
            if (f->size[p][q] < smallest && (f->size[p][q] & (f->size[p][q] - 1)))
                return 0;
    return ((smallest - 1) & (smallest - 2)) == 0 ? smallest - 1 : 0;
}

static bool same_counts(const struct as_finder *f, unsigned from, unsigned count)
{
    for (unsigned p = from; p < f->unit->k; p++)
        if (products_beside(f, p) != count)
            return false;
    return true;
}

/* The step in which each product is added: sums grow from step to step. */
static void take_steps(struct as_finder *f, bool last)
{
    unsigned k = f->unit->k, step = f->out->how.step;
    uint16_t at[AS_MATRIX_K_MOST];
    bool in_order = true;
    for (unsigned p = 0; p < k; p++)
        at[p] = last ? f->own[p] : f->size[p][k];
    for (unsigned p = 0; p < k; p++) {
        unsigned before = 0;
        for (unsigned q = 0; q < k; q++)
            before += at[q] < at[p] || (at[q] == at[p] && q < p);
        f->out->how.of_step[p] = (uint8_t)(before / step);
        in_order &= before / step == p / step;
    }
    if (in_order)
        memset(f->out->how.of_step, 0, sizeof f->out->how.of_step);
}

/* Partial sums that take the products in turn, `step` at once, and are added pairwise: the number of summands below the
 * node where two products meet. */
static unsigned meet_of_sums(unsigned k, unsigned sums, unsigned step, unsigned p, unsigned q)
{
    unsigned later = (p > q ? p : q) / sums, width = 1;
    if (p % sums == q % sums)
        return (later / step + 1) * step;
    while (p % sums / width != q % sums / width)
        width *= 2;
    return width * (k / sums);
}

static bool is_of_sums(const struct as_finder *f, unsigned sums, unsigned step)
{
    unsigned k = f->unit->k;
    for (unsigned p = 0; p < k; p++) {
        if (f->size[p][k] != k + 1)
            return false;
        for (unsigned q = 0; q < k; q++)
            if (p != q && f->size[p][q] != meet_of_sums(k, sums, step, p, q))
                return false;
    }
    return true;
}

/* Sums of two products or more; those of one are pairs. */
static bool name_sums(struct as_finder *f)
{
    struct as_arithmetic *how = &f->out->how;
    unsigned k = f->unit->k;
    for (unsigned sums = 2; 2 * sums <= k; sums *= 2)
        for (unsigned step = 1; k % sums == 0 && step <= k / sums; step++)
            if (k / sums % step == 0 && is_of_sums(f, sums, step)) {
                how->sums = sums;
                how->step = step;
                how->start = AS_START_LAST;
                return true;
            }
    return false;
}

/* False: the model has no such order. */
static bool name_order(struct as_finder *f)
{
    struct as_arithmetic *how = &f->out->how;
    unsigned k = f->unit->k, first = products_beside(f, 0), pairs = pairs_of(f);
    unsigned twos = 0;
    for (unsigned p = 0; p < k; p++)
        twos += products_beside(f, p) == 2;
    bool c_last = f->own[k] == k + 1, c_beside = false;
    for (unsigned p = 0; p < k; p++)
        c_beside |= find_order_beside(f, k, p);
    how->inside = AS_SUM_AT_ONCE;
    if (name_sums(f))
        return true;
    if (pairs) {
        how->inside = AS_SUM_PAIRS;
        how->step = pairs;
        how->start = AS_START_EACH;
    } else if (c_last && !c_beside && k > 2 && twos == 2 && same_counts(f, 2, 1)) {
        how->step = 1;
        how->start = AS_START_LAST;
    } else if (same_counts(f, 0, first) && k % first == 0) {
        how->step = first;
        how->start = c_beside ? AS_START_TOGETHER : c_last && k > first ? AS_START_LAST : AS_START_EACH;
        /* If each step's products are summed first, all such sums have one size. */
        if (how->start == AS_START_LAST && f->own[k - 1] == first && f->own[0] == first)
            return false;
    } else
        return false;
    take_steps(f, how->start == AS_START_LAST);
    return true;
}

static const char *const start_texts[] = {
    [AS_START_TOGETHER] = "the accumulator is a summand of the first step",
    [AS_START_EACH] = "the products of a step are summed first, then added to the accumulator",
    [AS_START_LAST] = "the accumulator is added after all products",
};

static void say_order(struct as_finder *f)
{
    const struct as_arithmetic *how = &f->out->how;
    unsigned k = f->unit->k;
    bool shuffled = false;
    for (unsigned p = 0; p < k; p++)
        shuffled |= how->of_step[p] != 0;
    if (how->step == 1)
        as_found_number(f, AS_PROPERTY_STEP, 1, k, "%u products one after another%s", k,
                        shuffled ? ", not in the order of k" : "");
    else
        as_found_number(f, AS_PROPERTY_STEP, how->step, k, "%u products %s%s%s", how->step,
                        how->inside == AS_SUM_PAIRS ? "pairwise" : "at once", how->step < k ? ", step after step" : "",
                        shuffled ? ", not in the order of k" : "");
    if (how->sums > 1)
        as_found_number(f, AS_PROPERTY_SUMS, how->sums, k,
                        "%u partial sums from 0, which take the products in turn and are then added%s", how->sums,
                        how->sums > 2 ? " pairwise" : "");
    else
        as_found_number(f, AS_PROPERTY_SUMS, 1, k, "a single sum");
    as_found_number(f, AS_PROPERTY_START, AS_START_VALUE_TOGETHER + (double)how->start, NAN, "%s",
                    start_texts[how->start]);
}

static void say_other(struct as_finder *f, const char *why)
{
    as_found_unseen(f, AS_PROPERTY_STEP, "%s", why);
    as_found_unseen(f, AS_PROPERTY_SUMS, "%s", why);
    as_found_unseen(f, AS_PROPERTY_START, "%s", why);
}

/* If nothing is lost the order cannot be determined, and does not matter. */
static void take_lossless(struct as_finder *f, unsigned leaves)
{
    static const char text[] = "no product of these formats is lost beside another, as if all were added at once";
    for (unsigned i = 0; i < leaves; i++) {
        for (unsigned j = 0; j < leaves; j++)
            f->size[i][j] = (uint16_t)leaves;
        f->own[i] = (uint16_t)leaves;
    }
    f->out->how.step = f->unit->k;
    f->fused = true;
    as_found_number(f, AS_PROPERTY_STEP, f->unit->k, f->unit->k, "%s", text);
    as_found_unseen(f, AS_PROPERTY_SUMS, "%s", text);
    as_found_unseen(f, AS_PROPERTY_START, "%s", text);
}

enum as_status as_find_order(struct as_finder *f, struct as_error *err)
{
    unsigned leaves = f->unit->k + 1;
    if (f->unit->c->kind != AS_NUMBER_FLOAT) {
        say_other(f, "sums of integers are the same in any order");
        return AS_OK;
    }
    struct as_dots_range r = as_dots_range(&f->dots, f->subnormal_results);
    int one = r.low > UNIT_LEAST ? r.low : UNIT_LEAST, large = one + SPREAD_MOST < r.high ? one + SPREAD_MOST : r.high;
    if (leaves < 3 || large <= one) {
        say_other(f, "the range of this format is too small for numbers to absorb each other");
        return AS_OK;
    }
    put_all(f, leaves, one, large);
    if (f->dots.lost) {
        say_other(f, "the formats cannot represent numbers that absorb each other");
        return AS_OK;
    }
    enum as_status st = as_dots_run(&f->dots, err);
    if (st)
        return st;
    if (!take_sizes(f, leaves, one) || !is_tree(f, leaves)) {
        say_other(f, "what is lost beside a large number matches no order of additions");
        return AS_OK;
    }
    take_own(f, leaves);
    bool lossless = true;
    for (unsigned i = 0; i < leaves; i++)
        for (unsigned j = i + 1; j < leaves; j++)
            lossless &= f->size[i][j] == 2;
    f->tree = true;
    if (lossless) {
        take_lossless(f, leaves);
        return AS_OK;
    }
    if (name_order(f))
        say_order(f);
    else
        say_other(f, "the tree of additions has no name here");
    unsigned three[3];
    f->fused = as_find_together(f, three, 3) == 3;
    return AS_OK;
}
