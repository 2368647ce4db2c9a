/* A machine in the terminal: its data sheet over all its runs. */
#include "base/clock.h"
#include "base/text.h"
#include "model/number.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs that measured some cells of another again. */
static size_t count_again(const struct as_machine_runs *m, const bool used[AS_MACHINE_RUNS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->v[i].is_again && m->v[i].merged != SIZE_MAX && used[m->v[i].merged];
    return n;
}

/* "4 runs since 2026-11-24T14:02:00Z"; returns how many. device NULL: of all. */
static size_t write_runs(const struct as_machine_runs *m, const struct as_device_sheet *device, struct as_buf *line)
{
    bool used[AS_MACHINE_RUNS_MAX];
    const size_t n = as_machine_runs_used(m, device, used);
    const struct as_machine_run *first = NULL;
    char since[32];
    for (size_t i = m->n; i > 0; i--)
        if (m->v[i - 1].merged != SIZE_MAX && used[m->v[i - 1].merged])
            first = &m->v[i - 1];
    as_format_wall(first ? first->started_at : NAN, since, sizeof since);
    const size_t again = count_again(m, used), whole = n - again;
    if (whole || !again)
        as_buf_printf(line, "%zu run%s", whole, whole == 1 ? "" : "s");
    if (again)
        as_buf_printf(line, "%s%zu repeat%s of some measurements", whole ? " and " : "", again, again == 1 ? "" : "s");
    as_buf_printf(line, " since %s", since);
    return n;
}

/* The last run, without those that measured some of its cells again. */
static const struct as_machine_run *last_run(const struct as_machine_runs *m)
{
    for (size_t i = m->n; i > 0; i--)
        if (!m->v[i - 1].is_again)
            return &m->v[i - 1];
    return &m->v[m->n - 1];
}

/* Does a device rest on one run? */
static bool has_prior(const struct as_machine_runs *m)
{
    bool used[AS_MACHINE_RUNS_MAX], has = false;
    for (size_t i = 0; i < m->sheet.n; i++)
        has |= m->sheet.v[i].sheet.n && as_machine_runs_used(m, &m->sheet.v[i], used) == 1;
    return has;
}

static void write_prior(const struct as_machine_runs *m, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    if (!has_prior(m))
        return;
    as_machine_runs_assumed(m, style->unicode ? "± and 'another run' assume" : "+- and 'another run' assume", &text);
    as_text_fill(out, as_buf_get(&text), style->width, 0, 0);
    as_buf_finish(&text);
}

/* Why some lines do not say where another run lies. */
static void write_not_yet_known(const struct as_machine_runs *m, const struct as_table_style *style, struct as_buf *out)
{
    bool any = false;
    for (size_t d = 0; d < m->sheet.n; d++)
        for (size_t i = 0; i < m->sheet.v[d].sheet.n && m->sheet.v[d].runs; i++) {
            const struct as_interval another = m->sheet.v[d].runs[i].another;
            any |= isfinite(another.lo) && !as_number_predicts(another);
        }
    if (any)
        as_text_fill(out, AS_NOT_YET_KNOWN ": too few trials or runs to say where another run lies", style->width, 0,
                     0);
}

/* The clock to which numbers that follow it were carried over. */
static void write_clock(const struct as_machine_runs *m, struct as_buf *line)
{
    bool follows = false;
    for (size_t d = 0; d < m->sheet.n; d++)
        for (size_t i = 0; i < m->sheet.v[d].sheet.n; i++)
            follows |= m->sheet.v[d].sheet.rows[i].clock_exponent > 0;
    if (!follows || !(m->sheet.clock_hz > 0))
        return;
    as_buf_str(line, ", numbers at a core clock of ");
    as_format_value(line, m->sheet.clock_hz, "Hz");
}

static void write_machine_head(const struct as_machine_runs *m, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    const struct as_machine_run *last = last_run(m);
    as_buf_terminal(&line, m->fullest.run.host);
    as_buf_str(&line, ": ");
    write_runs(m, NULL, &line);
    as_buf_printf(&line, ", the last run %lld (", (long long)last->id);
    as_buf_terminal(&line, last->suite);
    as_buf_char(&line, ')');
    write_clock(m, &line);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    if (m->since[0])
        as_text_line(out, "Earlier numbers are left out, since the machine or assay changed with ", m->since, 0, 2,
                     style);
    if (m->older)
        as_buf_printf(out, "%zu older run%s not read\n", m->older, m->older == 1 ? " is" : "s are");
    if (m->unread) {
        char lead[80];
        snprintf(lead, sizeof lead, "%zu earlier run%s cannot be read, and %s left out: ", m->unread,
                 m->unread == 1 ? "" : "s", m->unread == 1 ? "is" : "are");
        as_text_line(out, lead, m->unread_why, 2, 0, style);
    }
    as_text_caveats(&m->fullest, style, out);
    write_prior(m, style, out);
    as_buf_finish(&line);
}

/* In how many of the CPU's runs others used CPUs. */
static void write_others(const struct as_machine_runs *m, const bool used[AS_MACHINE_RUNS_MAX], size_t runs,
                         struct as_buf *out)
{
    size_t beside = 0;
    double most = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct as_machine_run *run = &m->v[i];
        if (run->merged == SIZE_MAX || !used[run->merged] || !(run->others_cpus > AS_OTHERS_MAX))
            continue;
        beside++;
        most = fmax(most, run->others_cpus);
    }
    if (beside)
        as_buf_printf(out, "%sother processes or guests used %s%.1f CPUs in %zu of %zu runs", out->len ? "; " : "",
                      beside > 1 ? "up to " : "", most, beside, runs);
}

/* What was seen beside one run, and how many runs a device has if others have more. */
static void write_device_runs(const struct as_machine_runs *m, const struct as_device_sheet *d, struct as_buf *out)
{
    bool used[AS_MACHINE_RUNS_MAX];
    const size_t all = as_machine_runs_used(m, NULL, used), own = as_machine_runs_used(m, d, used);
    if (own && own < all)
        write_runs(m, d, out);
    const struct as_device_info *info = as_report_device(&m->fullest, d->id);
    if (all == 1)
        as_sheet_seen_text(&m->fullest, d->id, out);
    else if (info && info->capabilities & AS_CAP_HOST_KERNELS)
        write_others(m, used, own, out);
}

static void write_machine_further(const struct as_machine_runs *m, bool no_room, const struct as_table_style *style,
                                  struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    const long long last = last_run(m)->id;
    bool used[AS_MACHINE_RUNS_MAX];
    if (as_machine_runs_used(m, NULL, used) > 1) {
        as_buf_printf(&line,
                      "%s: 95%% interval of the machine; %s other numbers in a line are from the last run that "
                      "measured it.",
                      style->unicode ? "±" : "+-",
                      no_room ? "a wider terminal also shows where another run lies;"
                              : "'another run': 95% of future runs of equal precision lie within;");
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    }
    if (!no_room)
        write_not_yet_known(m, style, out);
    as_text_worth(&m->fullest, style, out);
    if (m->fullest.left_out)
        as_text_left_out(&m->fullest, style, out);
    as_buf_printf(out, "\nRun %lld by itself:  assay show %lld\nOver time:  assay history\n", last, last);
    as_buf_finish(&line);
}

static enum as_status write_sheets(const struct as_machine_runs *m, const char *device,
                                   const struct as_table_style *style, struct as_buf *out, bool *no_room,
                                   struct as_error *err)
{
    const size_t n = m->sheet.n;
    struct as_text_sheet *sheets = calloc(n + 1, sizeof *sheets);
    struct as_buf *seen = calloc(n + 1, sizeof *seen);
    enum as_status st = sheets && seen ? AS_OK : as_nomem(err, n * sizeof *sheets, "data sheets");
    for (size_t i = 0; i < n && !st; i++) {
        seen[i] = (struct as_buf)AS_BUF_INIT;
        write_device_runs(m, &m->sheet.v[i], &seen[i]);
        sheets[i] = (struct as_text_sheet){&m->sheet.v[i], as_buf_get(&seen[i]), true};
    }
    if (!st)
        st = as_text_sheets(&m->fullest, sheets, n, device, style, out, no_room, err);
    for (size_t i = 0; seen && i < n; i++)
        as_buf_finish(&seen[i]);
    free(seen);
    free(sheets);
    return st;
}

enum as_status as_text_machine(const struct as_machine_runs *m, const char *device, const struct as_table_style *style,
                               struct as_buf *out, struct as_error *err)
{
    bool no_room = false;
    write_machine_head(m, style, out);
    const enum as_status st = write_sheets(m, device, style, out, &no_room, err);
    if (!st) {
        as_text_pairs_summary(&m->fullest, style, out);
        write_machine_further(m, no_room, style, out);
    }
    return st ? st : as_buf_check(out, err);
}
