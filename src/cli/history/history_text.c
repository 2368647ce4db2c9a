/* 'assay history' in the terminal. */
#include "base/clock.h"
#include "base/text.h"
#include "cli/history/history.h"
#include "model/number.h"
#include "report/terminal/terminal.h"

#include <math.h>

enum { PLOT_MAX = 40, PLOT_MIN = 16, OTHER_COLUMNS = 84 };

/* ---- the plot of a run ---- */

/* The scale of all runs, logarithmic: their values, and what of their intervals lies near them. */
struct range {
    double lo, hi;
};

static struct range range_of(const struct as_history *h)
{
    static const double beyond = 0.15, least = 0.02;
    struct range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < h->n; i++) {
        r.lo = fmin(r.lo, log(h->v[i].number.value));
        r.hi = fmax(r.hi, log(h->v[i].number.value));
    }
    const double more = fmax(beyond * (r.hi - r.lo), least);
    return (struct range){r.lo - more, r.hi + more};
}

static unsigned place_of(const struct range *r, double v, unsigned width)
{
    const double p = (log(v) - r->lo) / (r->hi - r->lo);
    return (unsigned)lround(fmin(fmax(isfinite(p) ? p : 0, 0), 1) * (width - 1));
}

/* "...---o----": the value within its interval. Without blanks, so that no line breaks within. */
static void plot_run(const struct range *r, const struct as_estimated *number, unsigned width, bool unicode,
                     struct as_buf *out)
{
    const unsigned at = place_of(r, number->value, width);
    const bool known = isfinite(number->ci.lo) && isfinite(number->ci.hi) && number->ci.lo > 0;
    const unsigned lo = known ? place_of(r, number->ci.lo, width) : at,
                   hi = known ? place_of(r, number->ci.hi, width) : at;
    as_buf_clear(out);
    for (unsigned i = 0; i <= hi; i++)
        as_buf_str(out, i == at ? unicode ? "●" : "o" : i >= lo ? unicode ? "─" : "-" : unicode ? "\u00a0" : ".");
}

/* ---- one quantity ---- */

static struct as_number history_number(const struct as_history *h, double value, struct as_interval ci)
{
    return (struct as_number){.value = value, .ci = ci, .unit = h->row->unit};
}

/* The ends of where another run lies, "98 to 102 ns", or the states of which it shows one. */
static void another_text(const struct as_history *h, struct as_buf *out)
{
    const struct as_number n = history_number(h, h->now.value, h->now.another), now = as_history_number(h);
    if (h->states.n)
        as_number_brief(&now, out);
    else if (!as_number_predicts(h->now.another))
        as_buf_str(out, isfinite(h->now.another.lo) ? AS_NOT_YET_KNOWN : "");
    else if (as_number_has_interval(&n))
        as_number_interval(&n, out);
    else
        as_number_text(&n, out);
}

static void what_text(const struct as_history_run *r, struct as_buf *out)
{
    const bool is_new = r->place != AS_RUN_STEADY;
    if (is_new)
        as_buf_printf(out, "%s: %s", as_run_place_word(r->place), r->cause[0] ? r->cause : "no cause recorded");
    else if (r->is_state)
        as_buf_str(out, r->cause);
}

static void add_history_row(struct as_table *t, const struct as_history *h, const struct as_history_run *r,
                            const struct range *range, unsigned width, const struct as_table_style *style)
{
    struct as_number number = history_number(h, r->number.value, r->number.ci);
    number.trials = r->of.trials;
    number.tried = r->of.tried;
    struct as_buf text = AS_BUF_INIT;
    char started[32];
    as_format_wall(r->run->started_at, started, sizeof started);
    as_table_addf(t, AS_PAINT_NONE, "%lld", (long long)r->run->id);
    as_table_add(t, started, AS_PAINT_NONE);
    as_number_brief(&number, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_STRONG);
    as_buf_clear(&text);
    as_number_interval(&number, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    const double hz = as_history_clock(h, r);
    if (hz > 0)
        as_format_value(&text, hz, "Hz");
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    plot_run(range, &r->number, width, style->unicode, &text);
    as_table_add(t, as_buf_get(&text), r->place == AS_RUN_STEADY ? AS_PAINT_NONE : AS_PAINT_BAD);
    as_buf_clear(&text);
    what_text(r, &text);
    as_table_add(t, as_buf_get(&text), r->place == AS_RUN_STEADY ? AS_PAINT_DIM : AS_PAINT_STRONG);
    as_buf_finish(&text);
}

/* "memory.read.all: Memory read of cpu, AMD EPYC, at 4.26 GHz" */
static void title_text(const struct as_history *h, const struct as_machine_runs *m, struct as_buf *out)
{
    as_buf_printf(out, "%s: %s %s of %s", h->row->of->name, h->row->title, h->row->shown, h->device->id);
    const struct as_device_info *info = as_report_device(&m->fullest, h->device->id);
    const char *name = info ? as_info_title(info) : h->device->name;
    if (name[0])
        as_buf_printf(out, ", %s", name);
    if (isfinite(h->row->clock_exponent) && h->row->clock_exponent > 0 && m->sheet.clock_hz > 0) {
        as_buf_str(out, ", at ");
        as_format_value(out, m->sheet.clock_hz, "Hz");
    }
}

/* "1.20x (1.19 to 1.21x)" */
static void ratio_text(const struct as_history *h, struct as_buf *out)
{
    const struct as_number n = {.value = h->now.value / h->before.value, .ci = h->ratio, .unit = "x"};
    as_number_prose(&n, "", "", out);
}

static void alone_text(const struct as_history *h, struct as_buf *out)
{
    if (h->alone)
        as_buf_printf(out, "; %zu outlier run%s excluded", h->alone, h->alone == 1 ? "" : "s");
}

/* "27 ns in 14 runs or 105 ns in 3" */
static void states_text(const struct as_history *h, struct as_buf *out)
{
    for (size_t i = 0; i < h->states.n; i++) {
        const struct as_number n = {.value = h->states.of[i].value, .ci = h->states.of[i].ci, .unit = h->row->unit};
        as_buf_str(out, i ? " or " : "");
        as_number_prose(&n, "", "", out);
        as_buf_printf(out, " in %zu run%s", h->states.runs[i], h->states.runs[i] == 1 ? "" : "s");
    }
}

/* n of the machine's runs have the line. */
static void too_few_text(const char *lead, size_t n, size_t runs, struct as_buf *out)
{
    as_buf_printf(out, "%s few runs to detect a change (", lead);
    if (n < runs)
        as_buf_printf(out, "%zu of %zu have the line, ", n, runs);
    as_buf_printf(out, "%d are needed)", AS_HISTORY_RUNS_MIN);
}

/* The level now, and how it stands to the one before. */
static void level_text(const struct as_history *h, size_t runs, struct as_buf *out)
{
    const struct as_number now = as_history_number(h), before = history_number(h, h->before.value, h->before.ci);
    if (h->states.n) {
        states_text(h, out);
        as_buf_str(out, "; another run is one of them");
        return;
    }
    if (!isfinite(h->now.value)) {
        if (isfinite(now.value))
            as_number_text(&now, out);
        return;
    }
    as_buf_str(out, h->since ? "now " : "");
    as_number_prose(&now, "", "", out);
    as_buf_str(out, ", another run ");
    another_text(h, out);
    if (h->since) {
        as_buf_printf(out, "; since run %lld ", (long long)h->v[h->since].run->id);
        ratio_text(h, out);
        as_buf_str(out, " of ");
        as_number_brief(&before, out);
        as_buf_str(out, " before");
    } else if (h->n >= AS_HISTORY_RUNS_MIN)
        as_buf_str(out, "; no change");
    else
        too_few_text("; too", h->n, runs, out);
    alone_text(h, out);
}

enum as_status as_history_table(const struct as_history *h, const struct as_machine_runs *m,
                                const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    static const char *const heads[] = {">run", "started", ">value", ">95% interval", "?>CPU clock", "", "", NULL};
    struct as_table t;
    struct as_buf text = AS_BUF_INIT, safe = AS_BUF_INIT;
    const struct range range = range_of(h);
    const unsigned room = style->width > OTHER_COLUMNS ? style->width - OTHER_COLUMNS : 0;
    const unsigned width = room < PLOT_MIN ? PLOT_MIN : room > PLOT_MAX ? PLOT_MAX : room;
    title_text(h, m, &text);
    as_text_title(out, as_buf_get(&text), style);
    as_table_init(&t, heads);
    for (size_t i = 0; i < h->n; i++)
        add_history_row(&t, h, &h->v[i], &range, width, style);
    const enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    as_buf_clear(&text);
    level_text(h, m->n, &text);
    as_buf_terminal(&safe, as_buf_get(&text));
    if (text.len)
        as_text_fill(out, as_buf_get(&safe), style->width, 0, 0);
    as_buf_finish(&text);
    as_buf_finish(&safe);
    return st;
}

/* ---- all quantities ---- */

static void add_line_names(struct as_table *t, const struct as_history *h)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "%s %s", h->row->title, h->row->shown);
    as_table_add(t, h->device->id, AS_PAINT_NONE);
    as_table_add(t, as_buf_get(&text), AS_PAINT_STRONG);
    as_buf_finish(&text);
}

static void add_number(struct as_table *t, const struct as_number *n)
{
    struct as_buf text = AS_BUF_INIT;
    if (isfinite(n->value))
        as_number_brief(n, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_finish(&text);
}

static void add_changed(struct as_table *t, const struct as_history *h)
{
    struct as_buf text = AS_BUF_INIT;
    const struct as_history_run *r = &h->v[h->since];
    const struct as_number now = as_history_number(h), before = history_number(h, h->before.value, h->before.ci);
    add_line_names(t, h);
    add_number(t, &before);
    add_number(t, &now);
    ratio_text(h, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_BAD);
    as_table_addf(t, AS_PAINT_NONE, "run %lld", (long long)r->run->id);
    as_table_add(t, r->cause[0] ? r->cause : "no cause recorded", AS_PAINT_NONE);
    as_buf_finish(&text);
}

static void add_steady(struct as_table *t, const struct as_history *h)
{
    const struct as_number n = as_history_number(h);
    struct as_buf text = AS_BUF_INIT;
    add_line_names(t, h);
    add_number(t, &n);
    another_text(h, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    if (h->joined < h->n)
        as_table_addf(t, AS_PAINT_NONE, "%zu of %zu", h->joined, h->n);
    else
        as_table_addf(t, AS_PAINT_NONE, "%zu", h->n);
    as_table_add(t, h->row->of->name, AS_PAINT_DIM);
    as_buf_finish(&text);
}

/* Where nothing changed for good, single runs may still lie outside. */
static void list_alone(const struct as_history *v, size_t n, const struct as_history_asked *asked,
                       const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT, safe = AS_BUF_INIT;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v[i].n && as_history_is_asked(&v[i], asked); k++) {
            const struct as_history_run *r = &v[i].v[k];
            if (r->place != AS_RUN_ALONE)
                continue;
            as_buf_printf(&text, "%s%s %s of %s in run %lld", text.len ? "; " : "", v[i].row->title, v[i].row->shown,
                          v[i].device->id, (long long)r->run->id);
        }
    if (text.len) {
        as_text_title(out, "Outliers", style);
        as_buf_terminal(&safe, as_buf_get(&text));
        as_text_fill(out, as_buf_get(&safe), style->width, 0, 0);
    }
    as_buf_finish(&text);
    as_buf_finish(&safe);
}

/* What changed of host, assay and devices with a run. */
static void list_state(const struct as_machine_run *r, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf run = AS_BUF_INIT, text = AS_BUF_INIT;
    as_buf_str(&text, r->host_state);
    for (size_t d = 0; d < r->devices_n; d++)
        as_buf_printf(&text, "%s%s", text.len && r->devices[d].text[0] ? "; " : "", r->devices[d].text);
    as_buf_printf(&run, "run %lld: ", (long long)r->id);
    if (text.len)
        as_text_line(out, as_buf_get(&run), as_buf_get(&text), 0, 2, style);
    as_buf_finish(&run);
    as_buf_finish(&text);
}

static void summary_head(const struct as_machine_runs *m, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    char since[32];
    as_format_wall(m->v[0].started_at, since, sizeof since);
    as_buf_terminal(&line, m->fullest.run.host);
    as_buf_printf(&line, ": %zu run%s since %s", m->n, m->n == 1 ? "" : "s", since);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    if (m->older)
        as_buf_printf(out, "%zu older run%s not read\n", m->older, m->older == 1 ? " is" : "s are");
    for (size_t i = 0; i < m->n; i++)
        list_state(&m->v[i], style, out);
    as_buf_finish(&line);
}

enum as_status as_history_summary(const struct as_history *v, size_t n, const struct as_history_asked *asked,
                                  const struct as_machine_runs *m, const struct as_table_style *style,
                                  struct as_buf *out, struct as_error *err)
{
    static const char *const changed_heads[] = {"", "", ">before", ">now", ">now / before", "since", "recorded", NULL},
                             *const steady_heads[] = {"", "", ">value", ">another run lies in", ">runs", "?", NULL};
    size_t changed = 0, shown = 0, runs = 0;
    struct as_table t;
    summary_head(m, style, out);
    for (size_t i = 0; i < n; i++) {
        if (!as_history_is_asked(&v[i], asked))
            continue;
        shown++;
        runs = v[i].n > runs ? v[i].n : runs;
        changed += v[i].since > 0;
    }
    struct as_buf few = AS_BUF_INIT;
    too_few_text("Too", runs, m->n, &few);
    as_text_title(out, changed ? "Changed" : runs >= AS_HISTORY_RUNS_MIN ? "No line changed" : as_buf_get(&few), style);
    as_buf_finish(&few);
    as_table_init(&t, changed ? changed_heads : steady_heads);
    for (size_t i = 0; i < n; i++) {
        if (!as_history_is_asked(&v[i], asked) || !v[i].n)
            continue;
        if (v[i].since)
            add_changed(&t, &v[i]);
        else if (!changed)
            add_steady(&t, &v[i]);
    }
    const enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    list_alone(v, n, asked, style, out);
    if (changed && shown > changed)
        as_buf_printf(out, "\n%zu line%s did not change\n", shown - changed, shown - changed == 1 ? "" : "s");
    as_buf_str(out, "\nRun by run: assay history QUANTITY, such as 'memory.latency'\n");
    return st;
}
