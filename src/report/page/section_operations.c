/* Operations on the page: a table by kind, published figures, and an entry per operation. */
#include "base/text.h"
#include "report/operations/operations.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct operations {
    struct as_page *page;
    struct as_operation **rows; /* [runs]; owned */
    size_t *n;
};

bool as_page_has_operations(const struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++)
        if (as_operations_any(&p->runs[r]))
            return true;
    return false;
}

static void operations_write_status(struct as_buf *b, const struct as_operation *o)
{
    struct as_buf text = AS_BUF_INIT;
    as_operation_status(o, &text);
    as_buf_html(b, as_buf_get(&text));
    b->failed |= text.failed;
    as_buf_finish(&text);
}

/* With a link to its entry if the operation is known; unknown names may collide as ids. */
static void write_name(struct as_buf *b, const struct as_operation *o)
{
    if (o->word)
        as_html_link(b, AS_OPERATION_ANCHOR, o->name);
    as_buf_html(b, o->name);
    if (o->word)
        as_html_close(b, "a");
}

static void operations_write_table(struct as_page *p, const struct as_report_run *rr, const struct as_operation *rows,
                                   size_t n)
{
    struct as_view_table table;
    as_html_device(p->out, rr, rows->device, p->n > 1);
    as_operations_view(rows, n, &table);
    as_view_page(&table, "operations", "Operations", p->out);
    as_view_finish(&table);
}

/* ---- beside published figures ---- */

static void operations_value(struct as_buf *b, const struct as_cell *c, const char *unit)
{
    struct as_number n = {.value = NAN};
    if (c)
        n = as_number_of_cell(c);
    n.unit = unit;
    as_page_number(b, &n);
}

static void write_published(struct as_page *p, const struct as_report_run *rr, const struct as_operation *o,
                            const struct as_ref *ref, struct as_measure m)
{
    struct as_buf *b = p->out;
    as_html_open(b, "tr", NULL);
    as_html_row_head(b);
    write_name(b, o);
    as_html_ref(b, ref);
    as_html_cell(b, NULL, ref->chip);
    as_html_ref_value(b, ref);
    as_html_open(b, "td", "n");
    as_page_number(b, &(struct as_number){.value = m.value, .ci = m.ci, .unit = ref->unit});
    as_buf_char(b, ' ');
    as_html_text(b, "code", NULL, o->device);
    if (p->n > 1) {
        as_buf_char(b, ' ');
        as_page_run_name(b, &rr->run);
    }
    as_html_cell(b, NULL, ref->conditions);
    as_html_cell(b, NULL, ref->source);
    as_buf_char(b, '\n');
}

static void open_published(struct as_buf *b)
{
    as_html_text(b, "h3", NULL, "Compared with published figures");
    as_html_paragraph(
        b, "meta",
        "Other machines, according to their sources. In cycles per instruction, each lane of a compute unit "
        "could do one ffma32 per cycle.");
    as_html_table(b, "scroll", NULL, "Published figures of operations", "operation", "figure", "machine", "published",
                  "measured here", "conditions of the source", "source", NULL);
    as_html_body(b);
}

static void report_operations_beside(const struct operations *all)
{
    struct as_page *p = all->page;
    const struct as_refs *refs = as_page_has_refs(p) ? p->runs[0].refs : NULL;
    struct as_buf *b = p->out;
    struct as_measure m;
    size_t said = 0;
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < all->n[r]; i++)
            for (size_t k = 0; refs && k < refs->n; k++) {
                if (!as_operation_of_ref(&p->runs[r], &all->rows[r][i], &refs->v[k], &m))
                    continue;
                if (said++ == 0)
                    open_published(b);
                write_published(p, &p->runs[r], &all->rows[r][i], &refs->v[k], m);
            }
    if (said)
        as_html_table_end(b);
}

/* ---- entries ---- */

static void operations_term(struct as_buf *b, const char *name, const char *text, bool code)
{
    as_html_text(b, "dt", NULL, name);
    as_html_open(b, "dd", NULL);
    if (code)
        as_html_text(b, "code", NULL, text);
    else
        as_buf_html(b, text);
    as_html_close(b, "dd");
}

/* Its measurements, one line per device, run and form. */
static void operations_numbers(const struct operations *all, const char *name)
{
    struct as_page *p = all->page;
    struct as_buf *b = p->out;
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < all->n[r]; i++) {
            const struct as_operation *o = &all->rows[r][i];
            if (strcmp(o->name, name) != 0)
                continue;
            as_html_open(b, "dt", NULL);
            as_html_text(b, "code", NULL, o->device);
            if (p->n > 1) {
                as_buf_char(b, ' ');
                as_page_run_name(b, &p->runs[r].run);
            }
            as_html_close(b, "dt");
            as_html_open(b, "dd", NULL);
            operations_value(b, o->throughput, "ops/cycle");
            as_buf_str(b, ", latency ");
            operations_value(b, o->latency, "cycles");
            if (o->link) {
                as_buf_str(b, ", adjusted ");
                as_page_number(b,
                               &(struct as_number){.value = o->adjusted.value, .ci = o->adjusted.ci, .unit = "cycles"});
            }
            if (o->steps[0]) {
                as_buf_str(b, ", ");
                as_html_text(b, "code", NULL, o->steps);
            }
            as_buf_str(b, " (");
            as_buf_html(b, o->form);
            as_buf_str(b, "; ");
            operations_write_status(b, o);
            as_buf_char(b, ')');
            as_html_close(b, "dd");
        }
}

static bool is_code(const char *name, const struct as_word *w)
{
    const char *at = strstr(w->dialects, name);
    return at || strcmp(name, "reference") == 0;
}

static void operations_entry(const struct operations *all, const struct as_operation *o)
{
    struct as_buf *b = all->page->out;
    as_html_open(b, "details", "operation");
    as_html_open(b, "summary", NULL);
    as_html_text(b, "b", NULL, o->name);
    as_buf_char(b, ' ');
    as_buf_html(b, o->word ? o->word->title : "not known to this assay");
    as_html_close(b, "summary");
    as_html_start(b, "dl");
    if (o->word)
        as_html_attribute_id(b, "id", AS_OPERATION_ANCHOR, o->name);
    as_html_started(b);
    operations_numbers(all, o->name);
    for (const char *const *more = o->word ? o->word->more : NULL; more && more[0]; more += 2)
        operations_term(b, more[0], more[1], is_code(more[0], o->word));
    as_html_close(b, "dl/details");
}

static bool is_first(const struct operations *all, size_t run, size_t index)
{
    const char *name = all->rows[run][index].name;
    for (size_t r = 0; r <= run; r++)
        for (size_t i = 0; i < (r == run ? index : all->n[r]); i++)
            if (strcmp(all->rows[r][i].name, name) == 0)
                return false;
    return true;
}

static void entries(const struct operations *all)
{
    struct as_buf *b = all->page->out;
    as_html_text(b, "h3", NULL, "Each operation");
    as_html_paragraph(
        b, "meta",
        "What it is in the kernels of each API, what it is checked against, how its chains are made, and its numbers.");
    as_html_open(b, "div", "entries");
    for (size_t r = 0; r < all->page->n; r++)
        for (size_t i = 0; i < all->n[r]; i++)
            if (is_first(all, r, i))
                operations_entry(all, &all->rows[r][i]);
    as_html_close(b, "div");
}

/* ---- all of it ---- */

static enum as_status operations_load(struct operations *all)
{
    struct as_page *p = all->page;
    all->rows = calloc(p->n, sizeof *all->rows);
    all->n = calloc(p->n, sizeof *all->n);
    if (!all->rows || !all->n)
        return as_nomem(p->err, p->n * sizeof *all->rows, "operations");
    enum as_status st = AS_OK;
    for (size_t r = 0; r < p->n && !st; r++)
        st = as_operations_make(&p->runs[r], &all->rows[r], &all->n[r], p->err);
    return st;
}

static void operations_finish(struct operations *all)
{
    for (size_t r = 0; all->rows && r < all->page->n; r++)
        free(all->rows[r]);
    free((void *)all->rows);
    free(all->n);
}

enum as_status as_page_operations(struct as_page *p)
{
    struct operations all = {.page = p};
    if (!as_page_has_operations(p))
        return AS_OK;
    enum as_status st = operations_load(&all);
    if (!st)
        as_html_fold(p->out, "operations", "Operations",
                     "Throughput and latency of each operation. Throughput is that of one fully occupied compute "
                     "unit, in results "
                     "per cycle; cycles each is the issue cost of one instruction (of a warp or a vector) on such a "
                     "unit. Latency "
                     "is in cycles; adjusted, without the operation that turns a result into the next operand: "
                     "derived, with both "
                     "intervals combined. Where kernels have no cycle counter, cycles are by calibration.");
    for (size_t r = 0; r < p->n && !st; r++)
        for (size_t i = 0, end; i < all.n[r]; i = end) {
            end = as_operations_end(all.rows[r], all.n[r], i);
            operations_write_table(p, &p->runs[r], all.rows[r] + i, end - i);
        }
    if (!st) {
        report_operations_beside(&all);
        entries(&all);
        as_html_fold_end(p->out);
    }
    operations_finish(&all);
    return st;
}
