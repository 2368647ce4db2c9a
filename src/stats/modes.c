/* One mode or two: Hartigans' dip test, and where the modes are. */
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

/* The empirical distribution as the points (x[i], i) of sorted values. Its greatest convex minorant and least concave
 * majorant over a range of points are lists of rising indices, the ends included. */
struct hulls {
    const double *x;
    size_t *lower, *upper;
    size_t lower_n, upper_n;
};

/* Slope from a to mid over slope from mid to b, as a difference that needs no division. */
static double bend(const double *x, size_t a, size_t mid, size_t b)
{
    return (double)(mid - a) * (x[b] - x[mid]) - (double)(b - mid) * (x[mid] - x[a]);
}

static void make_hulls(struct hulls *h, size_t low, size_t high)
{
    size_t *l = h->lower, *u = h->upper, nl = 0, nu = 0;
    for (size_t i = low; i <= high; i++) {
        while (nl > 1 && bend(h->x, l[nl - 2], l[nl - 1], i) >= 0)
            nl--;
        l[nl++] = i;
        while (nu > 1 && bend(h->x, u[nu - 2], u[nu - 1], i) <= 0)
            nu--;
        u[nu++] = i;
    }
    h->lower_n = nl;
    h->upper_n = nu;
}

/* Height above point a of the line from a to b at point i. */
static double rise(const double *x, size_t a, size_t b, size_t i)
{
    return x[b] > x[a] ? (x[i] - x[a]) / (x[b] - x[a]) * (double)(b - a) : (double)(b - a);
}

/* The widest gap between the hulls, at a knot of either, and the modal range around it: from a knot of the minorant to
 * one of the majorant. In units of 1/n; the jump of the distribution at a point is the 1 in it. */
static double widest_gap(const struct hulls *h, size_t *low, size_t *high)
{
    const size_t *l = h->lower, *u = h->upper;
    double widest = 1;
    *low = l[0];
    *high = u[h->upper_n - 1];
    for (size_t i = 1, j = 1; i + 1 < h->lower_n; i++) {
        while (u[j] < l[i])
            j++;
        double gap = (double)u[j - 1] + rise(h->x, u[j - 1], u[j], l[i]) - (double)l[i] + 1;
        if (gap > widest) {
            widest = gap;
            *low = l[i];
            *high = u[j];
        }
    }
    for (size_t i = 1, j = 1; i + 1 < h->upper_n; i++) {
        while (l[j] <= u[i])
            j++;
        double gap = (double)(u[i] - l[j - 1]) + 1 - rise(h->x, l[j - 1], l[j], u[i]);
        if (gap > widest) {
            widest = gap;
            *low = l[j - 1];
            *high = u[i];
        }
    }
    return widest;
}

/* How far the distribution goes from the minorant left of low, and from the majorant right of high. */
static double farthest(const struct hulls *h, size_t low, size_t high)
{
    double most = 1;
    for (size_t k = 0; k + 1 < h->lower_n && h->lower[k + 1] <= low; k++)
        for (size_t a = h->lower[k], b = h->lower[k + 1], i = a; b - a > 1 && h->x[b] > h->x[a] && i <= b; i++)
            most = fmax(most, (double)(i - a) + 1 - rise(h->x, a, b, i));
    for (size_t k = 0; k + 1 < h->upper_n; k++)
        for (size_t a = h->upper[k], b = h->upper[k + 1], i = a; a >= high && b - a > 1 && h->x[b] > h->x[a] && i <= b;
             i++)
            most = fmax(most, rise(h->x, a, b, i) - (double)(i - a) + 1);
    return most;
}

double as_dip(const double *sorted, size_t n)
{
    if (n == 0 || n > SIZE_MAX / 4 / sizeof(size_t))
        return NAN;
    struct hulls h = {.x = sorted, .lower = malloc(2 * n * sizeof(size_t))};
    if (!h.lower)
        return NAN;
    h.upper = h.lower + n;
    double dip = 1;
    size_t low = 0, high = n - 1;
    while (sorted[high] > sorted[low]) {
        size_t inner_low, inner_high;
        make_hulls(&h, low, high);
        double gap = widest_gap(&h, &inner_low, &inner_high);
        if (gap <= dip)
            break;
        dip = fmax(dip, farthest(&h, inner_low, inner_high));
        if (inner_low == low && inner_high == high)
            break;
        low = inner_low;
        high = inner_high;
    }
    free(h.lower);
    return dip / (2 * (double)n);
}

/* sqrt(n) times the dip that uniform samples exceed in 1 of 100 cases: printed by tools/dip_table.c */
static const struct {
    size_t n;
    double scaled;
} critical[] = {
    {6, 0.4698},    {7, 0.4865},    {8, 0.4898},    {9, 0.4918},     {10, 0.5048},  {12, 0.5138},
    {15, 0.5271},   {20, 0.5400},   {25, 0.5486},   {30, 0.5573},    {40, 0.5675},  {50, 0.5726},
    {72, 0.5814},   {100, 0.5901},  {150, 0.5996},  {200, 0.6032},   {300, 0.6098}, {500, 0.6141},
    {1000, 0.6218}, {2000, 0.6291}, {5000, 0.6274}, {10000, 0.6231},
};

double as_dip_critical(size_t n)
{
    const size_t rows = sizeof critical / sizeof *critical;
    if (n < critical[0].n)
        return INFINITY; /* too few to tell anything */
    size_t i = 1;
    while (i < rows && critical[i].n < n)
        i++;
    if (i == rows)
        return critical[rows - 1].scaled / sqrt((double)n);
    double a = 1 / sqrt((double)critical[i - 1].n), b = 1 / sqrt((double)critical[i].n), x = 1 / sqrt((double)n);
    double scaled = critical[i - 1].scaled + (x - a) / (b - a) * (critical[i].scaled - critical[i - 1].scaled);
    return scaled / sqrt((double)n);
}

/* The split of sorted values into two groups with the least sum of squares within them: size of the lower group. */
static size_t best_split(const double *x, size_t n)
{
    double total = 0, sum = 0, most = -1;
    size_t split = 0;
    for (size_t i = 0; i < n; i++)
        total += x[i] - x[n / 2]; /* around the middle, for the digits */
    for (size_t i = 1; i < n; i++) {
        sum += x[i - 1] - x[n / 2];
        double apart = sum / (double)i - (total - sum) / (double)(n - i);
        double gain = apart * apart * (double)i * (double)(n - i);
        if (gain > most) {
            most = gain;
            split = i;
        }
    }
    return split;
}

bool as_two_modes_sorted(const double *sorted, size_t n, double mode[2], double *share0)
{
    mode[0] = mode[1] = *share0 = NAN;
    if (n < 10 || as_dip(sorted, n) < as_dip_critical(n))
        return false;
    size_t split = best_split(sorted, n);
    if (split * 10 < n || (n - split) * 10 < n)
        return false;
    double low = as_median_sorted(sorted, split), high = as_median_sorted(sorted + split, n - split);
    double *off = as_copy_values(sorted, n);
    if (!off)
        return false;
    /* the spread within the groups: that of all together would be half their distance */
    for (size_t i = 0; i < n; i++)
        off[i] = fabs(off[i] - (i < split ? low : high));
    double within = as_median_in(off, n), apart = high - low;
    free(off);
    if (apart < 3 * within || apart < 0.01 * fmin(fabs(low), fabs(high)))
        return false;
    mode[0] = low;
    mode[1] = high;
    *share0 = (double)split / (double)n;
    return true;
}

bool as_two_modes(const double *x, size_t n, double mode[2], double *share0)
{
    mode[0] = mode[1] = *share0 = NAN;
    double *sorted = as_all_finite(x, n) ? as_copy_values(x, n) : NULL;
    if (!sorted)
        return false;
    as_sort(sorted, n);
    bool two = as_two_modes_sorted(sorted, n, mode, share0);
    free(sorted);
    return two;
}
