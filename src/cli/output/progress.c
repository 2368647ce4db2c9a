#include "cli/output/progress.h"

#include "base/text.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <string.h>

static const double beat_s = 10;    /* between lines where there is no terminal */
static const double redraw_s = 0.1; /* faster updates are unreadable, and writing disturbs the measurement */

/* Moves to the first line of what is on the terminal. A terminal that was made narrower since may have broken lines in
 * two: then the upper ones stay, and nothing above them is overwritten. */
static void progress_go_up(struct as_progress *p, struct as_buf *out)
{
    if (!p->shown)
        return;
    as_buf_char(out, '\r');
    const unsigned most = p->height > 1 ? p->height - 1 : 0;
    const unsigned up = p->above < most ? p->above : most;
    if (up)
        as_buf_printf(out, "\x1b[%uA", up);
}

static void progress_clear(struct as_progress *p, struct as_buf *out)
{
    progress_go_up(p, out);
    if (p->shown)
        as_buf_str(out, "\x1b[J");
    p->shown = false;
    p->above = 0;
}

double as_progress_share(const struct as_event *e)
{
    if (isfinite(e->eta_s) && e->elapsed_s + e->eta_s > 0)
        return e->elapsed_s / (e->elapsed_s + e->eta_s);
    return e->cells_total ? (double)e->cells_done / (double)e->cells_total : 0;
}

/* "42%, 24 s left | Memory read: 77.5 GB/s" */
static void progress_say(const struct as_progress *p, const struct as_event *e, const struct as_live *live,
                         struct as_buf *line)
{
    const char *bar = p->unicode ? " │ " : " | ";
    as_buf_printf(line, "%.0f%%", floor(100 * as_progress_share(e)));
    if (e->eta_s > 0) {
        as_buf_str(line, ", ");
        as_format_duration(line, ceil(e->eta_s));
        as_buf_str(line, " left");
    }
    if (e->cells_done >= e->cells_total)
        as_buf_str(line, ", narrowing intervals");
    if (p->hidden)
        as_buf_printf(line, ", %zu more lines at the end", p->hidden);
    if (e->cell) {
        as_buf_str(line, bar);
        as_live_name(live, e->cell, line);
    }
    const struct as_probe *probe = e->cell ? as_probe_find(e->cell->probe) : NULL;
    if (e->cell && !(probe && probe->hidden) && e->cell->sum.n && isfinite(e->cell->sum.median) &&
        e->cell->status != AS_CELL_REJECTED) {
        as_buf_str(line, ": ");
        as_format_value(line, e->cell->sum.median, e->cell->unit);
    }
}

/* The block of the data sheet, each line over the one that was there. */
static void progress_draw_sheet(struct as_progress *p, const struct as_live *live, struct as_buf *out)
{
    struct as_buf block = AS_BUF_INIT;
    const struct as_live_size size = as_live_block(live, p->width - 1, p->height > 2 ? p->height - 2 : 0, &block);
    progress_go_up(p, out);
    for (const char *at = as_buf_get(&block), *end; (end = strchr(at, '\n')); at = end + 1) {
        as_buf_add(out, at, (size_t)(end - at));
        as_buf_str(out, "\x1b[K\n");
    }
    p->above = size.rows;
    p->hidden = size.hidden;
    out->failed |= block.failed;
    as_buf_finish(&block);
}

static void progress_draw(struct as_progress *p, const struct as_event *e, const struct as_live *live, bool changed,
                          struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, safe = AS_BUF_INIT, cut = AS_BUF_INIT;
    if (live && (changed || (!p->shown && live->n)))
        progress_draw_sheet(p, live, out);
    else
        as_buf_str(out, p->shown ? "\r" : "");
    progress_say(p, e, live, &line);
    as_buf_terminal(&safe, as_buf_get(&line));
    /* the last column stays free: a full line would wrap on some terminals and could not be redrawn */
    as_text_cut(&cut, as_buf_get(&safe), p->width - 1, p->unicode);
    as_buf_str(out, as_buf_get(&cut));
    as_buf_str(out, "\x1b[J");
    p->shown = true;
    p->drawn_at = e->elapsed_s;
    as_buf_finish(&line);
    as_buf_finish(&safe);
    as_buf_finish(&cut);
}

/* Without a terminal: a line where nothing else came for a while. */
static void progress_beat(struct as_progress *p, const struct as_event *e, bool is_new, const struct as_live *live,
                          struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    if (!is_new && e->elapsed_s - p->drawn_at >= beat_s && e->kind != AS_EVENT_RUN_END) {
        progress_say(p, e, live, &line);
        as_buf_str(out, "assay: ");
        as_buf_terminal(out, as_buf_get(&line));
        as_buf_char(out, '\n');
        is_new = true;
    }
    if (is_new)
        p->drawn_at = e->elapsed_s;
    as_buf_finish(&line);
}

void as_progress_event(struct as_progress *p, const struct as_event *e, const struct as_live *live, bool changed,
                       const struct as_buf *lines, struct as_buf *out)
{
    if (p->quiet)
        return;
    if (e->kind == AS_EVENT_NOTE) {
        progress_clear(p, out);
        as_buf_str(out, "assay: ");
        as_buf_terminal(out, e->text);
        as_buf_char(out, '\n');
        return;
    }
    if (p->width < 2) {
        if (lines && lines->len)
            as_buf_add(out, lines->data, lines->len);
        progress_beat(p, e, lines && lines->len, live, out);
        return;
    }
    if (e->kind == AS_EVENT_RUN_END)
        progress_clear(p, out);
    else if (changed || !p->shown || !(e->elapsed_s - p->drawn_at < redraw_s))
        progress_draw(p, e, live, changed, out);
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
        as_buf_printf(out, "%s%zu %s", lead, by_status[order[i]], as_cell_status_said(order[i]));
        lead = ", ";
    }
    if (!*lead)
        as_buf_str(out, "no measurements");
}

void as_progress_end(struct as_progress *p, const struct as_run_result *result, double seconds, struct as_buf *out)
{
    if (p->quiet)
        return;
    progress_clear(p, out);
    as_buf_printf(out, "assay: run %lld %s: ", (long long)result->run_id, as_run_state_word(result->state));
    as_progress_counts(result->by_status, out);
    as_buf_str(out, "; took ");
    as_format_duration(out, seconds);
    as_buf_char(out, '\n');
}
