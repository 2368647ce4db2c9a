/* Going on with a run: what its visits and sentinels said before, and what is left of its budget. */
#include "core/engine.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum as_status find_unfinished(struct as_store *store, const char *name, struct as_run *run,
                                      struct as_error *err)
{
    if (name) {
        enum as_status s = as_store_run(store, name, run, err);
        if (!s && run->state == AS_RUN_COMPLETE)
            s = as_fail(err, AS_USAGE, "run %lld is complete; there is nothing to resume", (long long)run->id);
        return s;
    }
    struct as_run *runs = NULL;
    size_t n = 0;
    char number[24] = "";
    enum as_status s = as_store_runs(store, &runs, &n, err);
    for (size_t i = 0; i < n && !s; i++)
        if (runs[i].state != AS_RUN_COMPLETE)
            snprintf(number, sizeof number, "%lld", (long long)runs[i].id);
    as_runs_free(runs, n);
    if (!s && !number[0])
        s = as_fail(err, AS_NOTFOUND, "no unfinished run is in the store '%s'", as_store_path(store));
    return s ? s : as_store_run(store, number, run, err);
}

/* The devices that the cells left to do need, in their order. */
static enum as_status reopen_devices(struct as_engine *e, struct as_error *err)
{
    struct as_buf list = AS_BUF_INIT;
    enum as_status s = AS_OK;
    const char *last = "";
    for (size_t i = 0; i < e->cells_n; i++)
        if (strcmp(e->cells[i].device, last) != 0) {
            last = e->cells[i].device;
            as_buf_str(&list, list.len ? "," : "");
            as_buf_str(&list, last);
        }
    if (list.len == 0)
        s = as_fail(err, AS_FORMAT, "the run has no cells");
    else
        s = as_slots_open(as_buf_get(&list), e->program, e->options->stop, &e->slots, &e->slots_n, NULL, err);
    as_buf_finish(&list);
    return s;
}

/* What a visit took, of the cell and of its device's share of the time. */
static void load_cost(struct as_progress *p, const struct as_visit *visit)
{
    if (!p->slot || visit->number >= AS_ISOLATED_VISIT)
        return;
    p->slot->used_s += visit->duration_s;
    p->slot->visits++;
    as_progress_keep_cost(p, visit);
}

/* What all visits read of the host, by which each of them is judged, and what the sentinels' found. */
static enum as_status load_readings(struct as_engine *e, size_t index, struct as_error *err)
{
    const bool sentinel = index >= e->sentinels_first;
    struct as_visit *visits = NULL;
    size_t n = 0;
    enum as_status s = as_store_visits(e->store, e->run->id, e->cells[index].id, &visits, &n, err);
    for (size_t i = 0; i < n && !s; i++) {
        e->stopped_at = fmax(e->stopped_at, visits[i].started_at + visits[i].duration_s);
        if (!sentinel)
            load_cost(&e->progress[index], &visits[i]);
        else if (visits[i].n)
            s = as_sentinel_add(&e->sentinels[index - e->sentinels_first], visits[i].started_at,
                                as_median(visits[i].samples, visits[i].n), err);
        if (!s)
            s = as_yardsticks_add(&e->yardsticks, as_yardstick_of(&visits[i]), err);
    }
    if (sentinel)
        e->progress[index].visits = (int)n;
    as_visits_free(visits, n);
    return s;
}

static enum as_status restore_progress(struct as_engine *e, struct as_error *err)
{
    enum as_status s = AS_OK;
    for (size_t i = 0; i < e->cells_n && !s; i++)
        if (i >= e->sentinels_first || e->cells[i].visits_done)
            s = load_readings(e, i, err);
    for (size_t i = 0; i < e->sentinels_first && !s; i++)
        if (e->cells[i].visits_done)
            s = as_engine_reevaluate(e, i, err);
    return s;
}

/* What is left of the run's budget, or the one that is given, which is for the time from now on. */
static void go_on_with_budget(struct as_engine *e)
{
    struct as_run worked = *e->run;
    const double given = e->options->budget_s;
    worked.ended_at = e->stopped_at;
    const double used = as_run_length(&worked);
    if (isfinite(given) && given >= 0) {
        e->run->budget_s = given > 0 && isfinite(used) ? used + given : given;
        e->deadline = given > 0 ? e->start + given : INFINITY;
    } else if (e->run->budget_s > 0 && isfinite(used)) {
        e->deadline = e->start + fmax(e->run->budget_s - used, 0);
    }
}

enum as_status as_run_resume(struct as_store *store, const char *name, const struct as_run_options *options,
                             struct as_run_result *result, struct as_error *err)
{
    struct as_engine e = {
        .store = store, .options = options, .program = options->worker, .pace = {.read = as_yardstick_now}};
    struct as_run run = {0};
    int lock = -1;
    *result = (struct as_run_result){0};
    enum as_status s = find_unfinished(store, name, &run, err);
    e.run = &run;
    if (!s)
        s = as_store_cells(store, &(struct as_cell_filter){.run_id = run.id, .hidden = 1}, &e.cells, &e.cells_n, err);
    while (!s && e.sentinels_first < e.cells_n && strcmp(e.cells[e.sentinels_first].probe, "sentinel") != 0)
        e.sentinels_first++;
    if (!s)
        s = reopen_devices(&e, err);
    if (!s && as_engine_needs_lock(e.slots, e.slots_n))
        s = as_lock_machine(options, &lock, err);
    if (!s) {
        e.stopped_at = run.ended_at; /* 0 where it was killed: then its sentinels tell */
        run.state = AS_RUN_RUNNING;
        s = as_engine_make(&e, err);
    }
    if (!s)
        s = restore_progress(&e, err);
    if (!s)
        go_on_with_budget(&e);
    if (!s && e.stopped_at > 0 && e.stopped_at < as_wall())
        s = as_run_add_pause(&run, e.stopped_at, as_wall(), err);
    run.ended_at = 0;
    if (!s) /* now, so that the pause is known if this is killed too */
        s = as_store_update_run(store, &run, err);
    if (!s)
        s = as_engine_carry_out(&e, result, err);
    as_engine_finish(&e);
    as_slots_close(e.slots, e.slots_n);
    as_cells_free(e.cells, e.cells_n);
    as_run_finish(&run);
    if (lock >= 0)
        close(lock);
    return s;
}
