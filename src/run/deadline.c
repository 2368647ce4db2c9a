#include "run/deadline.h"

#include <math.h>

/* Fraction of the time left for the rounds; the rest goes where it narrows most. */
static const double FOR_ROUNDS = 0.7;
enum { TRIALS_FIRST = 3 };
static const double SENTINELS = 25, SENTINELS_EVERY_S = 3;
/* Of the hinted budget, since costs vary from run to run. */
static const double MARGIN = 1.2;

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

double as_deadline_budget_for_all(const struct as_deadline_pace *p)
{
    if (4 * p->measured < p->all)
        return NAN;
    /* Sentinels are read at most SENTINELS times, or once per SENTINELS_EVERY_S. */
    const double sentinels_s = AS_DEADLINE_FOR_PILOT * SENTINELS * p->sentinels_s;
    const double part = AS_DEADLINE_FOR_PILOT * fmax(1 - p->sentinels_s / SENTINELS_EVERY_S, 0.5);
    const double least_s = MARGIN * p->trials_s + p->beside_s + sentinels_s;
    const double by_part = least_s / fmax(part - as_deadline_part(1, p->rounds), part / 4);
    const double by_share = (least_s + AS_DEADLINE_PILOT_SHARE_S * (double)p->all) / part;
    return ceil(fmax(fmin(by_part, by_share), p->budget_s + 1));
}

size_t as_deadline_fits(double budget_s, size_t cells)
{
    const double most = budget_s / AS_DEADLINE_SHARE_MIN_S;
    return budget_s > 0 && most < (double)cells ? (size_t)most : cells;
}
