/* What a run is to measure: suites, devices, cells and settings, before anything is measured or stored. */
#include "run/engine.h"

#include "base/text.h"
#include "device/shared_host.h"

#include <math.h>
#include <stdlib.h>

/* Sampling time of a trial without a budget. */
static const double TRIAL_S = 0.5;

/* A precision that the user asks for holds for every cell, whatever suites and their sections say. */
static void planning_override_precision(struct as_suite *suite, double precision)
{
    suite->precision = precision;
    if (suite->precise_budget_s > 0)
        suite->budget_s = suite->precise_budget_s;
    for (size_t i = 0; i < suite->grids_n; i++)
        suite->grids[i].precision = 0;
}

/* A suite's budget is for the CPU and one device beside it: how often it counts. */
size_t as_budgets_of(const struct as_slot *slots, size_t n)
{
    size_t cpus = 0;
    size_t own = 0; /* a device in several process states is one */
    for (size_t i = 0; i < n && !slots[i].info.state[0]; i++, own++)
        cpus += as_info_shares_host(&slots[i].info) &&
                (slots[i].info.is_host_cpu || slots[i].info.capabilities & AS_CAP_HOST_KERNELS);
    return own - cpus > 1 ? own - cpus : 1;
}

/* Several suites in one run: the tightest precision, the most trials, and the sum of budgets if all have one. */
static void planning_merge(struct as_run *run, struct as_suite *suites, size_t n, const struct as_slot *slots,
                           size_t slots_n, const struct as_run_options *o)
{
    int all_have_budget = 1;
    run->precision = 1;
    run->trials = 1;
    run->budget_s = 0;
    for (size_t i = 0; i < n; i++) {
        if (o->precision > 0)
            planning_override_precision(&suites[i], o->precision);
        run->precision = fmin(run->precision, suites[i].precision);
        run->trials = suites[i].trials > run->trials ? suites[i].trials : run->trials;
        const double budget =
            (double)as_budgets_of(slots, slots_n) * suites[i].budget_s + (double)slots_n * suites[i].device_budget_s;
        run->budget_s += budget;
        all_have_budget &= budget > 0;
    }
    if (!all_have_budget)
        run->budget_s = 0;
    if (isfinite(o->budget_s) && o->budget_s >= 0)
        run->budget_s = o->budget_s;
    if (o->trials > 0)
        run->trials = o->trials;
}

static enum as_status planning_find(const struct as_run_options *o, struct as_suite *suites, char *name, size_t size,
                                    struct as_error *err)
{
    enum as_status st = AS_OK;
    struct as_buf b = AS_BUF_INIT;
    for (size_t i = 0; i < o->suites_n && !st; i++) {
        st = as_suite_find(o->suites[i], &suites[i], err);
        as_buf_str(&b, i ? "," : "");
        as_buf_str(&b, o->suites[i]);
    }
    as_copy_text(name, size, as_buf_get(&b));
    as_buf_finish(&b);
    return st;
}

static enum as_status planning_make_grid(const struct as_run_options *o, const struct as_suite *suites,
                                         const struct as_slot *slots, size_t slots_n, double precision,
                                         struct as_plan *plan, size_t *sentinels_first, struct as_error *err)
{
    struct as_device_info *infos = calloc(slots_n, sizeof *infos);
    if (!infos)
        return as_nomem(err, slots_n * sizeof *infos, "devices");
    for (size_t i = 0; i < slots_n; i++)
        infos[i] = slots[i].info;
    enum as_status st = as_plan_check_sets(suites, o->suites_n, infos, slots_n, o->sets, o->sets_n, err);
    free(infos);
    for (size_t i = 0; i < slots_n && !st; i++) {
        const size_t from = plan->n;
        for (size_t j = 0; j < o->suites_n && !st; j++)
            st = as_plan_add(plan, &suites[j], &slots[i].info, o->sets, o->sets_n, err);
        for (size_t k = from; k < plan->n && slots[i].refused[0]; k++) {
            plan->cells[k].status = AS_CELL_UNSUPPORTED;
            as_copy_text(plan->cells[k].reason, sizeof plan->cells[k].reason, slots[i].refused);
        }
    }
    if (!st && plan->n == 0)
        st = as_fail(err, AS_USAGE, "these axes leave nothing to measure on these devices%s%s",
                     plan->pruned[0] || plan->foreign[0] ? "; " : "", plan->pruned[0] ? plan->pruned : plan->foreign);
    *sentinels_first = plan->n;
    if (!st)
        st = as_engine_add_sentinels(plan, slots, slots_n, precision, err);
    for (size_t i = 0; i < plan->n; i++)
        plan->cells[i].index = (int)i;
    return st;
}

static enum as_status planning_open(const struct as_run_options *o, struct as_planning *p, struct as_error *err)
{
    struct as_buf list = AS_BUF_INIT;
    const bool asked = o->devices && o->devices[0];
    if (asked)
        as_buf_str(&list, o->devices);
    else
        as_suites_devices(p->suites, o->suites_n, &list);
    enum as_status st = as_buf_check(&list, err);
    if (!st)
        st = as_slots_open(as_buf_get(&list), !asked, o->worker, o->stop, &p->slots, &p->slots_n, &p->left_out, err);
    as_buf_finish(&list);
    return st;
}

/* Workers for the process states that the suites ask for, behind those without a state. */
static enum as_status planning_open_states(const struct as_run_options *o, struct as_planning *p, struct as_error *err)
{
    const size_t devices = p->slots_n;
    enum as_status st = AS_OK;
    for (size_t i = 0; i < devices && !st; i++) {
        struct as_state_list states = {0};
        const struct as_device_info info = p->slots[i].info;
        for (size_t j = 0; j < o->suites_n && !st; j++)
            st = as_plan_states(&p->suites[j], &info, o->sets, o->sets_n, &states, err);
        for (size_t k = 0; k < states.n && !st; k++)
            st = as_slots_add_state(&p->slots, &p->slots_n, info.id, states.v[k], o->worker, o->stop, err);
    }
    return st;
}

enum as_status as_planning_make(const struct as_run_options *o, struct as_planning *p, struct as_error *err)
{
    *p = (struct as_planning){.suites_n = o->suites_n};
    p->suites = calloc(o->suites_n ? o->suites_n : 1, sizeof *p->suites);
    enum as_status st = p->suites ? AS_OK : as_nomem(err, o->suites_n * sizeof *p->suites, "suites");
    if (!st)
        st = planning_find(o, p->suites, p->name, sizeof p->name, err);
    if (!st)
        st = planning_open(o, p, err);
    if (st)
        return st;
    planning_merge(&p->run, p->suites, o->suites_n, p->slots, p->slots_n, o);
    st = planning_open_states(o, p, err);
    return st ? st
              : planning_make_grid(o, p->suites, p->slots, p->slots_n, p->run.precision, &p->plan, &p->sentinels_first,
                                   err);
}

void as_planning_close(struct as_planning *p)
{
    as_slots_close(p->slots, p->slots_n);
    p->slots = NULL;
    p->slots_n = 0;
}

void as_planning_finish(struct as_planning *p)
{
    as_planning_close(p);
    as_plan_finish(&p->plan);
    as_run_finish(&p->run);
    for (size_t i = 0; p->suites && i < p->suites_n; i++)
        as_suite_finish(&p->suites[i]);
    free(p->suites);
    as_buf_finish(&p->left_out);
}

/* ---- without a run ---- */

static double estimate_s(const struct as_dry_run *d)
{
    size_t cells = 0;
    for (size_t i = 0; i < d->plan.n; i++)
        cells += d->plan.cells[i].status == AS_CELL_PLANNED;
    return d->budget_s > 0 ? d->budget_s : (double)cells * d->trials * TRIAL_S;
}

enum as_status as_run_plan(const struct as_run_options *options, struct as_dry_run *out, struct as_error *err)
{
    struct as_planning p;
    *out = (struct as_dry_run){0};
    enum as_status st = as_planning_make(options, &p, err);
    if (!st && !(out->devices = calloc(p.slots_n + 1, sizeof *out->devices)))
        st = as_nomem(err, p.slots_n * sizeof *out->devices, "devices");
    if (!st) {
        for (size_t i = 0; i < p.slots_n; i++)
            if (!p.slots[i].info.state[0])
                out->devices[out->devices_n++] = p.slots[i].info;
        as_copy_text(out->suite, sizeof out->suite, p.name);
        out->precision = p.run.precision;
        out->trials = p.run.trials;
        out->budget_s = p.run.budget_s;
        out->left_out = p.left_out;
        p.left_out = (struct as_buf)AS_BUF_INIT;
        for (size_t i = p.sentinels_first; i < p.plan.n; i++)
            as_cell_finish(&p.plan.cells[i]);
        p.plan.n = p.sentinels_first;
        out->plan = p.plan;
        p.plan = (struct as_plan){0};
        out->estimated_s = estimate_s(out);
    }
    as_planning_finish(&p);
    return st;
}

void as_dry_run_finish(struct as_dry_run *d)
{
    as_plan_finish(&d->plan);
    as_buf_finish(&d->left_out);
    free(d->devices);
    *d = (struct as_dry_run){0};
}
