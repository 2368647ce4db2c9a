/* Execution pipes of a compute unit, fitted to the valid cells of probe mix; used by the rule and the figure. */
#ifndef AS_FACTS_UNIT_PIPES_H
#define AS_FACTS_UNIT_PIPES_H

#include "device/info.h"
#include "model/cell.h"
#include "stats/pipes_fit.h"

struct as_unit_pipes {
    char name[AS_PIPES_OPS][32]; /* of operations; a store's texts: escape them */
    size_t ops;
    struct as_pipes_sequence *s;  /* fastest cell per operation mix */
    const struct as_cell **cells; /* which they are; the caller's */
    size_t n;
    struct as_pipes pipes;
    struct as_pipes_fit fit;
};

/* Can execution pipes be identified? Not where one thread owns a core: independent dependency chains look like separate
 * pipes. NULL means unknown: true. */
bool as_unit_has_pipes(const struct as_device_info *info);
/* Is an operation alone, of this cell, several kinds of instructions? They may run on several pipes. */
bool as_unit_pipes_is_mixed(const struct as_cell *alone);
/* Sequences whose machine code is not that of their operations alone are left out, by the notes of instructions. Cells
 * of other probes and without a number are left out. fit.judged is 0 if inconclusive. Finish out on failure
 * too. */
enum as_status as_unit_pipes_make(const struct as_cell *const *cells, size_t n, struct as_unit_pipes *out,
                                  struct as_error *err);
void as_unit_pipes_finish(struct as_unit_pipes *u);
/* True if the fit is conclusive: the busiest resource predicts the cost of sequences within 5%, and there are at least
 * two sequences per load. */
bool as_unit_pipes_hold(const struct as_unit_pipes *u);
/* Resources beside the pipes that some operation takes. */
size_t as_unit_pipes_others(const struct as_unit_pipes *u);

#endif
