#include "run/deadline.h"

#include <math.h>

double as_deadline_of(double now, double budget_s, double finding_s)
{
    if (!(budget_s > 0))
        return INFINITY;
    return now + budget_s - (finding_s < 0.5 * budget_s ? finding_s : 0);
}

double as_deadline_budget_for_all(double need_s, double budget_s, size_t measured, size_t all)
{
    const double each = measured ? (double)all / (double)measured : (double)all;
    return ceil(fmax(need_s, fmax(budget_s * each, budget_s + 1)));
}
