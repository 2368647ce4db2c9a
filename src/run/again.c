/* Cells of a stored run, measured again as a run of their own. */
#include "run/engine.h"

#include "base/text.h"
#include "probe/main_memory.h"
#include "run/identity.h"
#include "run/meanwhile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum as_status as_engine_plan_again(const struct as_cell *old, const struct as_slot *slot, struct as_cell *out,
                                    struct as_error *err)
{
    struct as_error why;
    enum as_status refused = as_plan_check_cell(old, &slot->info, &why);
    if (!refused && !(old->precision > 0 && old->precision <= 1))
        refused = as_fail(&why, AS_USAGE, "its precision is not between 0 and 100%%");
    if (refused)
        return as_fail(err, refused, "cell %lld cannot be measured again: %s", (long long)old->id, why.text);
    *out = (struct as_cell){.lower_is_better = old->lower_is_better,
                            .axes = old->axes,
                            .key = old->key,
                            .precision = old->precision,
                            .limit = NAN,
                            .clock_hz = NAN};
    memcpy(out->backend, old->backend, sizeof out->backend);
    memcpy(out->device, old->device, sizeof out->device);
    memcpy(out->probe, old->probe, sizeof out->probe);
    memcpy(out->metric, old->metric, sizeof out->metric);
    memcpy(out->unit, old->unit, sizeof out->unit);
    memcpy(out->counts, old->counts, sizeof out->counts);
    return AS_OK;
}

/* The stored run, and which of its cells are to be measured. */
struct again {
    const struct as_run *old;
    struct as_cell *cells; /* owned */
    bool *wanted;          /* owned: of each cell */
    size_t n;
};

static void again_finish(struct again *a)
{
    as_cells_free(a->cells, a->n);
    free(a->wanted);
}

static enum as_status again_load(struct as_store *store, const struct as_run *old, const int64_t *ids, size_t n,
                                 struct again *a, struct as_error *err)
{
    const struct as_cell_filter filter = {.run_id = old->id};
    *a = (struct again){.old = old};
    enum as_status st = as_store_cells(store, &filter, &a->cells, &a->n, err);
    if (!st && !(a->wanted = calloc(a->n + 1, sizeof *a->wanted)))
        st = as_nomem(err, a->n, "measurements to repeat");
    for (size_t i = 0; i < a->n && !st; i++)
        for (size_t k = 0; k < n; k++)
            a->wanted[i] |= a->cells[i].id == ids[k];
    return st;
}

static bool measures_memory(const struct as_cell *c)
{
    return c->gates[AS_GATE_FOOTPRINT].state != AS_GATE_NA || as_main_memory_claimed(&c->axes);
}

/* Adds the cells by which those of main memory are judged. */
static void add_steps(struct again *a)
{
    for (size_t i = 0; i < a->n; i++) {
        struct as_device_info info;
        if (!a->wanted[i] || !measures_memory(&a->cells[i]) ||
            as_identity_device(a->old, a->cells[i].device, &info, NULL))
            continue;
        for (size_t k = 0; k < a->n; k++)
            a->wanted[k] |= a->cells[k].sum.n > 0 && as_main_memory_decides(&info, &a->cells[k], &a->cells[i]);
    }
}

/* "cpu,cuda:0": devices of the wanted cells. */
static void name_devices(const struct again *a, struct as_buf *out)
{
    for (size_t i = 0; i < a->n; i++) {
        bool is_new = a->wanted[i];
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !a->wanted[k] || strcmp(a->cells[k].device, a->cells[i].device) != 0;
        if (is_new)
            as_buf_printf(out, "%s%s", out->len ? "," : "", a->cells[i].device);
    }
}

/* Refuses another machine than the stored run's. */
static enum as_status check_machine(const struct again *a, const struct as_slot *slots, size_t n, struct as_error *err)
{
    struct as_buf differs = AS_BUF_INIT;
    enum as_status st = as_identity_host(a->old, &differs, err);
    for (size_t i = 0; i < n && !st && !differs.len; i++) {
        struct as_device_info then;
        if (!(st = as_identity_device(a->old, slots[i].info.id, &then, err)))
            as_identity_differs(&then, &slots[i].info, &differs);
    }
    if (!st && differs.len)
        st = as_fail(err, AS_USAGE, "%s", as_buf_get(&differs));
    as_buf_finish(&differs);
    return st;
}

static enum as_status plan_again(const struct again *a, struct as_engine *e, struct as_plan *plan, struct as_error *err)
{
    enum as_status st = AS_OK;
    plan->cells = calloc(a->n + 1, sizeof *plan->cells);
    if (!plan->cells)
        return as_nomem(err, a->n * sizeof *plan->cells, "the plan");
    for (size_t i = 0; i < a->n && !st; i++) {
        const struct as_slot *slot = a->wanted[i] ? as_slot_of_cell(e->slots, e->slots_n, &a->cells[i]) : NULL;
        if (slot && !(st = as_engine_plan_again(&a->cells[i], slot, &plan->cells[plan->n], err)))
            plan->n++;
    }
    e->sentinels_first = plan->n;
    if (!st && plan->n == 0)
        st = as_fail(err, AS_NOTFOUND, "none of its measurements can be repeated");
    if (!st)
        st = as_engine_add_sentinels(plan, e->slots, e->slots_n, a->old->precision, err);
    for (size_t i = 0; i < plan->n; i++)
        plan->cells[i].index = (int)i;
    return st;
}

static enum as_status measure_again(struct again *a, struct as_engine *e, struct as_run *run,
                                    struct as_run_result *result, struct as_meanwhile *m, struct as_error *err)
{
    struct as_plan plan = {0};
    char name[sizeof run->suite];
    const double budget = e->options->budget_s;
    int lock = -1;
    snprintf(name, sizeof name, AS_AGAIN_SUITE, (long long)a->old->id);
    enum as_status st = plan_again(a, e, &plan, err);
    if (!st && as_engine_needs_lock(e->slots, e->slots_n))
        st = as_meanwhile_lock(m, e->options, budget, &lock, err);
    if (!st)
        st = as_engine_fill_run(run, e->options, name, e->slots, e->slots_n, err);
    if (!st)
        st = as_run_set_repeated(run, a->old->uuid, err);
    if (!st) {
        run->precision = a->old->precision;
        run->trials = a->old->trials;
        run->budget_s = isfinite(budget) && budget >= 0 ? budget : 0;
        st = as_store_begin_run(e->store, run, plan.cells, plan.n, err);
    }
    if (!st) {
        e->run = run;
        e->cells = plan.cells;
        e->cells_n = plan.n;
        st = as_engine_make(e, err);
        if (!st)
            st = as_engine_carry_out(e, result, err);
    }
    as_engine_finish(e);
    as_plan_finish(&plan);
    if (lock >= 0)
        close(lock);
    return st;
}

enum as_status as_run_again(struct as_store *store, const struct as_run *old, const int64_t *cells, size_t n,
                            const struct as_run_options *options, struct as_run_result *result, struct as_error *err)
{
    struct as_engine e = {.store = store, .options = options, .program = options->worker};
    struct again a;
    struct as_run run = {0};
    struct as_buf devices = AS_BUF_INIT;
    struct as_meanwhile m = as_meanwhile_begin();
    *result = (struct as_run_result){0};
    enum as_status st = again_load(store, old, cells, n, &a, err);
    if (!st) {
        add_steps(&a);
        name_devices(&a, &devices);
        st =
            as_slots_open(as_buf_get(&devices), false, options->worker, options->stop, &e.slots, &e.slots_n, NULL, err);
        for (size_t i = 0; i < a.n && !st; i++)
            if (a.wanted[i])
                st = as_slots_add_states_of(&e.slots, &e.slots_n, &a.cells[i], 1, options->worker, options->stop, err);
    }
    if (!st)
        st = check_machine(&a, e.slots, e.slots_n, err);
    if (!st)
        st = measure_again(&a, &e, &run, result, &m, err);
    as_slots_close(e.slots, e.slots_n);
    if (!st)
        st = as_meanwhile_end(&m, store, &run, err); /* for whoever judges by the repeat later */
    as_buf_finish(&devices);
    as_run_finish(&run);
    again_finish(&a);
    return st;
}
