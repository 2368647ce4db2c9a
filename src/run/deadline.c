#include "run/deadline.h"

#include <math.h>

double as_deadline_of(double now, double budget_s, double finding_s)
{
    if (!(budget_s > 0))
        return INFINITY;
    return now + budget_s - (finding_s < 0.5 * budget_s ? finding_s : 0);
}

double as_deadline_budget_for_all(double budget_s, size_t measured, size_t all)
{
    if (4 * measured < all)
        return NAN;
    return ceil(fmax(budget_s * (double)all / (double)measured, budget_s + 1));
}

size_t as_deadline_fits(double budget_s, size_t cells)
{
    const double most = budget_s / AS_DEADLINE_SHARE_MIN_S;
    return budget_s > 0 && most < (double)cells ? (size_t)most : cells;
}
