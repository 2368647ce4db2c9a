/* A run whose trials are measured in this process rather than by workers, as those between the nodes of a fleet are.
 * Store, judgement and intervals are those of every run; `resume` does not apply. */
#ifndef AS_RUN_COLLECTED_H
#define AS_RUN_COLLECTED_H

#include "run/run.h"

struct as_collected;
/* info: what the cells are measured on; plan: its cells, which the run takes over, also where this fails. options:
 * command, event, user, seed, trials and precision count. *out is ended by as_collected_end, also where this fails. */
enum as_status as_collected_begin(struct as_store *store, const struct as_run_options *options, const char *suite,
                                  const struct as_device_info *info, struct as_plan *plan, struct as_collected **out,
                                  struct as_error *err);
/* As they are now, in the plan's order. */
const struct as_cell *as_collected_cells(const struct as_collected *c, size_t *n);
/* Judges and stores a trial, whose samples, seconds, readings and detail are set; it is empty afterwards. */
enum as_status as_collected_add(struct as_collected *c, size_t cell, struct as_trial *trial, struct as_error *err);
/* Ends the run, as interrupted where not all was measured, and frees it. status: of what came before. */
enum as_status as_collected_end(struct as_collected *c, enum as_status status, bool is_whole,
                                struct as_run_result *result, struct as_error *err);

#endif
