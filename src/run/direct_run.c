#include "run/direct_run.h"
#include "run/engine.h"

#include "base/clock.h"
#include "base/text.h"
#include "run/identity.h"

#include <math.h>
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

bool as_run_is_direct(const struct as_run *run)
{
    struct as_device_info info;
    return as_identity_device(run, AS_DIRECT_DEVICE, &info, NULL) == AS_OK;
}

static struct as_direct_run *direct_make(struct as_store *store, const struct as_run_options *options,
                                         const struct as_device_info *info)
{
    struct as_direct_run *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->options = *options;
    c->slot = (struct as_slot){.info = *info, .worker = AS_WORKER_INIT};
    c->engine =
        (struct as_engine){.store = store, .options = &c->options, .run = &c->run, .slots = &c->slot, .slots_n = 1};
    return c;
}

enum as_status as_direct_run_begin(struct as_store *store, const struct as_run_options *options, const char *suite,
                                   const struct as_device_info *info, struct as_plan *plan, struct as_direct_run **out,
                                   struct as_error *err)
{
    struct as_direct_run *c = *out = direct_make(store, options, info);
    if (!c) {
        as_plan_finish(plan);
        return as_nomem(err, sizeof *c, "a run");
    }
    c->plan = *plan;
    *plan = (struct as_plan){0};
    c->run.trials = options->trials;
    c->run.precision = options->precision;
    c->run.budget_s = isfinite(options->budget_s) ? options->budget_s : 0;
    struct as_engine *e = &c->engine;
    e->cells = c->plan.cells;
    e->cells_n = e->sentinels_first = c->plan.n;
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

/* The UUID of the last unfinished one into *uuid. */
static enum as_status direct_find(struct as_store *store, char uuid[40], struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0;
    enum as_status st = as_store_runs(store, &runs, &n, err);
    uuid[0] = 0;
    for (size_t i = n; i-- > 0 && !st && !uuid[0];)
        if (runs[i].state != AS_RUN_COMPLETE && as_run_is_direct(&runs[i]))
            as_copy_text(uuid, sizeof runs[i].uuid, runs[i].uuid);
    as_runs_free(runs, n);
    if (!st && !uuid[0])
        st = as_fail(err, AS_NOTFOUND, "the store '%s' has no unfinished run of this kind", as_store_path(store));
    return st;
}

enum as_status as_direct_run_resume(struct as_store *store, const struct as_run_options *options,
                                    const struct as_device_info *info, struct as_direct_run **out, struct as_error *err)
{
    struct as_direct_run *c = *out = direct_make(store, options, info);
    struct as_buf differs = AS_BUF_INIT;
    struct as_device_info then;
    char uuid[40];
    if (!c)
        return as_nomem(err, sizeof *c, "a run");
    enum as_status st = direct_find(store, uuid, err);
    if (!st)
        st = as_engine_claim_run(&c->engine, uuid, &c->run, err);
    c->plan.cells = c->engine.cells;
    c->plan.n = c->engine.cells_n;
    if (!st)
        st = as_identity_device(&c->run, info->id, &then, err);
    if (!st)
        as_identity_differs(&then, info, &differs);
    if (differs.len)
        st = as_fail(err, AS_USAGE, "run %lld cannot be resumed: %s", (long long)c->run.id, as_buf_get(&differs));
    if (!st)
        st = as_engine_take_up(&c->engine, err);
    c->began = !st;
    c->engine.measured_from = as_now();
    if (!st)
        as_engine_event(&c->engine, AS_EVENT_RUN_START, NULL, NULL, NULL);
    as_buf_finish(&differs);
    return st;
}

const struct as_run *as_direct_run_record(const struct as_direct_run *c)
{
    return &c->run;
}

double as_direct_run_deadline(const struct as_direct_run *c)
{
    return c->engine.deadline;
}

int as_direct_run_trials(const struct as_direct_run *c, size_t cell)
{
    return c->engine.progress[cell].trials;
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

enum as_status as_direct_run_end(struct as_direct_run *c, enum as_status st, bool is_stopped,
                                 struct as_run_result *result, struct as_error *err)
{
    if (!c)
        return st;
    c->engine.stopped = is_stopped;
    c->engine.measured_s += as_now() - c->engine.measured_from;
    if (!st && c->began && !is_stopped)
        st = as_engine_skip_unmeasured(&c->engine, err);
    if (!st && c->began)
        st = as_engine_end(&c->engine, result, err);
    return st;
}

void as_direct_run_free(struct as_direct_run *c)
{
    if (!c)
        return;
    as_engine_finish(&c->engine);
    as_plan_finish(&c->plan);
    as_run_finish(&c->run);
    free(c);
}
