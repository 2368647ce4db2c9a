#include "report/model/load.h"
#include "base/text.h"
#include "model/metrics.h"
#include "report/backends/backend_pairs.h"
#include "report/model/overview.h"
#include "report/sheet/sheet.h"
#include "report/sheet/worth.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct as_quantity_subject as_report_subject(const struct as_report_run *r, const char *device)
{
    struct as_quantity_subject s = {.device = device,
                                    .info = as_report_device(r, device),
                                    .cells = {.v = r->cells, .n = r->cells_n},
                                    .facts = r->facts,
                                    .facts_n = r->facts_n,
                                    .joined = r->joined,
                                    .joined_n = r->joined_n};
    as_quantity_use_clock(&s);
    return s;
}

bool as_report_has_number(const struct as_cell *c)
{
    return c->sum.n > 0 && isfinite(c->sum.median);
}

bool as_report_is_measured(const struct as_cell *c)
{
    return (as_cell_is_valid(c) || c->status == AS_CELL_REJECTED) && as_report_has_number(c);
}

const struct as_cell *as_report_cell(const struct as_report_run *r, int64_t id)
{
    const int64_t guess = r->cells_n ? id - r->cells[0].id : -1; /* most runs have cells in a row */
    if (guess >= 0 && (uint64_t)guess < r->cells_n && r->cells[guess].id == id)
        return &r->cells[guess];
    for (size_t i = 0; i < r->cells_n; i++)
        if (r->cells[i].id == id)
            return &r->cells[i];
    return NULL;
}

const struct as_device_info *as_report_device(const struct as_report_run *r, const char *id)
{
    for (size_t i = 0; i < r->devices_n; i++)
        if (strcmp(r->devices[i].id, id) == 0)
            return &r->devices[i];
    return NULL;
}

const char *as_report_device_name(const struct as_report_run *r, const char *id)
{
    const struct as_device_info *info = as_report_device(r, id);
    return info ? info->name : "";
}

void as_report_run_finish(struct as_report_run *r)
{
    for (size_t i = 0; r->topologies && i < r->devices_n; i++)
        free(r->topologies[i]);
    free(r->topologies);
    free(r->devices);
    free(r->facts);
    free(r->others);
    free(r->advice);
    free(r->backend_pairs);
    if (r->overview)
        as_overview_finish(r->overview);
    free(r->overview);
    free(r->left_out);
    free(r->against_earlier);
    free(r->seen);
    free(r->unsteady);
    as_cells_free(r->cells, r->cells_n);
    as_run_finish(&r->run);
    *r = (struct as_report_run){0};
}

static enum as_status take_device(const json_t *j, struct as_device_info *info, char **topology, struct as_error *err)
{
    char *text = json_dumps(j, JSON_COMPACT);
    if (!text)
        return as_fail(err, AS_FORMAT, "not an object");
    enum as_status st = as_info_from_json(text, info, err);
    free(text);
    const json_t *tree = json_object_get(j, "topology");
    if (!st && json_is_object(tree) && !(*topology = json_dumps(tree, JSON_COMPACT)))
        st = as_nomem(err, 0, "a topology");
    return st;
}

/* The devices as recorded when the run began. */
static enum as_status load_devices(struct as_report_run *r, struct as_error *err)
{
    if (!r->run.devices || !r->run.devices[0])
        return AS_OK;
    json_error_t why;
    enum as_status st = AS_OK;
    json_t *list = json_loads(r->run.devices, 0, &why);
    size_t n = json_array_size(list);
    if (!json_is_array(list)) {
        st = as_fail(err, AS_FORMAT, "%s", list ? "not an array" : why.text);
        goto done;
    }
    r->devices = calloc(n + 1, sizeof *r->devices);
    r->topologies = calloc(n + 1, sizeof *r->topologies);
    if (!r->devices || !r->topologies) {
        st = as_nomem(err, n * sizeof *r->devices, "devices");
        goto done;
    }
    for (; r->devices_n < n && !st; r->devices_n++)
        st = take_device(json_array_get(list, r->devices_n), &r->devices[r->devices_n], &r->topologies[r->devices_n],
                         err);
done:
    json_decref(list);
    return st;
}

static enum as_status load_against_earlier(struct as_store *store, struct as_report_run *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    enum as_status st = as_store_against_earlier(store, &out->run, &text, err);
    if (!st && text.len && !(out->against_earlier = as_strdup(as_buf_get(&text))))
        st = as_nomem(err, text.len, "a comparison with earlier runs");
    as_buf_finish(&text);
    return st;
}

static enum as_status load_run_alone(struct as_store *store, const char *name, struct as_report_run *out,
                                     struct as_error *err)
{
    *out = (struct as_report_run){0};
    enum as_status st = as_store_run(store, name, &out->run, err);
    if (!st)
        as_store_settle_state(store, &out->run);
    if (!st && (st = load_devices(out, err)) == AS_FORMAT)
        as_fail(err, st, "the store '%s' is damaged: devices of run %lld: %s", as_store_path(store),
                (long long)out->run.id, err ? err->text : "");
    return st ? st : as_store_seen(store, out->run.id, &out->seen, &out->seen_n, err);
}

static enum as_status load_run(struct as_store *store, const char *name, struct as_report_run *out,
                               struct as_error *err)
{
    enum as_status st = load_run_alone(store, name, out, err);
    return st ? st : load_against_earlier(store, out, err);
}

/* Derives facts and comparisons from the loaded cells. */
static enum as_status load_derive(struct as_report_run *out, struct as_error *err)
{
    const struct as_fact_input input = {.run = &out->run,
                                        .cells = out->cells,
                                        .cells_n = out->cells_n,
                                        .devices = out->devices,
                                        .devices_n = out->devices_n};
    enum as_status st = as_facts_derive(&input, &out->facts, &out->facts_n, err);
    if (!st)
        st = as_advice_derive(&input, out->facts, out->facts_n, &out->advice, &out->advice_n, err);
    return st ? st : as_backend_pairs_make(out, err);
}

enum as_status as_report_follow(const struct as_run *run, struct as_cell_view cells, struct as_report_run *out,
                                struct as_error *err)
{
    enum as_status st = AS_OK;
    out->run = *run;
    out->cells = (struct as_cell *)cells.v;
    out->cells_n = cells.n;
    if (!out->devices)
        st = load_devices(out, err);
    free(out->facts);
    out->facts = NULL;
    out->facts_n = 0;
    const struct as_fact_input input = {.run = &out->run,
                                        .cells = out->cells,
                                        .cells_n = out->cells_n,
                                        .devices = out->devices,
                                        .devices_n = out->devices_n};
    return st ? st : as_facts_derive(&input, &out->facts, &out->facts_n, err);
}

void as_report_leave(struct as_report_run *out)
{
    out->run = (struct as_run){0};
    out->cells = NULL;
    out->cells_n = 0;
    as_report_run_finish(out);
}

static bool share_numbers(const struct as_report_run *a, const struct as_report_run *b)
{
    if (strcmp(a->run.uuid, b->run.uuid) == 0 && a->run.id == b->run.id && a->cells_n && b->cells_n &&
        a->cells[0].id == b->cells[0].id)
        return false; /* the same run twice: the same cells */
    if (a->run.id == b->run.id)
        return true;
    for (size_t i = 0, k = 0; i < a->cells_n && k < b->cells_n;) { /* cells come by number */
        const int64_t x = a->cells[i].id, y = b->cells[k].id;
        if (x == y)
            return true;
        i += x < y;
        k += y < x;
    }
    return false;
}

/* The new number of a cell; 0 where the run has no such cell. */
static int64_t new_number(const struct as_report_run *r, int64_t old, int64_t above)
{
    const struct as_cell *c = as_report_cell(r, old);
    return c ? above + (c - r->cells) + 1 : 0;
}

static int64_t renumber(struct as_report_run *r, int64_t id, int64_t above)
{
    r->run.id = id;
    r->renumbered = true;
    for (size_t i = 0; i < r->facts_n; i++)
        for (size_t k = 0; k < r->facts[i].evidence_n && k < AS_EVIDENCE_MAX; k++)
            r->facts[i].evidence[k] = new_number(r, r->facts[i].evidence[k], above);
    for (size_t i = 0; i < r->advice_n; i++)
        for (size_t k = 0; k < r->advice[i].numbers_n; k++)
            r->advice[i].numbers[k].cell = new_number(r, r->advice[i].numbers[k].cell, above);
    for (size_t i = 0; i < r->cells_n; i++)
        r->cells[i].id = above + (int64_t)i + 1;
    return above + (int64_t)r->cells_n;
}

void as_report_tell_apart(struct as_report_run *runs, size_t n)
{
    bool any = false;
    int64_t last = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            any |= share_numbers(&runs[k], &runs[i]);
    for (size_t i = 0; any && i < n; i++)
        last = renumber(&runs[i], (int64_t)i + 1, last);
}

static enum as_status load_whole(struct as_store *store, struct as_report_run *out, struct as_error *err)
{
    enum as_status st =
        as_store_cells(store, &(struct as_cell_filter){.run_id = out->run.id}, &out->cells, &out->cells_n, err);
    return st ? st : load_derive(out, err);
}

/* Compares the data sheet and the facts with those of earlier runs. An earlier run that cannot be read is ignored. */
static enum as_status load_unsteady(struct as_store *store, struct as_report_run *out, struct as_error *err)
{
    struct as_report_run earlier[AS_EARLIER_MAX] = {0};
    int64_t ids[AS_EARLIER_MAX];
    size_t n = 0, loaded = 0;
    struct as_error why;
    if (as_store_earlier(store, &out->run, ids, &n, &why))
        return AS_OK;
    for (size_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)ids[i]);
        const enum as_status s = load_run(store, name, &earlier[loaded], &why);
        if (!s && earlier[loaded].run.cells <= AS_REPORT_WHOLE_MAX && !load_whole(store, &earlier[loaded], &why))
            loaded++;
        else
            as_report_run_finish(&earlier[loaded]);
    }
    enum as_status st = as_sheet_compare_earlier(out, earlier, loaded, err);
    struct as_worth_runs others = {0};
    for (size_t i = 0; i < loaded && !st; i++)
        st = as_worth_add_run(&others, &out->run, &earlier[i], err);
    out->others = others.v;
    out->others_n = others.n;
    others.v = NULL;
    as_worth_runs_finish(&others);
    for (size_t i = 0; i < loaded; i++)
        as_report_run_finish(&earlier[i]);
    return st;
}

enum as_status as_report_load(struct as_store *store, const char *name, struct as_report_run *out, struct as_error *err)
{
    enum as_status st = load_run(store, name, out, err);
    if (!st)
        st = load_whole(store, out, err);
    if (!st)
        st = load_unsteady(store, out, err);
    if (st)
        as_report_run_finish(out);
    return st;
}

/* ---- runs too large to load whole for the terminal ---- */

static enum as_status look_at_cell(void *user, struct as_cell *cell, struct as_error *err)
{
    return as_overview_add(user, cell, cell->id, err);
}

/* Whole probes, fewest cells first: a fact from half of a probe's cells may be wrong. */
static void leave_out(const struct as_overview_probe *probes, size_t n, bool *left_out)
{
    size_t loaded = 0;
    for (size_t i = 0; i < n; i++)
        left_out[i] = true;
    for (;;) {
        size_t fewest = n;
        for (size_t i = 0; i < n; i++)
            if (left_out[i] && (fewest == n || probes[i].measured < probes[fewest].measured))
                fewest = i;
        if (fewest == n || loaded + probes[fewest].measured > AS_REPORT_WHOLE_MAX)
            return;
        loaded += probes[fewest].measured;
        left_out[fewest] = false;
    }
}

static enum as_status name_left_out(const struct as_overview_probe *probes, size_t n, const bool *left_out,
                                    struct as_report_run *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    for (size_t i = 0; i < n; i++)
        if (left_out[i])
            as_buf_printf(&text, "%s%s (%zu measurements)", text.len ? ", " : "", probes[i].name, probes[i].cells);
    enum as_status st = as_buf_check(&text, err);
    if (!st && text.len && !(out->left_out = as_strdup(as_buf_get(&text))))
        st = as_nomem(err, text.len, "names of probes");
    as_buf_finish(&text);
    return st;
}

/* The measured cells of the probes that are not left out. */
static enum as_status load_handles(struct as_store *store, const struct as_overview *o, const bool *left_out,
                                   struct as_report_run *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    size_t n = 0;
    for (size_t i = 0; i < o->measured_n; i++)
        n += !left_out[o->measured[i].probe];
    out->cells = calloc(n + 1, sizeof *out->cells);
    if (!out->cells)
        return as_nomem(err, n * sizeof *out->cells, "cells");
    for (size_t i = 0; i < o->measured_n && !st; i++)
        if (!left_out[o->measured[i].probe])
            st = as_store_cell(store, o->measured[i].handle, 0, &out->cells[out->cells_n++], err);
    return st;
}

static enum as_status load_big(struct as_store *store, struct as_report_run *out, struct as_error *err)
{
    struct as_overview *o = out->overview = calloc(1, sizeof *out->overview);
    enum as_status st =
        o ? as_store_each_brief(store, out->run.id, look_at_cell, o, err) : as_nomem(err, sizeof *o, "an overview");
    if (st)
        return st;
    bool *left_out = calloc(o->probes_n + 1, sizeof *left_out);
    if (!left_out)
        return as_nomem(err, o->probes_n, "a list of probes");
    leave_out(o->probes, o->probes_n, left_out);
    st = name_left_out(o->probes, o->probes_n, left_out, out, err);
    if (!st)
        st = load_handles(store, o, left_out, out, err);
    free(left_out);
    return st ? st : load_derive(out, err);
}

enum as_status as_report_load_short(struct as_store *store, const char *name, struct as_report_run *out,
                                    struct as_error *err)
{
    enum as_status st = load_run(store, name, out, err);
    if (!st)
        st = out->run.cells > AS_REPORT_WHOLE_MAX ? load_big(store, out, err) : load_whole(store, out, err);
    if (!st && !out->overview)
        st = load_unsteady(store, out, err);
    if (st)
        as_report_run_finish(out);
    return st;
}

enum as_status as_report_load_alone(struct as_store *store, const char *name, struct as_report_run *out,
                                    struct as_error *err)
{
    enum as_status st = load_run_alone(store, name, out, err);
    if (!st)
        st = out->run.cells > AS_REPORT_WHOLE_MAX ? load_big(store, out, err) : load_whole(store, out, err);
    if (st)
        as_report_run_finish(out);
    return st;
}

static enum as_status load_probe(struct as_store *store, const char *probe, bool all, struct as_report_run *out,
                                 struct as_error *err)
{
    const struct as_cell_filter filter = {.run_id = out->run.id, .probe = probe, .limit = all ? 0 : AS_REPORT_ROWS_MAX};
    size_t n = 0;
    enum as_status st = as_store_cells(store, &filter, &out->cells, &out->cells_n, err);
    if (!st && filter.limit && out->cells_n == filter.limit)
        st = as_store_count(store, out->run.id, probe, &n, err);
    out->rows_more = n > out->cells_n ? n - out->cells_n : 0;
    return st;
}

enum as_status as_report_load_probe(struct as_store *store, const char *name, const char *probe, bool all,
                                    struct as_report_run *out, struct as_error *err)
{
    enum as_status st = load_run(store, name, out, err);
    if (!st)
        st = out->run.cells > AS_REPORT_WHOLE_MAX ? load_probe(store, probe, all, out, err)
                                                  : load_whole(store, out, err);
    if (st)
        as_report_run_finish(out);
    return st;
}
