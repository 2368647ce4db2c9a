/* Whose turn is it? The clock of a host that others use too falls by a tenth and more while they work, for seconds or
 * minutes, and with it whatever its cores time; what a device does by itself does not notice. So the cells of which the
 * host does a part are visited, as far as rounds leave that open, while it is as fast as usual, and the others
 * meanwhile. */
#ifndef AS_CORE_TURN_H
#define AS_CORE_TURN_H

#include "core/yardstick.h"

enum { AS_PACE_KEPT = 32 };

/* How fast the host is now, by the parent's own yardstick: a clock that moves is that of all cores. */
struct as_pace {
    double (*read)(void);      /* nanoseconds of the yardstick; NULL: it is not read, and nobody has to wait */
    struct as_yardsticks seen; /* all readings */
    struct {
        double at, ns; /* as_now() */
    } last[AS_PACE_KEPT];
    size_t n;     /* readings taken; the newest is last[(n - 1) % AS_PACE_KEPT] */
    size_t asked; /* times that as_pace_now() was */
    size_t slow;  /* of them, those that found the host slow */
};
/* Reads, and returns by how much the host is slower than usual (0.1: its work takes 10% longer); NAN: not known yet. */
double as_pace_now(struct as_pace *p);
/* Is a steady host rare enough that cells of the host go first whenever there is one? */
bool as_pace_is_scarce(const struct as_pace *p);
void as_pace_finish(struct as_pace *p);

struct as_engine;
/* Are there both cells of the host and others in order[0..n)? */
bool as_engine_is_mixed(const struct as_engine *e, const size_t *order, size_t n);
/* Brings to order[0] the cell of order[0..n) to visit next; the others stay in their order. false: none, since those
 * that are left are the host's, it is slow, and they may wait. n > 0. */
bool as_engine_choose(struct as_engine *e, size_t *order, size_t n, bool may_wait);
/* A visit of cell `index` was judged: `host` says whether the host did a part of it. Cells of its probe and device that
 * were never visited are taken for the same. */
void as_engine_learn_host(struct as_engine *e, size_t index, bool host);

#endif
