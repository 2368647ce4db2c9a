#include "cli/output/progress.h"

#include "base/text.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <string.h>

static const double redraw_s = 0.1; /* faster updates are unreadable, and writing disturbs the measurement */

static void clear_line(struct as_progress *p, struct as_buf *out)
{
    if (p->shown)
        as_buf_str(out, "\r\x1b[K");
    p->shown = false;
}

/* "latency cpu size=1 MiB", with its number if it has one. */
static void progress_add_cell(const struct as_cell *c, struct as_buf *line)
{
    as_buf_printf(line, "%s %s ", c->probe, c->device);
    as_axes_to_text(&c->axes, line);
    if (c->sum.n && isfinite(c->sum.median) && c->status != AS_CELL_REJECTED) {
        as_buf_str(line, ": ");
        as_format_value(line, c->sum.median, c->unit);
    }
}

/* By time if the ETA is known, else by cells. */
static double share_done(const struct as_event *e)
{
    if (isfinite(e->eta_s) && e->elapsed_s + e->eta_s > 0)
        return e->elapsed_s / (e->elapsed_s + e->eta_s);
    return e->cells_total ? (double)e->cells_done / (double)e->cells_total : 0;
}

static void progress_draw(struct as_progress *p, const struct as_event *e, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, safe = AS_BUF_INIT;
    const char *bar = p->unicode ? " │ " : " | ";
    as_buf_printf(&line, "%.0f%%, ", floor(100 * share_done(e)));
    if (e->cells_done < e->cells_total)
        as_buf_printf(&line, "%zu of %zu cells", e->cells_done, e->cells_total);
    else
        as_buf_str(&line, "narrowing intervals");
    if (isfinite(e->eta_s)) {
        as_buf_str(&line, ", ");
        as_format_duration(&line, ceil(e->eta_s));
        as_buf_str(&line, " left");
    }
    if (e->cell) {
        as_buf_str(&line, bar);
        progress_add_cell(e->cell, &line);
    }
    clear_line(p, out);
    as_buf_terminal(&safe, as_buf_get(&line));
    /* the last column stays free: a full line would wrap on some terminals and could not be redrawn */
    as_text_cut(out, as_buf_get(&safe), p->width - 1, p->unicode);
    p->shown = true;
    p->drawn_at = e->elapsed_s;
    as_buf_finish(&line);
    as_buf_finish(&safe);
}

void as_progress_event(struct as_progress *p, const struct as_event *e, struct as_buf *out)
{
    if (p->quiet)
        return;
    if (e->kind == AS_EVENT_NOTE) {
        clear_line(p, out);
        as_buf_str(out, "assay: ");
        as_buf_terminal(out, e->text);
        as_buf_char(out, '\n');
        return;
    }
    if (p->width < 2)
        return;
    if (e->kind == AS_EVENT_RUN_END)
        clear_line(p, out);
    else if (!p->shown || !(e->elapsed_s - p->drawn_at < redraw_s))
        progress_draw(p, e, out);
}

void as_progress_counts(const size_t by_status[AS_CELL_STATUS_N], struct as_buf *out)
{
    static const enum as_cell_status order[] = {AS_CELL_OK,      AS_CELL_WIDE,    AS_CELL_REJECTED,
                                                AS_CELL_FAILED,  AS_CELL_CRASHED, AS_CELL_TIMEOUT,
                                                AS_CELL_SKIPPED, AS_CELL_PLANNED, AS_CELL_UNSUPPORTED};
    const char *lead = "";
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (by_status[order[i]] == 0)
            continue;
        const char *word = order[i] == AS_CELL_PLANNED ? "not measured" : as_cell_status_word(order[i]);
        as_buf_printf(out, "%s%zu %s", lead, by_status[order[i]], word);
        lead = ", ";
    }
    if (!*lead)
        as_buf_str(out, "no cells");
}

void as_progress_end(struct as_progress *p, const struct as_run_result *result, double seconds, struct as_buf *out)
{
    if (p->quiet)
        return;
    clear_line(p, out);
    as_buf_printf(out, "assay: run %lld %s: ", (long long)result->run_id, as_run_state_word(result->state));
    as_progress_counts(result->by_status, out);
    as_buf_str(out, "; took ");
    as_format_duration(out, seconds);
    as_buf_char(out, '\n');
}
