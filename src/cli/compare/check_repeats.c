#include "cli/compare/check_repeats.h"

#include "base/text.h"
#include "report/model/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CPUs that others may use while a line of the host is measured: less is the system's own background. */
static const double OTHERS_MAX = 0.25;

static void repeat_finish(struct as_repeat *r)
{
    as_machine_sheet_finish(&r->sheet);
    as_report_run_finish(&r->run);
}

void as_repeats_finish(struct as_repeats *r)
{
    for (size_t i = 0; i < r->n; i++)
        repeat_finish(&r->v[i]);
    free(r->v);
    *r = (struct as_repeats){0};
}

enum as_status as_repeats_add(struct as_store *store, int64_t id, double others_cpus, struct as_repeats *out,
                              struct as_error *err)
{
    struct as_repeat repeat = {.others_cpus = others_cpus};
    char name[24];
    snprintf(name, sizeof name, "%lld", (long long)id);
    enum as_status st = as_grow((void **)&out->v, &out->cap, out->n + 1, sizeof *out->v, err);
    if (!st)
        st = as_report_load_alone(store, name, &repeat.run, err);
    if (st)
        return st;
    if ((st = as_machine_sheet_make(&repeat.run, &repeat.sheet, err)))
        repeat_finish(&repeat);
    else
        out->v[out->n++] = repeat;
    return st;
}

enum as_status as_repeats_find(struct as_store *store, const char *uuid, struct as_repeats *out, struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0;
    enum as_status st = as_store_runs(store, &runs, &n, err);
    for (size_t i = 0; i < n && !st; i++) {
        if (runs[i].state != AS_RUN_COMPLETE || !as_run_is_again(&runs[i]))
            continue;
        const struct as_run_repeat repeat = as_run_repeat(&runs[i]);
        if (as_run_uuid_is_same(repeat.of, uuid))
            st = as_repeats_add(store, runs[i].id, repeat.others_cpus, out, err);
    }
    as_runs_free(runs, n);
    return st;
}

enum as_status as_repeats_merge(struct as_repeats *r, size_t from, const struct as_machine_sheet *base,
                                struct as_machine_sheet *now, struct as_error *err)
{
    enum as_status st = AS_OK;
    size_t n = from;
    for (size_t i = from; i < r->n; i++) {
        struct as_repeat *repeat = &r->v[i];
        const char *uuid = repeat->run.run.uuid;
        const bool fits = now->runs < AS_MACHINE_RUNS_MAX && !as_machine_sheet_has_run(base, uuid) &&
                          !as_machine_sheet_has_run(now, uuid);
        if (fits && !st && !(st = as_machine_sheet_merge(now, &repeat->sheet, err)))
            r->v[n++] = *repeat;
        else
            repeat_finish(repeat);
    }
    r->n = n;
    return st;
}

const char *as_repeats_beside(struct as_repeats *r, size_t index, const char *device, const struct as_quantity *q)
{
    struct as_repeat *repeat = &r->v[index];
    for (size_t i = 0; i < repeat->run.seen_n; i++)
        if (repeat->run.seen[i].is_shared && strcmp(repeat->run.seen[i].device, device) == 0)
            return "another process used the device during the repeat";
    if (!as_line_is_of_host(device, q) || !(repeat->others_cpus > OTHERS_MAX))
        return NULL;
    snprintf(repeat->text, sizeof repeat->text, "other processes or guests used %.1f CPUs during the repeat",
             repeat->others_cpus);
    return repeat->text;
}
