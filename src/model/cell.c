#include "model/cell.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/metrics.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const status_words[AS_CELL_STATUS_N] = {
    [AS_CELL_PLANNED] = "planned",         [AS_CELL_OK] = "ok",           [AS_CELL_WIDE] = "wide",
    [AS_CELL_REJECTED] = "rejected",       [AS_CELL_FAILED] = "failed",   [AS_CELL_CRASHED] = "crashed",
    [AS_CELL_UNSUPPORTED] = "unsupported", [AS_CELL_TIMEOUT] = "timeout", [AS_CELL_SKIPPED] = "skipped",
};

const char *as_cell_status_word(enum as_cell_status s)
{
    return (unsigned)s < AS_CELL_STATUS_N ? status_words[s] : "unknown";
}

const char *as_cell_status_said(enum as_cell_status s)
{
    return s == AS_CELL_WIDE ? "imprecise" : s == AS_CELL_PLANNED ? "not measured" : as_cell_status_word(s);
}

enum as_status as_cell_status_parse(const char *word, enum as_cell_status *out, struct as_error *err)
{
    for (unsigned i = 0; i < AS_CELL_STATUS_N; i++)
        if (word && strcmp(word, status_words[i]) == 0) {
            *out = (enum as_cell_status)i;
            return AS_OK;
        }
    return as_fail(err, AS_FORMAT, "'%.60s' is not a measurement status", word ? word : "");
}

static const struct {
    const char *name, *help;
} gates[AS_GATE_N] = {
    [AS_GATE_CHECKSUM] = {"checksum",
                          "passes when the kernel's output equals a reference computed independently on the host"},
    [AS_GATE_LIMIT] = {"limit", "passes when the 95% interval reaches a value at most 2% beyond the physical bound"},
    [AS_GATE_CODE] = {"code",
                      "passes when the machine code contains the requested instructions, counted in the binary"},
    [AS_GATE_FOOTPRINT] = {"footprint",
                           "passes when a measurement that claims to measure DRAM touches at least 4 times the largest "
                           "cache on its way (of a virtual machine, 256 MiB or more), and the run's latencies do not "
                           "show that a cache holds over a quarter of the array; where sizes are unknown, when the "
                           "run shows a plateau"},
};

const char *as_gate_name(enum as_gate g)
{
    return (unsigned)g < AS_GATE_N ? gates[g].name : "unknown";
}

const char *as_gate_help(enum as_gate g)
{
    return (unsigned)g < AS_GATE_N ? gates[g].help : "unknown";
}

static const char *const cause_help[AS_WIDE_CAUSES] = {
    "too few trials or samples for the requested width: more time narrows the interval",
    ("other work used the host's core: fewer than three, or than a quarter, of a trial's samples are without "
     "contention; or the sensor saw another process on the device"),
    "the clock changed and how the number scales with it is unknown, or the device was throttled",
    "later trials differ from earlier ones by more than chance",
    "trials differ by more than the samples within them: the number depends on page placement or on other work",
    "the samples have two modes and the trials do not show which is typical: the interval spans both",
    "other work used the host's core in every trial: the true value is better by an unknown factor",
};

const char *as_cause_help(const char *name)
{
    for (unsigned i = 0; i < AS_WIDE_CAUSES; i++)
        if (strcmp(as_wide_word(1u << i), name) == 0)
            return cause_help[i];
    return NULL;
}

void as_causes_text(unsigned causes, struct as_buf *out)
{
    const char *lead = "";
    for (unsigned i = 0; i < AS_WIDE_CAUSES; i++)
        if (causes >> i & 1) {
            as_buf_str(out, lead);
            as_buf_str(out, as_wide_word(1u << i));
            lead = ", ";
        }
}

enum as_status as_causes_parse(const char *text, unsigned *out, struct as_error *err)
{
    *out = 0;
    while (*text) {
        const size_t n = strcspn(text, ",");
        unsigned i = 0;
        while (i < AS_WIDE_CAUSES &&
               (strlen(as_wide_word(1u << i)) != n || memcmp(as_wide_word(1u << i), text, n) != 0))
            i++;
        if (i == AS_WIDE_CAUSES)
            return as_fail(err, AS_FORMAT, "'%.60s' is not a list of causes", text);
        *out |= 1u << i;
        text += n;
        text += *text == ',';
        text += *text == ' ';
    }
    return AS_OK;
}

const char *as_gate_state_word(enum as_gate_state s)
{
    static const char *const words[] = {[AS_GATE_NA] = "n/a", [AS_GATE_PASS] = "pass", [AS_GATE_FAIL] = "fail"};
    return (unsigned)s <= AS_GATE_FAIL ? words[s] : "unknown";
}

const char *as_run_state_word(enum as_run_state s)
{
    static const char *const words[AS_RUN_STATE_N] = {
        [AS_RUN_RUNNING] = "running", [AS_RUN_COMPLETE] = "complete", [AS_RUN_INTERRUPTED] = "interrupted"};
    return (unsigned)s < AS_RUN_STATE_N ? words[s] : "unknown";
}

bool as_trial_counts(const struct as_trial *v)
{
    return !v->excluded && v->n > 0 && v->status == AS_CELL_OK;
}

bool as_is_core_hz(double v)
{
    return isnan(v) || (v > 0 && isfinite(v));
}

bool as_is_weight(double v)
{
    return v >= 0 && v <= 1;
}

void as_trial_finish(struct as_trial *v)
{
    free(v->samples);
    free(v->core_hz);
    free(v->weight);
    free(v->detail);
    v->samples = v->core_hz = v->weight = NULL;
    v->detail = NULL;
    v->n = 0;
}

void as_cell_finish(struct as_cell *c)
{
    free(c->detail);
    free(c->metrics);
    free(c->answers);
    free(c->samples);
    free(c->sample_trial);
    c->detail = c->metrics = c->answers = NULL;
    c->samples = NULL;
    c->sample_trial = NULL;
}

bool as_cell_waits(const struct as_cell *c)
{
    return c->status == AS_CELL_SKIPPED || c->status == AS_CELL_PLANNED ||
           (c->status == AS_CELL_WIDE && (!as_cell_is_valid(c) || as_cell_is_busy(c)));
}

bool as_cell_is_busy(const struct as_cell *c)
{
    return c->causes & AS_WIDE_BUSY;
}

/* Trials without any of the notes timed something else: the compilation of static variables, a host without arrays, a
 * copy less what overlaps with it, a loop that its loads had left, moves of pages less other moves. */
static const struct {
    const char *probe, *axis, *value, *notes[2];
} cell_outdated[] = {{"app", "strategy", "static", {"static_modules"}},
                     {"app", "version", "host", {"host_arrays"}},
                     {"async_copy", "what", "latency", {"clocked", AS_NOTE_AT_MOST}},
                     {"cluster_memory", "what", "bandwidth", {"volatile_loads"}},
                     {"fault", "scenario", "cpu-then-device", {"second_by_device"}}};

static bool cell_has_note(const struct as_cell *c, const char *note)
{
    return note && as_detail_number(c->detail, note) > 0;
}

static bool cell_is_outdated(const struct as_cell *c)
{
    for (size_t i = 0; i < sizeof cell_outdated / sizeof *cell_outdated; i++)
        if (strcmp(c->probe, cell_outdated[i].probe) == 0 &&
            strcmp(as_axes_text(&c->axes, cell_outdated[i].axis), cell_outdated[i].value) == 0 &&
            !cell_has_note(c, cell_outdated[i].notes[0]) && !cell_has_note(c, cell_outdated[i].notes[1]))
            return true;
    return false;
}

bool as_cell_is_evidence(const struct as_cell *c)
{
    return as_cell_is_valid(c) && !as_cell_is_busy(c) && !cell_is_outdated(c);
}

bool as_cell_is_better(const struct as_cell *a, const struct as_cell *b)
{
    return a->lower_is_better ? a->sum.median < b->sum.median : a->sum.median > b->sum.median;
}

bool as_cell_is_valid(const struct as_cell *c)
{
    return (c->status == AS_CELL_OK || c->status == AS_CELL_WIDE) && c->sum.n > 0 && isfinite(c->sum.median);
}

struct as_interval as_cell_possible(const struct as_cell *c, struct as_interval ci)
{
    const double value = c->sum.median;
    if (c->limit > 0 && c->lower_is_better)
        ci.lo = fmax(ci.lo, fmin(c->limit, value));
    else if (c->limit > 0)
        ci.hi = fmin(ci.hi, fmax(c->limit, value));
    return ci;
}

double as_cell_width(const struct as_cell *c)
{
    if (!isfinite(c->sum.median) || !isfinite(c->sum.ci.lo))
        return NAN;
    const double half = 0.5 * (c->sum.ci.hi - c->sum.ci.lo);
    return half > 0 ? half / fabs(c->sum.median) : 0;
}

void as_cells_free(struct as_cell *cells, size_t n)
{
    for (size_t i = 0; cells && i < n; i++)
        as_cell_finish(&cells[i]);
    free(cells);
}

void as_run_finish(struct as_run *r)
{
    free(r->command);
    free(r->provenance);
    free(r->devices);
    free(r->exponents);
    free(r->left_out);
    r->command = r->provenance = r->devices = r->exponents = r->left_out = NULL;
}

void as_runs_free(struct as_run *runs, size_t n)
{
    for (size_t i = 0; runs && i < n; i++)
        as_run_finish(&runs[i]);
    free(runs);
}

/* End of the last pause in whole seconds; 0 unknown. */
static double last_until(const json_t *pauses)
{
    const char *text = json_string_value(json_object_get(json_array_get(pauses, json_array_size(pauses) - 1), "until"));
    struct tm at = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &at) : NULL;
    return end && !*end ? (double)timegm(&at) : 0;
}

static bool append_pause(json_t *pauses, double from, double until)
{
    char begun[32], over[32];
    as_format_wall(from, begun, sizeof begun);
    as_format_wall(until, over, sizeof over);
    json_t *pause = json_pack("{s:s, s:s, s:f}", "from", begun, "until", over, "seconds", until - from);
    return pause && json_array_append_new(pauses, pause) == 0;
}

bool as_run_has_uuid(const struct as_run *r)
{
    const size_t n = strlen(r->uuid);
    return n >= 8 && strspn(r->uuid, "0123456789abcdef-") == n;
}

bool as_run_uuid_is_same(const char *a, const char *b)
{
    return a[0] && strcmp(a, b) == 0;
}

bool as_run_is_same(const struct as_run *a, const struct as_run *b)
{
    return as_run_uuid_is_same(a->uuid, b->uuid) && strcmp(a->suite, b->suite) == 0 && a->started_at == b->started_at &&
           a->ended_at == b->ended_at && a->state == b->state && a->cells == b->cells && a->cells_ok == b->cells_ok;
}

bool as_run_is_again(const struct as_run *r)
{
    static const char before[] = "cells of run ", after[] = " again";
    if (strncmp(r->suite, before, sizeof before - 1) != 0)
        return false;
    const char *number = r->suite + sizeof before - 1;
    const size_t digits = strspn(number, "0123456789");
    return digits > 0 && strcmp(number + digits, after) == 0;
}

/* The list of this name in the provenance, created if missing; NULL: out of memory, or *j is not an object. */
static json_t *list_of(const struct as_run *run, const char *name, json_t **j)
{
    *j = run->provenance ? json_loads(run->provenance, 0, NULL) : json_object();
    json_t *list = json_object_get(*j, name);
    if (json_is_array(list))
        return list;
    list = json_array();
    return json_object_set_new(*j, name, list) ? NULL : list;
}

/* Stores the changed provenance; keeps the old one if j is not an object. Consumes j. */
static enum as_status keep_provenance(struct as_run *run, json_t *j, bool changed, struct as_error *err)
{
    char *text = changed ? json_dumps(j, JSON_COMPACT) : NULL;
    const bool object = json_is_object(j);
    json_decref(j);
    if (run->provenance && !object)
        return AS_OK;
    if (!text)
        return as_nomem(err, 0, "the provenance");
    free(run->provenance);
    run->provenance = text;
    return AS_OK;
}

enum as_status as_run_add_pause(struct as_run *run, double from, double until, struct as_error *err)
{
    json_t *j, *pauses = list_of(run, "pauses", &j);
    /* a run killed before it measured anything reports the same time again */
    from = fmax(from, pauses ? last_until(pauses) : 0);
    return keep_provenance(run, j, pauses && (until <= from || append_pause(pauses, from, until)), err);
}

enum as_status as_run_add_note(struct as_run *run, const char *text, struct as_error *err)
{
    json_t *j, *notes = list_of(run, "notes", &j);
    bool there = false;
    for (size_t i = 0; i < json_array_size(notes); i++) {
        const char *other = json_string_value(json_array_get(notes, i));
        there |= other && strcmp(other, text) == 0;
    }
    return keep_provenance(run, j, notes && (there || json_array_append_new(notes, json_string(text)) == 0), err);
}

void as_run_repeated(const struct as_run *r, char *uuid, size_t size)
{
    json_t *j = r->provenance ? json_loads(r->provenance, 0, NULL) : NULL;
    const char *of = json_string_value(json_object_get(json_object_get(j, "repeats"), "run"));
    as_copy_text(uuid, size, of ? of : "");
    json_decref(j);
}

enum as_status as_run_set_repeated(struct as_run *run, const char *uuid, struct as_error *err)
{
    json_t *j = run->provenance ? json_loads(run->provenance, 0, NULL) : json_object();
    return keep_provenance(run, j, json_object_set_new(j, "repeats", json_pack("{s:s}", "run", uuid)) == 0, err);
}

double as_run_others_cpus(const struct as_run *r)
{
    json_t *j = r->provenance ? json_loads(r->provenance, 0, NULL) : NULL;
    const json_t *others = json_object_get(json_object_get(j, "load"), "others_cpus");
    const double cpus = json_is_number(others) ? json_number_value(others) : NAN;
    json_decref(j);
    return cpus;
}

enum as_status as_run_set_others(struct as_run *run, double cpus, struct as_error *err)
{
    json_t *j = run->provenance ? json_loads(run->provenance, 0, NULL) : json_object();
    json_t *load = json_object_get(j, "load");
    if (!json_is_object(load) && json_object_set_new(j, "load", json_object()) == 0)
        load = json_object_get(j, "load");
    if (!isfinite(cpus))
        (void)json_object_del(load, "others_cpus");
    const bool changed = !isfinite(cpus) || json_object_set_new(load, "others_cpus", json_real(cpus)) == 0;
    return keep_provenance(run, j, changed, err);
}

double as_run_length(const struct as_run *run)
{
    double length = run->ended_at > run->started_at ? run->ended_at - run->started_at : NAN;
    json_t *j = run->provenance ? json_loads(run->provenance, 0, NULL) : NULL;
    const json_t *pauses = json_object_get(j, "pauses");
    for (size_t i = 0; i < json_array_size(pauses); i++) {
        const double pause = json_number_value(json_object_get(json_array_get(pauses, i), "seconds"));
        if (pause > 0 && pause < length)
            length -= pause;
    }
    json_decref(j);
    return length;
}
