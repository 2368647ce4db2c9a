/* The state of a cell from its estimate, its gates, and what sensors saw. */
#ifndef AS_MODEL_JUDGE_STATE_H
#define AS_MODEL_JUDGE_STATE_H

#include "model/cell.h"
#include "stats/estimate.h"

/* What the device's sensor saw while trials that count ran. */
struct as_disturbance {
    int throttled;
    size_t shared; /* trials beside another process */
    size_t trials; /* all that count */
};

/* Sets status, causes and reason; the gates are evaluated already. broken: the last trial without samples, or NULL. */
void as_judge_set_state(struct as_cell *cell, int trials_asked, const struct as_estimate *e,
                        const struct as_disturbance *d, const struct as_trial *broken);

#endif
