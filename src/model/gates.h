/* Gates: named checks whether a number can be correct. Pure functions of the measured data. */
#ifndef AS_MODEL_GATES_H
#define AS_MODEL_GATES_H

#include "model/judge.h"

/* Sets limit, clock, footprint and gates of a cell with an estimate, from its trials. */
void as_gates_evaluate(struct as_cell *cell, const struct as_trial *trials, size_t n,
                       const struct as_judge_context *context);
/* Whether a working set of this size measures main memory; text is set to the reason. NA: inconclusive. */
enum as_gate_state as_gates_main_memory(const struct as_judge_context *context, double bytes, struct as_buf *text);
bool as_gates_failed(const struct as_cell *cell);
/* "checksum: sum 3, expected 4; limit: ..." */
void as_gates_reason(const struct as_cell *cell, struct as_buf *out);
/* Throttle reasons reported during the trials: AS_THROTTLE_* bits without harmless ones. */
int as_gates_throttled(const struct as_trial *trials, size_t n);
/* Number of counting trials during which another process used the device. */
size_t as_gates_shared(const struct as_trial *trials, size_t n);

#endif
