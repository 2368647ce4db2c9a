/* One trial, from the parent's side: ask the worker, judge, store. */
#include "probe/main_memory.h"
#include "run/engine.h"
#include "worker/measure.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* A worker hangs when a trial takes twice its sampling time and the probe's patience. */
static const double PATIENCE_S = 5;
/* With a budget, a trial is cut off at this fraction past its end. */
static const double BUDGET_TOLERANCE = 0.04;

struct as_slot *as_engine_slot(const struct as_engine *e, const struct as_cell *cell)
{
    return as_slot_of_cell(e->slots, e->slots_n, cell);
}

static size_t cells_done(const struct as_engine *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->sentinels_first; i++)
        n += e->cells[i].status != AS_CELL_PLANNED;
    return n;
}

/* Time left at the pace so far; with a budget, the rest of it. */
static double trial_eta(const struct as_engine *e, size_t done)
{
    double elapsed = as_now() - e->start;
    if (isfinite(e->deadline))
        return fmax(0, e->deadline - as_now());
    double trials = 0, wanted = 0;
    for (size_t i = 0; i < e->sentinels_first; i++) {
        if (e->progress[i].over)
            continue;
        trials += e->progress[i].trials < e->rounds ? e->progress[i].trials : e->rounds;
        wanted += e->rounds;
    }
    return trials > 0 && done > 0 ? elapsed * (wanted - trials) / trials : NAN;
}

void as_engine_event(struct as_engine *e, enum as_event_kind kind, const struct as_cell *cell,
                     const struct as_trial *trial, const char *text)
{
    if (!e->options->event)
        return;
    size_t done = cells_done(e);
    struct as_event event = {.kind = kind,
                             .run = e->run,
                             .cell = cell,
                             .trial = trial,
                             .text = text,
                             .cells_done = done,
                             .cells_total = e->sentinels_first,
                             .round = e->round,
                             .rounds = e->rounds,
                             .elapsed_s = as_now() - e->start,
                             .eta_s = trial_eta(e, done),
                             .first_done = e->first_done,
                             .cells = {.v = e->cells, .n = e->sentinels_first}};
    e->options->event(e->options->user, &event);
}

void as_event_note(const struct as_run_options *options, const char *text)
{
    if (options->event)
        options->event(options->user, &(struct as_event){.kind = AS_EVENT_NOTE, .eta_s = NAN, .text = text});
}

struct as_judge_context as_engine_judge_context(const struct as_engine *e, size_t index)
{
    const struct as_cell *cell = &e->cells[index];
    const struct as_slot *slot = e->progress[index].slot;
    const struct as_probe *probe = as_probe_find(cell->probe);
    struct as_judge_context context = {.own_power = probe && probe->own_power, .keeps_footprint = !slot};
    const uint64_t claim = as_trials_memory_claim(&e->trials[index]);
    if (slot && claim)
        as_main_memory_context(&slot->info, (struct as_cell_view){.v = e->cells, .n = e->cells_n}, cell, (double)claim,
                               &context);
    return context;
}

enum as_status as_engine_judge_cell(struct as_engine *e, size_t index, struct as_error *err)
{
    struct as_cell *cell = &e->cells[index];
    struct as_progress *p = &e->progress[index];
    const struct as_trials *t = &e->trials[index];
    const struct as_judge_context context = as_engine_judge_context(e, index);
    enum as_status st = as_judge_cell(&e->judge, cell, t, &context, err);
    p->trials = p->counted = 0;
    bool broken = false;
    for (size_t i = 0; i < t->n; i++) {
        const struct as_trial *v = &t->v[i];
        if (v->number >= AS_ISOLATED_TRIAL)
            continue;
        p->trials = v->number >= p->trials ? v->number + 1 : p->trials;
        p->counted += as_trial_counts(v);
        p->took_s = v->duration_s;
        broken |= v->status != AS_CELL_OK;
    }
    p->over =
        broken || cell->status == AS_CELL_SKIPPED || cell->status == AS_CELL_UNSUPPORTED || !p->slot || p->slot->lost;
    return st;
}

enum as_status as_engine_store_changed(struct as_engine *e, struct as_error *err)
{
    enum as_status st = as_engine_store_pending(e, err);
    size_t *which = calloc(e->cells_n + 1, sizeof *which), n = 0;
    if (!st && !which)
        st = as_nomem(err, e->cells_n * sizeof *which, "measurements that changed");
    for (size_t i = 0; i < e->cells_n && !st; i++) {
        if (e->progress[i].changed)
            which[n++] = i;
        e->progress[i].changed = false;
    }
    if (!st)
        st = as_store_update_cells(e->store, e->cells, which, n, err); /* a transaction costs some 20 ms */
    free(which);
    return st;
}

enum as_status as_engine_check_memory(const struct as_engine *e, struct as_error *err)
{
    return as_memory_failures() != e->memory_failures ? as_nomem(err, 0, "the run") : AS_OK;
}

enum as_status as_engine_add_trial(struct as_engine *e, size_t index, struct as_trial *trial, struct as_error *err)
{
    struct as_cell *cell = &e->cells[index];
    if (trial->detail) {
        free(cell->detail);
        cell->detail = as_strdup(trial->detail);
        if (!cell->detail)
            return as_nomem(err, 0, "a trial's notes");
    }
    enum as_status st = as_trials_add(&e->trials[index], trial, err);
    if (!st)
        st = as_engine_judge_cell(e, index, err);
    if (!st)
        st = as_engine_check_memory(e, err);
    if (!st)
        st = as_engine_keep_last(e, index, err);
    return st;
}

double as_engine_cut_off(const struct as_engine *e)
{
    return isfinite(e->deadline) ? e->deadline + BUDGET_TOLERANCE * (e->deadline - e->start) : INFINITY;
}

static double hang_deadline(const struct as_engine *e, const struct as_cell *cell, const struct as_slot *slot,
                            double share_s, int *by_budget)
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    double patience = probe && probe->patience     ? probe->patience(&slot->info, &cell->axes)
                      : probe && probe->patience_s ? probe->patience_s
                                                   : PATIENCE_S;
    double own = as_now() + 2 * share_s + patience;
    double budget = as_engine_cut_off(e);
    *by_budget = budget < own;
    return *by_budget ? budget : own;
}

/* A trial without numbers: the worker died or hung. */
static void fill_broken(struct as_trial *v, enum as_cell_status status, const char *why, double started, double wall)
{
    *v = (struct as_trial){.started_at = wall,
                           .duration_s = as_now() - started,
                           .status = status,
                           .clock_hz = NAN,
                           .clock_lo = NAN,
                           .clock_hi = NAN,
                           .limit = NAN,
                           .sample_s = NAN};
    as_copy_text(v->reason, sizeof v->reason, why);
}

static enum as_status take_reply(json_t *reply, struct as_trial *v, struct as_error *err)
{
    if (json_is_true(json_object_get(reply, "ok")))
        return as_trial_from_json(json_object_get(reply, "trial"), v, err);
    const char *why = json_string_value(json_object_get(reply, "why"));
    return as_fail(err, AS_FAILED, "%s", why ? why : "the worker gave no reason");
}

/* The result of asking a worker for a trial. */
struct answer {
    enum as_receive how;
    int by_budget; /* it was cut off at the end of the budget */
    json_t *reply; /* NULL: none */
    double asked, asked_wall;
    char text[512]; /* why there is none */
};

static enum as_status trial_ask(const struct as_engine *e, struct as_slot *slot, const struct as_cell *cell,
                                const struct as_trial_order *order, struct answer *a, struct as_error *err)
{
    *a = (struct answer){.asked = as_now(), .asked_wall = as_wall()};
    json_t *message = as_order_to_json(order);
    if (!message)
        return as_nomem(err, 0, "an order");
    a->how = as_worker_ask(&slot->worker, message, hang_deadline(e, cell, slot, order->share_s, &a->by_budget),
                           e->options->stop, &a->reply, a->text, sizeof a->text);
    json_decref(message);
    slot->is_open = slot->worker.pid != 0;
    return a->how == AS_NO_MEMORY ? as_nomem(err, 0, "a trial") : AS_OK;
}

/* AS_NOMEM: the reply could not be read; the cell is not at fault. */
static enum as_status take_answer(const struct answer *a, const struct as_cell *cell, int number,
                                  struct as_trial *trial, struct as_error *err)
{
    struct as_error why;
    enum as_status st = AS_OK;
    static const enum as_cell_status statuses[] = {[AS_PEER_GONE] = AS_CELL_CRASHED,
                                                   [AS_NO_ANSWER] = AS_CELL_TIMEOUT,
                                                   [AS_PEER_NO_MEMORY] = AS_CELL_FAILED,
                                                   [AS_NOT_STARTED] = AS_CELL_CRASHED};
    if (a->how != AS_RECEIVED)
        fill_broken(trial, statuses[a->how], a->text, a->asked, a->asked_wall);
    else if ((st = take_reply(a->reply, trial, &why)) == AS_NOMEM)
        return as_fail(err, AS_NOMEM, "%s", why.text);
    else if (st)
        fill_broken(trial, AS_CELL_FAILED, why.text, a->asked, a->asked_wall);
    trial->cell_id = cell->id;
    trial->number = number;
    if (number >= AS_ISOLATED_TRIAL) {
        trial->excluded = 1;
        if (trial->n)
            as_copy_text(trial->reason, sizeof trial->reason, "measured alone, for comparison");
    }
    return AS_OK;
}

void as_progress_keep_cost(struct as_progress *p, const struct as_trial *trial)
{
    if (trial->n == 0)
        return;
    /* Samples of a simulated device may be longer than the trial itself. */
    p->prepare_s = isfinite(trial->sampling_s) ? fmax(0, trial->duration_s - trial->sampling_s) : trial->prepare_s;
    p->fewest_s = fmin(AS_SAMPLES_MIN * trial->sample_s, AS_FEWEST_S);
}

static enum as_status keep_trial(struct as_engine *e, size_t index, struct as_trial *trial, struct as_error *err)
{
    struct as_progress *p = &e->progress[index];
    as_progress_keep_cost(p, trial);
    if (index < e->sentinels_first && trial->n) {
        p->slot->need_s += p->prepare_s + p->fewest_s;
        p->slot->trials++;
    }
    enum as_status st = as_engine_add_trial(e, index, trial, err);
    as_trial_finish(trial);
    return st;
}

enum as_status as_engine_trial(struct as_engine *e, size_t index, double share_s, struct as_error *err)
{
    struct as_cell *cell = &e->cells[index];
    struct as_slot *slot = e->progress[index].slot;
    if (!slot->is_open) {
        enum as_status opened = as_engine_reopen(e, slot, err);
        if (opened || slot->lost)
            return opened == AS_INTERRUPTED ? AS_OK : opened;
    }
    struct as_trial_order order = {
        .axes = cell->axes,
        .number = e->progress[index].trials,
        .seed =
            as_hash(&(uint64_t[]){e->run->seed, cell->key, (uint64_t)e->progress[index].trials}, 3 * sizeof(uint64_t)),
        .precision = cell->precision,
        .alone = e->run->trials < 2,
        .share_s = share_s};
    as_copy_text(order.probe, sizeof order.probe, cell->probe);
    as_engine_event(e, AS_EVENT_CELL_START, cell, NULL, NULL);

    struct answer a;
    const int worker = (int)slot->worker.pid; /* 0 once it is gone */
    enum as_status st = trial_ask(e, slot, cell, &order, &a, err);
    if (st)
        return st;
    if (a.how == AS_STOPPED || (a.how == AS_NO_ANSWER && a.by_budget)) {
        e->stopped |= a.how == AS_STOPPED;
        json_decref(a.reply);
        return AS_OK; /* this trial does not count; the cell stays as it was */
    }
    struct as_trial trial;
    st = take_answer(&a, cell, order.number, &trial, err);
    if (st) {
        json_decref(a.reply);
        return st;
    }
    trial.worker = worker;
    if (json_is_true(json_object_get(a.reply, "lost"))) { /* a driver error must not cost the next trial as well */
        as_worker_stop(&slot->worker);
        slot->is_open = 0;
    }
    json_decref(a.reply);
    if (a.how != AS_RECEIVED)
        as_engine_event(e, AS_EVENT_NOTE, cell, NULL, a.text);
    return keep_trial(e, index, &trial, err);
}
