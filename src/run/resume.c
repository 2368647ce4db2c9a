/* Resuming a run: its stored trials and the rest of its budget. */
#include "run/direct_run.h"
#include "run/engine.h"

#include "base/clock.h"
#include "base/text.h"
#include "run/identity.h"
#include "run/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Claims a run, then reads it: another process may have completed or deleted it meanwhile. */
static enum as_status resume_claim(struct as_store *store, const struct as_run *seen, struct as_run *run,
                                   struct as_error *err)
{
    enum as_status st = as_store_claim(store, seen->id, err);
    if (!st && !(st = as_store_run(store, seen->uuid, run, err)) && run->state == AS_RUN_COMPLETE)
        st = as_fail(err, AS_USAGE, "run %lld is complete; there is nothing to resume", (long long)run->id);
    if (st)
        as_run_finish(run);
    return st;
}

/* Trials of two machines are no samples of one. */
static enum as_status resume_check_host(const struct as_run *run, struct as_error *err)
{
    struct as_buf differs = AS_BUF_INIT;
    enum as_status st = as_identity_host(run, &differs, err);
    if (!st && differs.len)
        st = as_fail(err, AS_USAGE, "run %lld cannot be resumed here: %s; resume it there, or start a new run",
                     (long long)run->id, as_buf_get(&differs));
    as_buf_finish(&differs);
    return st;
}

static enum as_status claim_named(struct as_store *store, const char *name, struct as_run *run, struct as_error *err)
{
    struct as_run seen = {0};
    enum as_status st = as_store_run(store, name, &seen, err);
    if (!st)
        st = resume_claim(store, &seen, run, err);
    if (!st && (st = resume_check_host(run, err)))
        as_run_finish(run);
    as_run_finish(&seen);
    return st;
}

/* Claims a run, unless it is of another host: then *passed gets the reason. */
static enum as_status claim_of_host(struct as_store *store, const struct as_run *seen, struct as_run *run,
                                    struct as_buf *passed, struct as_error *err)
{
    enum as_status st = resume_claim(store, seen, run, err);
    if (st)
        return st;
    struct as_buf differs = AS_BUF_INIT;
    st = as_identity_host(run, &differs, err);
    if (!st && differs.len) {
        as_buf_printf(passed, "%srun %lld was passed over: %s", passed->len ? "; " : "", (long long)run->id,
                      as_buf_get(&differs));
        st = as_fail(err, AS_NOTFOUND, "it was measured on another host");
    }
    as_buf_finish(&differs);
    if (st) {
        as_run_finish(run);
        as_store_release(store);
    }
    return st;
}

/* The last unfinished run of this host that no other process is measuring. */
static enum as_status claim_last(struct as_store *store, const struct as_run_options *options, struct as_run *run,
                                 struct as_error *err)
{
    struct as_buf passed = AS_BUF_INIT;
    struct as_run *runs = NULL;
    size_t n = 0;
    struct as_error busy = {0};
    enum as_status st = as_store_runs(store, &runs, &n, err), found = AS_NOTFOUND;
    for (size_t i = n; i-- > 0 && !st && found;) {
        if (runs[i].state == AS_RUN_COMPLETE || as_run_is_direct(&runs[i]))
            continue;
        struct as_error why = {0};
        found = claim_of_host(store, &runs[i], run, &passed, &why);
        if (found == AS_BUSY && !busy.code)
            busy = why;
        else if (found && found != AS_BUSY && found != AS_USAGE && found != AS_NOTFOUND)
            st = as_fail(err, found, "%s", why.text);
    }
    as_runs_free(runs, n);
    if (!st && found)
        st = busy.code ? as_fail(err, AS_BUSY, "%s", busy.text)
                       : as_fail(err, AS_NOTFOUND, "the store '%s' has no unfinished run%s%s", as_store_path(store),
                                 passed.len ? " of this machine; " : "", as_buf_get(&passed));
    else if (!st && passed.len)
        as_event_note(options, as_buf_get(&passed));
    as_buf_finish(&passed);
    return st;
}

/* The devices of the cells, in their order. */
static enum as_status reopen_devices(struct as_engine *e, struct as_error *err)
{
    struct as_buf list = AS_BUF_INIT;
    enum as_status st = AS_OK;
    const char *last = "";
    for (size_t i = 0; i < e->cells_n; i++)
        if (strcmp(e->cells[i].device, last) != 0) {
            last = e->cells[i].device;
            as_buf_str(&list, list.len ? "," : "");
            as_buf_str(&list, last);
        }
    if (list.len == 0)
        st = as_fail(err, AS_FORMAT, "the run has no measurements");
    else
        st = as_slots_open(as_buf_get(&list), false, e->program, e->options->stop, &e->slots, &e->slots_n, NULL, err);
    if (!st)
        st = as_slots_add_states_of(&e->slots, &e->slots_n, e->cells, e->cells_n, e->program, e->options->stop, err);
    as_buf_finish(&list);
    return st;
}

static void remove_slot(struct as_engine *e, size_t at)
{
    as_worker_stop(&e->slots[at].worker);
    free(e->slots[at].topology);
    memmove(&e->slots[at], &e->slots[at + 1], (--e->slots_n - at) * sizeof *e->slots);
}

/* Adds the text to the run's notes, and frees it. */
static enum as_status note_change(struct as_engine *e, struct as_buf *text, struct as_error *err)
{
    as_event_note(e->options, as_buf_get(text));
    const enum as_status st = as_run_add_note(e->run, as_buf_get(text), err);
    as_buf_finish(text);
    return st;
}

/* A driver may be updated meanwhile. */
static enum as_status note_driver(struct as_engine *e, const struct as_device_info *then,
                                  const struct as_device_info *now, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    if (!then->driver[0] || !now->driver[0] || strcmp(then->driver, now->driver) == 0)
        return AS_OK;
    as_buf_printf(&text, "resumed with another driver: %s had '%s' and has '%s' now", now->id, then->driver,
                  now->driver);
    return note_change(e, &text, err);
}

/* Trials of two builds may time different things. */
static enum as_status note_build(struct as_engine *e, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    if (strcmp(e->run->tool_commit, as_commit()) == 0)
        return AS_OK;
    as_buf_printf(&text,
                  "resumed with another build: commit %s started it, commit %s continues it; a measurement may mix "
                  "trials of both",
                  e->run->tool_commit, as_commit());
    return note_change(e, &text, err);
}

/* Drops the slots whose devices are not those that the run was measured on; refused where none is left. */
static enum as_status drop_others(struct as_engine *e, struct as_error *err)
{
    struct as_buf why = AS_BUF_INIT;
    enum as_status st = AS_OK;
    for (size_t i = e->slots_n; i-- > 0 && !st;) {
        struct as_device_info then;
        struct as_buf differs = AS_BUF_INIT;
        st = as_identity_device(e->run, e->slots[i].info.id, &then, err);
        if (!st)
            as_identity_differs(&then, &e->slots[i].info, &differs);
        /* the stored description is that of no state */
        const bool compares = !st && !e->slots[i].info.state[0];
        st = st == AS_NOTFOUND ? AS_OK : compares ? note_driver(e, &then, &e->slots[i].info, err) : st;
        if (differs.len) {
            as_buf_printf(&why, "%s%s", why.len ? "; " : "", as_buf_get(&differs));
            remove_slot(e, i);
        }
        as_buf_finish(&differs);
    }
    if (!st && why.len && !e->slots_n)
        st = as_fail(err, AS_USAGE,
                     "run %lld cannot be resumed here: %s; resume it with that device, or start a new run",
                     (long long)e->run->id, as_buf_get(&why));
    else if (!st && why.len) {
        as_buf_str(&why, ": its measurements are skipped");
        as_event_note(e->options, as_buf_get(&why));
    }
    as_buf_finish(&why);
    return st;
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
    enum as_status st = as_store_trials(e->store, e->run->id, cell->id, &t->v, &t->n, err);
    t->cap = t->n;
    for (size_t i = 0; i < t->n && !st; i++) {
        e->stopped_at = fmax(e->stopped_at, t->v[i].started_at + t->v[i].duration_s);
        if (index < e->sentinels_first)
            load_cost(&e->progress[index], &t->v[i]);
    }
    if (!st && t->n && t->v[t->n - 1].detail && !cell->detail && !(cell->detail = as_strdup(t->v[t->n - 1].detail)))
        st = as_nomem(err, strlen(t->v[t->n - 1].detail), "a measurement's detail");
    return st;
}

void as_engine_find_sentinels(struct as_engine *e)
{
    e->sentinels_first = 0;
    while (e->sentinels_first < e->cells_n && strcmp(e->cells[e->sentinels_first].probe, "sentinel") != 0)
        e->sentinels_first++;
}

enum as_status as_engine_load(struct as_engine *e, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < e->cells_n && !st; i++)
        st = load_trials(e, i, err);
    return st;
}

static enum as_status restore_progress(struct as_engine *e, struct as_error *err)
{
    enum as_status st = as_engine_load(e, err);
    return st ? st : as_engine_judge(e, err);
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

/* A device may be gone or another one: its cells keep their trials, and get no more. */
static void skip_without_device(struct as_engine *e)
{
    for (size_t i = 0; i < e->cells_n; i++) {
        struct as_cell *cell = &e->cells[i];
        struct as_progress *p = &e->progress[i];
        if (p->slot)
            continue;
        const bool goes_on =
            cell->status == AS_CELL_PLANNED || cell->status == AS_CELL_OK || cell->status == AS_CELL_WIDE;
        e->lost |= goes_on && p->trials < e->rounds;
        if (p->over)
            continue;
        p->over = 1;
        if (cell->status != AS_CELL_PLANNED)
            continue;
        cell->status = AS_CELL_SKIPPED;
        as_copy_text(cell->reason, sizeof cell->reason, "its device is not here, or another one has its name");
        p->changed = true;
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
    enum as_status st = name ? claim_named(e->store, name, run, err) : claim_last(e->store, e->options, run, err);
    e->run = run;
    if (!st)
        st = as_store_cells(e->store, &(struct as_cell_filter){.run_id = run->id, .hidden = 1}, &e->cells, &e->cells_n,
                            err);
    as_engine_find_sentinels(e);
    return st;
}

enum as_status as_engine_take_up(struct as_engine *e, struct as_error *err)
{
    plan_skipped(e);
    e->stopped_at = e->run->ended_at; /* 0 if killed: then by its last trial */
    e->run->state = AS_RUN_RUNNING;
    enum as_status st = as_engine_make(e, err);
    if (!st)
        st = restore_progress(e, err);
    if (st)
        return st;
    skip_without_device(e);
    set_deadline(e);
    st = as_run_set_others(e->run, NAN, err); /* it was of the first part */
    if (!st && e->stopped_at > 0 && e->stopped_at < as_wall())
        st = as_run_add_pause(e->run, e->stopped_at, as_wall(), err);
    e->run->ended_at = 0;
    /* now, so that the pause is known if this is killed too */
    return st ? st : as_store_update_run(e->store, e->run, err);
}

enum as_status as_run_resume(struct as_store *store, const char *name, const struct as_run_options *options,
                             struct as_run_result *result, struct as_error *err)
{
    struct as_engine e = {.store = store, .options = options, .program = options->worker};
    struct as_run run = {0};
    int lock = -1;
    *result = (struct as_run_result){0};
    enum as_status st = as_engine_claim_run(&e, name, &run, err);
    if (!st && as_run_is_direct(&run))
        st = as_fail(err, AS_USAGE,
                     "run %lld measured links between nodes; resume it with 'assay fleet links --resume' under the "
                     "same launcher",
                     (long long)run.id);
    if (!st)
        st = reopen_devices(&e, err);
    if (!st)
        st = drop_others(&e, err);
    if (!st)
        st = note_build(&e, err);
    if (!st && as_engine_needs_lock(e.slots, e.slots_n))
        st = as_lock_machine(options, options->budget_s, &lock, err);
    if (!st)
        st = as_engine_take_up(&e, err);
    if (!st)
        st = as_engine_carry_out(&e, result, err);
    as_engine_finish(&e);
    as_slots_close(e.slots, e.slots_n);
    as_cells_free(e.cells, e.cells_n);
    as_run_finish(&run);
    if (lock >= 0)
        close(lock);
    return st;
}
