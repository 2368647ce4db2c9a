#include "run/direct_run.h"
#include "run/engine.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdlib.h>
#include <unistd.h>

struct as_direct_run {
    struct as_run_options options;
    struct as_run run;
    struct as_plan plan;
    struct as_slot slot;
    struct as_engine engine;
    bool began;
};

enum as_status as_direct_run_begin(struct as_store *store, const struct as_run_options *options, const char *suite,
                                   const struct as_device_info *info, struct as_plan *plan, struct as_direct_run **out,
                                   struct as_error *err)
{
    struct as_direct_run *c = *out = calloc(1, sizeof *c);
    if (!c) {
        as_plan_finish(plan);
        return as_nomem(err, sizeof *c, "a run");
    }
    c->options = *options;
    c->plan = *plan;
    *plan = (struct as_plan){0};
    c->slot = (struct as_slot){.info = *info, .worker = AS_WORKER_INIT};
    c->run.trials = options->trials;
    c->run.precision = options->precision;
    struct as_engine *e = &c->engine;
    *e = (struct as_engine){.store = store,
                            .options = &c->options,
                            .run = &c->run,
                            .slots = &c->slot,
                            .slots_n = 1,
                            .cells = c->plan.cells,
                            .cells_n = c->plan.n,
                            .sentinels_first = c->plan.n};
    enum as_status st = as_engine_fill_run(&c->run, options, suite, &c->slot, 1, err);
    if (!st)
        st = as_store_begin_run(store, &c->run, c->plan.cells, c->plan.n, err);
    if (!st)
        st = as_engine_make(e, err);
    c->began = !st;
    e->measured_from = as_now();
    if (!st)
        as_engine_event(e, AS_EVENT_RUN_START, NULL, NULL, NULL);
    return st;
}

const struct as_cell *as_direct_run_cells(const struct as_direct_run *c, size_t *n)
{
    *n = c->plan.n;
    return c->plan.cells;
}

enum as_status as_direct_run_add(struct as_direct_run *c, size_t cell, struct as_trial *trial, struct as_error *err)
{
    trial->cell_id = c->plan.cells[cell].id;
    trial->number = c->engine.progress[cell].trials;
    trial->worker = (int)getpid();
    as_engine_event(&c->engine, AS_EVENT_CELL_START, &c->plan.cells[cell], NULL, NULL);
    const enum as_status st = as_engine_add_trial(&c->engine, cell, trial, err);
    as_trial_finish(trial);
    return st;
}

enum as_status as_direct_run_end(struct as_direct_run *c, enum as_status st, bool is_whole,
                                 struct as_run_result *result, struct as_error *err)
{
    if (!c)
        return st;
    c->engine.stopped = !is_whole;
    c->engine.measured_s = as_now() - c->engine.measured_from;
    if (!st && c->began)
        st = as_engine_end(&c->engine, result, err);
    as_engine_finish(&c->engine);
    as_plan_finish(&c->plan);
    as_run_finish(&c->run);
    free(c);
    return st;
}
