/* What differs between two runs: the first section of a page that compares them. */
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/sheet/sheet_check.h"

#include <math.h>
#include <string.h>

/* As for 'assay compare'. */
static const double TOLERANCE = 0.03;
/* Relative: less does not change a number of three digits. */
static const double CLOCKS_APART = 0.0005;

static void verdict_add_counts(struct as_page *p, const struct as_check *c)
{
    struct as_buf *b = p->out;
    const size_t *n = c->counts, differ = n[AS_CHECK_BETTER] + n[AS_CHECK_WORSE];
    const size_t compared = differ + n[AS_CHECK_SAME] + n[AS_CHECK_UNDECIDED];
    const bool is_same_run = as_run_is_same(&p->runs[0].run, &p->runs[1].run);
    as_html_open(b, "p", "lead");
    if (is_same_run)
        as_buf_str(b, "Both are the same run.");
    else if (!compared)
        as_buf_str(b, "The runs have no line of the data sheet in common.");
    else if (differ)
        as_buf_printf(b,
                      "The second run is better in %zu and worse in %zu of %zu lines of the data sheet, by more than "
                      "%.0f%%",
                      n[AS_CHECK_BETTER], n[AS_CHECK_WORSE], compared, 100 * TOLERANCE);
    else
        as_buf_printf(b, "None of %zu lines of the data sheet differs by more than %.0f%%", compared, 100 * TOLERANCE);
    if (!is_same_run && compared)
        as_buf_printf(b, "; %zu are the same, %zu inconclusive.", n[AS_CHECK_SAME], n[AS_CHECK_UNDECIDED]);
    as_html_close(b, "p");
}

/* The second run's row at the clock of the first, as its ratio is. */
static struct as_sheet_row verdict_carried(const struct as_sheet_row *row, double carry)
{
    struct as_sheet_row out = *row;
    out.value *= carry;
    out.ci = (struct as_interval){row->ci.lo * carry, row->ci.hi * carry};
    for (size_t i = 0; i < sizeof out.mode / sizeof *out.mode; i++)
        out.mode[i] *= carry;
    return out;
}

/* Returns whether the second run's number was carried over to another clock. */
static bool verdict_add_line(struct as_buf *b, const struct as_check_line *line, const struct as_machine_sheet *from,
                             const struct as_machine_sheet *to)
{
    const double carry = as_machine_sheet_carry(line->now, from->clock_hz, to->clock_hz);
    const struct as_sheet_row carried = verdict_carried(line->now, carry);
    const struct as_number base = as_sheet_number(line->base), now = as_sheet_number(&carried);
    const struct as_number ratio = {.value = line->comparison.ratio, .ci = line->comparison.differ, .unit = "x"};
    struct as_buf name = AS_BUF_INIT;
    as_buf_printf(&name, "%s %s", line->base->title, line->base->label);
    as_html_row(b, NULL, line->device->id);
    as_html_cell(b, "l", as_buf_get(&name));
    as_html_open(b, "td", NULL);
    as_page_number(b, &base);
    as_html_open(b, "td", NULL);
    as_page_number(b, &now);
    as_html_open(b, "td", NULL);
    as_page_number(b, &ratio);
    as_html_cell(b, line->verdict == AS_CHECK_WORSE ? "worse" : "better", as_check_verdict_word(line->verdict));
    as_buf_char(b, '\n');
    as_buf_finish(&name);
    return fabs(carry - 1) > CLOCKS_APART;
}

/* The probe of the measurement that a line rests on, for the pictures. */
static void verdict_note_probe(struct as_page *p, const struct as_check_line *line)
{
    const struct as_cell *c = as_report_cell(&p->runs[0], line->base->cell);
    for (size_t i = 0; c && i < p->differ_n; i++)
        if (strcmp(p->differ[i], c->probe) == 0)
            return;
    if (c && p->differ_n < AS_PAGE_DIFFER_MAX)
        p->differ[p->differ_n++] = c->probe;
}

static void verdict_add_lines(struct as_page *p, const struct as_check *c, const struct as_machine_sheet *base,
                              const struct as_machine_sheet *now)
{
    bool carried = false;
    if (!c->counts[AS_CHECK_BETTER] && !c->counts[AS_CHECK_WORSE])
        return;
    as_html_table(p->out, "scroll", "figures", "What differs", "device", "<quantity", "first", "second", "ratio",
                  "verdict", NULL);
    as_html_body(p->out);
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].verdict == AS_CHECK_BETTER || c->v[i].verdict == AS_CHECK_WORSE) {
            verdict_note_probe(p, &c->v[i]);
            carried |= verdict_add_line(p->out, &c->v[i], now, base);
        }
    as_html_table_end(p->out);
    if (carried) {
        as_html_open(p->out, "p", "meta");
        as_buf_str(p->out, "Numbers that scale with the core clock are scaled to that of the first run, ");
        as_page_value(p->out, base->clock_hz, "Hz");
        as_buf_char(p->out, '.');
        as_html_close(p->out, "p");
    }
}

enum as_status as_page_verdict(struct as_page *p)
{
    struct as_machine_sheet base = {.n = 0}, now = {.n = 0};
    struct as_check check = {.v = NULL};
    if (p->n != 2)
        return AS_OK;
    enum as_status st = as_machine_sheet_make(&p->runs[0], &base, p->err);
    if (!st)
        st = as_machine_sheet_make(&p->runs[1], &now, p->err);
    if (!st)
        st = as_sheet_check(&base, &now, TOLERANCE, &check, p->err);
    if (!st) {
        as_html_section(p->out, "verdict", "Verdict", NULL);
        verdict_add_counts(p, &check);
        verdict_add_lines(p, &check, &base, &now);
        as_html_section_end(p->out);
    }
    as_check_finish(&check);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&now);
    return st;
}
