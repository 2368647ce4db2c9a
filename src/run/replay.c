/* One stored cell, measured again as a run of its own. */
#include "run/engine.h"

#include "base/text.h"
#include "run/identity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Plans one cell with the sentinels of its device. */
static enum as_status plan_replay(const struct as_cell *old, struct as_slot *slots, size_t n, struct as_plan *plan,
                                  struct as_error *err)
{
    const struct as_slot *slot = as_slot_of_cell(slots, n, old);
    plan->cells = calloc(1, sizeof *plan->cells);
    if (!plan->cells)
        return as_nomem(err, sizeof *plan->cells, "the plan");
    enum as_status st = as_engine_plan_again(old, slot ? slot : slots, plan->cells, err);
    plan->n = st ? 0 : 1;
    if (!st)
        st = as_engine_add_sentinels(plan, slots, n, old->precision, err);
    for (size_t i = 0; i < plan->n; i++)
        plan->cells[i].index = (int)i;
    return st;
}

/* Says where the stored number is of another machine. */
static enum as_status note_other_machine(struct as_engine *e, const struct as_run *old_run, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    const enum as_status st = as_identity_machine(old_run, &e->slots[0].info, &text, err);
    if (!st && text.len)
        as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
    as_buf_finish(&text);
    return st;
}

enum as_status as_run_replay(struct as_store *store, int64_t cell_id, const struct as_run_options *options,
                             struct as_run_result *result, int64_t *again, struct as_error *err)
{
    struct as_engine e = {.store = store, .options = options, .program = options->worker, .sentinels_first = 1};
    struct as_cell old = {0};
    struct as_run run = {0}, old_run = {0};
    struct as_plan plan = {0};
    char name[64], number[24];
    int lock = -1;
    *result = (struct as_run_result){0};
    enum as_status st = as_store_cell(store, cell_id, 0, &old, err);
    snprintf(number, sizeof number, "%lld", (long long)old.run_id);
    snprintf(name, sizeof name, "replay of cell %lld", (long long)cell_id);
    if (!st)
        st = as_store_run(store, number, &old_run, err);
    if (!st)
        st = as_slots_open(old.device, false, options->worker, options->stop, &e.slots, &e.slots_n, NULL, err);
    if (!st)
        st = as_slots_add_states_of(&e.slots, &e.slots_n, &old, 1, options->worker, options->stop, err);
    if (!st)
        st = plan_replay(&old, e.slots, e.slots_n, &plan, err);
    if (!st && as_engine_needs_lock(e.slots, e.slots_n))
        st = as_lock_machine(options, options->budget_s, &lock, err);
    if (!st)
        st = as_engine_fill_run(&run, options, name, e.slots, e.slots_n, err);
    if (!st) {
        run.precision = old.precision;
        run.trials = old_run.trials;
        run.budget_s = isfinite(options->budget_s) && options->budget_s >= 0 ? options->budget_s : 0;
        st = as_store_begin_run(store, &run, plan.cells, plan.n, err);
    }
    if (!st) {
        e.run = &run;
        e.cells = plan.cells;
        e.cells_n = plan.n;
        st = as_engine_make(&e, err);
        if (!st)
            st = note_other_machine(&e, &old_run, err);
        if (!st)
            st = as_engine_carry_out(&e, result, err);
    }
    if (!st && run.state == AS_RUN_COMPLETE)
        *again = plan.cells[0].id;
    as_engine_finish(&e);
    as_slots_close(e.slots, e.slots_n);
    as_plan_finish(&plan);
    as_run_finish(&run);
    as_run_finish(&old_run);
    as_cell_finish(&old);
    if (lock >= 0)
        close(lock);
    return st;
}
