/* Import of an exported run, all or nothing. The text is untrusted until every member is checked. */
#include "store/sql.h"

#include "model/metrics.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tree of a text takes about 20 times its size in memory at the worst. */
enum { TEXT_MAX = 256 << 20 };
struct import {
    struct as_store *store;
    struct as_run run;
    int64_t first_cell; /* its number in this store; others follow it in their order */
    struct as_error *err;
};

/* A cell while it is read: its samples wait for the trials that they belong to. */
struct cell_in {
    struct as_cell cell;
    const json_t *j;
    struct as_place place;
    size_t taken; /* samples that trials have taken */
};

static enum as_status fail_at(const struct import *in, const struct as_place *place, const char *name, const char *why)
{
    return as_place_fail(place, name, why, in->err);
}

static enum as_status read_axes(const struct import *in, struct cell_in *c)
{
    struct as_error why;
    char *text = json_dumps(json_object_get(c->j, "axes"), JSON_COMPACT);
    if (!text) /* not an object or array */
        return fail_at(in, &c->place, "axes", "not an object");
    enum as_status st = as_axes_from_json(text, &c->cell.axes, &why);
    if (st)
        st = fail_at(in, &c->place, "axes", why.text);
    free(text);
    if (st)
        return st;
    char key[20];
    c->cell.key = as_cell_key(c->cell.probe, c->cell.metric, &c->cell.axes);
    snprintf(key, sizeof key, "%016llx", (unsigned long long)c->cell.key);
    const char *given = json_string_value(json_object_get(c->j, "key"));
    return given && strcmp(given, key) == 0 ? AS_OK : fail_at(in, &c->place, "key", "not the key of this cell");
}

static enum as_status read_gates(const struct import *in, struct cell_in *c)
{
    const json_t *gates = json_object_get(c->j, "gates");
    if (!json_is_object(gates) || json_object_size(gates) != AS_GATE_N)
        return fail_at(in, &c->place, "gates", "not an object with every gate");
    for (int g = 0; g < AS_GATE_N; g++) {
        struct as_place place = {.document = NULL};
        const char *name = as_gate_name((enum as_gate)g);
        snprintf(place.text, sizeof place.text, "%.60s.gates.%s", c->place.text, name);
        enum as_status st =
            as_fields_read(&as_gate_fields, json_object_get(gates, name), &place, &c->cell.gates[g], in->err);
        if (st)
            return st;
    }
    return AS_OK;
}

static enum as_status read_sample_trials(const struct import *in, struct cell_in *c)
{
    const json_t *j = json_object_get(c->j, "sample_trials");
    size_t n = c->cell.sum.n;
    if (!json_is_array(j) || json_array_size(j) != n)
        return fail_at(in, &c->place, "sample_trials", "not an array of n numbers");
    c->cell.sample_trial = malloc(n ? n * sizeof *c->cell.sample_trial : 1);
    if (!c->cell.sample_trial)
        return as_nomem(in->err, n * sizeof *c->cell.sample_trial, "samples");
    static const struct as_field whole = {.name = "sample_trials", .kind = AS_FIELD_INT};
    enum as_status st = AS_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = as_field_read(&whole, json_array_get(j, i), &c->place, &c->cell.sample_trial[i], in->err);
    return st;
}

static bool in_order(double low, double middle, double high)
{
    return !(low > middle) && !(middle > high); /* unknown ones are in any order */
}

static enum as_status check_summary(const struct import *in, const struct cell_in *c)
{
    const struct as_summary *m = &c->cell.sum;
    if (m->modes > 2)
        return fail_at(in, &c->place, "modes", "more than 2");
    if ((m->n > 0) != isfinite(m->median))
        return fail_at(in, &c->place, "median", "required exactly when there are samples");
    if (!in_order(m->min, m->median, m->max) || !in_order(m->ci.lo, m->ci.lo, m->ci.hi))
        return fail_at(in, &c->place, "median", "min, median and max, or the interval, are out of order");
    const enum as_cell_status status = c->cell.status;
    if ((status == AS_CELL_OK || status == AS_CELL_WIDE || status == AS_CELL_REJECTED) && m->n == 0)
        return fail_at(in, &c->place, "status", "a cell without samples is neither ok, wide nor rejected");
    return AS_OK;
}

/* The samples of a trial: its own, or the next ones of the cell. */
static enum as_status read_trial_samples(const struct import *in, struct cell_in *c, const struct as_place *place,
                                         const json_t *j, struct as_trial *v)
{
    const json_t *samples = json_object_get(j, "samples");
    size_t n = v->n;
    v->n = 0; /* none is owned yet */
    if (!json_is_null(samples)) {
        enum as_status st = as_numbers_read(samples, "samples", n, as_is_sample, place, &v->samples, in->err);
        v->n = n;
        if (!st && as_trial_counts(v))
            st = fail_at(in, place, "samples", "null expected: the samples of a trial that counts are in the cell");
        return st;
    }
    size_t last = c->taken;
    while (last < c->cell.sum.n && c->cell.sample_trial[last] == v->number)
        last++;
    if (n == 0 || last - c->taken != n)
        return fail_at(in, place, "n", "differs from the number of the cell's samples of this trial");
    v->samples = malloc(n * sizeof *v->samples);
    if (!v->samples)
        return as_nomem(in->err, n * sizeof *v->samples, "samples");
    memcpy(v->samples, c->cell.samples + c->taken, n * sizeof *v->samples);
    v->n = n;
    c->taken = last;
    return as_trial_counts(v) ? AS_OK : fail_at(in, place, "samples", "missing");
}

/* One number for each sample; null: there are none. */
static enum as_status import_read_beside(const struct import *in, const struct as_place *place, const char *name,
                                         bool (*is_one)(double), const json_t *j, size_t n, double **out)
{
    const json_t *list = json_object_get(j, name);
    return !json_is_null(list) ? as_numbers_read(list, name, n, is_one, place, out, in->err) : AS_OK;
}

/* null: there was no sensor. */
static enum as_status read_readings(const struct import *in, const struct as_place *place, const json_t *j,
                                    struct as_readings *r)
{
    const json_t *readings = json_object_get(j, "readings");
    as_readings_clear(r);
    if (json_is_null(readings))
        return AS_OK;
    enum as_status st = as_fields_read(&as_readings_fields, readings, place, r, in->err);
    return st || r->sensor[0] ? st : fail_at(in, place, "sensor", "empty; null expected where there was no sensor");
}

static enum as_status import_trial(struct import *in, struct cell_in *c, size_t i, const json_t *j, int *last)
{
    struct as_place place = {.document = NULL};
    struct as_trial v = {0};
    snprintf(place.text, sizeof place.text, "%.60s.trials[%zu]", c->place.text, i);
    enum as_status st = as_fields_read(&as_trial_fields, j, &place, &v, in->err);
    if (!st && v.number <= *last)
        st = fail_at(in, &place, "number", "not above that of the previous trial");
    if (!st)
        st = read_readings(in, &place, j, &v.readings);
    if (st)
        v.n = 0;
    else
        st = read_trial_samples(in, c, &place, j, &v);
    if (!st)
        st = import_read_beside(in, &place, "core_hz", as_is_core_hz, j, v.n, &v.core_hz);
    if (!st)
        st = import_read_beside(in, &place, "weight", as_is_weight, j, v.n, &v.weight);
    if (!st) {
        *last = v.number;
        st = as_store_put_trial(in->store, &v, c->cell.id, in->err);
    }
    as_trial_finish(&v);
    return st;
}

static enum as_status import_trials(struct import *in, struct cell_in *c)
{
    const json_t *trials = json_object_get(c->j, "trials");
    if (!json_is_array(trials))
        return fail_at(in, &c->place, "trials", "not an array");
    int last = -1;
    enum as_status st = AS_OK;
    for (size_t i = 0; i < json_array_size(trials) && !st; i++)
        st = import_trial(in, c, i, json_array_get(trials, i), &last);
    if (!st && c->taken != c->cell.sum.n)
        st = fail_at(in, &c->place, "sample_trials", "a sample refers to a missing trial, or out of order");
    return st;
}

/* Members that every store sets itself. */
static enum as_status check_foreign(const struct import *in, const struct as_place *place, const json_t *j)
{
    const json_t *driver = json_object_get(j, "driver");
    if (!json_is_integer(json_object_get(j, "id")))
        return fail_at(in, place, "id", "not an integer");
    return !driver || json_is_null(driver) || json_is_string(driver)
               ? AS_OK
               : fail_at(in, place, "driver", "neither a string nor null");
}

static enum as_status import_cell(struct import *in, const char *list, size_t i, const json_t *j, bool hidden)
{
    struct cell_in c = {.j = j, .cell.precision = in->run.precision};
    snprintf(c.place.text, sizeof c.place.text, "%s[%zu]", list, i);
    enum as_status st = as_fields_read(&as_cell_fields, j, &c.place, &c.cell, in->err);
    if (!st)
        st = check_foreign(in, &c.place, j);
    if (!st && (strcmp(c.cell.probe, AS_HIDDEN_PROBE) == 0) != hidden)
        st = fail_at(in, &c.place, "probe", hidden ? "not a sentinel" : "sentinels belong in their own list");
    if (!st)
        st = read_axes(in, &c);
    if (!st)
        st = read_gates(in, &c);
    if (!st)
        st = check_summary(in, &c);
    if (!st)
        st = as_numbers_read(json_object_get(j, "samples"), "samples", c.cell.sum.n, as_is_sample, &c.place,
                             &c.cell.samples, in->err);
    if (!st)
        st = read_sample_trials(in, &c);
    if (!st && c.cell.answers && !as_answers_valid(json_object_get(j, "answers")))
        st = fail_at(in, &c.place, "answers", "not an array of texts");
    if (!st && c.cell.metrics && !as_metrics_valid(json_object_get(j, "metrics")))
        st = fail_at(in, &c.place, "metrics", "not an array of metrics with a value inside its interval");
    if (!st && (st = as_store_put_cell(in->store, in->run.id, &c.cell, in->err)) == AS_FORMAT)
        as_fail_in(in->err, c.place.text);
    if (!st && !in->first_cell)
        in->first_cell = c.cell.id;
    if (!st)
        st = import_trials(in, &c);
    as_cell_finish(&c.cell);
    return st;
}

static enum as_status import_list(struct import *in, const json_t *root, const char *list, bool hidden)
{
    const json_t *cells = json_object_get(root, list);
    enum as_status st = AS_OK;
    for (size_t i = 0; i < json_array_size(cells) && !st; i++)
        st = import_cell(in, list, i, json_array_get(cells, i), hidden);
    return st;
}

/* Checks the imported cells and samples against the store's rules. */
static enum as_status check_rules(const struct import *in, const json_t *root)
{
    struct as_broken broken;
    enum as_status st = as_rules_check(in->store, in->run.id, &broken, in->err);
    if (st || !broken.rule)
        return st;
    struct as_place place = {.document = NULL};
    const int64_t cells = (int64_t)json_array_size(json_object_get(root, "cells")), at = broken.id - in->first_cell;
    snprintf(place.text, sizeof place.text, "%s[%lld]", at < cells ? "cells" : "sentinels",
             (long long)(at < cells ? at : at - cells));
    return fail_at(in, &place, "", broken.rule);
}

static enum as_status check_root(const struct import *in, const json_t *root)
{
    static const struct as_place top = {.text = ""};
    const json_t *version = json_object_get(root, "format_version");
    if (!json_is_object(root) || !json_is_integer(version) || json_integer_value(version) < 1)
        return fail_at(in, &top, "format_version", "missing; it was not made by 'assay export --format json'");
    if (json_integer_value(version) > AS_EXPORT_FORMAT)
        return as_fail(in->err, AS_FORMAT,
                       "this export has format %lld, which this assay does not read (it reads up to %d)",
                       (long long)json_integer_value(version), AS_EXPORT_FORMAT);
    if (!json_is_array(json_object_get(root, "cells")) || !json_is_array(json_object_get(root, "sentinels")))
        return fail_at(in, &top, "cells", "cells and sentinels must be arrays");
    return json_object_size(root) == 4
               ? AS_OK
               : fail_at(in, &top, "", "unknown member: only format_version, run, cells and sentinels are allowed");
}

static enum as_status import_read_run(struct import *in, const json_t *root)
{
    static const struct as_place place = {.text = "run"};
    enum as_status st = as_fields_read(&as_run_fields, json_object_get(root, "run"), &place, &in->run, in->err);
    if (!st)
        st = check_foreign(in, &place, json_object_get(root, "run"));
    if (!st && !as_run_has_uuid(&in->run))
        st = fail_at(in, &place, "uuid", "not a uuid");
    struct as_error why;
    if (!st && as_devices_check(json_object_get(json_object_get(root, "run"), "devices"), &why))
        st = fail_at(in, &place, "devices", why.text);
    return st;
}

static enum as_status import_root(struct import *in, const json_t *root)
{
    enum as_status st = check_root(in, root);
    if (!st)
        st = import_read_run(in, root);
    if (st || (st = as_begin_write(in->store, in->err)))
        return st;
    st = as_store_put_run(in->store, &in->run, (int)json_array_size(json_object_get(root, "cells")), in->err);
    if (!st)
        st = import_list(in, root, "cells", false);
    if (!st)
        st = import_list(in, root, "sentinels", true);
    if (!st)
        st = check_rules(in, root);
    if (!st)
        st = as_store_put_end(in->store, &in->run, in->err);
    if (!st)
        st = as_store_check_variety(in->store, in->run.id, in->err);
    return as_end(in->store, st, in->err);
}

enum as_status as_store_import_json(struct as_store *store, const char *text, size_t len, int64_t *run_id,
                                    struct as_error *err)
{
    struct import in = {.store = store, .err = err};
    json_error_t why;
    *run_id = 0;
    if (len > TEXT_MAX)
        return as_fail(err, AS_FORMAT, "the export has %zu bytes; at most %d MiB are read", len, TEXT_MAX >> 20);
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    if (!root && json_error_code(&why) == json_error_out_of_memory)
        return as_nomem(err, len, "an export");
    if (!root)
        return as_fail(err, AS_FORMAT, "not a JSON export: line %d, column %d: %s", why.line, why.column, why.text);
    enum as_status st = import_root(&in, root);
    if (!st)
        *run_id = in.run.id;
    as_run_finish(&in.run);
    json_decref(root);
    return st;
}
