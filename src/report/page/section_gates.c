/* Gates with their results, and cells without a value with the reason. */
#include "report/page/markup.h"
#include "report/page/page.h"

#include <stdlib.h>
#include <string.h>

static void gate_counts(const struct as_page *p, enum as_gate g, size_t counts[static 3])
{
    memset(counts, 0, 3 * sizeof *counts);
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].cells_n; i++)
            if (as_report_is_measured(&p->runs[r].cells[i]))
                counts[p->runs[r].cells[i].gates[g].state]++;
}

/* Up to three of the cells that a gate failed, with what it said. */
static void examples(struct as_page *p, enum as_gate g)
{
    struct as_buf *b = p->out;
    size_t shown = 0;
    for (size_t r = 0; r < p->n; r++) {
        for (size_t i = 0; i < p->runs[r].cells_n && shown < 3; i++) {
            const struct as_cell *c = &p->runs[r].cells[i];
            if (!as_report_is_measured(c) || c->gates[g].state != AS_GATE_FAIL)
                continue;
            if (shown++ == 0)
                as_html_open(b, "ul", NULL);
            as_html_open(b, "li", NULL);
            as_html_cell_linkf(b, c->id, "measurement %lld", (long long)c->id);
            as_buf_char(b, ' ');
            as_buf_html(b, c->gates[g].text);
            as_html_close(b, "li");
        }
    }
    if (shown)
        as_html_close(b, "ul");
}

void as_page_gates(struct as_page *p)
{
    struct as_buf *b = p->out;
    as_html_fold(
        b, "gates", "Gates",
        "A number is valid when its measurement passed every gate that applies. A rejected number is kept, drawn "
        "hollow, and never used for a fact.");
    as_html_table(b, "scroll", "gates", "Gates", "gate", "passes when", "passed", "failed", "does not apply", NULL);
    as_html_body(b);
    for (int g = 0; g < AS_GATE_N; g++) {
        size_t n[3];
        gate_counts(p, (enum as_gate)g, n);
        as_html_row(b, NULL, as_gate_name((enum as_gate)g));
        as_html_cell(b, NULL, as_gate_help((enum as_gate)g));
        if (n[AS_GATE_FAIL])
            examples(p, (enum as_gate)g);
        as_html_cellf(b, NULL, "%zu", n[AS_GATE_PASS]);
        as_html_cellf(b, n[AS_GATE_FAIL] ? "failed" : NULL, "%zu", n[AS_GATE_FAIL]);
        as_html_cellf(b, NULL, "%zu\n", n[AS_GATE_NA]);
    }
    as_html_table_end(b);
    as_html_fold_end(b);
}

static int by_reason(const void *pa, const void *pb)
{
    const struct as_cell *a = *(const struct as_cell *const *)pa, *b = *(const struct as_cell *const *)pb;
    int c = strcmp(a->probe, b->probe);
    if (c == 0)
        c = strcmp(a->device, b->device);
    if (c == 0)
        c = (int)a->status - (int)b->status;
    if (c == 0)
        c = strcmp(a->reason, b->reason);
    return c ? c : (a->index > b->index) - (a->index < b->index);
}

static bool gates_same_reason(const struct as_cell *a, const struct as_cell *b)
{
    return strcmp(a->probe, b->probe) == 0 && strcmp(a->device, b->device) == 0 && a->status == b->status &&
           strcmp(a->reason, b->reason) == 0;
}

enum { SHOWN_CELLS = 6 };

static void missing_row(struct as_buf *b, const struct as_cell *const *cells, size_t n)
{
    const struct as_cell *c = cells[0];
    const struct as_probe *probe = as_probe_find(c->probe);
    as_html_row(b, NULL, c->probe);
    as_html_cell(b, NULL, c->device);
    as_html_cell(b, NULL, as_cell_status_said(c->status));
    as_html_cell(b, NULL,
                 c->reason[0]                   ? c->reason
                 : c->status == AS_CELL_PLANNED ? "the run ended before its first trial"
                                                : "no reason was stored");
    as_html_cellf(b, NULL, "%zu", n);
    as_html_open(b, "td", NULL);
    as_html_open(b, "ul", NULL);
    for (size_t i = 0; i < n && i < SHOWN_CELLS; i++) {
        as_html_tag(b, "li", "id='c%lld'", (long long)cells[i]->id);
        as_page_axes(b, probe, &cells[i]->axes);
    }
    if (n > SHOWN_CELLS) {
        as_html_open(b, "li", NULL);
        as_buf_printf(b, "and %zu more", n - SHOWN_CELLS);
    }
    as_html_close(b, "ul");
}

enum as_status as_page_missing(struct as_page *p)
{
    struct as_buf *b = p->out;
    size_t n = 0, total = 0;
    for (size_t r = 0; r < p->n; r++)
        total += p->runs[r].cells_n;
    const struct as_cell **cells = calloc(total ? total : 1, sizeof *cells);
    if (!cells)
        return as_nomem(p->err, total * sizeof *cells, "measurements without numbers");
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].cells_n; i++)
            if (!as_report_is_measured(&p->runs[r].cells[i]))
                cells[n++] = &p->runs[r].cells[i];
    qsort(cells, n, sizeof *cells, by_reason);
    as_html_fold(b, "missing", "Not measured", NULL);
    if (n == 0) {
        as_html_paragraph(b, "lead", total ? "Every planned measurement has a result." : "Nothing was planned.");
    } else {
        as_html_paragraphf(b, "lead", "%zu of %zu planned measurements have no result.", n, total);
        as_html_table(b, "scroll", "missing", "Measurements without a result", "probe", "device", "status", "why",
                      "measurements", "which", NULL);
        as_html_body(b);
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && gates_same_reason(cells[i], cells[end]);)
                end++;
            missing_row(b, &cells[i], end - i);
        }
        as_html_table_end(b);
    }
    as_html_fold_end(b);
    free((void *)cells);
    return AS_OK;
}
