/* The short page after a run: the data sheet of each device, what is worth knowing beside it, what is missing and why.
 */
#include "report/terminal/terminal.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/model/overview.h"
#include "report/model/same_hardware.h"
#include "report/sheet/sheet.h"
#include "report/sheet/worth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "Cells by probe: latency 42, bandwidth 36 of 38" */
static void write_probes(const struct as_overview *o, const struct as_report_run *run,
                         const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    for (size_t i = 0; i < o->probes_n; i++) {
        const struct as_overview_probe *p = &o->probes[i];
        if (!p->measured)
            continue;
        as_buf_str(&line, line.len ? ", " : "");
        as_buf_terminal(&line, p->name);
        as_buf_printf(&line, p->valid < p->measured ? " %zu (%zu rejected)" : " %zu", p->measured,
                      p->measured - p->valid);
    }
    if (line.len) {
        as_text_title(out, "Measurements by probe", style);
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
        as_buf_printf(out, "List a probe's measurements: assay show %lld PROBE\n", (long long)run->run.id);
    }
    out->failed |= line.failed;
    as_buf_finish(&line);
}

/* "opencl:0: name of it" over the facts of a device where there are several. */
static void write_device(const char *id, const char *name, const struct as_table_style *style, struct as_buf *out)
{
    char lead[48];
    snprintf(lead, sizeof lead, "%s%s", id, name[0] ? ": " : "");
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_line(out, lead, name, 0, 0, style);
    as_paint_off(out, AS_PAINT_STRONG, style);
}

void as_text_left_out(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_str(&line, "Numbers and facts from ");
    as_buf_terminal(&line, run->left_out);
    as_buf_printf(&line, " are left out here: 'assay facts %lld' reads every measurement", (long long)run->run.id);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    out->failed |= line.failed;
    as_buf_finish(&line);
}

static void write_worth(const struct as_worth *w, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, text = AS_BUF_INIT;
    as_worth_text(w, &text);
    as_buf_terminal(&line, as_buf_get(&text));
    as_buf_str(out, style->unicode ? "• " : "- ");
    as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    out->failed |= line.failed || text.failed;
    as_buf_finish(&line);
    as_buf_finish(&text);
}

bool as_text_worth(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    struct as_worth faults[AS_WORTH_FAULTS_MAX], worth[AS_WORTH_MAX];
    bool written[AS_WORTH_MAX] = {false};
    const size_t faults_n = as_worth_faults(run, faults, AS_WORTH_FAULTS_MAX),
                 n = as_worth_knowing(run, worth, AS_WORTH_MAX);
    if (faults_n || n)
        as_text_title(out, "Worth knowing", style);
    for (size_t i = 0; i < faults_n; i++)
        write_worth(&faults[i], style, out);
    for (size_t i = 0; i < n; i++) {
        const char *device = worth[i].fact->device;
        if (!written[i] && run->devices_n > 1)
            write_device(device, as_report_device_name(run, device), style, out);
        for (size_t k = i; k < n; k++)
            if (!written[k] && strcmp(worth[k].fact->device, device) == 0) {
                write_worth(&worth[k], style, out);
                written[k] = true;
            }
    }
    return faults_n || n;
}

bool as_text_same_hardware(const struct as_report_run *run, const char *device, const struct as_table_style *style,
                           struct as_buf *out)
{
    const char *representative = as_hardware_representative_id(run, device);
    struct as_buf text = AS_BUF_INIT, line = AS_BUF_INIT;
    if (!representative)
        return false;
    as_buf_printf(&text, "%s drives the same hardware as %s; for the data sheet of %s see 'assay report'.", device,
                  representative, device);
    as_buf_terminal(&line, as_buf_get(&text));
    as_buf_char(out, '\n');
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    out->failed |= text.failed || line.failed;
    as_buf_finish(&text);
    as_buf_finish(&line);
    return true;
}

static void write_facts(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    const bool titled = as_text_worth(run, style, out);
    if (run->facts_n)
        as_buf_printf(out, "%s%zu fact%s: assay facts %lld\n", titled ? "" : "\n", run->facts_n,
                      run->facts_n == 1 ? "" : "s", (long long)run->run.id);
    if (run->left_out)
        as_text_left_out(run, style, out);
}

/* What is not listed by its reason. */
struct unlisted {
    const char *probes[AS_MISSING_PROBES];
    size_t n, cells;
};

static void unlisted_add(struct unlisted *u, const struct as_missing_reason *r)
{
    u->cells += r->cells;
    for (size_t p = 0; p < r->probes_n; p++) {
        size_t k = 0;
        while (k < u->n && strcmp(u->probes[k], r->probes[p]) != 0)
            k++;
        if (k == u->n && k < AS_MISSING_PROBES)
            u->probes[u->n++] = r->probes[p];
    }
}

/* "and 14 measurements of c2c, latency for other reasons: assay show PROBE" */
static void unlisted_text(const struct unlisted *u, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    if (!u->cells)
        return;
    as_buf_printf(&line, "and %zu measurement%s of ", u->cells, u->cells == 1 ? "" : "s");
    for (size_t p = 0; p < u->n; p++) {
        as_buf_str(&line, p ? ", " : "");
        as_buf_terminal(&line, u->probes[p]);
    }
    as_buf_printf(&line, " for other reasons: assay show %s", u->n == 1 ? u->probes[0] : "PROBE");
    as_buf_str(out, "  ");
    as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    out->failed |= line.failed;
    as_buf_finish(&line);
}

enum as_status as_text_missing(const struct as_missing *missing, size_t most, const struct as_table_style *style,
                               struct as_buf *out, struct as_error *err)
{
    struct unlisted more = {.n = 0};
    if (!missing->n)
        return AS_OK;
    as_text_title(out, "Rejected or not measured", style);
    struct as_buf line = AS_BUF_INIT;
    for (size_t k = 0; k < missing->n; k++) {
        const struct as_missing_reason *r = &missing->reasons[k];
        if (k >= most) {
            unlisted_add(&more, r);
            continue;
        }
        const struct as_cell *c = &r->first;
        as_buf_clear(&line);
        for (size_t p = 0; p < r->probes_n; p++) {
            as_buf_str(&line, p ? ", " : "");
            as_buf_terminal(&line, r->probes[p]);
        }
        as_buf_char(&line, ' ');
        as_buf_terminal(&line, c->device);
        as_buf_printf(&line, ": %zu %s%s%s", r->cells, as_cell_status_said(c->status), c->reason[0] ? ": " : "",
                      c->status == AS_CELL_REJECTED && r->cells > 1 ? "for example " : "");
        as_buf_terminal(&line, c->reason);
        as_buf_str(out, style->unicode ? "• " : "- ");
        as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    }
    unlisted_add(&more, &missing->more);
    unlisted_text(&more, style, out);
    enum as_status st = as_buf_check(&line, err);
    as_buf_finish(&line);
    return st;
}

/* Devices of one host mostly have the same ones. */
void as_text_caveats(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    const char *last = "";
    for (size_t i = 0; i < run->devices_n; i++) {
        const struct as_device_info *d = &run->devices[i];
        if (!d->caveats[0] || strcmp(d->caveats, last) == 0)
            continue;
        last = d->caveats;
        as_text_line(out, "Note: ", d->caveats, 0, 6, style);
    }
}

static void terminal_write_head(const struct as_report_run *run, const struct as_overview *o,
                                const struct as_table_style *style, struct as_buf *out)
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
    if (r->state == AS_RUN_INTERRUPTED)
        as_buf_printf(&line, "; 'assay resume %lld' continues it", (long long)r->id);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    for (size_t i = 0; i < run->devices_n; i++) {
        char lead[48];
        snprintf(lead, sizeof lead, "%s: ", run->devices[i].id);
        as_text_line(out, lead, as_info_title(&run->devices[i]), 2, 0, style);
    }
    as_text_caveats(run, style, out);
    as_buf_printf(out, "%zu measurement%s: ", o->cells, o->cells == 1 ? "" : "s");
    const char *lead = "";
    for (int s = 0; s < AS_CELL_STATUS_N; s++)
        if (o->by_status[s]) {
            as_buf_printf(out, "%s%zu %s", lead, o->by_status[s], as_cell_status_said((enum as_cell_status)s));
            lead = ", ";
        }
    as_buf_char(out, '\n');
    if (run->against_earlier)
        as_text_line(out, "Note: ", run->against_earlier, 0, 6, style);
    as_buf_finish(&line);
}

static enum as_status look_at_cells(const struct as_report_run *run, struct as_overview *o, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < run->cells_n && !st; i++)
        st = as_overview_add(o, &run->cells[i], (int64_t)i, err);
    return st;
}

enum as_status as_report_terminal(const struct as_report_run *run, const char *device,
                                  const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    enum { MISSING_MAX = 2 };
    struct as_overview own = {0};
    const struct as_overview *o = run->overview ? run->overview : &own;
    enum as_status st = run->overview ? AS_OK : look_at_cells(run, &own, err);
    if (!st)
        terminal_write_head(run, o, style, out);
    const size_t head = out->len;
    if (!st)
        st = as_text_sheet(run, device, style, out, err);
    if (!st && out->len > head)
        as_text_fill(out, AS_WITHIN_RUN, style->width, 0, 0);
    if (!st) {
        as_text_pairs_summary(run, style, out);
        write_facts(run, style, out);
    }
    if (!st && o->probes_n == 1 && o->cells <= AS_TEXT_WHOLE_MAX) {
        as_overview_finish(&own);
        return as_report_probe(run, run->cells[0].probe, style, out, err);
    }
    if (!st) {
        write_probes(o, run, style, out);
        st = as_text_backend_pairs(run, style, out, err);
    }
    if (!st)
        st = as_text_missing(&o->missing, MISSING_MAX, style, out, err);
    as_overview_finish(&own);
    return st ? st : as_buf_check(out, err);
}
