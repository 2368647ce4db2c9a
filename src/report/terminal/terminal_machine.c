/* A machine in the terminal: its data sheet over all its runs. */
#include "base/clock.h"
#include "base/text.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <string.h>

/* "4 runs since 2026-11-24T14:02:00Z, the last run 12 (quick)" */
static void write_rests_on(const struct as_machine_runs *m, struct as_buf *line)
{
    const struct as_machine_run *first = as_machine_run_merged(m, m->merged - 1);
    char since[32];
    as_format_wall(first ? first->started_at : NAN, since, sizeof since);
    as_buf_printf(line, "%zu run%s since %s", m->merged, m->merged == 1 ? "" : "s", since);
    as_buf_printf(line, ", %srun %lld (", m->merged > 1 ? "the last " : "", (long long)m->last.run.id);
    as_buf_terminal(line, m->last.run.suite);
    as_buf_char(line, ')');
}

static void write_prior(const struct as_machine_runs *m, const struct as_table_style *style, struct as_buf *out)
{
    if (m->merged > 1)
        return;
    as_text_fill(out,
                 m->sheet.virtual_machine
                     ? "From one run, ± and 'another run' assume what runs of another guest on a shared host vary by; "
                       "for GPUs 0.5%. A second run measures it."
                     : "From one run, ± and 'another run' assume that runs vary by 0.5%: no series of runs of such a "
                       "machine is known. A second run measures it.",
                 style->width, 0, 0);
}

static void write_machine_head(const struct as_machine_runs *m, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_terminal(&line, m->last.run.host);
    as_buf_str(&line, ": ");
    write_rests_on(m, &line);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    as_buf_clear(&line);
    if (m->since[0]) {
        as_buf_printf(&line, "%zu earlier run%s not joined, since the machine changed before ", m->n - m->merged,
                      m->n - m->merged == 1 ? " is" : "s are");
        if (m->n == m->merged) { /* a device of theirs */
            as_buf_clear(&line);
            as_buf_str(&line, "Numbers of a device start anew, since it changed before ");
        }
        as_text_line(out, as_buf_get(&line), m->since, 0, 2, style);
    }
    if (m->older)
        as_buf_printf(out, "%zu older run%s not read\n", m->older, m->older == 1 ? " is" : "s are");
    write_prior(m, style, out);
    as_buf_finish(&line);
}

/* What disturbed a device is known of each run; one run is shown by itself. */
static void write_machine_seen(const struct as_machine_runs *m, const char *device, struct as_buf *out)
{
    if (m->merged == 1)
        as_sheet_seen_text(&m->last, device, out);
}

static void write_machine_further(const struct as_machine_runs *m, const struct as_table_style *style,
                                  struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    if (m->merged > 1)
        as_buf_str(&line, "±: 95% interval of the machine; 'another run': 95% of further runs lie within; further "
                          "numbers in a line are of the last run that measured it. ");
    if (line.len)
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_text_worth(&m->last, 4, style, out);
    as_buf_printf(out, "\nRun %lld by itself:  assay show %lld\nOver time:         assay history\n",
                  (long long)m->last.run.id, (long long)m->last.run.id);
    as_buf_finish(&line);
}

enum as_status as_text_machine(const struct as_machine_runs *m, const struct as_table_style *style, struct as_buf *out,
                               struct as_error *err)
{
    enum as_status st = AS_OK;
    struct as_buf seen = AS_BUF_INIT;
    write_machine_head(m, style, out);
    for (size_t i = 0; i < m->sheet.n && !st; i++) {
        as_buf_clear(&seen);
        write_machine_seen(m, m->sheet.v[i].id, &seen);
        st = as_text_device_sheet(&m->sheet.v[i], as_buf_get(&seen), style, out, err);
    }
    if (!st)
        write_machine_further(m, style, out);
    as_buf_finish(&seen);
    return st ? st : as_buf_check(out, err);
}
