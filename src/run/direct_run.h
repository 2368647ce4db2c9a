/* A run whose trials are measured in this process rather than by workers, as those between the nodes of a fleet are.
 * Store, judgement and intervals are those of every run; `resume` does not apply. */
#ifndef AS_RUN_DIRECT_RUN_H
#define AS_RUN_DIRECT_RUN_H

#include "run/run.h"

struct as_direct_run;
/* info: what the cells are measured on; plan: its cells, which the run takes over, also where this fails. options:
 * command, event, user, seed, trials and precision count. *out is ended by as_direct_run_end, also where this fails. */
enum as_status as_direct_run_begin(struct as_store *store, const struct as_run_options *options, const char *suite,
                                   const struct as_device_info *info, struct as_plan *plan, struct as_direct_run **out,
                                   struct as_error *err);
/* As they are now, in the plan's order. */
const struct as_cell *as_direct_run_cells(const struct as_direct_run *c, size_t *n);
/* Judges and stores a trial, whose samples, seconds, readings and detail are set; it is empty afterwards. */
enum as_status as_direct_run_add(struct as_direct_run *c, size_t cell, struct as_trial *trial, struct as_error *err);
/* Ends the run, as interrupted where not all was measured, and frees it. status: of what came before. */
enum as_status as_direct_run_end(struct as_direct_run *c, enum as_status status, bool is_whole,
                                 struct as_run_result *result, struct as_error *err);

#endif
