/* Published figures on the page: those beside something measured here, then the others. */
#include "base/text.h"
#include "facts/facts.h"
#include "facts/refs_facts.h"
#include "report/operations/refs_cells.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <stdlib.h>
#include <string.h>

struct refs {
    struct as_page *page;
    const struct as_refs *refs;
    struct as_ref_cells *cells;                      /* [runs]; owned */
    enum place { BESIDE, OPERATION, ALONE } * place; /* [figures]; owned */
};

bool as_page_has_refs(const struct as_page *p)
{
    return p->n > 0 && p->runs[0].refs && p->runs[0].refs->n > 0;
}

static void name_run(struct as_page *p, size_t run)
{
    if (p->n < 2)
        return;
    as_buf_char(p->out, ' ');
    as_page_run_name(p->out, &p->runs[run].run);
}

/* The counterpart among cells, in the figure's unit. */
static void measured_cell(const struct refs *all, size_t run, const struct as_ref *ref, bool first)
{
    struct as_buf *b = all->page->out;
    struct as_ref_cell found;
    if (!as_ref_cells_find(&all->cells[run], ref, &found))
        return;
    if (!first)
        as_html_open(b, "br", NULL);
    as_html_cell_link(b, found.cell->id);
    as_page_number(b, &(struct as_number){.value = found.measured.value, .ci = found.measured.ci, .unit = ref->unit});
    as_html_close(b, "a");
    as_buf_char(b, ' ');
    as_html_open(b, "code", NULL);
    as_html_printf(b, "%s %s", found.cell->device, found.cell->probe);
    as_html_close(b, "code");
    name_run(all->page, run);
}

/* Measured counterparts of a figure, one line per fact or cell. */
static void refs_measured(const struct refs *all, const struct as_ref *ref)
{
    struct as_page *p = all->page;
    struct as_buf *b = p->out;
    size_t said = 0;
    for (size_t r = 0; r < p->n; r++) {
        for (size_t i = 0; i < p->runs[r].facts_n; i++) {
            const struct as_fact *f = &p->runs[r].facts[i];
            if (!as_ref_is_beside(ref, f))
                continue;
            if (said++)
                as_html_open(b, "br", NULL);
            as_page_fact_value(b, f);
            as_ref_deviation(ref, f, b);
            as_buf_char(b, ' ');
            as_html_open(b, "code", NULL);
            as_html_printf(b, "%s %s", f->device, f->id);
            as_html_close(b, "code");
            name_run(p, r);
        }
        measured_cell(all, r, ref, said == 0);
    }
}

static enum place refs_place_of(const struct refs *all, const struct as_ref *ref)
{
    const struct as_page *p = all->page;
    struct as_ref_cell found;
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].facts_n; i++)
            if (as_ref_is_beside(ref, &p->runs[r].facts[i]))
                return BESIDE;
    for (size_t r = 0; r < p->n; r++)
        if (as_ref_cells_find(&all->cells[r], ref, &found))
            return as_ref_is_of_operation(ref) ? OPERATION : BESIDE;
    return ALONE;
}

static void figure(const struct refs *all, const struct as_ref *ref, bool with_measured)
{
    struct as_buf *b = all->page->out;
    as_html_open(b, "tr", NULL);
    as_html_cell(b, NULL, ref->chip);
    as_buf_str(b, strcmp(ref->device, "cpu") == 0 ? ", CPU" : strcmp(ref->device, "device") == 0 ? ", device" : "");
    as_html_ref(b, ref);
    as_html_ref_value(b, ref);
    if (with_measured) {
        as_html_open(b, "td", NULL);
        refs_measured(all, ref);
    }
    as_html_cell(b, NULL, ref->conditions);
    as_html_cell(b, NULL, ref->source);
    as_buf_char(b, '\n');
}

static void figures(const struct refs *all, enum place place)
{
    struct as_buf *b = all->page->out;
    as_html_table(b, "scroll", NULL, "Published figures", "Machine", "Figure", "Published", NULL);
    if (place == BESIDE)
        as_html_head(b, "Measured here");
    as_html_head(b, "Conditions of the source");
    as_html_head(b, "Source");
    as_html_body(b);
    for (size_t i = 0; i < all->refs->n; i++)
        if (all->place[i] == place)
            figure(all, &all->refs->v[i], place == BESIDE);
    as_html_table_end(b);
}

/* Of the facts of all runs. */
static void refs_write_agreement(const struct refs *all)
{
    struct as_buf *b = all->page->out;
    struct as_refs_agreement sum = {0};
    for (size_t r = 0; r < all->page->n; r++) {
        const struct as_report_run *run = &all->page->runs[r];
        const struct as_refs_agreement one = as_refs_agree(all->refs, run->facts, run->facts_n);
        sum.beside += one.beside;
        sum.close += one.close;
    }
    if (!sum.beside)
        return;
    as_html_open(b, "p", NULL);
    as_refs_agreement_text(&sum, b);
    as_html_close(b, "p");
}

static void section(const struct refs *all)
{
    struct as_buf *b = all->page->out;
    size_t n[ALONE + 1] = {0};
    for (size_t i = 0; i < all->refs->n; i++)
        n[all->place[i]]++;
    as_html_fold(b, "refs", "Published figures",
                 "Figures of other machines as their sources state them, not measured here, beside what this page "
                 "has on the same question.");
    if (n[OPERATION]) {
        as_html_open(b, "p", NULL);
        as_buf_printf(b, "%zu figure%s of operations: see ", n[OPERATION], n[OPERATION] == 1 ? "" : "s");
        as_html_link_text(b, "operations", "", "operations");
        as_buf_char(b, '.');
        as_html_close(b, "p");
    }
    if (n[BESIDE]) {
        refs_write_agreement(all);
        figures(all, BESIDE);
    }
    if (n[ALONE]) {
        as_html_details(b, "more", "%zu figure%s beside nothing measured here", n[ALONE], n[ALONE] == 1 ? "" : "s");
        figures(all, ALONE);
        as_html_close(b, "details");
    }
    as_html_fold_end(b);
}

void as_page_refs(struct as_page *p)
{
    if (!as_page_has_refs(p))
        return;
    struct refs all = {.page = p, .refs = p->runs[0].refs};
    all.cells = calloc(p->n, sizeof *all.cells);
    all.place = calloc(all.refs->n, sizeof *all.place);
    bool ok = all.cells && all.place;
    for (size_t r = 0; ok && r < p->n; r++)
        ok = as_ref_cells_make(&p->runs[r], &all.cells[r], p->err) == AS_OK;
    for (size_t i = 0; ok && i < all.refs->n; i++)
        all.place[i] = refs_place_of(&all, &all.refs->v[i]);
    if (ok)
        section(&all);
    p->out->failed |= !ok; /* no memory: the page is not written */
    for (size_t r = 0; all.cells && r < p->n; r++)
        as_ref_cells_finish(&all.cells[r]);
    free(all.cells);
    free(all.place);
}
