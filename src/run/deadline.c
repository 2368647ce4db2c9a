#include "run/deadline.h"

#include <math.h>

/* Fraction of the time left for the rounds; the rest goes where it narrows most. */
static const double FOR_ROUNDS = 0.7;
enum { TRIALS_FIRST = 3 };
static const double SENTINELS = 25, SENTINELS_EVERY_S = 3;
/* What a budget leaves out are the costliest cells, and costs vary from run to run. */
static const double BUDGET_MARGIN = 1.5;

double as_deadline_of(double now, double budget_s, double finding_s)
{
    if (!(budget_s > 0))
        return INFINITY;
    return now + budget_s - (finding_s < 0.5 * budget_s ? finding_s : 0);
}

double as_deadline_part(int round, int rounds)
{
    if (round > rounds)
        return 1;
    const double part = FOR_ROUNDS / (rounds - round + 1);
    return round == 1 ? fmin(part, AS_DEADLINE_FOR_PILOT / 2) : part;
}

int as_deadline_trials_first(int rounds)
{
    return rounds < TRIALS_FIRST ? rounds : TRIALS_FIRST;
}

double as_deadline_sentinels_every(double budget_s)
{
    return isfinite(budget_s) ? fmax(0.25, fmin(budget_s / SENTINELS, SENTINELS_EVERY_S)) : 2.5;
}

double as_deadline_budget_for_all(double budget_s, size_t measured, size_t all)
{
    if (4 * measured < all)
        return NAN;
    return ceil(fmax(BUDGET_MARGIN * budget_s * (double)all / (double)measured, budget_s + 1));
}

size_t as_deadline_fits(double budget_s, size_t cells)
{
    const double most = budget_s / AS_DEADLINE_SHARE_MIN_S;
    return budget_s > 0 && most < (double)cells ? (size_t)most : cells;
}
