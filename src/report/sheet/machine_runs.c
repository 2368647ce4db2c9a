#include "report/sheet/machine_runs.h"

#include "base/text.h"
#include "report/model/load.h"
#include "report/sheet/machine_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void as_machine_runs_finish(struct as_machine_runs *m)
{
    as_machine_sheet_finish(&m->sheet);
    as_report_run_finish(&m->fullest);
    free(m->v);
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

/* ---- which runs ---- */

/* The states of the runs that count, in order of time. */
struct found {
    struct as_machine_state v[AS_MACHINE_RUNS_MAX];
    size_t n, older;
};

static int by_time(const void *a, const void *b)
{
    const struct as_run *x = a, *y = b;
    if (x->started_at != y->started_at)
        return x->started_at < y->started_at ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Complete runs of the host of the last of runs, which it sorts by time. */
static void find_runs(struct as_run *runs, size_t n, struct found *out)
{
    struct as_machine_state last;
    size_t first = n;
    *out = (struct found){.n = 0};
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

static void found_finish(struct found *f)
{
    for (size_t i = 0; i < f->n; i++)
        as_machine_state_finish(&f->v[i]);
}

/* What all devices of a run changed by since the run before that had them. */
static void state_changes(const struct found *f, size_t i, char *out, size_t size)
{
    struct as_buf text = AS_BUF_INIT;
    size_t d;
    const json_t *device;
    if (i > 0)
        as_machine_state_host(&f->v[i - 1], &f->v[i], &text);
    json_array_foreach(f->v[i].devices, d, device)
    {
        const char *id = json_string_value(json_object_get(device, "id"));
        for (size_t k = i; id && k > 0; k--) {
            const size_t before = text.len;
            as_machine_state_device(&f->v[k - 1], &f->v[i], id, &text);
            if (text.len > before)
                break;
        }
    }
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&text);
}

static void describe_run(const struct found *f, size_t i, struct as_machine_run *out)
{
    const struct as_run *run = f->v[i].run;
    *out = (struct as_machine_run){.id = run->id,
                                   .started_at = run->started_at,
                                   .clock_hz = run->reference_hz,
                                   .load = as_machine_state_load(&f->v[i]),
                                   .merged = SIZE_MAX};
    as_copy_text(out->suite, sizeof out->suite, run->suite);
    state_changes(f, i, out->state, sizeof out->state);
    if (i > 0 && as_machine_state_rebooted(&f->v[i - 1], &f->v[i]))
        as_copy_text(out->conditions, sizeof out->conditions, "rebooted");
}

/* ---- the sheet ---- */

static void drop_device(struct as_machine_sheet *m, size_t at)
{
    struct as_machine_sheet dropped = {.v = malloc(sizeof *m->v), .n = 1};
    if (!dropped.v) { /* its rows do not count, and are freed with the sheet */
        m->v[at].sheet.n = 0;
        return;
    }
    dropped.v[0] = m->v[at];
    as_machine_sheet_finish(&dropped);
    memmove(&m->v[at], &m->v[at + 1], (m->n - at - 1) * sizeof *m->v);
    m->n--;
}

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
                    free(own->runs[i].v);
                    free(own->runs[i].run);
                    continue;
                }
                own->sheet.rows[n] = *row;
                own->runs[n++] = own->runs[i];
            }
            own->sheet.n = n;
        }
}

struct load {
    struct as_store *store;
    const struct as_refs *chip;
    enum as_machine_which which;
    const struct found *found;
    struct as_machine_runs *out;
    struct as_buf since;
};

/* Appends what changed before the run after the one at `at`. */
static void say_since(struct load *l, size_t at, const char *what)
{
    if (!strstr(as_buf_get(&l->since), what))
        as_buf_printf(&l->since, "%srun %lld: %s", l->since.len ? "; " : "", (long long)l->out->v[at + 1].id, what);
}

/* Devices of an earlier run that are in another state since. */
static void drop_changed_devices(struct load *l, size_t at, struct as_machine_sheet *run)
{
    struct as_buf what = AS_BUF_INIT;
    for (size_t d = run->n; d > 0; d--) {
        as_buf_clear(&what);
        for (size_t k = l->found->n; k > at + 1 && !what.len; k--)
            if (l->out->v[k - 1].merged != SIZE_MAX)
                as_machine_state_device(&l->found->v[at], &l->found->v[k - 1], run->v[d - 1].id, &what);
        if (!what.len)
            continue;
        say_since(l, at, as_buf_get(&what));
        drop_device(run, d - 1);
    }
    as_buf_finish(&what);
}

/* What another process on a device did to a run is a condition of it. */
static void add_neighbours(const struct as_report_run *run, struct as_machine_run *out)
{
    const size_t n = strlen(out->conditions);
    for (size_t i = 0; i < run->seen_n; i++)
        if (run->seen[i].is_shared) {
            snprintf(out->conditions + n, sizeof out->conditions - n, "%sanother process on %s", n ? "; " : "",
                     run->seen[i].device);
            return;
        }
}

/* Adds the run at that place to the sheet. */
static enum as_status merge_run(struct load *l, size_t at, struct as_error *err)
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
    if (!st)
        add_neighbours(&run, &out->v[at]);
    if (!st && out->merged == 0)
        out->sheet = sheet;
    else {
        if (!st && l->which == AS_MACHINE_NOW)
            drop_changed_devices(l, at, &sheet);
        if (!st) {
            drop_other_units(&out->sheet, &sheet);
            st = as_machine_sheet_merge(&out->sheet, &sheet, err);
        }
        as_machine_sheet_finish(&sheet);
    }
    if (!st && (out->merged == 0 || run.run.cells > out->fullest.run.cells)) {
        as_report_run_finish(&out->fullest);
        out->fullest = run;
    } else
        as_report_run_finish(&run);
    if (!st)
        out->v[at].merged = out->merged++;
    return st;
}

/* From the latest run back; runs of another state of the host are passed over. */
static enum as_status merge_runs(struct load *l, struct as_error *err)
{
    enum as_status st = AS_OK;
    const size_t n = l->found->n;
    bool host_changed = false;
    struct as_buf what = AS_BUF_INIT;
    for (size_t i = n; i > 0 && !st; i--) {
        as_buf_clear(&what);
        if (l->which == AS_MACHINE_NOW)
            as_machine_state_host(&l->found->v[i - 1], &l->found->v[n - 1], &what);
        if (what.len && !host_changed)
            say_since(l, i - 1, as_buf_get(&what));
        host_changed |= what.len > 0;
        if (!what.len)
            st = merge_run(l, i - 1, err);
    }
    as_buf_finish(&what);
    return st;
}

/* Where a line changed by itself, the runs before do not tell what it is now. */
static void keep_since_change(const struct as_machine_runs *m, struct as_sheet_row *row, struct as_line_runs *line)
{
    const size_t n = as_line_since_change(line);
    if (n == line->n)
        return;
    const struct as_machine_run *first = as_machine_run_merged(m, line->run[n - 1]);
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "since run %lld, ", (long long)(first ? first->id : 0));
    as_format_value(&text, line->v[n].value, row->unit);
    as_buf_str(&text, " before");
    as_buf_printf(&text, "%s%s", row->remark[0] ? ", " : "", row->remark);
    as_copy_text(row->remark, sizeof row->remark, as_buf_get(&text));
    as_buf_finish(&text);
    line->n = n;
}

/* A prior is no evidence. */
static void say_one_trial(struct as_sheet_row *row, const struct as_line_runs *line)
{
    char text[sizeof row->remark];
    if (line->n != 1 || row->trials != 1)
        return;
    snprintf(text, sizeof text, "one trial%s%.*s", row->remark[0] ? ", " : "", (int)sizeof text - 20, row->remark);
    as_copy_text(row->remark, sizeof row->remark, text);
}

static enum as_status join_now(struct as_machine_runs *m, struct as_error *err)
{
    enum as_status st = as_machine_sheet_changes(&m->sheet, err);
    for (size_t d = 0; d < m->sheet.n && !st; d++)
        for (size_t i = 0; i < m->sheet.v[d].sheet.n; i++) {
            struct as_sheet_row *row = &m->sheet.v[d].sheet.rows[i];
            keep_since_change(m, row, &m->sheet.v[d].runs[i]);
            say_one_trial(row, &m->sheet.v[d].runs[i]);
            row->wide = false; /* the request was for a run */
        }
    return st ? st : as_machine_sheet_join(&m->sheet, err);
}

enum as_status as_machine_runs_load(struct as_store *store, enum as_machine_which which, const struct as_refs *chip,
                                    struct as_machine_runs *out, struct as_error *err)
{
    struct as_run *runs = NULL;
    struct found found = {.n = 0};
    struct load l = {store, chip, which, &found, out, AS_BUF_INIT};
    size_t n = 0;
    *out = (struct as_machine_runs){0};
    enum as_status st = as_store_runs(store, &runs, &n, err);
    if (!st)
        find_runs(runs, n, &found);
    if (!st && !found.n)
        st = as_fail(err, AS_NOTFOUND, "the store '%s' has no complete run of this machine", as_store_path(store));
    if (!st && !(out->v = calloc(found.n, sizeof *out->v)))
        st = as_nomem(err, found.n * sizeof *out->v, "runs");
    for (size_t i = 0; i < found.n && !st; i++)
        describe_run(&found, i, &out->v[out->n++]);
    out->older = found.older;
    if (!st)
        st = merge_runs(&l, err);
    as_copy_text(out->since, sizeof out->since, as_buf_get(&l.since));
    if (!st)
        st = which == AS_MACHINE_NOW ? join_now(out, err) : as_machine_sheet_changes(&out->sheet, err);
    as_buf_finish(&l.since);
    found_finish(&found);
    as_runs_free(runs, n);
    if (st)
        as_machine_runs_finish(out);
    return st;
}
