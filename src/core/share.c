/* Who may use how much of a time budget: devices share it evenly, and what one does not want the others have. */
#include "core/engine.h"

#include "base/clock.h"

#include <math.h>

/* What is kept for a visit to come, by the least that it takes: as long again, to be precise in. */
static const double ROOM = 2;

/* So much of the budget goes by before the part of it that visits took is told. */
static const double BEGINNING = 0.1;

double as_engine_need(const struct as_progress *p)
{
    const struct as_slot *slot = p->slot;
    double usual = slot && slot->visits ? slot->used_s / slot->visits : 0;
    return p->visits ? p->prepare_s + p->fewest_s : usual;
}

/* For the visits of all rounds to come; INFINITY while nothing is known of this device's. */
static double want_of(const struct as_engine *e, const struct as_slot *slot)
{
    double want = 0;
    for (size_t i = 0; i < e->sentinels_first; i++) {
        const struct as_progress *p = &e->progress[i];
        if (p->slot != slot || p->over || p->visits >= e->rounds)
            continue;
        if (p->visits == 0 && slot->visits == 0)
            return INFINITY;
        want += (p->visits ? ROOM : 1) * as_engine_need(p) * (e->rounds - p->visits);
    }
    return want;
}

/* The bound that holds for each of them where all together have `all`: those that want less leave the rest to others.
 */
static double even_share(const struct as_engine *e, double all)
{
    double share = 0;
    for (size_t turn = 0; turn < e->slots_n; turn++) {
        double small = 0;
        size_t large_n = 0;
        for (size_t i = 0; i < e->slots_n; i++) {
            double total = e->slots[i].used_s + e->slots[i].want_s;
            if (total > share)
                large_n++;
            else
                small += total;
        }
        if (large_n == 0)
            return INFINITY;
        share = (all - small) / (double)large_n;
    }
    return share;
}

/* The part of the time that goes into visits; the rest is for sentinels and new workers. */
static double part_of_visits(const struct as_engine *e, double used)
{
    double elapsed = as_now() - e->measured_from;
    return elapsed > BEGINNING * (e->deadline - e->start) && used > 0 ? fmin(1, used / elapsed) : 1;
}

double as_engine_slot_left(struct as_engine *e, const struct as_slot *slot)
{
    double left = e->deadline - as_now(), used = 0;
    if (!isfinite(left) || left <= 0 || !slot)
        return left;
    for (size_t i = 0; i < e->slots_n; i++) {
        e->slots[i].want_s = want_of(e, &e->slots[i]);
        used += e->slots[i].used_s;
    }
    double part = part_of_visits(e, used), share = even_share(e, used + part * left);
    for (size_t i = 0; i < e->slots_n; i++) {
        const struct as_slot *other = &e->slots[i];
        if (other != slot)
            left -= fmax(0, fmin(other->want_s, share - other->used_s)) / part;
    }
    return left;
}
