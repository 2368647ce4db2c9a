#include "cli/progress.h"

#include "base/text.h"
#include "report/terminal.h"

#include <math.h>
#include <string.h>

static const double redraw_s = 0.1; /* faster updates are unreadable, and writing disturbs the measurement */

static void keep_best(struct as_progress *p, const struct as_cell *c)
{
    const struct as_probe *probe = as_probe_find(c->probe);
    if (c->sum.n == 0 || !isfinite(c->sum.median) || c->status == AS_CELL_REJECTED || (probe && probe->hidden))
        return;
    size_t i = 0;
    while (i < p->best_n && (strcmp(p->best[i].probe, c->probe) != 0 || strcmp(p->best[i].device, c->device) != 0))
        i++;
    if (i == AS_PROGRESS_BEST_MAX)
        return;
    struct as_progress_best *b = &p->best[i];
    if (i < p->best_n && (c->lower_is_better ? c->sum.median >= b->value : c->sum.median <= b->value))
        return;
    if (i == p->best_n)
        p->best_n++;
    as_copy_text(b->probe, sizeof b->probe, c->probe);
    as_copy_text(b->device, sizeof b->device, c->device);
    as_copy_text(b->unit, sizeof b->unit, c->unit);
    b->value = c->sum.median;
}

static void clear_line(struct as_progress *p, struct as_buf *out)
{
    if (p->shown)
        as_buf_str(out, "\r\x1b[K");
    p->shown = false;
}

static bool is_of(const struct as_progress_best *b, const struct as_cell *c)
{
    return strcmp(b->probe, c->probe) == 0 && strcmp(b->device, c->device) == 0;
}

/* What is being measured, with the best number of its probe so far. */
static void add_current(const struct as_progress *p, const struct as_cell *now, struct as_buf *line)
{
    as_buf_printf(line, "%s %s", now->probe, now->device);
    for (size_t i = 0; i < p->best_n; i++)
        if (is_of(&p->best[i], now)) {
            as_buf_str(line, " best ");
            as_format_value(line, p->best[i].value, p->best[i].unit);
        }
    as_buf_str(line, ", now ");
    as_axes_to_text(&now->axes, line);
}

static void add_other_bests(const struct as_progress *p, const struct as_cell *now, const char *bar,
                            struct as_buf *line)
{
    for (size_t i = 0; i < p->best_n; i++) {
        const struct as_progress_best *b = &p->best[i];
        if (now && is_of(b, now))
            continue;
        as_buf_printf(line, "%s%s %s best ", bar, b->probe, b->device);
        as_format_value(line, b->value, b->unit);
    }
}

static void draw(struct as_progress *p, const struct as_event *e, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, safe = AS_BUF_INIT;
    const char *bar = p->unicode ? " │ " : " | ";
    as_buf_printf(&line, "%zu/%zu", e->cells_done, e->cells_total);
    if (e->round > e->rounds)
        as_buf_printf(&line, " measured, narrowing intervals, pass %d", e->round - e->rounds);
    else if (e->rounds > 1 && e->round > 0)
        as_buf_printf(&line, " round %d/%d", e->round, e->rounds);
    if (isfinite(e->eta_s)) {
        as_buf_str(&line, ", ");
        as_format_duration(&line, ceil(e->eta_s));
        as_buf_str(&line, " left");
    }
    if (e->cell) {
        as_buf_str(&line, bar);
        add_current(p, e->cell, &line);
    }
    add_other_bests(p, e->cell, bar, &line);
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
    if (e->kind == AS_EVENT_CELL_END && e->cell)
        keep_best(p, e->cell);
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
        draw(p, e, out);
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
