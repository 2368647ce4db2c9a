/* The state of a cell from its estimate, gates and sensor readings. */
#ifndef AS_MODEL_JUDGE_STATE_H
#define AS_MODEL_JUDGE_STATE_H

#include "model/cell.h"
#include "stats/estimate.h"

/* Sensor readings of the device during counting trials. */
struct as_disturbance {
    int throttled;
    size_t shared;    /* trials beside another process */
    size_t trials;    /* counting trials */
    double clock_off; /* by this factor the clock may be off in which the number counts; 1: it is sure */
};

/* Sets status, causes and reason after the gates. broken: the last trial without samples, or NULL. */
void as_judge_set_state(struct as_cell *cell, int trials_asked, const struct as_estimate *e,
                        const struct as_disturbance *d, const struct as_trial *broken);

#endif
