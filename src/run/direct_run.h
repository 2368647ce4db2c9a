/* A run whose trials are measured in this process rather than by workers, as those between the nodes of a fleet are.
 * Store, judgement and intervals are those of every run; who measured it resumes it. */
#ifndef AS_RUN_DIRECT_RUN_H
#define AS_RUN_DIRECT_RUN_H

#include "run/run.h"

struct as_direct_run;
/* The id of what such cells are measured on. */
#define AS_DIRECT_DEVICE "mpi"
bool as_run_is_direct(const struct as_run *run);
/* info: what the cells are measured on; plan: its cells, which the run takes over, also where this fails. options:
 * command, event, user, seed, trials, precision and budget count. *out is ended by as_direct_run_end, also where this
 * fails, and freed by as_direct_run_free. */
enum as_status as_direct_run_begin(struct as_store *store, const struct as_run_options *options, const char *suite,
                                   const struct as_device_info *info, struct as_plan *plan, struct as_direct_run **out,
                                   struct as_error *err);
/* The last such run of the store that is unfinished. AS_NOTFOUND: there is none. AS_USAGE: of another host or another
 * device. Of options only event, user and budget count. *out is ended by as_direct_run_end, also where this fails. */
enum as_status as_direct_run_resume(struct as_store *store, const struct as_run_options *options,
                                    const struct as_device_info *info, struct as_direct_run **out,
                                    struct as_error *err);
const struct as_run *as_direct_run_record(const struct as_direct_run *c);
double as_direct_run_deadline(const struct as_direct_run *c);         /* as_now() time; INFINITY: no budget */
int as_direct_run_trials(const struct as_direct_run *c, size_t cell); /* that the cell has */
/* As they are now, in the plan's order. */
const struct as_cell *as_direct_run_cells(const struct as_direct_run *c, size_t *n);
/* Judges and stores a trial, whose samples, seconds, readings and detail are set; it is empty afterwards. */
enum as_status as_direct_run_add(struct as_direct_run *c, size_t cell, struct as_trial *trial, struct as_error *err);
/* Ends the run, as interrupted where it was stopped, and judges its cells once more, which then are as they are stored.
 * Cells without a trial of a run that was not stopped are skipped for lack of budget. status: of what came before. */
enum as_status as_direct_run_end(struct as_direct_run *c, enum as_status status, bool is_stopped,
                                 struct as_run_result *result, struct as_error *err);
void as_direct_run_free(struct as_direct_run *c); /* takes NULL */

#endif
