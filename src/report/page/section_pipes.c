/* Pipes on the page: the load of each operation on each resource of a compute unit, as a shaded table. */
#include "base/text.h"
#include "facts/unit_pipes.h"
#include "probe/view_role.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHADES = 5 }; /* classes s1 to s5 of the style */

struct drawing {
    struct as_page *page;
    const struct as_report_run *run;
    const char *device;
    struct as_unit_pipes *unit;
    size_t row[AS_PIPES_OPS]; /* operations, in the order of rows */
    size_t rows;
};

static bool is_usable(const struct as_cell *c, const struct as_device_info *info)
{
    return as_cell_is_valid(c) && c->sum.median > 0 && as_has_role(c, AS_VIEW_OPERATION_SEQUENCES) &&
           strcmp(c->device, info->id) == 0 && as_unit_has_pipes(info);
}

bool as_page_has_pipes(const struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].devices_n; i++)
            for (size_t k = 0; k < p->runs[r].cells_n; k++)
                if (is_usable(&p->runs[r].cells[k], &p->runs[r].devices[i]))
                    return true;
    return false;
}

/* ---- the order of rows ---- */

/* Is there a sequence of both? Otherwise the fitted load on this pipe is arbitrary. */
static bool is_told(const struct as_unit_pipes *u, size_t op, size_t resource)
{
    if (resource >= u->pipes.pipes)
        return true;
    size_t first = u->pipes.first[resource];
    return op == first || u->pipes.pair[op][first].relation != AS_PIPES_UNMEASURED;
}

/* Its most loaded known resource; sorts last without one. */
static size_t busiest(const struct as_unit_pipes *u, size_t op)
{
    size_t most = u->fit.resources;
    for (size_t r = 0; r < u->fit.resources; r++)
        if (is_told(u, op, r) && u->fit.load[op][r] > (most < u->fit.resources ? u->fit.load[op][most] : 0))
            most = r;
    return most;
}

static void order_rows(struct drawing *d)
{
    const struct as_unit_pipes *u = d->unit;
    for (size_t r = 0; r <= u->fit.resources; r++)
        for (size_t i = 0; i < u->ops; i++)
            if (isfinite(u->pipes.alone[i]) && busiest(u, i) == r)
                d->row[d->rows++] = i;
}

/* ---- the table ---- */

static bool is_taken(const struct as_unit_pipes *u, size_t resource)
{
    for (size_t i = 0; i < u->ops; i++)
        if (u->fit.load[i][resource] > 0)
            return true;
    return false;
}

static void pipes_head(struct as_buf *b, const struct as_unit_pipes *u)
{
    size_t others = 0;
    as_html_table(b, "scroll tall", "operations loads", "Loads", "operation", "alone", NULL);
    for (size_t r = 0; r < u->fit.resources; r++) {
        if (!is_taken(u, r))
            continue;
        if (r < u->pipes.pipes) {
            as_html_head(b, "pipe of ");
            as_buf_html(b, u->name[u->pipes.first[r]]);
        } else {
            as_html_head(b, "");
            as_buf_printf(b, "shared %zu", ++others);
        }
    }
    as_buf_char(b, '\n');
    as_html_body(b);
}

static void load_cell(struct as_buf *b, const struct as_unit_pipes *u, size_t op, size_t resource)
{
    double load = u->fit.load[op][resource], alone = u->pipes.alone[op];
    if (!is_told(u, op, resource)) {
        as_html_open(b, "td", "of");
        as_buf_char(b, '?');
        return;
    }
    if (!(load > 0)) {
        as_html_open(b, "td", NULL);
        return;
    }
    double share = fmin(load / alone, 1);
    as_html_tag(b, "td", "class='s%d'", (int)fmax(1, ceil(share * SHADES - 0.01)));
    as_buf_printf(b, "%.2f", load);
}

static void pipes_row(struct as_buf *b, const struct as_unit_pipes *u, size_t op)
{
    as_html_row(b, NULL, u->name[op]);
    as_html_open(b, "td", NULL);
    as_html_cell_linkf(b, u->cells[u->pipes.alone_in[op]]->id, "%.3g", u->pipes.alone[op]);
    for (size_t r = 0; r < u->fit.resources; r++)
        if (is_taken(u, r))
            load_cell(b, u, op, r);
    as_buf_char(b, '\n');
}

static void pipes_caption(const struct drawing *d)
{
    const struct as_pipes_fit *fit = &d->unit->fit;
    struct as_buf *b = d->page->out;
    as_html_device(b, d->run, d->device, d->page->n > 1);
    as_html_paragraphf(b, "meta",
                       "Residual: these loads predict the cost of 90%% of %zu sequences within %.1f%%; in "
                       "cross-validation they predict %.0f%% of the sequences within %.0f%%.%s",
                       fit->judged, 100 * fit->residual, 100 * fit->told, 100 * AS_PIPES_TOLD,
                       as_unit_pipes_hold(d->unit)
                           ? ""
                           : " **Inconclusive: the residual is too large, or there are too few sequences.**");
}

static void pipes_draw(struct drawing *d)
{
    order_rows(d);
    pipes_caption(d);
    pipes_head(d->page->out, d->unit);
    for (size_t i = 0; i < d->rows; i++)
        pipes_row(d->page->out, d->unit, d->row[i]);
    as_html_table_end(d->page->out);
}

/* ---- all of it ---- */

static enum as_status one_device(struct as_page *p, const struct as_report_run *rr, const struct as_device_info *info)
{
    struct drawing d = {.page = p, .run = rr, .device = info->id, .unit = calloc(1, sizeof *d.unit)};
    const struct as_cell **cells = malloc((rr->cells_n + 1) * sizeof *cells);
    size_t n = 0;
    if (!d.unit || !cells) {
        free(d.unit);
        free((void *)cells);
        return as_nomem(p->err, rr->cells_n * sizeof *cells, "pipes");
    }
    for (size_t i = 0; i < rr->cells_n; i++)
        if (is_usable(&rr->cells[i], info))
            cells[n++] = &rr->cells[i];
    enum as_status st = as_unit_pipes_make(cells, n, d.unit, p->err);
    if (!st && d.unit->fit.judged)
        pipes_draw(&d);
    as_unit_pipes_finish(d.unit);
    free(d.unit);
    free((void *)cells);
    return st;
}

enum as_status as_page_pipes(struct as_page *p)
{
    enum as_status st = AS_OK;
    if (!as_page_has_pipes(p))
        return AS_OK;
    as_html_fold(
        p->out, "pipes", "Pipes",
        "The load of one warp operation on each resource of a compute unit, in cycles: pipes that pairs of operations "
        "reveal, and shared resources such as register ports. A sequence costs as much as its busiest resource. Dark "
        "is the full cost of the operation alone; an operation that is bound by issue has no load; ? means that no "
        "sequence has both the operation and the one that the pipe is named after.");
    const size_t before = p->out->len;
    for (size_t r = 0; r < p->n && !st; r++)
        for (size_t i = 0; i < p->runs[r].devices_n && !st; i++)
            st = one_device(p, &p->runs[r], &p->runs[r].devices[i]);
    if (p->out->len == before)
        as_html_paragraph(p->out, NULL,
                          "The sequences of this run have too few operations whose costs alone are known, and are "
                          "valid, to tell pipes: 'assay run pipes' measures all pairs.");
    as_html_fold_end(p->out);
    return st;
}
