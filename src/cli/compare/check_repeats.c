#include "cli/compare/check_repeats.h"

#include "base/text.h"
#include "report/model/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum as_status as_repeats_add(struct as_store *store, int64_t id, struct as_repeats *out, struct as_error *err)
{
    struct as_repeat repeat = {0};
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
        char of[sizeof runs[i].uuid];
        as_run_repeated(&runs[i], of, sizeof of);
        if (as_run_uuid_is_same(of, uuid))
            st = as_repeats_add(store, runs[i].id, out, err);
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
    const double others = as_run_others_cpus(&repeat->run.run);
    if (!as_line_is_of_host(device, q) || !(others > AS_OTHERS_MAX))
        return NULL;
    snprintf(repeat->text, sizeof repeat->text, AS_OTHERS_SAID " during the repeat", others);
    return repeat->text;
}
