/* Matrix units on the page: instruction rates against documented ones, GEMM over size by path, numerics, operand
 * layout, and gains from fusion. */
#include "base/text.h"
#include "device/process_state.h"
#include "probe/view_role.h"
#include "report/page/markup.h"
#include "report/page/matrix_draw.h"
#include "report/page/page.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 256, BARS_MAX = 64, FRAGMENTS_OPEN = 3 };

static const enum as_view_role roles[] = {AS_VIEW_MATRIX_INSTRUCTIONS, AS_VIEW_GEMM,
                                          AS_VIEW_MATRIX_ARITHMETIC,   AS_VIEW_OPERAND_LAYOUT,
                                          AS_VIEW_FUSED_EPILOGUES,     AS_VIEW_ATTENTION};

/* One device of a run. */
struct place {
    struct as_buf *b;
    const struct as_report_run *run;
    const char *device;
};

static bool matrix_is_of(const struct as_cell *c, const char *device, enum as_view_role role)
{
    return as_has_role(c, role) && (!device || strcmp(c->device, device) == 0) && as_report_is_measured(c) &&
           !as_axes_get(&c->axes, AS_STATE_AXIS);
}

static bool matrix_has(const struct as_report_run *run, const char *device, enum as_view_role role)
{
    for (size_t i = 0; i < run->cells_n; i++)
        if (matrix_is_of(&run->cells[i], device, role))
            return true;
    return false;
}

/* device: NULL for any. */
static bool has_any(const struct as_report_run *run, const char *device)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (matrix_has(run, device, roles[i]))
            return true;
    return false;
}

bool as_page_has_matrix(const struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++)
        if (has_any(&p->runs[r], NULL))
            return true;
    return false;
}

static const char *matrix_axis(const struct as_cell *c, const char *name)
{
    return as_axes_text(&c->axes, name);
}

/* What a store says may be any number. */
static bool drawable(const struct as_cell *c)
{
    return c->sum.median > 1e-6 && c->sum.median < 1e24;
}

static void heading(const struct place *p, const char *text)
{
    as_html_text(p->b, "h4", NULL, text);
}

/* ---- instructions ---- */

static bool is_usual(const struct as_cell *c, const char *operands)
{
    return as_axes_is(&c->axes, "n", "0") && as_axes_is(&c->axes, "chains", "0") &&
           as_axes_is(&c->axes, "warps", "0") && as_axes_is(&c->axes, "operands", operands);
}

/* Instructions on operands that are zero. */
struct zeros {
    const struct as_cell **cells; /* owned; NULL: out of memory */
    size_t n;
};

static struct zeros find_zeros(const struct place *p)
{
    struct zeros z = {.cells = calloc(p->run->cells_n + 1, sizeof(const struct as_cell *))};
    for (size_t i = 0; z.cells && i < p->run->cells_n; i++) {
        const struct as_cell *c = &p->run->cells[i];
        if (matrix_is_of(c, p->device, AS_VIEW_MATRIX_INSTRUCTIONS) && matrix_axis(c, "operands")[0] &&
            is_usual(c, "zero"))
            z.cells[z.n++] = c;
    }
    p->b->failed |= !z.cells;
    return z;
}

static const struct as_cell *with_zeros(const struct zeros *zeros, const struct as_cell *c)
{
    for (size_t i = 0; i < zeros->n; i++)
        if (strcmp(matrix_axis(zeros->cells[i], "instruction"), matrix_axis(c, "instruction")) == 0)
            return zeros->cells[i];
    return NULL;
}

/* All digits: three would hide the difference from the bound. */
static void documented(struct as_buf *b, const struct as_cell *c)
{
    if (!(c->limit >= 1)) {
        as_html_cell(b, NULL, "–");
        as_html_cell(b, NULL, "–");
        return;
    }
    double share = 100 * c->sum.median / c->limit;
    as_html_cellf(b, NULL, "%.0f", c->limit);
    as_html_cellf(b, NULL, "%.1f%%", share);
    as_html_tag(b, "svg", "class='share' viewBox='0 0 100 10' preserveAspectRatio='none' aria-hidden='true'");
    as_html_tag(b, "rect/", "width='100' height='10' fill='var(--soft)'");
    as_html_tag(b, "rect/", "width='%.1f' height='10' fill='var(--c%d)'", fmin(fmax(share, 0), 100),
                share >= 98 ? 3 : 5);
    as_html_close(b, "svg");
}

static void instruction(const struct place *p, const struct zeros *on_zeros, const struct as_cell *c)
{
    const struct as_word *w = as_probe_word(as_probe_find(c->probe), matrix_axis(c, "instruction"));
    const struct as_cell *zeros = with_zeros(on_zeros, c);
    struct as_buf *b = p->b;
    as_html_row(b, as_cell_is_valid(c) ? NULL : "u", matrix_axis(c, "instruction"));
    as_html_text(b, "small", NULL, w ? w->title : "not known to this assay");
    as_html_open(b, "td", NULL);
    as_html_cell_linkf(b, c->id, "%.0f", c->sum.median);
    documented(b, c);
    if (zeros)
        as_html_cellf(b, NULL, "%.0f", zeros->sum.median);
    else
        as_html_cell(b, NULL, "–");
    as_html_open(b, "td", NULL);
    as_page_value(b, c->clock_hz, "Hz");
    as_html_cell(b, "l", as_cell_is_valid(c) ? "ok\n" : "rejected\n");
}

static void instructions(const struct place *p)
{
    size_t before = 0;
    char text[48];
    if (!matrix_has(p->run, p->device, AS_VIEW_MATRIX_INSTRUCTIONS))
        return;
    heading(p, "Matrix instructions, operands in place");
    as_html_table(p->b, "scroll tall", "operations", "Matrix instructions", "instruction", "ops/cycle", "documented",
                  "share", "on zeros", "clock", "<status", NULL);
    as_html_body(p->b);
    const char *family = "";
    struct zeros zeros = find_zeros(p);
    for (size_t i = 0; i < p->run->cells_n; i++) {
        const struct as_cell *c = &p->run->cells[i];
        if (!matrix_is_of(c, p->device, AS_VIEW_MATRIX_INSTRUCTIONS) || !is_usual(c, "random") || !drawable(c))
            continue;
        const char *name = matrix_axis(c, "instruction");
        size_t len = strcspn(name, "_");
        if (strncmp(name, family, len + 1) != 0 || len != before) {
            as_copy_text(text, len < sizeof text ? len + 1 : sizeof text, name);
            as_html_group(p->b, 7, text);
        }
        family = name;
        before = len;
        instruction(p, &zeros, c);
    }
    free(zeros.cells);
    as_html_table_end(p->b);
}

/* ---- GEMM ---- */

static int by_path_and_size(const void *pa, const void *pb)
{
    const struct as_matrix_point *a = pa, *b = pb;
    int order = strcmp(a->path, b->path);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

static size_t points_of(const struct place *p, const char *type, struct as_matrix_point points[POINTS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < p->run->cells_n && n < POINTS_MAX; i++) {
        const struct as_cell *c = &p->run->cells[i];
        double size = as_axes_number(&c->axes, "size");
        if (matrix_is_of(c, p->device, AS_VIEW_GEMM) && strcmp(matrix_axis(c, "type"), type) == 0 &&
            as_axes_is(&c->axes, "operands", "random") && as_axes_is(&c->axes, "hold", "burst") && size >= 1 &&
            size < 1e9 && drawable(c))
            points[n++] = (struct as_matrix_point){.path = matrix_axis(c, "path"),
                                                   .size = size,
                                                   .rate = c->sum.median,
                                                   .ci = as_number_interval_of_cell(c),
                                                   .valid = as_cell_is_valid(c)};
    }
    qsort(points, n, sizeof *points, by_path_and_size);
    return n;
}

static const struct as_cell *roof_of(const struct place *p, const char *type)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < p->run->cells_n; i++) {
        const struct as_cell *c = &p->run->cells[i];
        if (matrix_is_of(c, p->device, AS_VIEW_ROOFLINE) && as_cell_is_valid(c) && drawable(c) &&
            as_is_higher_roof(c, best, type))
            best = c;
    }
    return best;
}

static void matrix_key(struct as_buf *b, const char *const *paths)
{
    as_html_open(b, "ul", "matrix-key");
    for (; *paths; paths++) {
        as_html_open(b, "li", NULL);
        as_html_tag(b, "svg", "viewBox='0 0 26 10' aria-hidden='true'");
        as_html_tag(b, "path/", "d='M0 5H26' stroke='%s' stroke-width='2'", as_matrix_colour(*paths));
        as_html_tag(b, "circle/", "cx='13' cy='5' r='3.4' fill='%s'", as_matrix_colour(*paths));
        as_html_close(b, "svg");
        as_buf_printf(b, "%s", *paths);
        as_html_close(b, "li");
    }
    as_html_close(b, "ul");
}

static void gemms(const struct place *p)
{
    static const char *const types[] = {"f16", "bf16", "e4m3", "e5m2", "s8", "tf32", "f32", "f64"};
    static const char *const paths[] = {"library", "wgmma", "wgmma_pair", "tensor", "mma",
                                        "dot",     "tiled", "naive",      NULL};
    struct as_matrix_point points[POINTS_MAX];
    if (!matrix_has(p->run, p->device, AS_VIEW_GEMM))
        return;
    heading(p, "GEMM of square matrices, random operands in bursts");
    matrix_key(p->b, paths);
    as_html_open(p->b, "div", "panels several thirds");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        size_t n = points_of(p, types[t], points);
        const struct as_cell *roof = roof_of(p, types[t]);
        if (!n)
            continue;
        as_html_open(p->b, "div", "panel");
        as_matrix_draw_gemms(p->b, types[t], points, n, roof ? roof->sum.median : NAN,
                             roof ? matrix_axis(roof, "type") : "");
        as_html_close(p->b, "div");
    }
    as_html_close(p->b, "div");
    as_html_open(p->b, "p", "meta");
    as_buf_str(p->b, "Operations per second; the dashed line is the peak of fused multiply-adds in the vector ALU. "
                     "Hollow points are rejected. All measurements: ");
    as_html_link_text(p->b, "probe-", as_view_probes[AS_VIEW_GEMM], "matrix multiplication");
    as_buf_char(p->b, '.');
    as_html_close(p->b, "p");
}

/* ---- arithmetic ---- */

static const struct {
    const char *property, *title;
} properties[] = {{"product", "product"},
                  {"accumulator", "accumulator"},
                  {"kept", "kept"},
                  {"step", "added at once"},
                  {"sums", "partial sums"},
                  {"start", "accumulator added"},
                  {"cut", "digits below"},
                  {"aligned", "aligned by"},
                  {"rounding", "rounding"},
                  {"subnormal", "subnormal"},
                  {"overflow", "past the range"},
                  {"special", "inf and NaN"},
                  {"nan", "code of a NaN"},
                  {"zero", "zeros"},
                  {"explained", "explained"}};
enum { PROPERTIES = sizeof properties / sizeof *properties };

static const struct as_cell *matrix_property_of(const struct place *p, const struct as_cell *like, const char *property)
{
    for (size_t i = 0; i < p->run->cells_n; i++) {
        const struct as_cell *c = &p->run->cells[i];
        if (matrix_is_of(c, p->device, AS_VIEW_MATRIX_ARITHMETIC) &&
            strcmp(matrix_axis(c, "property"), property) == 0 &&
            strcmp(matrix_axis(c, "instruction"), matrix_axis(like, "instruction")) == 0 &&
            strcmp(matrix_axis(c, "n"), matrix_axis(like, "n")) == 0)
            return c;
    }
    return NULL;
}

/* The first words of the probe's note with the rest as a tooltip; else the number. */
static void matrix_found(struct as_buf *b, const struct as_cell *c)
{
    if (!c) {
        as_html_cell(b, NULL, "–");
        return;
    }
    json_t *detail = c->detail ? json_loads(c->detail, 0, NULL) : NULL;
    const char *words = json_string_value(json_object_get(detail, "found"));
    char first[96], id[24];
    as_html_open(b, "td", as_cell_is_valid(c) ? NULL : "u");
    if (words && words[0]) {
        size_t len = strcspn(words, ",:;") + 1;
        as_copy_text(first, len < sizeof first ? len : sizeof first, words);
        snprintf(id, sizeof id, "#c%lld", (long long)c->id);
        as_html_start(b, "a");
        as_html_attribute(b, "href", id);
        as_html_attribute(b, "title", words);
        as_html_started(b);
        as_buf_html(b, first);
    } else {
        as_html_cell_link(b, c->id);
        as_page_value(b, c->sum.median, "");
    }
    as_html_close(b, "a");
    json_decref(detail);
}

static void arithmetic(const struct place *p)
{
    if (!matrix_has(p->run, p->device, AS_VIEW_MATRIX_ARITHMETIC))
        return;
    heading(p, "Arithmetic");
    as_html_table(p->b, "scroll tall", "found", "Arithmetic of matrix instructions", "instruction", NULL);
    for (size_t k = 0; k < PROPERTIES; k++)
        as_html_head(p->b, properties[k].title);
    as_html_body(p->b);
    for (size_t i = 0; i < p->run->cells_n; i++) {
        const struct as_cell *c = &p->run->cells[i];
        bool first = matrix_is_of(c, p->device, AS_VIEW_MATRIX_ARITHMETIC);
        for (size_t k = 0; k < i && first; k++)
            first = !matrix_is_of(&p->run->cells[k], p->device, AS_VIEW_MATRIX_ARITHMETIC) ||
                    strcmp(matrix_axis(&p->run->cells[k], "instruction"), matrix_axis(c, "instruction")) != 0 ||
                    strcmp(matrix_axis(&p->run->cells[k], "n"), matrix_axis(c, "n")) != 0;
        if (!first)
            continue;
        as_html_row(p->b, NULL, matrix_axis(c, "instruction"));
        for (size_t k = 0; k < PROPERTIES; k++)
            matrix_found(p->b, matrix_property_of(p, c, properties[k].property));
        as_buf_char(p->b, '\n');
    }
    as_html_table_end(p->b);
}

/* ---- fragments ---- */

/* The size of a number of rows or columns among the notes; 0: none. */
static unsigned count_of(const json_t *detail, const char *name)
{
    const json_t *v = json_object_get(detail, name);
    double number = json_is_number(v) ? json_number_value(v) : 0;
    return number >= 1 && number <= AS_MATRIX_GRID ? (unsigned)number : 0;
}

static bool fragment(const struct place *p, const struct as_cell *c, bool open)
{
    json_t *detail = c->detail ? json_loads(c->detail, 0, NULL) : NULL;
    const char *lanes = json_string_value(json_object_get(detail, "lanes")),
               *places = json_string_value(json_object_get(detail, "places")),
               *bits = json_string_value(json_object_get(detail, "bits"));
    struct as_buf name = AS_BUF_INIT, drawing = AS_BUF_INIT;
    as_buf_printf(&name, "%s, operand %s", matrix_axis(c, "instruction"), matrix_axis(c, "operand"));
    bool good = lanes && places &&
                as_matrix_draw_fragment(&drawing, as_buf_get(&name), count_of(detail, "rows"),
                                        count_of(detail, "columns"), lanes, places);
    if (good) {
        if (open)
            as_html_tag(p->b, "details", "open");
        else
            as_html_open(p->b, "details", NULL);
        as_html_open(p->b, "summary", NULL);
        as_buf_html(p->b, as_buf_get(&name));
        const char *where = json_object_get(detail, "compared_with") ? "loaded" : "documented";
        as_buf_printf(p->b, c->sum.median > 0 ? " (NOT as %s)" : " (as %s)", where);
        if (bits) {
            as_html_open(p->b, "br", NULL);
            as_html_text(p->b, "code", NULL, bits);
        }
        as_html_close(p->b, "summary");
        as_html_tag(p->b, "div", "class='scroll' tabindex='0' role='region' aria-label='Fragment'");
        as_buf_str(p->b, as_buf_get(&drawing));
        as_html_close(p->b, "div/details");
    }
    p->b->failed |= drawing.failed || name.failed;
    as_buf_finish(&name);
    as_buf_finish(&drawing);
    json_decref(detail);
    return good;
}

static void fragments(const struct place *p)
{
    size_t shown = 0;
    if (!matrix_has(p->run, p->device, AS_VIEW_OPERAND_LAYOUT))
        return;
    heading(p, "Operand layout");
    as_html_paragraph(p->b, "meta",
                      "Each element of an operand in its row and column, as measured: the lane that holds it, then its "
                      "index within the lane. Four lanes share a colour. In bits, lowest first: which bit of lane (l), "
                      "register (r) and element (e) each bit of row / column is.");
    as_html_open(p->b, "div", "fragments");
    for (size_t i = 0; i < p->run->cells_n; i++)
        if (matrix_is_of(&p->run->cells[i], p->device, AS_VIEW_OPERAND_LAYOUT))
            shown += fragment(p, &p->run->cells[i], shown < FRAGMENTS_OPEN);
    as_html_close(p->b, "div");
    if (!shown)
        as_html_paragraph(p->b, "note", "All operands of the measured instructions are in shared memory.");
}

/* ---- what fusing pays ---- */

/* Bars of all cells of a probe, labelled with these axes. */
static void matrix_bars(const struct place *p, enum as_view_role role, const char *const *axes, const char *title,
                        const char *unit, double mark, const char *note)
{
    struct as_matrix_bar *all = calloc(BARS_MAX, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all && i < p->run->cells_n && n < BARS_MAX; i++) {
        const struct as_cell *c = &p->run->cells[i];
        if (!matrix_is_of(c, p->device, role) || !drawable(c))
            continue;
        struct as_buf label = AS_BUF_INIT;
        for (const char *const *a = axes; *a; a++)
            as_buf_printf(&label, "%s%s", label.len ? ", " : "", matrix_axis(c, *a));
        all[n] = (struct as_matrix_bar){.path = matrix_axis(c, "path"),
                                        .value = c->sum.median,
                                        .ci = as_number_interval_of_cell(c),
                                        .valid = as_cell_is_valid(c)};
        as_copy_text(all[n++].label, sizeof all->label, as_buf_get(&label));
        as_buf_finish(&label);
    }
    if (n) {
        heading(p, title);
        as_matrix_draw_bars(p->b, title, all, n, unit, mark);
        as_html_paragraphf(p->b, "meta", "%s", note);
    }
    free(all);
}

static void device(const struct place *p, bool several)
{
    static const char *const fusion[] = {"operation", "size", "path", NULL};
    static const char *const attention[] = {"length", "heads", "path", NULL};
    as_html_device(p->b, p->run, p->device, several);
    gemms(p);
    instructions(p);
    arithmetic(p);
    fragments(p);
    matrix_bars(
        p, AS_VIEW_FUSED_EPILOGUES, fusion, "Fused epilogues", "x", 1,
        "Time of a GEMM and separate epilogue kernels, divided by the time of one fused kernel: right of the dashed "
        "line fusion pays. Error bars are 95% intervals; operation, size, path.");
    matrix_bars(p, AS_VIEW_ATTENTION, attention, "Attention", "FLOP/s", NAN,
                "Rate of the two GEMMs, in one kernel (flash and split, also with wgmma; scalar) and as "
                "separate GEMMs and softmax (decomposed); length, heads, path.");
}

void as_page_matrix(struct as_page *p)
{
    if (!as_page_has_matrix(p))
        return;
    as_html_fold(
        p->out, "matrix", "Matrix path",
        "Matrix units compared with the vector ALU and with documented rates. A multiply-add is two operations. The "
        "[facts](#facts) compare each type with the next wider one, and name the unit that runs it.");
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].devices_n; i++) {
            const struct place at = {p->out, &p->runs[r], p->runs[r].devices[i].id};
            if (has_any(at.run, at.device))
                device(&at, p->n > 1);
        }
    as_html_fold_end(p->out);
}
