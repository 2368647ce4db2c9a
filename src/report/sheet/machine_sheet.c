#include "report/sheet/machine_sheet.h"

#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void as_device_sheet_finish(struct as_device_sheet *d)
{
    for (size_t i = 0; d->runs && i < d->sheet.n; i++)
        as_line_runs_finish(&d->runs[i]);
    free(d->runs);
    as_sheet_finish(&d->sheet);
}

void as_line_runs_finish(struct as_line_runs *line)
{
    free(line->v);
    free(line->of);
    free(line->run);
    free(line->place);
    *line = (struct as_line_runs){0};
}

void as_machine_sheet_finish(struct as_machine_sheet *m)
{
    for (size_t i = 0; i < m->n; i++)
        as_device_sheet_finish(&m->v[i]);
    free(m->v);
    free(m->run);
    *m = (struct as_machine_sheet){0};
}

enum as_status as_machine_sheet_reserve(struct as_machine_sheet *m, size_t devices, struct as_error *err)
{
    m->v = calloc(devices + 1, sizeof *m->v);
    m->run = calloc(AS_MACHINE_RUNS_MAX, sizeof *m->run);
    m->runs = 1;
    return m->v && m->run ? AS_OK : as_nomem(err, devices * sizeof *m->v, "data sheets");
}

static enum as_status add_run(struct as_line_runs *runs, const struct as_estimated *run, const struct as_line_run *of,
                              size_t index, struct as_error *err)
{
    struct as_estimated *v = realloc(runs->v, (runs->n + 1) * sizeof *v);
    if (v)
        runs->v = v;
    struct as_line_run *all = realloc(runs->of, (runs->n + 1) * sizeof *all);
    if (all)
        runs->of = all;
    size_t *indices = realloc(runs->run, (runs->n + 1) * sizeof *indices);
    if (indices)
        runs->run = indices;
    if (!v || !all || !indices)
        return as_nomem(err, (runs->n + 1) * sizeof *v, "runs of a line");
    v[runs->n] = *run;
    all[runs->n] = *of;
    indices[runs->n++] = index;
    runs->another = (struct as_interval){NAN, NAN};
    return AS_OK;
}

enum as_status as_device_sheet_add_run(struct as_device_sheet *d, struct as_error *err)
{
    enum as_status st = AS_OK;
    d->runs = calloc(d->sheet.n + 1, sizeof *d->runs);
    if (!d->runs)
        return as_nomem(err, d->sheet.n * sizeof *d->runs, "a data sheet");
    for (size_t i = 0; i < d->sheet.n && !st; i++) {
        const struct as_sheet_row *row = &d->sheet.rows[i];
        const struct as_line_run of = {row->counted, row->trials, row->tried};
        st = add_run(&d->runs[i], &(struct as_estimated){row->value, row->ci}, &of, 0, err);
    }
    return st;
}

bool as_machine_is_virtual(const struct as_run *run)
{
    json_t *root = run->provenance ? json_loads(run->provenance, 0, NULL) : NULL;
    const char *text = json_string_value(json_object_get(json_object_get(root, "host"), "virtualization"));
    const bool is = text && strstr(text, "virtual machine");
    json_decref(root);
    return is;
}

enum as_status as_machine_sheet_make(const struct as_report_run *run, struct as_machine_sheet *out,
                                     struct as_error *err)
{
    *out = (struct as_machine_sheet){.n = 0};
    as_copy_text(out->host, sizeof out->host, run->run.host);
    as_copy_text(out->suite, sizeof out->suite, run->run.suite);
    out->virtual_machine = as_machine_is_virtual(&run->run);
    out->clock_hz = run->run.reference_hz;
    enum as_status st = as_machine_sheet_reserve(out, run->devices_n, err);
    out->again = as_run_is_again(&run->run);
    if (!st)
        as_copy_text(out->run[0], sizeof out->run[0], run->run.uuid);
    for (size_t i = 0; i < run->devices_n && !st; i++) {
        struct as_device_sheet *d = &out->v[out->n];
        as_copy_text(d->id, sizeof d->id, run->devices[i].id);
        as_copy_text(d->name, sizeof d->name, as_info_title(&run->devices[i]));
        as_copy_text(d->bus_id, sizeof d->bus_id, run->devices[i].bus_id);
        if (!(st = as_sheet_make(run, run->devices[i].id, &d->sheet, err))) {
            out->n++;
            st = as_device_sheet_add_run(d, err);
        }
    }
    if (st)
        as_machine_sheet_finish(out);
    return st;
}

/* ---- several runs ---- */

double as_machine_sheet_carry(const struct as_sheet_row *row, double from_hz, double to_hz)
{
    return as_clock_carry(row->clock_exponent, !as_quantity_lower_is_better(row->of), from_hz, to_hz);
}

bool as_machine_sheet_is_carried(const struct as_sheet_row *row, double from_hz, double to_hz)
{
    static const double SEEN = 0.0005;
    return fabs(as_machine_sheet_carry(row, from_hz, to_hz) - 1) > SEEN;
}

double as_clock_carry(double exponent, bool more_is_better, double from_hz, double to_hz)
{
    if (!(from_hz > 0) || !(to_hz > 0) || !isfinite(exponent))
        return 1;
    return pow(to_hz / from_hz, more_is_better ? exponent : -exponent);
}

/* The same figure among those of another sheet, which owns them. */
static const struct as_ref *own_figure(const struct as_refs *figures, const struct as_ref *ref)
{
    for (size_t i = 0; ref && i < figures->n; i++)
        if (strcmp(figures->v[i].kind, ref->kind) == 0 && strcmp(figures->v[i].group, ref->group) == 0 &&
            strcmp(figures->v[i].quantity, ref->quantity) == 0 && strcmp(figures->v[i].source, ref->source) == 0 &&
            strcmp(figures->v[i].unit, ref->unit) == 0)
            return &figures->v[i];
    return NULL;
}

static void remove_gap(struct as_sheet *s, const struct as_quantity *of)
{
    size_t n = 0;
    for (size_t i = 0; i < s->gaps_n; i++)
        if (s->gaps[i].of != of)
            s->gaps[n++] = s->gaps[i];
    s->gaps_n = n;
}

/* Adds a row in the order of the table, without runs; *at is where. */
static enum as_status insert_row(struct as_device_sheet *d, const struct as_sheet_row *row, size_t *at,
                                 struct as_error *err)
{
    struct as_sheet *s = &d->sheet;
    struct as_sheet_row *rows = realloc(s->rows, (s->n + 1) * sizeof *rows);
    if (rows)
        s->rows = rows;
    struct as_line_runs *runs = realloc(d->runs, (s->n + 1) * sizeof *runs);
    if (runs)
        d->runs = runs;
    if (!rows || !runs)
        return as_nomem(err, (s->n + 1) * sizeof *rows, "a data sheet");
    for (*at = s->n; *at > 0 && rows[*at - 1].of > row->of; --*at)
        ;
    memmove(&rows[*at + 1], &rows[*at], (s->n - *at) * sizeof *rows);
    memmove(&runs[*at + 1], &runs[*at], (s->n - *at) * sizeof *runs);
    runs[*at] = (struct as_line_runs){.another = {NAN, NAN}};
    rows[*at] = *row;
    rows[*at].specified_by = own_figure(&s->figures, row->specified_by);
    rows[*at].published = own_figure(&s->figures, row->published);
    rows[*at].trials = rows[*at].tried = 0;
    s->n++;
    remove_gap(s, row->of);
    return AS_OK;
}

/* Adds the runs of a line of another sheet, at another clock; index: of its first run among all. */
static enum as_status merge_row(struct as_sheet_row *old, struct as_line_runs *runs, const struct as_sheet_row *row,
                                const struct as_line_runs *more, size_t index, double by, struct as_error *err)
{
    enum as_status st = AS_OK;
    old->wide |= row->wide;
    old->trials = !runs->n ? row->trials : old->trials && row->trials ? old->trials + row->trials : 0;
    old->tried = !runs->n ? row->tried : old->tried && row->tried ? old->tried + row->tried : 0;
    for (size_t i = 0; i < more->n && !st; i++) {
        const struct as_estimated *run = &more->v[i];
        st = add_run(runs, &(struct as_estimated){run->value * by, {run->ci.lo * by, run->ci.hi * by}}, &more->of[i],
                     index + more->run[i], err);
    }
    return st;
}

/* A device without rows yet, with the gaps and figures of d. */
static enum as_status add_device(struct as_machine_sheet *into, const struct as_device_sheet *d,
                                 struct as_device_sheet **own, struct as_error *err)
{
    struct as_device_sheet *v = realloc(into->v, (into->n + 1) * sizeof *v);
    if (!v)
        return as_nomem(err, (into->n + 1) * sizeof *v, "data sheets");
    into->v = v;
    *own = &v[into->n++];
    memset(*own, 0, sizeof **own);
    as_copy_text((*own)->id, sizeof d->id, d->id);
    as_copy_text((*own)->name, sizeof d->name, d->name);
    as_copy_text((*own)->bus_id, sizeof d->bus_id, d->bus_id);
    struct as_sheet *s = &(*own)->sheet;
    const struct as_refs *figures = &d->sheet.figures;
    s->gaps = calloc(d->sheet.gaps_n + 1, sizeof *s->gaps);
    s->figures.v = calloc(figures->n + 1, sizeof *s->figures.v);
    if (!s->gaps || !s->figures.v)
        return as_nomem(err, figures->n * sizeof *figures->v, "a data sheet");
    if (d->sheet.gaps_n)
        memcpy(s->gaps, d->sheet.gaps, d->sheet.gaps_n * sizeof *s->gaps);
    if (figures->n)
        memcpy(s->figures.v, figures->v, figures->n * sizeof *figures->v);
    s->gaps_n = d->sheet.gaps_n;
    s->figures.n = figures->n;
    s->chip = d->sheet.chip;
    memcpy(s->counts, d->sheet.counts, sizeof s->counts);
    return AS_OK;
}

/* Where the newer run did not ask for a line, the older one's reason counts. */
static void merge_reasons(struct as_sheet *into, const struct as_sheet *s)
{
    for (size_t i = 0; i < into->gaps_n; i++)
        for (size_t k = 0; k < s->gaps_n && into->gaps[i].not_asked; k++)
            if (s->gaps[k].of == into->gaps[i].of && !s->gaps[k].not_asked) {
                as_copy_text(into->gaps[i].reason, sizeof into->gaps[i].reason, s->gaps[k].reason);
                into->gaps[i].not_asked = false;
                into->gaps[i].undecided = s->gaps[k].undecided;
            }
}

static enum as_status merge_device(struct as_machine_sheet *into, const struct as_device_sheet *d, double clock_hz,
                                   struct as_error *err)
{
    struct as_device_sheet *own = as_machine_sheet_device(into, d->id);
    enum as_status st = own ? AS_OK : add_device(into, d, &own, err);
    for (size_t i = 0; i < d->sheet.n && !st; i++) {
        const struct as_sheet_row *row = &d->sheet.rows[i];
        const struct as_sheet_row *found = as_sheet_find(&own->sheet, row->group, row->label);
        size_t at = found ? (size_t)(found - own->sheet.rows) : 0;
        if (found && strcmp(found->unit, row->unit) != 0)
            st = as_fail(err, AS_USAGE, "'%s' '%s' of '%s' is in %s in one run and in %s in another: check them apart",
                         row->group, row->label, d->id, found->unit, row->unit);
        else if (!found)
            st = insert_row(own, row, &at, err);
        if (!st)
            st = merge_row(&own->sheet.rows[at], &own->runs[at], row, &d->runs[i], into->runs,
                           as_machine_sheet_carry(row, clock_hz, into->clock_hz), err);
    }
    if (!st)
        merge_reasons(&own->sheet, &d->sheet);
    for (size_t k = 0; k < AS_COUNTERS_N; k++) /* the first to know it counts, as the latest run is merged first */
        if (!own->sheet.counts[k].known)
            own->sheet.counts[k] = d->sheet.counts[k];
    return st;
}

struct as_device_sheet *as_machine_sheet_device(const struct as_machine_sheet *m, const char *id)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->v[i].id, id) == 0)
            return &m->v[i];
    return NULL;
}

bool as_machine_sheet_has_run(const struct as_machine_sheet *m, const char *uuid)
{
    for (size_t i = 0; i < m->runs; i++)
        if (as_run_uuid_is_same(m->run[i], uuid))
            return true;
    return false;
}

enum as_status as_machine_sheet_merge(struct as_machine_sheet *into, const struct as_machine_sheet *run,
                                      struct as_error *err)
{
    enum as_status st = AS_OK;
    if (into->runs + run->runs > AS_MACHINE_RUNS_MAX)
        return as_fail(err, AS_USAGE, "at most %d runs count as one", AS_MACHINE_RUNS_MAX);
    for (size_t i = 0; i < run->runs; i++)
        if (as_machine_sheet_has_run(into, run->run[i]))
            return as_fail(err, AS_USAGE, "run %s is named twice", run->run[i]);
    if (!(into->clock_hz > 0))
        into->clock_hz = run->clock_hz;
    for (size_t i = 0; i < run->n && !st; i++)
        st = merge_device(into, &run->v[i], run->clock_hz, err);
    for (size_t i = 0; i < run->runs; i++)
        as_copy_text(into->run[into->runs + i], sizeof into->run[0], run->run[i]);
    into->runs += run->runs;
    into->again += run->again;
    into->virtual_machine |= run->virtual_machine;
    return st;
}

static enum as_status copy_places(const struct as_device_sheet *from, struct as_device_sheet *to, struct as_error *err)
{
    for (size_t i = 0; i < from->sheet.n; i++) {
        const struct as_line_runs *runs = &from->runs[i];
        const struct as_sheet_row *row =
            as_sheet_find(&to->sheet, from->sheet.rows[i].group, from->sheet.rows[i].label);
        if (!runs->place || !row)
            continue;
        struct as_line_runs *copy = &to->runs[row - to->sheet.rows];
        copy->place = malloc((runs->n + 1) * sizeof *copy->place);
        if (!copy->place)
            return as_nomem(err, runs->n * sizeof *copy->place, "runs of a line");
        memcpy(copy->place, runs->place, runs->n * sizeof *copy->place);
    }
    return AS_OK;
}

enum as_status as_machine_sheet_copy(const struct as_machine_sheet *m, struct as_machine_sheet *out,
                                     struct as_error *err)
{
    *out = (struct as_machine_sheet){.clock_hz = m->clock_hz};
    as_copy_text(out->host, sizeof out->host, m->host);
    as_copy_text(out->suite, sizeof out->suite, m->suite);
    enum as_status st = as_machine_sheet_reserve(out, 0, err);
    out->runs = 0;
    if (!st)
        st = as_machine_sheet_merge(out, m, err);
    for (size_t i = 0; i < out->n && !st; i++)
        st = copy_places(&m->v[i], &out->v[i], err);
    if (st)
        as_machine_sheet_finish(out);
    return st;
}
