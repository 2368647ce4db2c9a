/* The start of a run: everything around the measurement. */
#include "run/engine.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/shared_host.h"
#include "run/deadline.h"
#include "run/meanwhile.h"
#include "run/provenance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void make_uuid(char out[40])
{
    uint64_t a = as_rng_entropy(), b = as_rng_entropy();
    snprintf(out, 40, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xffff,
             (unsigned)a & 0xfff, 0x8000u | ((unsigned)(b >> 48) & 0x3fff),
             (unsigned long long)(b & 0xffffffffffffULL));
}

/* Array of the devices' infos, each with its topology. */
static enum as_status devices_json(const struct as_slot *slots, size_t n, char **out, struct as_error *err)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_char(&b, '[');
    for (size_t i = 0; i < n && !slots[i].info.state[0]; i++) {
        struct as_buf info = AS_BUF_INIT;
        as_info_to_json(&slots[i].info, &info);
        as_buf_str(&b, i ? "," : "");
        /* Both are whole JSON objects: the tree goes in before the closing brace. */
        if (info.len > 2 && slots[i].topology) {
            as_buf_add(&b, info.data, info.len - 1);
            as_buf_str(&b, ",\"topology\":");
            as_buf_str(&b, slots[i].topology);
            as_buf_char(&b, '}');
        } else
            as_buf_str(&b, as_buf_get(&info));
        b.failed |= info.failed;
        as_buf_finish(&info);
    }
    as_buf_char(&b, ']');
    enum as_status st = as_buf_check(&b, err);
    *out = st ? NULL : as_buf_take(&b);
    as_buf_finish(&b);
    return st;
}

enum as_status as_engine_fill_run(struct as_run *run, const struct as_run_options *o, const char *suite,
                                  const struct as_slot *slots, size_t slots_n, struct as_error *err)
{
    struct as_buf provenance = AS_BUF_INIT;
    make_uuid(run->uuid);
    run->started_at = as_wall();
    run->reference_hz = run->sampling = NAN;
    run->state = AS_RUN_RUNNING;
    as_copy_text(run->suite, sizeof run->suite, suite);
    run->command = as_strdup(o->command ? o->command : "");
    run->seed = o->has_seed ? o->seed : as_rng_entropy() >> 1;
    run->isolate = o->isolate;
    as_copy_text(run->tool_version, sizeof run->tool_version, as_version());
    as_copy_text(run->tool_commit, sizeof run->tool_commit, as_commit());
    if (gethostname(run->host, sizeof run->host - 1))
        run->host[0] = 0;
    enum as_status st = run->command ? as_provenance_json(&provenance, err) : as_nomem(err, 0, "the run");
    if (!st && !(run->provenance = as_buf_take(&provenance)))
        st = as_nomem(err, 0, "the provenance");
    if (!st)
        st = devices_json(slots, slots_n, &run->devices, err);
    as_buf_finish(&provenance);
    return st;
}

enum as_status as_engine_add_sentinels(struct as_plan *plan, const struct as_slot *slots, size_t n, double precision,
                                       struct as_error *err)
{
    const struct as_probe *probe = as_probe_find("sentinel");
    if (!probe)
        return AS_OK;
    struct as_grid grid = {.probe = probe};
    char devices[1][128] = {""};
    struct as_suite suite = {.grids = &grid, .grids_n = 1, .grid_devices = devices, .precision = precision};
    enum as_status st = as_grid_set(&grid, "what", "all", err);
    for (size_t i = 0; i < n && !st; i++)
        if (!slots[i].info.state[0])
            st = as_plan_add(plan, &suite, &slots[i].info, NULL, 0, err);
    return st;
}

static struct as_judge_device judge_device(const struct as_device_info *info)
{
    struct as_judge_device d = {.is_cpu = info->is_host_cpu || (info->capabilities & AS_CAP_HOST_KERNELS),
                                .memory_least = as_info_memory_least(info, NULL, 1)};
    as_copy_text(d.id, sizeof d.id, info->id);
    for (size_t i = 0; i < info->caches_n; i++)
        if (info->caches[i].kind != 'i' && info->caches[i].level < 3 && info->caches[i].size > d.core_cache)
            d.core_cache = info->caches[i].size;
    return d;
}

enum as_status as_engine_make(struct as_engine *e, struct as_error *err)
{
    const size_t n = e->cells_n ? e->cells_n : 1;
    e->progress = calloc(n, sizeof *e->progress);
    e->trials = calloc(n, sizeof *e->trials);
    e->devices = calloc(e->slots_n ? e->slots_n : 1, sizeof *e->devices);
    if (!e->progress || !e->trials || !e->devices)
        return as_nomem(err, n * sizeof *e->progress, "the engine");
    for (size_t i = 0; i < e->slots_n; i++)
        e->devices[i] = judge_device(&e->slots[i].info);
    e->judge = (struct as_judge){.devices = e->devices,
                                 .devices_n = e->slots_n,
                                 .trials_asked = e->run->trials,
                                 .varies_by_process = as_varies_by_process,
                                 .is_untimed = as_is_untimed,
                                 .further = as_further_metrics,
                                 .reference_hz = NAN};
    for (size_t i = 0; i < e->cells_n; i++) {
        e->progress[i].slot = as_engine_slot(e, &e->cells[i]);
        e->progress[i].over = e->cells[i].status != AS_CELL_PLANNED && e->cells[i].sum.n == 0;
    }
    e->rounds = e->run->trials;
    e->memory_failures = as_memory_failures();
    e->start = as_now();
    e->deadline = as_deadline_of(e->start, e->run->budget_s, 0);
    return AS_OK;
}

void as_engine_finish(struct as_engine *e)
{
    for (size_t i = 0; e->trials && i < e->cells_n; i++)
        as_trials_finish(&e->trials[i]);
    free(e->trials);
    free(e->progress);
    free(e->pending.v);
    free(e->devices);
    as_judge_finish(&e->judge);
}

static void fill_result(const struct as_engine *e, struct as_run_result *result)
{
    *result = (struct as_run_result){.run_id = e->run->id, .state = e->run->state, .lost = e->lost && !e->stopped};
    for (size_t i = 0; i < e->sentinels_first; i++)
        result->by_status[e->cells[i].status]++;
}

/* Stores the reference clock, the exponents and the share of time spent sampling. */
static enum as_status note_judged(struct as_engine *e, struct as_error *err)
{
    struct as_buf exponents = AS_BUF_INIT;
    double sampling = 0;
    bool known = false;
    for (size_t i = 0; i < e->cells_n; i++)
        for (size_t k = 0; k < e->trials[i].n; k++)
            if (isfinite(e->trials[i].v[k].sampling_s)) {
                sampling += e->trials[i].v[k].sampling_s;
                known = true;
            }
    e->run->reference_hz = e->judge.reference_hz;
    e->run->sampling = known && e->measured_s > 0 ? fmin(1, sampling / e->measured_s) : NAN;
    as_judge_exponents(&e->judge, &exponents);
    enum as_status st = as_buf_check(&exponents, err);
    free(e->run->exponents);
    e->run->exponents = st ? NULL : as_buf_take(&exponents);
    as_buf_finish(&exponents);
    return st;
}

enum as_status as_engine_end(struct as_engine *e, struct as_run_result *result, struct as_error *err)
{
    enum as_status st = as_engine_store_pending(e, err);
    if (!st)
        st = as_engine_judge(e, err);
    if (!st)
        st = as_engine_store_changed(e, err);
    if (!st)
        st = note_judged(e, err);
    if (!st)
        st = as_engine_check_memory(e, err);
    if (!st) {
        e->run->state = e->stopped || e->lost ? AS_RUN_INTERRUPTED : AS_RUN_COMPLETE;
        e->run->ended_at = as_wall();
        st = as_store_update_run(e->store, e->run, err);
    }
    fill_result(e, result);
    if (!st)
        as_engine_event(e, AS_EVENT_RUN_END, NULL, NULL, NULL);
    return st;
}

enum as_status as_engine_carry_out(struct as_engine *e, struct as_run_result *result, struct as_error *err)
{
    as_engine_event(e, AS_EVENT_RUN_START, NULL, NULL, NULL);
    enum as_status st = as_engine_rank(e, err);
    if (!st)
        st = as_engine_measure(e, err);
    if (!st && e->run->isolate && !e->stopped)
        st = as_engine_isolate(e, err);
    if (!st)
        return as_engine_end(e, result, err);
    fill_result(e, result);
    return st;
}

bool as_engine_needs_lock(const struct as_slot *slots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (as_info_shares_host(&slots[i].info))
            return true;
    return false;
}

static void note_budget(struct as_engine *e)
{
    const size_t times = as_budgets_of(e->slots, e->slots_n);
    struct as_buf text = AS_BUF_INIT;
    if (times > 1 && e->run->budget_s > 0 && !isfinite(e->options->budget_s)) {
        as_buf_printf(&text, "%zu devices beside the CPU: the budget is ", times);
        as_format_duration(&text, e->run->budget_s);
        as_buf_str(&text, "; --budget sets another");
        as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
    }
    as_buf_finish(&text);
}

/* Axes that the user set so that nothing can be measured are a mistake, and no run of the machine. */
static enum as_status check_possible(const struct as_planning *p, const struct as_run_options *o, struct as_error *err)
{
    const struct as_cell *first = NULL;
    if (!o->sets_n)
        return AS_OK;
    for (size_t i = 0; i < p->sentinels_first; i++) {
        if (p->plan.cells[i].status == AS_CELL_PLANNED)
            return AS_OK;
        first = first ? first : &p->plan.cells[i];
    }
    return as_fail(err, AS_USAGE, "none of %zu measurement%s is possible here: %s", p->sentinels_first,
                   p->sentinels_first == 1 ? "" : "s", first ? first->reason : "");
}

static void note_fitted(struct as_engine *e, const struct as_plan *plan)
{
    struct as_buf text = AS_BUF_INIT;
    as_plan_say_fitted(plan, &text);
    if (text.len)
        as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
    as_buf_finish(&text);
}

/* A suite is named after what it is about: says where that is not to be had. */
static void note_namesakes(struct as_engine *e, const struct as_planning *p)
{
    for (size_t k = 0; k < e->options->suites_n; k++) {
        bool is_suite, is_probe, has = false;
        const char *name = as_suite_or_probe(e->options->suites[k], &is_suite, &is_probe);
        for (size_t i = 0; i < p->sentinels_first; i++)
            has |= strcmp(p->plan.cells[i].probe, name) == 0 && p->plan.cells[i].status == AS_CELL_PLANNED;
        if (!as_suite_is_built_in(e->options->suites[k]) || !as_probe_find(name) || has)
            continue;
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "the suite '%s' has no measurement of the probe '%s' on these devices, only of others",
                      name, name);
        as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
        as_buf_finish(&text);
    }
}

enum as_status as_run_start(struct as_store *store, const struct as_run_options *options, struct as_run_result *result,
                            struct as_error *err)
{
    struct as_engine e = {.store = store, .options = options, .program = options->worker};
    struct as_planning p = {0};
    struct as_meanwhile m = as_meanwhile_begin();
    int lock = -1;
    *result = (struct as_run_result){0};
    double start = as_now();
    enum as_status st = as_planning_make(options, &p, err);
    const double finding_s = as_now() - start;
    e.slots = p.slots;
    e.slots_n = p.slots_n;
    e.sentinels_first = p.sentinels_first;
    if (!st)
        st = check_possible(&p, options, err);
    if (!st && as_engine_needs_lock(e.slots, e.slots_n))
        st = as_meanwhile_lock(&m, options, p.run.budget_s, &lock, err);
    if (!st)
        st = as_engine_fill_run(&p.run, options, p.name, e.slots, e.slots_n, err);
    if (!st)
        st = as_store_begin_run(store, &p.run, p.plan.cells, p.plan.n, err);
    if (!st) {
        e.run = &p.run;
        e.cells = p.plan.cells;
        e.cells_n = p.plan.n;
        st = as_engine_make(&e, err);
        if (as_engine_needs_lock(e.slots, e.slots_n))
            e.deadline = as_deadline_of(e.start, p.run.budget_s, finding_s);
        if (!st && p.left_out.len) {
            as_buf_str(&p.left_out, "; --device all measures all");
            as_engine_event(&e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&p.left_out));
        }
        note_budget(&e);
        note_fitted(&e, &p.plan);
        note_namesakes(&e, &p);
        if (!st)
            st = as_engine_carry_out(&e, result, err);
    }
    as_engine_finish(&e);
    as_planning_close(&p);
    if (!st)
        st = as_meanwhile_end(&m, store, &p.run, err);
    as_planning_finish(&p);
    if (lock >= 0)
        close(lock);
    return st;
}
