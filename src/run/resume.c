/* Resuming a run: its stored trials and the rest of its budget. */
#include "run/engine.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Claims a run, then reads it: another process may have completed or deleted it meanwhile. */
static enum as_status claim(struct as_store *store, const struct as_run *seen, struct as_run *run, struct as_error *err)
{
    enum as_status s = as_store_claim(store, seen->id, err);
    if (!s && !(s = as_store_run(store, seen->uuid, run, err)) && run->state == AS_RUN_COMPLETE)
        s = as_fail(err, AS_USAGE, "run %lld is complete; there is nothing to resume", (long long)run->id);
    if (s)
        as_run_finish(run);
    return s;
}

static enum as_status claim_named(struct as_store *store, const char *name, struct as_run *run, struct as_error *err)
{
    struct as_run seen = {0};
    enum as_status s = as_store_run(store, name, &seen, err);
    if (!s)
        s = claim(store, &seen, run, err);
    as_run_finish(&seen);
    return s;
}

/* The last unfinished run that no other process is measuring. */
static enum as_status claim_last(struct as_store *store, struct as_run *run, struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0;
    struct as_error busy = {0};
    enum as_status s = as_store_runs(store, &runs, &n, err), found = AS_NOTFOUND;
    for (size_t i = n; i-- > 0 && !s && found;) {
        if (runs[i].state == AS_RUN_COMPLETE)
            continue;
        struct as_error why = {0};
        found = claim(store, &runs[i], run, &why);
        if (found == AS_BUSY && !busy.code)
            busy = why;
        else if (found && found != AS_BUSY && found != AS_USAGE && found != AS_NOTFOUND)
            s = as_fail(err, found, "%s", why.text);
    }
    as_runs_free(runs, n);
    if (!s && found)
        s = busy.code ? as_fail(err, AS_BUSY, "%s", busy.text)
                      : as_fail(err, AS_NOTFOUND, "the store '%s' has no unfinished run", as_store_path(store));
    return s;
}

/* The devices of the cells, in their order. */
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

/* The cost of a trial, for its cell and its device. */
static void load_cost(struct as_progress *p, const struct as_trial *trial)
{
    if (!p->slot || trial->number >= AS_ISOLATED_TRIAL)
        return;
    as_progress_keep_cost(p, trial);
    p->slot->need_s += p->prepare_s + p->fewest_s;
    p->slot->trials++;
}

static enum as_status load_trials(struct as_engine *e, size_t index, struct as_error *err)
{
    struct as_trials *t = &e->trials[index];
    struct as_cell *cell = &e->cells[index];
    enum as_status s = as_store_trials(e->store, e->run->id, cell->id, &t->v, &t->n, err);
    t->cap = t->n;
    for (size_t i = 0; i < t->n && !s; i++) {
        e->stopped_at = fmax(e->stopped_at, t->v[i].started_at + t->v[i].duration_s);
        if (index < e->sentinels_first)
            load_cost(&e->progress[index], &t->v[i]);
    }
    if (!s && t->n && t->v[t->n - 1].detail && !cell->detail && !(cell->detail = as_strdup(t->v[t->n - 1].detail)))
        s = as_nomem(err, strlen(t->v[t->n - 1].detail), "a cell's detail");
    return s;
}

void as_engine_find_sentinels(struct as_engine *e)
{
    e->sentinels_first = 0;
    while (e->sentinels_first < e->cells_n && strcmp(e->cells[e->sentinels_first].probe, "sentinel") != 0)
        e->sentinels_first++;
}

enum as_status as_engine_load(struct as_engine *e, struct as_error *err)
{
    enum as_status s = AS_OK;
    for (size_t i = 0; i < e->cells_n && !s; i++)
        s = load_trials(e, i, err);
    return s;
}

static enum as_status restore_progress(struct as_engine *e, struct as_error *err)
{
    enum as_status s = as_engine_load(e, err);
    return s ? s : as_engine_judge(e, err);
}

/* Cells skipped for lack of a device or of time are planned again. */
static void plan_skipped(struct as_engine *e)
{
    for (size_t i = 0; i < e->cells_n; i++) {
        struct as_cell *cell = &e->cells[i];
        if (cell->status != AS_CELL_SKIPPED)
            continue;
        cell->status = AS_CELL_PLANNED;
        cell->reason[0] = 0;
    }
}

/* A device may be gone or renamed. */
static void skip_without_device(struct as_engine *e)
{
    for (size_t i = 0; i < e->cells_n; i++) {
        struct as_cell *cell = &e->cells[i];
        if (e->progress[i].slot || cell->status != AS_CELL_PLANNED)
            continue;
        cell->status = AS_CELL_SKIPPED;
        as_copy_text(cell->reason, sizeof cell->reason, "its device is no longer present");
        e->progress[i].over = 1;
        e->progress[i].changed = e->lost = true;
    }
}

/* The rest of the run's budget, or the given one, which starts now. */
static void set_deadline(struct as_engine *e)
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

enum as_status as_engine_claim_run(struct as_engine *e, const char *name, struct as_run *run, struct as_error *err)
{
    enum as_status s = name ? claim_named(e->store, name, run, err) : claim_last(e->store, run, err);
    e->run = run;
    if (!s)
        s = as_store_cells(e->store, &(struct as_cell_filter){.run_id = run->id, .hidden = 1}, &e->cells, &e->cells_n,
                           err);
    as_engine_find_sentinels(e);
    return s;
}

enum as_status as_engine_take_up(struct as_engine *e, struct as_error *err)
{
    plan_skipped(e);
    e->stopped_at = e->run->ended_at; /* 0 if killed: then by its last trial */
    e->run->state = AS_RUN_RUNNING;
    enum as_status s = as_engine_make(e, err);
    if (!s)
        s = restore_progress(e, err);
    if (s)
        return s;
    skip_without_device(e);
    set_deadline(e);
    if (e->stopped_at > 0 && e->stopped_at < as_wall())
        s = as_run_add_pause(e->run, e->stopped_at, as_wall(), err);
    e->run->ended_at = 0;
    /* now, so that the pause is known if this is killed too */
    return s ? s : as_store_update_run(e->store, e->run, err);
}

enum as_status as_run_resume(struct as_store *store, const char *name, const struct as_run_options *options,
                             struct as_run_result *result, struct as_error *err)
{
    struct as_engine e = {.store = store, .options = options, .program = options->worker};
    struct as_run run = {0};
    int lock = -1;
    *result = (struct as_run_result){0};
    enum as_status s = as_engine_claim_run(&e, name, &run, err);
    if (!s)
        s = reopen_devices(&e, err);
    if (!s && as_engine_needs_lock(e.slots, e.slots_n))
        s = as_lock_machine(options, &lock, err);
    if (!s)
        s = as_engine_take_up(&e, err);
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
