/* What others use of the CPUs while a run measures. */
#ifndef AS_RUN_MEANWHILE_H
#define AS_RUN_MEANWHILE_H

#include "run/run.h"

/* Counted from before the workers start, so that all their work counts as assay's. */
struct as_meanwhile {
    double began, used; /* as_now() and as_others_seconds() */
};

struct as_meanwhile as_meanwhile_begin(void);
/* as_lock_machine; what another run of assay uses until then does not count. */
enum as_status as_meanwhile_lock(struct as_meanwhile *m, const struct as_run_options *options, double budget_s,
                                 int *lock, struct as_error *err);
/* Stores with the run how many CPUs others used on average (as_run_others_cpus). Only once the workers have ended. */
enum as_status as_meanwhile_end(const struct as_meanwhile *m, struct as_store *store, struct as_run *run,
                                struct as_error *err);

#endif
