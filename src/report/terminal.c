/* The short page after a run: what was measured, facts, the best numbers of every probe, what is missing and why. */
#include "report/terminal.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/metrics.h"
#include "report/collapse.h"
#include "report/overview.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The axes that distinguish this cell on its device, without the group's word. */
static void cell_axes(const struct as_overview_group *g, struct as_buf *out)
{
    const struct as_probe *probe = as_probe_find(g->probe);
    const char *lead = "";
    for (size_t i = 0; i < g->shown->axes.n; i++) {
        const struct as_axis_value *v = &g->shown->axes.v[i];
        const struct as_axis *axis = probe ? as_probe_axis(probe, v->name) : NULL;
        if (strcmp(v->text, g->word) == 0 || !g->varies[i] || (axis && strcmp(axis->def, v->text) == 0))
            continue;
        as_buf_printf(out, "%s%s=", lead, v->name);
        as_text_axis(out, v, probe);
        lead = " ";
    }
}

static void add_group(struct as_table *t, const struct as_overview_group *g, const struct as_table_style *style)
{
    enum { CURVE_LEAST = 4 };
    struct as_buf text = AS_BUF_INIT;
    as_table_add(t, g->probe, AS_PAINT_NONE);
    as_table_add(t, g->device, AS_PAINT_NONE);
    as_table_add(t, g->word, AS_PAINT_NONE);
    as_table_addf(t, g->valid ? AS_PAINT_NONE : AS_PAINT_BAD, "%zu of %zu", g->valid, g->valid + g->rejected);
    if (!g->valid) {
        if (g->shown)
            cell_axes(g, &text);
        as_table_add(t, "-", AS_PAINT_NONE);
        as_table_add(t, "-", AS_PAINT_NONE);
        as_table_add(t, as_buf_get(&text), AS_PAINT_DIM);
        as_table_add(t, "", AS_PAINT_NONE);
        as_buf_finish(&text);
        return;
    }
    if (isfinite(g->least)) {
        as_format_count(&text, g->least);
        as_buf_str(&text, " to ");
    }
    as_cell_value(g->shown, g->shown->sum.median, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_STRONG);
    as_buf_clear(&text);
    as_text_relative(&text, &g->shown->sum);
    as_buf_str(&text, g->shown->status == AS_CELL_WIDE ? " ~" : "");
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    cell_axes(g, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_DIM);
    as_buf_clear(&text);
    if (g->points >= CURVE_LEAST)
        as_text_spark(&text, g->number, g->points, style->unicode);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_finish(&text);
}

static enum as_status write_numbers(const struct as_overview *o, const struct as_table_style *style, struct as_buf *out,
                                    struct as_error *err)
{
    const char *heads[] = {"probe",   "device",   "what", ">valid", ">best", style->unicode ? ">±" : ">+-",
                           "best at", "?by size", NULL};
    struct as_table t;
    if (!o->groups_n)
        return AS_OK;
    as_table_init(&t, heads);
    for (size_t i = 0; i < o->groups_n; i++)
        add_group(&t, &o->groups[i], style);
    as_text_title(out, "Numbers", style);
    enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    return st;
}

/* "opencl:0, name of it" over the facts of a device where the run has several. */
static void write_device(const struct as_report_run *run, const char *id, const struct as_table_style *style,
                         struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    const char *name = as_report_device_name(run, id);
    as_buf_terminal(&line, id);
    as_buf_str(&line, name[0] ? ": " : "");
    as_buf_terminal(&line, name);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    as_buf_finish(&line);
}

static void write_left_out(const struct as_report_run *run, bool titled, const struct as_table_style *style,
                           struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    if (!titled)
        as_text_title(out, "Facts", style);
    as_buf_str(&line, "facts from ");
    as_buf_terminal(&line, run->left_out);
    as_buf_printf(&line, " are left out here: 'assay facts %lld' reads every cell", (long long)run->run.id);
    as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    out->failed |= line.failed;
    as_buf_finish(&line);
}

static void write_facts(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    bool titled = false;
    const char *device = "";
    struct as_buf line = AS_BUF_INIT, more = AS_BUF_INIT;
    for (size_t i = 0; i < run->facts_n; i++) {
        const struct as_fact *f = &run->facts[i];
        if (f->verdict == AS_UNDECIDED || as_fact_is_collapsed(run->facts, run->facts_n, i))
            continue;
        if (!titled)
            as_text_title(out, "Facts", style);
        titled = true;
        if (run->devices_n > 1 && strcmp(device, f->device) != 0)
            write_device(run, f->device, style, out);
        device = f->device;
        as_buf_clear(&line);
        as_buf_terminal(&line, f->sentence);
        if (f->verdict == AS_REFUTED)
            as_buf_str(&line, " (claim refuted)");
        as_buf_str(out, style->unicode ? "• " : "- ");
        as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    }
    if (titled && as_collapsed_text(run->facts, run->facts_n, NULL, &more)) {
        as_buf_clear(&line);
        as_buf_str(&line, "and ");
        as_buf_terminal(&line, as_buf_get(&more));
        as_buf_str(&line, ": 'assay facts' prints all of them");
        as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    }
    if (run->left_out)
        write_left_out(run, titled, style, out);
    as_buf_finish(&more);
    as_buf_finish(&line);
}

enum as_status as_text_missing(const struct as_missing *missing, const struct as_table_style *style, struct as_buf *out,
                               struct as_error *err)
{
    if (!missing->n)
        return AS_OK;
    as_text_title(out, "Rejected or not measured", style);
    struct as_buf line = AS_BUF_INIT;
    for (size_t k = 0; k < missing->n; k++) {
        const struct as_missing_reason *r = &missing->reasons[k];
        const struct as_cell *c = &r->first;
        as_buf_clear(&line);
        for (size_t p = 0; p < r->probes_n; p++) {
            as_buf_str(&line, p ? ", " : "");
            as_buf_terminal(&line, r->probes[p]);
        }
        as_buf_char(&line, ' ');
        as_buf_terminal(&line, c->device);
        as_buf_printf(&line, ": %zu %s%s%s", r->cells,
                      c->status == AS_CELL_PLANNED ? "not measured" : as_cell_status_word(c->status),
                      c->reason[0] ? ": " : "", c->status == AS_CELL_REJECTED && r->cells > 1 ? "for example " : "");
        as_buf_terminal(&line, c->reason);
        as_buf_str(out, style->unicode ? "• " : "- ");
        as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    }
    if (missing->more)
        as_buf_printf(out, "  and %zu cells for other reasons\n", missing->more);
    enum as_status st = as_buf_check(&line, err);
    as_buf_finish(&line);
    return st;
}

static void write_head(const struct as_report_run *run, const struct as_overview *o, const struct as_table_style *style,
                       struct as_buf *out)
{
    const struct as_run *r = &run->run;
    struct as_buf line = AS_BUF_INIT;
    char started[32];
    as_format_wall(r->started_at, started, sizeof started);
    as_buf_printf(&line, "Run %lld: ", (long long)r->id);
    as_buf_terminal(&line, r->suite);
    as_buf_str(&line, " on ");
    as_buf_terminal(&line, r->host);
    as_buf_printf(&line, ", %s, %s", started, as_run_state_word(r->state));
    const double length = as_run_length(r);
    if (isfinite(length)) {
        as_buf_str(&line, " after ");
        as_format_duration(&line, length);
    }
    if (r->state == AS_RUN_RUNNING)
        as_buf_printf(&line, ", or killed: then 'assay resume %lld' continues it", (long long)r->id);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    for (size_t i = 0; i < run->devices_n; i++) {
        as_buf_clear(&line);
        as_buf_terminal(&line, run->devices[i].id);
        as_buf_str(&line, ": ");
        as_buf_terminal(&line, run->devices[i].name);
        as_text_fill(out, as_buf_get(&line), style->width, 2, 0);
    }
    as_buf_printf(out, "%zu cells: ", o->cells);
    const char *lead = "";
    for (int s = 0; s < AS_CELL_STATUS_N; s++)
        if (o->by_status[s]) {
            as_buf_printf(out, "%s%zu %s", lead, o->by_status[s], as_cell_status_word((enum as_cell_status)s));
            lead = ", ";
        }
    as_buf_char(out, '\n');
    if (run->against_earlier) {
        as_buf_clear(&line);
        as_buf_str(&line, "Note: ");
        as_buf_terminal(&line, run->against_earlier);
        as_text_fill(out, as_buf_get(&line), style->width, 0, 6);
    }
    as_buf_finish(&line);
}

/* Handles are indices into the run's cells. */
static enum as_status fetch_loaded(void *user, int64_t handle, struct as_cell *out, struct as_error *err)
{
    const struct as_report_run *run = user;
    (void)err;
    *out = run->cells[handle];
    out->detail = out->metrics = out->answers = NULL;
    out->samples = NULL;
    out->sample_trial = NULL;
    return AS_OK;
}

static enum as_status look_at_cells(const struct as_report_run *run, struct as_overview *o, struct as_error *err)
{
    enum as_status st = as_overview_begin(o, err);
    for (size_t i = 0; i < run->cells_n && !st; i++)
        st = as_overview_add(o, &run->cells[i], (int64_t)i, err);
    return st ? st : as_overview_end(o, fetch_loaded, (void *)run, err);
}

enum as_status as_report_terminal(const struct as_report_run *run, const struct as_table_style *style,
                                  struct as_buf *out, struct as_error *err)
{
    struct as_overview own = {0};
    const struct as_overview *o = run->overview ? run->overview : &own;
    enum as_status st = run->overview ? AS_OK : look_at_cells(run, &own, err);
    if (!st) {
        write_head(run, o, style, out);
        write_facts(run, style, out);
        st = write_numbers(o, style, out, err);
    }
    if (!st)
        st = as_text_backend_pairs(run, style, out, err);
    if (!st)
        st = as_text_missing(&o->missing, style, out, err);
    as_overview_finish(&own);
    return st ? st : as_buf_check(out, err);
}
