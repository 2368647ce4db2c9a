#include "core/cell.h"

#include "base/clock.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AXES_JSON_MAX = 8192 };

static const struct as_axis_value none;

const struct as_axis_value *as_axes_get(const struct as_axes *axes, const char *name)
{
    for (size_t i = 0; i < axes->n; i++) /* the first letter tells most apart, and all cells are asked for their axes */
        if (axes->v[i].name[0] == name[0] && strcmp(axes->v[i].name, name) == 0)
            return &axes->v[i];
    return NULL;
}

const char *as_axes_text(const struct as_axes *axes, const char *name)
{
    const struct as_axis_value *v = as_axes_get(axes, name);
    return v ? v->text : none.text;
}

double as_axes_number(const struct as_axes *axes, const char *name)
{
    const struct as_axis_value *v = as_axes_get(axes, name);
    return v ? v->number : NAN;
}

uint64_t as_axes_u64(const struct as_axes *axes, const char *name)
{
    const struct as_axis_value *v = as_axes_get(axes, name);
    uint64_t whole;
    /* from the text, since a double holds no more than 53 bits */
    if (!v || !isfinite(v->number) || as_parse_u64(v->text, &whole, NULL))
        return 0;
    return whole;
}

bool as_axes_is(const struct as_axes *axes, const char *name, const char *text)
{
    const struct as_axis_value *v = as_axes_get(axes, name);
    return !v || strcmp(v->text, text) == 0;
}

/* The one spelling of a number: whole numbers in digits, others as the shortest text that reads back the same. */
static void format_number(struct as_buf *b, double v)
{
    if (v == floor(v) && fabs(v) <= 9007199254740992.0) {
        as_buf_printf(b, "%lld", (long long)v);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        double back;
        as_buf_clear(b);
        as_buf_printf(b, "%.*g", digits, v);
        if (as_parse_double(as_buf_get(b), &back, NULL) == AS_OK && back == v)
            return;
    }
}

/* Is text the spelling of a whole number that fits 64 bits with sign? */
static bool is_whole(const char *text)
{
    const char *digits = text + (*text == '-');
    uint64_t v;
    if (as_parse_u64(digits, &v, NULL) || v > INT64_MAX)
        return false;
    return digits[0] == '0' ? digits[1] == 0 && digits == text : true;
}

/* The number that text spells, NAN when it is a word. */
static double spelled_number(const char *text)
{
    double v;
    if (as_parse_double(text, &v, NULL))
        return NAN;
    if (is_whole(text))
        return v;
    struct as_buf b = AS_BUF_INIT;
    format_number(&b, v);
    if (b.failed || strcmp(as_buf_get(&b), text) != 0)
        v = NAN;
    as_buf_finish(&b);
    return v;
}

static bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool is_name(const char *s)
{
    size_t n = 0;
    while (is_name_letter(s[n]))
        n++;
    return n > 0 && s[n] == 0 && s[0] >= 'a' && s[0] <= 'z' && n < sizeof none.name;
}

/* Text that a terminal can show as it is: valid UTF-8 without control characters. */
static bool is_plain_text(const char *s)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_terminal(&b, s);
    bool same = !b.failed && strcmp(as_buf_get(&b), s) == 0;
    as_buf_finish(&b);
    return same;
}

static enum as_status add_value(struct as_axes *axes, const char *name, const char *text, double number,
                                struct as_error *err)
{
    if (!is_name(name))
        return as_fail(err, AS_FORMAT,
                       "'%.60s' is not the name of an axis: lower-case letters, digits, _ and -, at most %zu", name,
                       sizeof none.name - 1);
    if (text[0] == 0 || strlen(text) >= sizeof none.text || !is_plain_text(text))
        return as_fail(err, AS_FORMAT, "axis '%s': the value is empty, not plain text, or longer than %zu bytes", name,
                       sizeof none.text - 1);
    if (as_axes_get(axes, name))
        return as_fail(err, AS_FORMAT, "axis '%s' is given twice", name);
    if (axes->n >= AS_AXES_MAX)
        return as_fail(err, AS_FORMAT, "axis '%s': a cell has at most %d axes", name, AS_AXES_MAX);
    struct as_axis_value *v = &axes->v[axes->n++];
    as_copy_text(v->name, sizeof v->name, name);
    as_copy_text(v->text, sizeof v->text, text);
    v->number = number;
    return AS_OK;
}

enum as_status as_axes_add(struct as_axes *axes, const char *name, const char *text, struct as_error *err)
{
    return add_value(axes, name, text, spelled_number(text), err);
}

void as_axes_to_json(const struct as_axes *axes, struct as_buf *out)
{
    as_buf_char(out, '{');
    for (size_t i = 0; i < axes->n; i++) {
        const struct as_axis_value *v = &axes->v[i];
        as_buf_str(out, i ? "," : "");
        as_buf_json_str(out, v->name);
        as_buf_char(out, ':');
        if (isfinite(v->number) && isfinite(spelled_number(v->text)))
            as_buf_str(out, v->text);
        else
            as_buf_json_str(out, v->text);
    }
    as_buf_char(out, '}');
}

static enum as_status add_json_value(struct as_axes *axes, const char *name, const json_t *j, struct as_error *err)
{
    if (json_is_string(j))
        return add_value(axes, name, json_string_value(j), NAN, err);
    if (!json_is_number(j))
        return as_fail(err, AS_FORMAT, "axis '%.60s': the value is neither a number nor a word", name);
    struct as_buf b = AS_BUF_INIT;
    if (json_is_integer(j))
        as_buf_printf(&b, "%lld", (long long)json_integer_value(j));
    else
        format_number(&b, json_real_value(j));
    enum as_status s = as_buf_check(&b, err);
    if (!s)
        s = add_value(axes, name, as_buf_get(&b), json_number_value(j), err);
    as_buf_finish(&b);
    return s;
}

/* A name in quotes, at *at. */
static bool scan_name(const char **at, char out[sizeof none.name])
{
    const char *start = *at + 1;
    size_t n = 0;
    if (**at != '"' || start[0] < 'a' || start[0] > 'z')
        return false;
    for (; is_name_letter(start[n]) && n < sizeof none.name; n++)
        out[n] = start[n];
    if (n == sizeof none.name || start[n] != '"')
        return false;
    out[n] = 0;
    *at = start + n + 1;
    return true;
}

/* A string without escapes, or digits, at *at: what nearly every axis of a stored cell is. */
static bool scan_value(const char **at, struct as_axis_value *v)
{
    const bool is_text = **at == '"';
    const char *start = *at + is_text;
    size_t n = 0;
    uint64_t whole = 0;
    if (is_text)
        while (start[n] >= ' ' && start[n] <= '~' && start[n] != '"' && start[n] != '\\')
            n++;
    else
        for (; start[n] >= '0' && start[n] <= '9' && n <= 15; n++)
            whole = whole * 10 + (uint64_t)(start[n] - '0');
    if (n == 0 || n >= sizeof v->text || (is_text ? start[n] != '"' : n > 15 || (n > 1 && start[0] == '0')))
        return false;
    memcpy(v->text, start, n);
    v->text[n] = 0;
    v->number = is_text ? NAN : (double)whole;
    *at = start + n + is_text;
    return true;
}

/* The plain form that as_axes_to_json writes, read without a tree: a million cells are read at a time. False: not that
 * plain, for whatever reason. */
static bool scan_axes(const char *at, struct as_axes *axes)
{
    axes->n = 0;
    for (char separator = '{'; *at == separator; separator = ',') {
        at++;
        struct as_axis_value *v = &axes->v[axes->n];
        if (axes->n >= AS_AXES_MAX || !scan_name(&at, v->name) || *at++ != ':' || !scan_value(&at, v) ||
            as_axes_get(axes, v->name))
            return false;
        axes->n++;
    }
    return axes->n > 0 && at[0] == '}' && at[1] == 0;
}

enum as_status as_axes_from_json(const char *json, struct as_axes *axes, struct as_error *err)
{
    json_error_t why;
    if (json && scan_axes(json, axes))
        return AS_OK;
    *axes = (struct as_axes){0};
    size_t len = json ? strnlen(json, AXES_JSON_MAX + 1) : 0;
    if (len > AXES_JSON_MAX)
        return as_fail(err, AS_FORMAT, "axes: more than %d bytes", AXES_JSON_MAX);
    json_t *root = json_loadb(json ? json : "", len, JSON_REJECT_DUPLICATES, &why);
    if (!root)
        return as_fail(err, AS_FORMAT, "axes: %s at byte %d", why.text, why.position);
    enum as_status s = json_is_object(root) ? AS_OK : as_fail(err, AS_FORMAT, "axes: not an object");
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value)
    {
        if (!s)
            s = add_json_value(axes, name, value, err);
    }
    json_decref(root);
    return s;
}

static bool is_bytes(const char *name)
{
    static const char *const sizes[] = {"size", "stride", "bytes", "page"};
    const char *last = strrchr(name, '_');
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(last ? last + 1 : name, sizes[i]) == 0)
            return true;
    return false;
}

void as_axes_to_text(const struct as_axes *axes, struct as_buf *out)
{
    for (size_t i = 0; i < axes->n; i++) {
        const struct as_axis_value *v = &axes->v[i];
        as_buf_str(out, i ? " " : "");
        as_buf_str(out, v->name);
        as_buf_char(out, '=');
        uint64_t bytes;
        if (is_bytes(v->name) && isfinite(v->number) && as_parse_u64(v->text, &bytes, NULL) == AS_OK)
            as_format_size(out, bytes);
        else
            as_buf_str(out, v->text);
    }
}

uint64_t as_cell_key(const char *probe, const char *metric, const struct as_axes *axes)
{
    size_t order[AS_AXES_MAX];
    for (size_t i = 0; i < axes->n; i++) {
        size_t at = i;
        for (; at > 0 && strcmp(axes->v[order[at - 1]].name, axes->v[i].name) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    /* on the stack and without a locale: a key must not fail or depend on where it is made; a NUL ends each part */
    char bytes[2 * 64 + AS_AXES_MAX * (sizeof none.name + sizeof none.text)];
    size_t n = 0;
    const char *const head[] = {probe, metric};
    for (size_t i = 0; i < 2; i++)
        n += strlen(as_copy_text(bytes + n, 64, head[i])) + 1;
    for (size_t i = 0; i < axes->n; i++) {
        const struct as_axis_value *v = &axes->v[order[i]];
        n += strlen(as_copy_text(bytes + n, sizeof v->name, v->name)) + 1;
        n += strlen(as_copy_text(bytes + n, sizeof v->text, v->text)) + 1;
    }
    return as_hash(bytes, n);
}

static const char *const status_words[AS_CELL_STATUS_N] = {
    [AS_CELL_PLANNED] = "planned",         [AS_CELL_OK] = "ok",           [AS_CELL_WIDE] = "wide",
    [AS_CELL_REJECTED] = "rejected",       [AS_CELL_FAILED] = "failed",   [AS_CELL_CRASHED] = "crashed",
    [AS_CELL_UNSUPPORTED] = "unsupported", [AS_CELL_TIMEOUT] = "timeout", [AS_CELL_SKIPPED] = "skipped",
};

const char *as_cell_status_word(enum as_cell_status s)
{
    return (unsigned)s < AS_CELL_STATUS_N ? status_words[s] : "unknown";
}

enum as_status as_cell_status_parse(const char *word, enum as_cell_status *out, struct as_error *err)
{
    for (unsigned i = 0; i < AS_CELL_STATUS_N; i++)
        if (word && strcmp(word, status_words[i]) == 0) {
            *out = (enum as_cell_status)i;
            return AS_OK;
        }
    return as_fail(err, AS_FORMAT, "'%.60s' is not the status of a cell", word ? word : "");
}

static const struct {
    const char *name, *help;
} gates[AS_GATE_N] = {
    [AS_GATE_CHECKSUM] = {"checksum",
                          "passes when the kernel's output equals an independent reference computed on the host"},
    [AS_GATE_LIMIT] = {"limit", "passes when the number is possible: not beyond the physical bound by more than 2%"},
    [AS_GATE_CODE] = {"code",
                      "passes when the machine code holds the instructions that were asked for, counted in the binary"},
    [AS_GATE_FOOTPRINT] = {"footprint",
                           "passes when the working set suits the claim: a number of main memory needs at least "
                           "4 times the last cache"},
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
    "fewer trials or samples than an interval as narrow as asked needs: more time narrows it",
    "somebody else used the host's core during most samples; samples without contention are preferred",
    "the clock moved, and how the number goes with the clock is not known, or the device was throttled",
    "later trials differ from earlier ones by more than chance",
    "trials differ by more than the samples within them: where memory lies, or what else runs, changes the number",
    "the samples have two modes, and the trials do not tell which one is usual: the interval spans both",
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
            return as_fail(err, AS_FORMAT, "'%.60s' is no list of causes", text);
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

void as_visit_finish(struct as_visit *v)
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
    free(c->samples);
    free(c->sample_visit);
    c->detail = NULL;
    c->samples = NULL;
    c->sample_visit = NULL;
}

bool as_cell_is_better(const struct as_cell *a, const struct as_cell *b)
{
    return a->better_less ? a->sum.median < b->sum.median : a->sum.median > b->sum.median;
}

bool as_cell_is_valid(const struct as_cell *c)
{
    return (c->status == AS_CELL_OK || c->status == AS_CELL_WIDE) && c->sum.n > 0 && isfinite(c->sum.median);
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

/* When the last of the pauses ended, to the second; 0 where there is none that tells. */
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

enum as_status as_run_add_pause(struct as_run *run, double from, double until, struct as_error *err)
{
    json_t *j = run->provenance ? json_loads(run->provenance, 0, NULL) : json_object();
    json_t *pauses = json_object_get(j, "pauses");
    char *text = NULL;
    if (run->provenance && !json_is_object(j)) { /* somebody else's, which stays as it is */
        json_decref(j);
        return AS_OK;
    }
    if (!json_is_array(pauses)) {
        pauses = json_array();
        if (json_object_set_new(j, "pauses", pauses))
            pauses = NULL;
    }
    /* killed before it measured anything, the run tells of the same time again */
    from = fmax(from, pauses ? last_until(pauses) : 0);
    if (pauses && (until <= from || append_pause(pauses, from, until)))
        text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    if (!text)
        return as_nomem(err, 0, "the provenance");
    free(run->provenance);
    run->provenance = text;
    return AS_OK;
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
