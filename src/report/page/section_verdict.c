/* What differs between two runs: the first section of a page that compares them. */
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/sheet/runs_compare.h"

#include <stdlib.h>
#include <string.h>

/* The words of 'assay compare'. */
static void verdict_add_counts(struct as_page *p, const struct as_pairs *pairs)
{
    struct as_buf text = AS_BUF_INIT;
    as_html_open(p->out, "p", "lead");
    if (p->against->cells.is_same_run)
        as_buf_str(p->out, "Both are the same run.");
    else {
        as_pairs_text(pairs, &text);
        as_buf_str(&text, "; ");
        as_sheets_compared_text(&p->against->sheets, &text);
        as_buf_html(p->out, as_buf_get(&text));
        as_buf_printf(p->out, ". What differs does so by more than %.4g%%.", 100 * p->tolerance);
    }
    as_html_close(p->out, "p");
    p->out->failed |= text.failed;
    as_buf_finish(&text);
}

/* The second run's number at the clock of the first, as its ratio is. */
static struct as_number verdict_carried(const struct as_number *n, double carry)
{
    struct as_number out = *n;
    out.value *= carry;
    out.ci = (struct as_interval){n->ci.lo * carry, n->ci.hi * carry};
    for (size_t i = 0; i < sizeof out.mode / sizeof *out.mode; i++)
        out.mode[i] *= carry;
    return out;
}

/* Returns whether the second run's number was carried over to another clock. */
static bool verdict_add_line(struct as_buf *b, const struct as_check_line *line, const struct as_machine_sheet *from,
                             const struct as_machine_sheet *to)
{
    const double carry = as_machine_sheet_carry(line->now, from->clock_hz, to->clock_hz);
    const struct as_number now = verdict_carried(&line->now_number, carry);
    const struct as_number ratio = {
        .value = line->comparison.ratio, .ci = as_comparison_interval(&line->comparison), .unit = "x"};
    struct as_buf name = AS_BUF_INIT;
    as_buf_printf(&name, "%s ", line->base->title);
    as_check_line_label(line, &name);
    as_html_row(b, NULL, line->device->id);
    as_html_cell(b, "l", as_buf_get(&name));
    as_html_open(b, "td", NULL);
    as_page_number(b, &line->base_number);
    as_html_open(b, "td", NULL);
    as_page_number(b, &now);
    as_html_open(b, "td", NULL);
    as_page_number(b, &ratio);
    as_html_cell(b, line->verdict == AS_CHECK_WORSE ? "worse" : "better", as_check_verdict_word(line->verdict, false));
    as_buf_char(b, '\n');
    as_buf_finish(&name);
    return as_machine_sheet_is_carried(line->now, from->clock_hz, to->clock_hz);
}

/* The probe of a measurement that differs, for the pictures. */
static void verdict_note_probe(struct as_page *p, const struct as_cell *c)
{
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
            verdict_note_probe(p, as_report_cell(&p->runs[0], c->v[i].base->cell));
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

static void verdict_add_pair(struct as_page *p, const struct as_pair *pair)
{
    struct as_buf *b = p->out;
    const struct as_comparison *by = &pair->comparison;
    const struct as_number ratio = {.value = by->ratio, .ci = as_comparison_interval(by), .unit = "x"};
    as_html_row(b, NULL, pair->a->device);
    as_html_open(b, "td", "l");
    as_buf_html(b, pair->a->probe);
    as_buf_char(b, ' ');
    as_page_axes(b, as_probe_find(pair->a->probe), &pair->a->axes);
    as_html_open(b, "td", NULL);
    as_page_cell_value(b, pair->a);
    as_html_open(b, "td", NULL);
    as_page_cell_value(b, pair->b);
    as_html_open(b, "td", NULL);
    as_page_number(b, &ratio);
    as_html_cell(b, by->verdict == AS_SLOWER ? "worse" : "better", as_verdict_word(by->verdict));
    as_buf_char(b, '\n');
}

/* Measurements that differ, as long as the list can be read. */
enum { PAIRS_LISTED = 20 };

static enum as_status verdict_add_pairs(struct as_page *p, const struct as_pairs *pairs)
{
    const struct as_pair **differ = malloc((pairs->n + 1) * sizeof *differ);
    if (!differ)
        return as_nomem(p->err, pairs->n * sizeof *differ, "measurements that differ");
    const size_t n = as_pairs_differing(pairs, differ), listed = n < PAIRS_LISTED ? n : PAIRS_LISTED;
    for (size_t i = 0; i < n; i++)
        verdict_note_probe(p, differ[i]->a);
    if (n) {
        as_html_details(p->out, "more", "%zu measurement%s", n, n == 1 ? " differs" : "s differ");
        as_html_table(p->out, "scroll", "figures", "Measurements that differ", "device", "<measurement", "first",
                      "second", "ratio", "verdict", NULL);
        as_html_body(p->out);
        for (size_t i = 0; i < listed; i++)
            verdict_add_pair(p, differ[i]);
        as_html_table_end(p->out);
        if (listed < n)
            as_html_paragraphf(p->out, "meta", "These %zu differ most; 'assay compare' lists all.", listed);
        as_html_close(p->out, "details");
    }
    free(differ);
    return AS_OK;
}

enum as_status as_page_verdict(struct as_page *p)
{
    struct as_pairs pairs = {0};
    if (p->n != 2)
        return AS_OK;
    const struct as_sheets_compared *sheets = &p->against->sheets;
    enum as_status st = as_compare_runs(&p->runs[0], &p->runs[1], p->tolerance, -1, &pairs, p->err);
    if (!st) {
        as_html_section(p->out, "verdict", "Verdict", NULL);
        verdict_add_counts(p, &pairs);
        verdict_add_lines(p, &sheets->check, &sheets->a, &sheets->b);
        st = verdict_add_pairs(p, &pairs);
        as_html_section_end(p->out);
    }
    as_pairs_finish(&pairs);
    return st;
}
