/* What others use of the CPUs while a run measures. */
#ifndef AS_RUN_MEANWHILE_H
#define AS_RUN_MEANWHILE_H

#include "store/store.h"

/* Counted from before the workers start, so that all their work counts as assay's. */
struct as_meanwhile {
    double began, used; /* as_now() and as_others_seconds() */
};

struct as_meanwhile as_meanwhile_begin(void);
/* Leaves out the time since `wait` began. */
void as_meanwhile_leave_out(struct as_meanwhile *m, const struct as_meanwhile *wait);
/* CPUs that others used on average; NAN unknown. Only once the workers have ended. */
double as_meanwhile_cpus(const struct as_meanwhile *m);
/* Stores it with the run (as_run_others_cpus). */
enum as_status as_meanwhile_end(const struct as_meanwhile *m, struct as_store *store, struct as_run *run,
                                struct as_error *err);

#endif
