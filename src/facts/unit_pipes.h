/* The pipes of a device's unit, from the valid cells of probe mix: for the rule of facts, and for what is drawn. */
#ifndef AS_FACTS_UNIT_PIPES_H
#define AS_FACTS_UNIT_PIPES_H

#include "device/device.h"
#include "model/cell.h"
#include "stats/pipes_fit.h"

struct as_unit_pipes {
    char name[AS_PIPES_OPS][32]; /* of operations; a store's texts: escape them */
    size_t ops;
    struct as_pipes_sequence *s;  /* of several cells of the same operations the quickest */
    const struct as_cell **cells; /* which they are; the caller's */
    size_t n;
    struct as_pipes pipes;
    struct as_pipes_fit fit;
};

/* Can pipes be told of such a device at all? A thread that has a core for itself waits for its own chains: two
 * operations that wait at the same time look like two pipes. NULL: not known, yes. */
bool as_unit_has_pipes(const struct as_device_info *info);
/* Cells of other probes and without a number are left out. fit.judged is 0 where they tell nothing. On failure too, out
 * is to be finished. */
enum as_status as_unit_pipes_make(const struct as_cell *const *cells, size_t n, struct as_unit_pipes *out,
                                  struct as_error *err);
void as_unit_pipes_finish(struct as_unit_pipes *u);
/* Is what rests on all of them together decided: does the busiest resource say what sequences cost, within 5%, and are
 * there two sequences for each load? */
bool as_unit_pipes_hold(const struct as_unit_pipes *u);
/* Resources beside the pipes that some operation takes. */
size_t as_unit_pipes_others(const struct as_unit_pipes *u);

#endif
