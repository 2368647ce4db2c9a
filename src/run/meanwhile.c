#include "run/meanwhile.h"

#include "base/clock.h"
#include "run/others.h"

struct as_meanwhile as_meanwhile_begin(void)
{
    return (struct as_meanwhile){as_now(), as_others_seconds()};
}

enum as_status as_meanwhile_lock(struct as_meanwhile *m, const struct as_run_options *options, double budget_s,
                                 int *lock, struct as_error *err)
{
    const struct as_meanwhile wait = as_meanwhile_begin();
    const enum as_status st = as_lock_machine(options, budget_s, lock, err);
    m->used += as_others_seconds() - wait.used;
    m->began += as_now() - wait.began;
    return st;
}

/* NAN: unknown. */
static double meanwhile_cpus(const struct as_meanwhile *m)
{
    const double cpus = (as_others_seconds() - m->used) / (as_now() - m->began);
    return cpus < 0 ? 0 : cpus;
}

enum as_status as_meanwhile_end(const struct as_meanwhile *m, struct as_store *store, struct as_run *run,
                                struct as_error *err)
{
    const enum as_status st = as_run_set_others(run, meanwhile_cpus(m), err);
    return st ? st : as_store_update_run(store, run, err);
}
