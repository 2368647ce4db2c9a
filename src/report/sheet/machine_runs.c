#include "report/sheet/machine_runs.h"

#include "base/text.h"
#include "report/model/load.h"
#include "report/sheet/machine_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void as_machine_runs_finish(struct as_machine_runs *m)
{
    as_machine_sheet_finish(&m->sheet);
    as_machine_sheet_finish(&m->now);
    as_report_run_finish(&m->fullest);
    for (size_t i = 0; i < m->n; i++)
        free(m->v[i].devices);
    free(m->v);
    free(m->joined);
    *m = (struct as_machine_runs){0};
}

const struct as_machine_run *as_machine_run_merged(const struct as_machine_runs *m, size_t index)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].merged == index)
            return &m->v[i];
    return NULL;
}

size_t as_machine_runs_used(const struct as_machine_runs *m, const struct as_device_sheet *device,
                            bool used[AS_MACHINE_RUNS_MAX])
{
    size_t n = 0;
    memset(used, 0, AS_MACHINE_RUNS_MAX * sizeof *used);
    for (size_t d = 0; d < m->sheet.n; d++)
        for (size_t i = 0; i < m->sheet.v[d].sheet.n; i++)
            for (size_t k = 0; k < m->sheet.v[d].runs[i].n; k++)
                if (!device || device == &m->sheet.v[d])
                    used[m->sheet.v[d].runs[i].run[k]] = true;
    for (size_t i = 0; i < AS_MACHINE_RUNS_MAX; i++)
        n += used[i];
    return n;
}

void as_machine_runs_assumed(const struct as_machine_runs *m, const char *what_assumes, struct as_buf *out)
{
    as_buf_printf(out, "With one run, %s %s, and 0.2%% for GPUs. Further runs replace the assumption.", what_assumes,
                  m->sheet.virtual_machine ? "the scatter usual for guests on a shared host"
                                           : "a scatter of 0.5% between runs of a host");
}

/* ---- which runs ---- */

static int by_time(const void *a, const void *b)
{
    const struct as_run *x = a, *y = b;
    if (x->started_at != y->started_at)
        return x->started_at < y->started_at ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Complete runs of the host of the last of runs, which it sorts by time. */
static void find_runs(struct as_run *runs, size_t n, struct as_machine_found *out)
{
    struct as_machine_state last;
    size_t first = n;
    *out = (struct as_machine_found){.n = 0};
    if (!n)
        return;
    const int64_t last_id = runs[n - 1].id;
    qsort(runs, n, sizeof *runs, by_time);
    size_t at = 0;
    while (runs[at].id != last_id)
        at++;
    last = as_machine_state_of(&runs[at]);
    while (first > 0) {
        const struct as_run *run = &runs[--first];
        struct as_machine_state state = as_machine_state_of(run);
        const bool counts = run->state == AS_RUN_COMPLETE && as_machine_state_is_same_host(&state, &last);
        if (counts && out->n < AS_MACHINE_RUNS_MAX)
            out->v[out->n++] = state;
        else {
            out->older += counts;
            as_machine_state_finish(&state);
        }
    }
    as_machine_state_finish(&last);
    for (size_t i = 0; i < out->n / 2; i++) {
        const struct as_machine_state swap = out->v[i];
        out->v[i] = out->v[out->n - 1 - i];
        out->v[out->n - 1 - i] = swap;
    }
}

static void found_finish(struct as_machine_found *f)
{
    for (size_t i = 0; i < f->n; i++)
        as_machine_state_finish(&f->v[i]);
}

/* What each device of run i changed by since the run before that had it. */
static enum as_status device_changes(const struct as_machine_found *f, size_t i, struct as_machine_run *out,
                                     struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    size_t d;
    const json_t *device;
    const size_t n = json_array_size(f->v[i].devices);
    if (!(out->devices = calloc(n + 1, sizeof *out->devices)))
        return as_nomem(err, n * sizeof *out->devices, "devices");
    json_array_foreach(f->v[i].devices, d, device)
    {
        const char *id = json_string_value(json_object_get(device, "id"));
        size_t k = i;
        while (id && k > 0 && !as_machine_state_has(&f->v[k - 1], id))
            k--;
        if (!id || k == 0)
            continue;
        struct as_device_change *change = &out->devices[out->devices_n++];
        as_buf_clear(&text);
        as_machine_state_device(&f->v[k - 1], &f->v[i], id, &text);
        as_copy_text(change->device, sizeof change->device, id);
        as_copy_text(change->text, sizeof change->text, as_buf_get(&text));
    }
    as_buf_finish(&text);
    return AS_OK;
}

static enum as_status describe_run(const struct as_machine_found *f, size_t i, struct as_machine_run *out,
                                   struct as_error *err)
{
    const struct as_run *run = f->v[i].run;
    struct as_buf text = AS_BUF_INIT;
    *out = (struct as_machine_run){.id = run->id,
                                   .started_at = run->started_at,
                                   .clock_hz = run->reference_hz,
                                   .load = as_machine_state_load(&f->v[i]),
                                   .is_again = as_run_is_again(run),
                                   .merged = SIZE_MAX};
    as_copy_text(out->suite, sizeof out->suite, run->suite);
    if (i > 0)
        as_machine_state_host(&f->v[i - 1], &f->v[i], &text);
    as_copy_text(out->host_state, sizeof out->host_state, as_buf_get(&text));
    as_buf_finish(&text);
    if (i > 0 && as_machine_state_rebooted(&f->v[i - 1], &f->v[i]))
        as_copy_text(out->conditions, sizeof out->conditions, "rebooted");
    return device_changes(f, i, out, err);
}

/* ---- the sheet ---- */

/* Lines that an earlier build had in another unit. */
static void drop_other_units(const struct as_machine_sheet *into, struct as_machine_sheet *run)
{
    for (size_t d = 0; d < run->n; d++)
        for (size_t o = 0; o < into->n; o++) {
            struct as_device_sheet *own = &run->v[d];
            if (strcmp(into->v[o].id, own->id) != 0)
                continue;
            size_t n = 0;
            for (size_t i = 0; i < own->sheet.n; i++) {
                const struct as_sheet_row *row = &own->sheet.rows[i];
                const struct as_sheet_row *other = as_sheet_find(&into->v[o].sheet, row->group, row->label);
                if (other && strcmp(other->unit, row->unit) != 0) {
                    as_line_runs_finish(&own->runs[i]);
                    continue;
                }
                own->sheet.rows[n] = *row;
                own->runs[n++] = own->runs[i];
            }
            own->sheet.n = n;
        }
}

/* What others did to a run is a condition of it. */
static void add_neighbours(const struct as_report_run *run, struct as_machine_run *out)
{
    size_t n = strlen(out->conditions);
    out->others_cpus = as_run_others_cpus(&run->run);
    if (out->others_cpus > AS_OTHERS_MAX) {
        snprintf(out->conditions + n, sizeof out->conditions - n, "%s" AS_OTHERS_SAID, n ? "; " : "", out->others_cpus);
        n = strlen(out->conditions);
    }
    for (size_t i = 0; i < run->seen_n; i++)
        if (run->seen[i].is_shared) {
            snprintf(out->conditions + n, sizeof out->conditions - n, "%sanother process on %s", n ? "; " : "",
                     run->seen[i].device);
            return;
        }
}

/* A run without numbers tells nothing of the machine, its reasons neither. */
static bool has_numbers(const struct as_machine_sheet *m)
{
    size_t rows = 0;
    for (size_t d = 0; d < m->n; d++)
        rows += m->v[d].sheet.n;
    return rows > 0;
}

/* Adds the run at that place to the sheet. */
static enum as_status merge_run(struct as_machine_load *l, size_t at, struct as_error *err)
{
    struct as_machine_runs *out = l->out;
    struct as_machine_sheet sheet = {0};
    struct as_report_run run;
    char name[24];
    snprintf(name, sizeof name, "%lld", (long long)out->v[at].id);
    enum as_status st = as_report_load_alone(l->store, name, &run, err);
    if (st)
        return st;
    run.chip = l->chip;
    st = as_machine_sheet_make(&run, &sheet, err);
    if (!st && !has_numbers(&sheet)) {
        as_machine_sheet_finish(&sheet);
        as_report_run_finish(&run);
        return AS_OK;
    }
    if (!st)
        add_neighbours(&run, &out->v[at]);
    if (!st)
        st = as_worth_add_run(&l->worth, l->found->v[l->found->n - 1].run, &run, err);
    if (!st && out->merged == 0)
        out->sheet = sheet;
    else {
        drop_other_units(&out->sheet, &sheet);
        if (!st)
            st = as_machine_sheet_merge(&out->sheet, &sheet, err);
        as_machine_sheet_finish(&sheet);
    }
    if (!st && (out->merged == 0 || (l->same_host[at] && run.run.cells > out->fullest.run.cells))) {
        as_report_run_finish(&out->fullest);
        out->fullest = run;
    } else
        as_report_run_finish(&run);
    if (!st)
        out->v[at].merged = out->merged++;
    return st;
}

/* From the latest run back. */
static enum as_status merge_runs(struct as_machine_load *l, struct as_error *err)
{
    enum as_status st = AS_OK;
    const size_t n = l->found->n;
    struct as_buf what = AS_BUF_INIT;
    for (size_t i = n; i > 0 && !st; i--) {
        as_buf_clear(&what);
        as_machine_state_host(&l->found->v[i - 1], &l->found->v[n - 1], &what);
        l->same_host[i - 1] = !what.len;
        st = merge_run(l, i - 1, err);
        if (st && st != AS_NOMEM && l->out->merged) { /* an earlier run that cannot be read is left out */
            l->out->unread++;
            as_copy_text(l->out->unread_why, sizeof l->out->unread_why, err->text);
            st = AS_OK;
        }
    }
    as_buf_finish(&what);
    return st;
}

static enum as_status list_joined(struct as_machine_runs *m, struct as_error *err)
{
    size_t n = 0;
    for (size_t d = 0; d < m->sheet.n; d++)
        n += m->sheet.v[d].sheet.n;
    m->joined = calloc(n + 1, sizeof *m->joined);
    if (!m->joined)
        return as_nomem(err, (n + 1) * sizeof *m->joined, "lines of the machine");
    for (size_t d = 0; d < m->sheet.n; d++)
        for (size_t i = 0; i < m->sheet.v[d].sheet.n; i++) {
            const struct as_sheet_row *row = &m->sheet.v[d].sheet.rows[i];
            m->joined[m->joined_n++] = (struct as_quantity_joined){.device = m->sheet.v[d].id,
                                                                   .of = row->of,
                                                                   .unit = row->unit,
                                                                   .value = row->value,
                                                                   .counted = row->counted,
                                                                   .counted_unit = row->counted_unit,
                                                                   .ci = row->ci,
                                                                   .trials = row->trials,
                                                                   .tried = row->tried,
                                                                   .modes = row->modes,
                                                                   .of_runs = row->of_runs,
                                                                   .mode = {row->mode[0], row->mode[1]},
                                                                   .mode_share0 = row->mode_share0};
        }
    return AS_OK;
}

enum as_status as_machine_runs_load(struct as_store *store, enum as_machine_which which, const struct as_refs *chip,
                                    struct as_machine_runs *out, struct as_error *err)
{
    struct as_run *runs = NULL;
    struct as_machine_found found = {.n = 0};
    struct as_machine_load l = {.store = store, .chip = chip, .found = &found, .out = out, .since = AS_BUF_INIT};
    size_t n = 0;
    *out = (struct as_machine_runs){0};
    enum as_status st = as_store_runs(store, &runs, &n, err);
    if (!st)
        find_runs(runs, n, &found);
    if (!st && !found.n)
        st = as_fail(err, AS_NOTFOUND, "the store '%s' has no complete run", as_store_path(store));
    if (!st && !(out->v = calloc(found.n, sizeof *out->v)))
        st = as_nomem(err, found.n * sizeof *out->v, "runs");
    for (size_t i = 0; i < found.n && !st; i++)
        st = describe_run(&found, i, &out->v[out->n++], err);
    out->older = found.older;
    if (!st)
        st = merge_runs(&l, err);
    out->fullest.others = l.worth.v;
    out->fullest.others_n = l.worth.n;
    l.worth.v = NULL;
    as_worth_runs_finish(&l.worth);
    out->fullest.of_machine = true;
    if (!st)
        st = as_machine_sheet_changes(&out->sheet, err);
    if (!st && which == AS_MACHINE_EVER)
        st = as_machine_sheet_copy(&out->sheet, &out->now, err);
    if (!st)
        st = as_machine_join_now(&l, which == AS_MACHINE_EVER ? &out->now : &out->sheet, err);
    if (!st && which == AS_MACHINE_NOW)
        st = list_joined(out, err);
    as_copy_text(out->since, sizeof out->since, as_buf_get(&l.since));
    as_buf_finish(&l.since);
    found_finish(&found);
    as_runs_free(runs, n);
    if (st)
        as_machine_runs_finish(out);
    return st;
}
