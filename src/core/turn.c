#include "core/turn.h"
#include "core/engine.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

/* The clock moves in steps that last for seconds. Who shares the reader's own core for a moment only adds to a reading,
 * so the least of those of this time is the clock's. */
static const double WINDOW_S = 1;
/* So many in that time are believed when they say that it is slow; so far apart, that they are of several moments. */
enum { BELIEVED = 3 };
static const double APART_S = 0.002;
/* Where a tenth of all looks finds the host slow, waiting for a better moment would use up the good ones. */
static const double SCARCE = 0.1;

/* A cell that asks for little may count visits in which the host was slower (as_yardstick_room); a moment in which it
 * is as fast as in other runs is better for all of them. */
static bool is_slow(double excess)
{
    return excess > as_yardstick_room(0);
}

/* The least of the readings of this time; how many they are. */
static double least_of(const struct as_pace *p, double from, size_t *n)
{
    double least = INFINITY;
    *n = 0;
    for (size_t i = 0; i < p->n && i < AS_PACE_KEPT; i++)
        if (p->last[i].at > from) {
            least = fmin(least, p->last[i].ns);
            ++*n;
        }
    return least;
}

double as_pace_now(struct as_pace *p)
{
    struct as_error ignored; /* without memory for more readings those there are will do */
    double excess;
    p->asked++;
    for (;;) {
        size_t n;
        const double at = as_now(), ns = p->read();
        (void)as_yardsticks_add(&p->seen, ns, &ignored);
        p->last[p->n % AS_PACE_KEPT].at = at;
        p->last[p->n % AS_PACE_KEPT].ns = ns;
        p->n++;
        excess = as_yardstick_excess(&p->seen, least_of(p, at - WINDOW_S, &n));
        if (!is_slow(excess) || n >= BELIEVED)
            break;
        as_sleep(APART_S);
    }
    p->slow += is_slow(excess);
    return excess;
}

bool as_pace_is_scarce(const struct as_pace *p)
{
    return (double)p->slow > SCARCE * (double)p->asked;
}

void as_pace_finish(struct as_pace *p)
{
    as_yardsticks_finish(&p->seen);
}

/* Of those that are left to visit. */
struct left {
    bool host, others;
};

static struct left look_over(const struct as_engine *e, const size_t *order, size_t n)
{
    struct left left = {false, false};
    for (size_t k = 0; k < n && !(left.host && left.others); k++) {
        const struct as_progress *p = &e->progress[order[k]];
        left.host |= !p->over && p->host;
        left.others |= !p->over && !p->host;
    }
    return left;
}

bool as_engine_is_mixed(const struct as_engine *e, const size_t *order, size_t n)
{
    const struct left left = look_over(e, order, n);
    return left.host && left.others;
}

bool as_engine_choose(struct as_engine *e, size_t *order, size_t n, bool may_wait)
{
    const struct left left = look_over(e, order, n);
    if (!e->pace.read || !left.host || (!left.others && !may_wait))
        return true;
    const bool slow = is_slow(as_pace_now(&e->pace)), scarce = as_pace_is_scarce(&e->pace);
    size_t best = n;
    for (size_t k = 0; k < n; k++) {
        const struct as_progress *p = &e->progress[order[k]];
        if (p->over || (p->host && slow))
            continue;
        if (best == n || p->host)
            best = k;
        if (p->host || !scarce)
            break;
    }
    if (best == n && may_wait)
        return false;
    if (best == n) /* all are over */
        best = 0;
    const size_t chosen = order[best];
    memmove(order + 1, order, best * sizeof *order);
    order[0] = chosen;
    return true;
}

void as_engine_learn_host(struct as_engine *e, size_t index, bool host)
{
    const struct as_progress *p = &e->progress[index];
    if (p->host == host) /* then the others were taken for the same */
        return;
    e->progress[index].host = host;
    for (size_t i = 0; i < e->sentinels_first; i++)
        if (e->progress[i].visits == 0 && e->progress[i].slot == p->slot &&
            strcmp(e->cells[i].probe, e->cells[index].probe) == 0)
            e->progress[i].host = host;
}
