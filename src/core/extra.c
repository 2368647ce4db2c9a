/* Who gets the time that is left after all rounds? As many cells as it can make trusted, then as many as it can bring
 * to the suite's precision. */
#include "core/engine.h"

#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

/* A section may accept wider intervals than the suite asks for in general; where there is time, its cells are brought
 * there too, but for those that no run has visits enough to bring there. */
static const double WITHIN_REACH = 4; /* times what is asked: 15 visits instead of 3 divide an interval by 4.5 */
static const double CONFIDENCE = 0.95;

bool as_engine_wants_more(const struct as_engine *e, size_t i)
{
    return e->cells[i].gates[AS_GATE_NOISE].state == AS_GATE_FAIL || e->progress[i].clean == 0 ||
           e->cells[i].gates[AS_GATE_DRIFT].state == AS_GATE_FAIL;
}

/* The interval's width against a precision. */
static double excess_width(const struct as_cell *c, double precision)
{
    double w = (c->sum.ci.hi - c->sum.ci.lo) / fabs(c->sum.median) / precision;
    return isfinite(w) ? w : INFINITY;
}

/* LUCK: so many visits are missing that the time left does not hold them; another one may still show the one before to
 * have been an accident. */
enum want { WANTS_TRUST, WANTS_MORE_PRECISION, WANTS_LUCK, WANTS_NOTHING };

static enum want want_of(const struct as_engine *e, size_t i)
{
    const struct as_cell *c = &e->cells[i];
    if (as_engine_wants_more(e, i) || e->progress[i].clean < e->rounds)
        return WANTS_TRUST;
    double excess = excess_width(c, e->run->precision);
    return isfinite(e->deadline) && c->gates[AS_GATE_NOISE].state == AS_GATE_PASS && excess > 1 &&
                   excess <= WITHIN_REACH
               ? WANTS_MORE_PRECISION
               : WANTS_NOTHING;
}

/* The width of an interval by Student's t from so many visits, against their scatter. */
static double width_of(int visits)
{
    return as_student((unsigned)(visits - 1), CONFIDENCE) / sqrt(visits);
}

/* Visits until the interval is as narrow as asked, if these go on to scatter as they do, at most one more than `most`.
 */
static int visits_missing(const struct as_engine *e, size_t i, double excess, int most)
{
    const int clean = e->progress[i].clean;
    int missing = e->rounds > clean ? e->rounds - clean : 1;
    /* what was disturbed, or fell into two modes, has to be seen as often again undisturbed */
    if (as_engine_wants_more(e, i) && excess <= 1)
        return e->rounds;
    if (clean > 1 && excess > 1)
        while (missing <= most && width_of(clean + missing) * excess > width_of(clean))
            missing++;
    return missing;
}

struct wanting {
    size_t index;
    enum want want;
    double cost_s; /* of all visits that are missing */
};

static struct wanting wanting_of(struct as_engine *e, size_t i, int most)
{
    const struct as_progress *p = &e->progress[i];
    struct wanting w = {.index = i, .want = want_of(e, i)};
    const double precision = w.want == WANTS_MORE_PRECISION ? e->run->precision : e->cells[i].precision;
    const int room = e->rounds + most - p->visits,
              missing = visits_missing(e, i, excess_width(&e->cells[i], precision), room);
    w.cost_s = missing * p->took_s;
    if (p->over || room <= 0)
        w.want = WANTS_NOTHING;
    else if (w.want == WANTS_TRUST && p->clean > 0 && (missing > room || w.cost_s > as_engine_slot_left(e, p->slot)))
        w.want = WANTS_LUCK;
    return w;
}

static int cheapest_first(const void *a, const void *b)
{
    const struct wanting *x = a, *y = b;
    return x->want != y->want ? (x->want > y->want) - (x->want < y->want)
                              : (x->cost_s > y->cost_s) - (x->cost_s < y->cost_s);
}

enum as_status as_engine_find_wanting(struct as_engine *e, int most, bool trust_only, size_t *order, size_t *n,
                                      struct as_error *err)
{
    struct wanting *w = calloc(e->sentinels_first ? e->sentinels_first : 1, sizeof *w);
    size_t all = 0;
    *n = 0;
    if (!w)
        return as_nomem(err, e->sentinels_first * sizeof *w, "the order of cells");
    for (size_t i = 0; i < e->sentinels_first; i++) {
        w[all] = wanting_of(e, i, most);
        all += w[all].want != WANTS_NOTHING;
    }
    qsort(w, all, sizeof *w, cheapest_first);
    if (trust_only && all > 0 && w[0].want == WANTS_TRUST)
        while (w[all - 1].want != WANTS_TRUST)
            all--;
    /* without an end to the time all get the visits they may have */
    while (*n < all && (w[*n].want != WANTS_LUCK || w[0].want == WANTS_LUCK || isinf(e->deadline))) {
        order[*n] = w[*n].index;
        ++*n;
    }
    free(w);
    return AS_OK;
}
