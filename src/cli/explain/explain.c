#include "cli/explain/explain.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/bins.h"
#include "model/counters.h"
#include "model/metrics.h"
#include "model/number.h"
#include "report/terminal/terminal.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum as_status as_explain_load(struct as_store *store, int64_t id, struct as_explained *out, struct as_error *err)
{
    *out = (struct as_explained){0};
    enum as_status st = as_store_cell(store, id, 1, &out->cell, err);
    struct as_buf run = AS_BUF_INIT;
    if (!st) {
        as_buf_printf(&run, "%lld", (long long)out->cell.run_id);
        st = as_store_run(store, as_buf_get(&run), &out->run, err);
    }
    if (!st)
        st = as_store_trials(store, out->cell.run_id, id, &out->trials, &out->trials_n, err);
    as_buf_finish(&run);
    return st;
}

void as_explain_finish(struct as_explained *e)
{
    as_cell_finish(&e->cell);
    as_run_finish(&e->run);
    as_trials_free(e->trials, e->trials_n);
    *e = (struct as_explained){0};
}

void as_explain_axes(const struct as_cell *c, struct as_buf *out)
{
    const struct as_probe *probe = as_probe_find(c->probe);
    as_buf_terminal(out, c->probe);
    as_buf_char(out, ' ');
    as_buf_terminal(out, c->device);
    for (size_t i = 0; i < c->axes.n; i++) {
        as_buf_char(out, ' ');
        as_buf_terminal(out, c->axes.v[i].name);
        as_buf_char(out, '=');
        as_text_axis(out, &c->axes.v[i], probe);
    }
}

void as_explain_member(struct as_buf *out, const char *name, const char *text, const struct as_table_style *style)
{
    as_paint_on(out, AS_PAINT_DIM, style);
    as_buf_printf(out, "%-12s", name);
    as_paint_off(out, AS_PAINT_DIM, style);
    as_buf_char(out, ' ');
    as_text_fill(out, text, style->width, 13, 13);
}

/* Text that is not from assay is escaped. */
static void format_member(struct as_buf *out, const struct as_table_style *style, const char *name, const char *fmt,
                          ...) __attribute__((format(printf, 4, 5)));
static void format_member(struct as_buf *out, const struct as_table_style *style, const char *name, const char *fmt,
                          ...)
{
    struct as_buf text = AS_BUF_INIT, shown = AS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    as_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    as_buf_terminal(&shown, as_buf_get(&text));
    as_explain_member(out, name, as_buf_get(&shown), style);
    out->failed |= text.failed || shown.failed;
    as_buf_finish(&text);
    as_buf_finish(&shown);
}

enum { BINS = 10, DIGITS_MIN = 3, DIGITS_MAX = 7 };

/* Significant digits that resolve a tenth of the range from minimum to maximum. */
static int explain_digits_of(const struct as_cell *c)
{
    const double largest = fmax(fabs(c->sum.min), fabs(c->sum.max)), bin = (c->sum.max - c->sum.min) / BINS;
    const double digits = bin > 0 ? ceil(log10(largest / bin)) + 1 : 0;
    return !(digits > DIGITS_MIN) ? DIGITS_MIN : digits < DIGITS_MAX ? (int)digits : DIGITS_MAX;
}

static void value_member(struct as_buf *out, const char *name, double v, const char *unit, int digits,
                         const struct as_table_style *style)
{
    struct as_buf b = AS_BUF_INIT;
    as_format_value_to(&b, v, unit, digits);
    as_explain_member(out, name, as_buf_get(&b), style);
    as_buf_finish(&b);
}

/* "16.2 ns, 95% interval 16.1 to 16.3 ns (±0.4%)", or what stands for it. */
static void explain_add_number(const struct as_number *n, const struct as_table_style *style, struct as_buf *b)
{
    struct as_buf width = AS_BUF_INIT;
    as_number_text(n, b);
    as_number_precision(n, &width);
    if (as_number_has_interval(n)) {
        as_buf_str(b, ", 95% interval ");
        as_number_interval(n, b);
    }
    if (width.len && as_number_has_interval(n))
        as_buf_printf(b, style->unicode ? " (±%s)" : " (+-%s)", as_buf_get(&width));
    else if (width.len && as_number_form(n) == AS_NUMBER_ONE_TRIAL) /* the others' text has it */
        as_buf_printf(b, ", %s", as_buf_get(&width));
    as_buf_finish(&width);
}

static void further_numbers(const struct as_cell *c, const struct as_table_style *style, struct as_buf *out)
{
    struct as_metric_value v[AS_METRICS_MAX];
    const size_t n = as_cell_metrics(c, v);
    struct as_buf b = AS_BUF_INIT, name = AS_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        as_buf_clear(&b);
        explain_add_number(
            &(struct as_number){.value = v[i].value, .ci = v[i].ci, .unit = v[i].unit, .trials = v[i].trials}, style,
            &b);
        if (v[i].counts[0]) {
            as_buf_str(&b, "; ");
            as_buf_terminal(&b, v[i].counts);
        }
        as_buf_clear(&name);
        as_buf_terminal(&name, v[i].name);
        as_explain_member(out, as_buf_get(&name), as_buf_get(&b), style);
    }
    as_buf_finish(&name);
    as_buf_finish(&b);
}

static void explain_numbers(const struct as_cell *c, const struct as_table_style *style, struct as_buf *out)
{
    const double reached = (c->sum.ci.hi - c->sum.ci.lo) / fabs(c->sum.median);
    const int digits = explain_digits_of(c);
    struct as_buf b = AS_BUF_INIT;
    as_text_title(out, "Numbers", style);
    char answer[64];
    if (as_cell_answer(c, c->sum.median, answer)) {
        as_buf_terminal(&b, answer);
        as_buf_str(&b, c->sum.min == c->sum.max ? ", in every sample" : ", not in every sample");
    } else {
        const struct as_number n = as_number_of_cell(c);
        explain_add_number(&n, style, &b);
        if (as_number_form(&n) == AS_NUMBER_NOISY) {
            as_buf_str(&b, "; about ");
            as_format_value_to(&b, c->sum.median, c->unit, DIGITS_MIN);
        }
    }
    as_explain_member(out, "median", as_buf_get(&b), style);
    value_member(out, "MAD", c->sum.mad, c->unit, DIGITS_MIN, style);
    value_member(out, "minimum", c->sum.min, c->unit, digits, style);
    value_member(out, "maximum", c->sum.max, c->unit, digits, style);
    if (isfinite(c->precision) && isfinite(reached) && !as_unit_is_count(c->unit) && !as_cell_is_busy(c))
        format_member(out, style, "precision", "interval width %.3g%% of the median, %.3g%% requested", 100 * reached,
                      100 * c->precision);
    format_member(out, style, "samples", "%zu in %zu trial%s", c->sum.n, c->sum.trials, c->sum.trials == 1 ? "" : "s");
    if (c->sum.modes == 2) {
        as_buf_clear(&b);
        as_format_value_to(&b, c->sum.mode[0], c->unit, digits);
        as_buf_printf(&b, " (%.0f%% of the samples) and ", 100 * c->sum.mode_share0);
        as_format_value_to(&b, c->sum.mode[1], c->unit, digits);
        as_explain_member(out, "two modes", as_buf_get(&b), style);
    }
    further_numbers(c, style, out);
    if (isfinite(c->limit))
        value_member(out, "limit", c->limit, c->unit, DIGITS_MIN, style);
    if (isfinite(c->clock_hz))
        value_member(out, "clock", c->clock_hz, "Hz", DIGITS_MIN, style);
    if (c->footprint)
        value_member(out, "footprint", (double)c->footprint, "B", DIGITS_MIN, style);
    as_buf_finish(&b);
}

/* The bins from minimum to maximum, and one at each end for what lies beyond: samples without weight. */
enum { BELOW = BINS, ABOVE, ALL_BINS };

static size_t bin_of(double v, const struct as_cell *c)
{
    const double at = (v - c->sum.min) / ((c->sum.max - c->sum.min) / BINS);
    if (v < c->sum.min || v > c->sum.max)
        return v < c->sum.min ? BELOW : ABOVE;
    return at >= BINS ? BINS - 1 : (size_t)at;
}

/* Counts the samples of weight 0 by bin and returns their number. A cell's samples are those of its trials, in order.
 */
static size_t count_contended(const struct as_explained *e, size_t count[ALL_BINS])
{
    size_t all = 0;
    for (size_t i = 0; i < e->trials_n; i++) {
        const struct as_trial *v = &e->trials[i];
        for (size_t k = 0; k < v->n && v->weight && v->status == AS_CELL_OK && !v->excluded; k++)
            if (v->weight[k] == 0) {
                count[bin_of(v->samples[k], &e->cell)]++;
                all++;
            }
    }
    return all;
}

static void bin_row(const char *label, size_t count, size_t most, size_t contended, unsigned bar,
                    const struct as_table_style *style, struct as_buf *out)
{
    const unsigned width = as_text_width(label);
    as_buf_repeat(out, ' ', width < 12 ? 12 - width : 0);
    as_buf_terminal(out, label);
    as_buf_printf(out, " %6zu ", count);
    as_text_bar(out, (double)count / (double)most, bar, style->unicode);
    if (contended)
        as_buf_printf(out, " %zu contended", contended);
    as_buf_char(out, '\n');
}

/* A bin by the mean of its samples, since an outlier makes bins wide; the ends by where they begin. */
static void bin_label(const struct as_cell *c, size_t bin, size_t count, double sum, struct as_buf *out)
{
    const double width = (c->sum.max - c->sum.min) / BINS, middle = c->sum.min + ((double)bin + 0.5) * width;
    as_buf_clear(out);
    as_buf_str(out, bin == BELOW ? "below " : bin == ABOVE ? "above " : "");
    as_format_value_to(out,
                       bin == BELOW   ? c->sum.min
                       : bin == ABOVE ? c->sum.max
                       : count        ? sum / (double)count
                                      : middle,
                       c->unit, explain_digits_of(c));
}

static void over_time(const struct as_cell *c, const struct as_table_style *style, struct as_buf *out)
{
    enum { POINTS = 72 }; /* in a row */
    double points[POINTS];
    const unsigned points_most = style->width - 15;
    const size_t most = points_most < POINTS ? points_most : POINTS, n = c->sum.n < most ? c->sum.n : most;
    for (size_t i = 0; i < n; i++) {
        size_t from = i * c->sum.n / n, to = (i + 1) * c->sum.n / n;
        points[i] = as_median(c->samples + from, to - from);
    }
    as_buf_str(out, "over time    ");
    as_text_spark(out, points, n, style->unicode);
    as_buf_char(out, '\n');
}

/* The distribution of the samples, and their development over time. */
static void distribution(const struct as_explained *e, const struct as_table_style *style, struct as_buf *out)
{
    enum { LABELS = 21 }; /* columns before a bar */
    static const size_t order[ALL_BINS] = {BELOW, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ABOVE};
    _Static_assert(BINS == 10, "as many as in the order");
    const unsigned room = style->width - LABELS, bar = room < 40 ? room : 40;
    const struct as_cell *c = &e->cell;
    size_t count[ALL_BINS] = {0}, contended[ALL_BINS] = {0}, most = 1;
    double sum[ALL_BINS] = {0};
    struct as_buf label = AS_BUF_INIT;
    if (!c->samples || c->sum.n < 2 || !(c->sum.max > c->sum.min) || !isfinite(c->sum.max - c->sum.min))
        return;
    for (size_t i = 0; i < c->sum.n; i++) {
        const size_t bin = bin_of(c->samples[i], c);
        sum[bin] += c->samples[i];
        most = ++count[bin] > most ? count[bin] : most;
    }
    as_text_title(out,
                  count_contended(e, contended) ? "Distribution; contended samples have no weight in the median"
                                                : "Distribution",
                  style);
    for (size_t i = 0; i < ALL_BINS; i++) {
        const size_t bin = order[i];
        if (bin >= BINS && !count[bin])
            continue;
        bin_label(c, bin, count[bin], sum[bin], &label);
        bin_row(as_buf_get(&label), count[bin], most, contended[bin], bar, style, out);
    }
    over_time(c, style, out);
    as_buf_finish(&label);
}

static void explain_gates(const struct as_cell *c, const struct as_table_style *style, struct as_buf *out)
{
    static const enum as_paint paint[] = {
        [AS_GATE_NA] = AS_PAINT_DIM, [AS_GATE_PASS] = AS_PAINT_GOOD, [AS_GATE_FAIL] = AS_PAINT_BAD};
    as_text_title(out, "Gates", style);
    for (int g = 0; g < AS_GATE_N; g++) {
        const struct as_gate_result *r = &c->gates[g];
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(out, "%-12s ", as_gate_name((enum as_gate)g));
        as_paint_on(out, paint[r->state], style);
        as_buf_printf(out, "%-5s", as_gate_state_word(r->state));
        as_paint_off(out, paint[r->state], style);
        as_buf_terminal(&text, r->text);
        as_text_fill(out, as_buf_get(&text), style->width, 19, 18);
        as_buf_finish(&text);
    }
}

static void trial_row(struct as_table *t, const struct as_trial *v, const char *unit, int digits)
{
    struct as_buf b = AS_BUF_INIT;
    char started[32];
    as_format_wall(v->started_at, started, sizeof started);
    as_table_addf(t, AS_PAINT_NONE, "%d", v->number);
    as_table_add(t, started, AS_PAINT_NONE);
    as_format_duration(&b, v->duration_s);
    as_table_add(t, as_buf_get(&b), AS_PAINT_NONE);
    as_buf_clear(&b);
    as_format_value_to(&b, as_median(v->samples, v->n), unit, digits);
    as_table_add(t, as_buf_get(&b), AS_PAINT_NONE);
    as_table_addf(t, AS_PAINT_NONE, "%zu", v->n);
    as_table_addf(t, AS_PAINT_NONE, "%zu", v->warmup);
    as_table_addf(t, AS_PAINT_NONE, "%llu", (unsigned long long)v->reps);
    as_buf_clear(&b);
    as_format_value(&b, v->clock_hz, "Hz");
    as_table_add(t, as_buf_get(&b), AS_PAINT_NONE);
    as_table_addf(t, as_status_paint(v->status), "%s%s%s", v->excluded ? "excluded" : as_cell_status_said(v->status),
                  v->reason[0] ? ": " : "", v->reason);
    as_buf_finish(&b);
}

static enum as_status trials(const struct as_explained *e, const struct as_table_style *style, struct as_buf *out,
                             struct as_error *err)
{
    static const char *const heads[] = {">trial",   "started", ">took",  ">median", ">samples",
                                        ">warm-up", ">reps",   ">clock", "status",  NULL};
    struct as_table t;
    if (!e->trials_n)
        return AS_OK;
    as_text_title(out, "Trials", style);
    as_table_init(&t, heads);
    for (size_t i = 0; i < e->trials_n; i++)
        trial_row(&t, &e->trials[i], e->cell.unit, explain_digits_of(&e->cell));
    enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    return st;
}

/* Readings of the device's sensor in each trial. */
static void explain_sensor(const struct as_explained *e, const struct as_table_style *style, struct as_buf *out)
{
    bool titled = false;
    for (size_t i = 0; i < e->trials_n; i++) {
        const struct as_trial *v = &e->trials[i];
        struct as_buf text = AS_BUF_INIT;
        char name[24];
        as_readings_text(&v->readings, &text);
        if (text.len) {
            if (!titled)
                as_text_title(out, "Sensor", style);
            titled = true;
            snprintf(name, sizeof name, "trial %d", v->number);
            format_member(out, style, name, "%s: %s", v->readings.sensor, as_buf_get(&text));
        }
        out->failed |= text.failed;
        as_buf_finish(&text);
    }
}

static void explain_note_number(struct as_buf *b, double v)
{
    if (v == floor(v) && fabs(v) < 1e15)
        as_buf_printf(b, "%.0f", v);
    else
        as_format_number(b, v, 4);
}

/* The probe's notes, members of a JSON object. Notes that are further metrics are shown with the numbers. */
static void explain_notes(const struct as_cell *c, bool has_fragment, const struct as_table_style *style,
                          struct as_buf *out)
{
    json_t *root = c->detail ? json_loads(c->detail, 0, NULL) : NULL;
    const char *name;
    json_t *value;
    bool titled = false;
    json_object_foreach(root, name, value)
    {
        struct as_metric_value further;
        if (as_cell_metric(c, name, &further) || (has_fragment && as_fragment_has_note(name)) ||
            as_counter_has_note(name) || strcmp(name, AS_BINS_NOTE) == 0)
            continue;
        if (!titled)
            as_text_title(out, "Probe notes", style);
        titled = true;
        struct as_buf b = AS_BUF_INIT, key = AS_BUF_INIT;
        as_buf_terminal(&key, name);
        if (json_is_string(value))
            as_buf_terminal(&b, json_string_value(value));
        else if (json_is_number(value))
            explain_note_number(&b, json_number_value(value));
        else
            as_buf_str(&b, json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "-");
        as_explain_member(out, as_buf_get(&key), as_buf_get(&b), style);
        as_buf_finish(&b);
        as_buf_finish(&key);
    }
    json_decref(root);
}

static void provenance(const struct as_explained *e, const struct as_table_style *style, struct as_buf *out)
{
    const struct as_run *r = &e->run;
    char started[32];
    as_format_wall(r->started_at, started, sizeof started);
    as_text_title(out, "Provenance", style);
    format_member(out, style, "run", "%lld (%s), %s, started %s", (long long)r->id, r->uuid,
                  as_run_state_word(r->state), started);
    format_member(out, style, "host", "%s", r->host);
    format_member(out, style, "tool", "assay %s, commit %s", r->tool_version, r->tool_commit);
    format_member(out, style, "command", "%s", r->command ? r->command : "");
    format_member(out, style, "seed", "%llu", (unsigned long long)r->seed);
    format_member(out, style, "key", "%016llx", (unsigned long long)e->cell.key);
    format_member(out, style, "again", "assay replay %lld", (long long)e->cell.id);
}

enum as_status as_explain_cell(const struct as_explained *e, const struct as_table_style *style, struct as_buf *out,
                               struct as_error *err)
{
    const struct as_cell *c = &e->cell;
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "Measurement %lld: ", (long long)c->id);
    as_explain_axes(c, &b);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&b), style->width, 2, 2);
    as_paint_off(out, AS_PAINT_STRONG, style);
    format_member(out, style, "status", "%s%s%s", as_cell_status_said(c->status), c->reason[0] ? ": " : "", c->reason);
    format_member(out, style, "counts", "%s", c->counts);
    if (as_report_has_number(c)) {
        explain_numbers(c, style, out);
        distribution(e, style, out);
        as_explain_bins(c, style, out);
    }
    explain_gates(c, style, out);
    enum as_status st = trials(e, style, out, err);
    explain_sensor(e, style, out);
    struct as_fragment fragment;
    const bool has_fragment = as_fragment_of(c, &fragment);
    explain_notes(c, has_fragment, style, out);
    if (has_fragment)
        as_explain_fragment(&fragment, style, out);
    as_fragment_finish(&fragment);
    provenance(e, style, out);
    as_buf_finish(&b);
    return st ? st : as_buf_check(out, err);
}
