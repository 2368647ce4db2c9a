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
                                   .is_again = as_run_is_again(run),
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
    const struct found *found;
    struct as_machine_runs *out;
    bool same_host[AS_MACHINE_RUNS_MAX]; /* of each run: is the host's state that of the latest? */
    struct as_buf since;
};

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
static enum as_status merge_runs(struct load *l, struct as_error *err)
{
    enum as_status st = AS_OK;
    const size_t n = l->found->n;
    struct as_buf what = AS_BUF_INIT;
    for (size_t i = n; i > 0 && !st; i--) {
        as_buf_clear(&what);
        as_machine_state_host(&l->found->v[i - 1], &l->found->v[n - 1], &what);
        l->same_host[i - 1] = !what.len;
        st = merge_run(l, i - 1, err);
        if (st && st != AS_NOMEM && l->out->merged) /* an earlier run that cannot be read is ignored */
            st = AS_OK;
    }
    as_buf_finish(&what);
    return st;
}

/* ---- the machine as it is now ---- */

/* Appends what changed before the run after the one at `at`. */
static void say_since(struct load *l, size_t at, const char *what)
{
    if (!strstr(as_buf_get(&l->since), what))
        as_buf_printf(&l->since, "%srun %lld: %s", l->since.len ? "; " : "", (long long)l->out->v[at + 1].id, what);
}

/* The last change of the host. */
static void say_host_changed(struct load *l)
{
    struct as_buf what = AS_BUF_INIT;
    for (size_t at = l->found->n; at > 0 && !what.len; at--) {
        if (l->same_host[at - 1])
            continue;
        as_machine_state_host(&l->found->v[at - 1], &l->found->v[l->found->n - 1], &what);
        say_since(l, at - 1, as_buf_get(&what));
    }
    as_buf_finish(&what);
}

/* Which runs, by as_line_runs.run, had the device in its present state; false: none of this state of the host. */
static bool find_same_state(struct load *l, const char *device, bool same[AS_MACHINE_RUNS_MAX])
{
    struct as_buf what = AS_BUF_INIT;
    const struct as_machine_state *now = NULL;
    bool said = false;
    memset(same, 0, AS_MACHINE_RUNS_MAX * sizeof *same);
    for (size_t at = l->found->n; at > 0; at--) {
        const struct as_machine_state *state = &l->found->v[at - 1];
        if (!l->same_host[at - 1] || !as_machine_state_has(state, device))
            continue;
        now = now ? now : state;
        as_buf_clear(&what);
        as_machine_state_device(state, now, device, &what);
        if (l->out->v[at - 1].merged != SIZE_MAX)
            same[l->out->v[at - 1].merged] = !what.len;
        if (what.len && !said)
            say_since(l, at - 1, as_buf_get(&what));
        said |= what.len > 0;
    }
    as_buf_finish(&what);
    return now != NULL;
}

static void keep_same_state(struct as_line_runs *line, const bool same[AS_MACHINE_RUNS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < line->n; i++) {
        if (!same[line->run[i]])
            continue;
        line->v[n] = line->v[i];
        line->run[n] = line->run[i];
        if (line->place)
            line->place[n] = line->place[i];
        n++;
    }
    line->n = n;
}

static void machine_add_remark(struct as_sheet_row *row, const struct as_buf *text)
{
    struct as_buf both = AS_BUF_INIT;
    as_buf_printf(&both, "%s%s%s", as_buf_get(text), row->remark[0] ? ", " : "", row->remark);
    as_copy_text(row->remark, sizeof row->remark, as_buf_get(&both));
    as_buf_finish(&both);
}

static long long id_of(const struct as_machine_runs *m, size_t index)
{
    const struct as_machine_run *run = as_machine_run_merged(m, index);
    return run ? (long long)run->id : 0;
}

/* Where a line changed by itself, the runs before do not tell what it is now. */
static void keep_since_change(const struct as_machine_runs *m, struct as_sheet_row *row, struct as_line_runs *line)
{
    const size_t n = as_line_since_change(line);
    struct as_buf text = AS_BUF_INIT;
    if (n == line->n)
        return;
    as_buf_printf(&text, "since run %lld, ", id_of(m, line->run[n - 1]));
    as_format_value(&text, line->v[n].value, row->unit);
    as_buf_str(&text, " before");
    machine_add_remark(row, &text);
    as_buf_finish(&text);
    line->n = n;
}

/* The runs that lie outside what the others predict, alone. */
struct alone {
    size_t n, last; /* last: index of the latest */
    double lo, hi;
};

static struct alone take_out_alone(struct as_line_runs *line)
{
    struct alone a = {0, 0, INFINITY, -INFINITY};
    size_t n = 0;
    for (size_t i = 0; i < line->n; i++) {
        if (!line->place || line->place[i] != AS_RUN_ALONE || line->n == 1) {
            line->v[n] = line->v[i];
            line->run[n++] = line->run[i];
            continue;
        }
        a.lo = fmin(a.lo, line->v[i].value);
        a.hi = fmax(a.hi, line->v[i].value);
        a.last = a.n++ ? a.last : line->run[i];
    }
    line->n = n;
    return a;
}

/* Takes them out, and names them. */
static void name_alone(const struct as_machine_runs *m, struct as_sheet_row *row, struct as_line_runs *line)
{
    const struct alone a = take_out_alone(line);
    struct as_buf text = AS_BUF_INIT;
    if (!a.n)
        return;
    if (a.n == 1) {
        as_format_value(&text, a.lo, row->unit);
        as_buf_printf(&text, " in run %lld alone", id_of(m, a.last));
    } else {
        as_format_range(&text, a.lo, a.hi, a.hi, row->unit, 3);
        as_buf_printf(&text, " in %zu of %zu runs", a.n, line->n + a.n);
    }
    machine_add_remark(row, &text);
    as_buf_finish(&text);
}

/* A prior is no evidence: a line that rests on one trial says so, and one that rests on one run where others have more.
 * runs: of its device. */
static void say_evidence(struct as_sheet_row *row, const struct as_line_runs *line, size_t runs)
{
    struct as_buf text = AS_BUF_INIT;
    if (line->n == 1 && row->trials == 1)
        as_buf_str(&text, "one trial");
    else if (line->n == 1 && runs > 1)
        as_buf_str(&text, "one run");
    if (text.len)
        machine_add_remark(row, &text);
    as_buf_finish(&text);
}

/* A line that was measured in another state only is a gap. */
static enum as_status drop_line(struct as_device_sheet *d, size_t at, struct as_error *err)
{
    struct as_sheet *s = &d->sheet;
    struct as_sheet_gap *gaps = realloc(s->gaps, (s->gaps_n + 1) * sizeof *gaps);
    if (!gaps)
        return as_nomem(err, (s->gaps_n + 1) * sizeof *gaps, "a data sheet");
    const struct as_sheet_row *row = &s->rows[at];
    size_t g = s->gaps_n;
    s->gaps = gaps;
    for (; g > 0 && gaps[g - 1].of > row->of; g--)
        gaps[g] = gaps[g - 1];
    gaps[g] = (struct as_sheet_gap){.group = row->group, .of = row->of};
    as_copy_text(gaps[g].title, sizeof gaps[g].title, row->title);
    as_copy_text(gaps[g].label, sizeof gaps[g].label, row->label);
    as_copy_text(gaps[g].reason, sizeof gaps[g].reason, "not measured since the machine changed");
    s->gaps_n++;
    free(d->runs[at].v);
    free(d->runs[at].run);
    free(d->runs[at].place);
    s->n--;
    memmove(&s->rows[at], &s->rows[at + 1], (s->n - at) * sizeof *s->rows);
    memmove(&d->runs[at], &d->runs[at + 1], (s->n - at) * sizeof *d->runs);
    return AS_OK;
}

/* Leaves the runs that tell what the device is now. */
static enum as_status keep_now(struct load *l, struct as_device_sheet *d, const bool same[AS_MACHINE_RUNS_MAX],
                               struct as_error *err)
{
    enum as_status st = AS_OK;
    size_t runs = 0;
    for (size_t i = 0; i < AS_MACHINE_RUNS_MAX; i++)
        runs += same[i];
    for (size_t i = d->sheet.n; i > 0 && !st; i--) {
        struct as_sheet_row *row = &d->sheet.rows[i - 1];
        struct as_line_runs *line = &d->runs[i - 1];
        keep_since_change(l->out, row, line);
        keep_same_state(line, same);
        name_alone(l->out, row, line);
        say_evidence(row, line, runs);
        row->wide = false; /* the request was for a run */
        if (!line->n)
            st = drop_line(d, i - 1, err);
    }
    return st;
}

static enum as_status join_now(struct load *l, struct as_error *err)
{
    struct as_machine_sheet *sheet = &l->out->sheet;
    bool same[AS_MACHINE_RUNS_MAX];
    enum as_status st = AS_OK;
    say_host_changed(l);
    for (size_t d = sheet->n; d > 0 && !st; d--) {
        if (find_same_state(l, sheet->v[d - 1].id, same))
            st = keep_now(l, &sheet->v[d - 1], same, err);
        else
            drop_device(sheet, d - 1);
    }
    return st ? st : as_machine_sheet_join(sheet, err);
}

enum as_status as_machine_runs_load(struct as_store *store, enum as_machine_which which, const struct as_refs *chip,
                                    struct as_machine_runs *out, struct as_error *err)
{
    struct as_run *runs = NULL;
    struct found found = {.n = 0};
    struct load l = {.store = store, .chip = chip, .found = &found, .out = out, .since = AS_BUF_INIT};
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
    if (!st)
        st = as_machine_sheet_changes(&out->sheet, err);
    if (!st && which == AS_MACHINE_NOW)
        st = join_now(&l, err);
    as_copy_text(out->since, sizeof out->since, as_buf_get(&l.since));
    as_buf_finish(&l.since);
    found_finish(&found);
    as_runs_free(runs, n);
    if (st)
        as_machine_runs_finish(out);
    return st;
}
