/* The short page after a run: what was measured, facts, the best numbers of every probe, what is missing and why. */
#include "report/terminal.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 200, WORDS_MAX = 8, REASONS_MAX = 12, REASON_PROBES_MAX = 32, PROBES_MAX = 64, SPARK_MAX = 32 };

/* Cells that are shown as one line: of one probe, device and unit, and of one value of the probe's first word axis
 * where it has few values ("triad"). */
struct group {
    const struct as_cell *best, *least, *most; /* trusted; NULL when there is none */
    const struct as_cell *any;
    char word[48];
    size_t trusted, untrusted;
};

/* The name of the axis by which the cells of a probe are told apart in the short page, NULL when none fits. */
static const char *word_axis(const struct as_report_run *run, const struct as_cell *of)
{
    for (size_t a = 0; a < of->axes.n; a++) {
        const char *name = of->axes.v[a].name, *seen[WORDS_MAX];
        size_t n = 0;
        if (!isnan(of->axes.v[a].number))
            continue;
        for (size_t i = 0; i < run->cells_n && n <= WORDS_MAX; i++) {
            if (strcmp(run->cells[i].probe, of->probe) != 0)
                continue;
            const char *text = as_axes_text(&run->cells[i].axes, name);
            size_t k = 0;
            while (k < n && strcmp(seen[k], text) != 0)
                k++;
            if (k == n && n < WORDS_MAX)
                seen[n] = text;
            n += k == n;
        }
        if (n > 1 && n <= WORDS_MAX)
            return name;
    }
    return NULL;
}

/* word_axis of every probe of a run, each looked for once. */
struct word_axes {
    size_t n;
    struct {
        const char *probe, *axis;
    } of[PROBES_MAX];
};

static const char *known_word_axis(struct word_axes *known, const struct as_report_run *run, const struct as_cell *c)
{
    for (size_t i = 0; i < known->n; i++)
        if (strcmp(known->of[i].probe, c->probe) == 0)
            return known->of[i].axis;
    const char *axis = word_axis(run, c);
    if (known->n < PROBES_MAX) {
        known->of[known->n].probe = c->probe;
        known->of[known->n++].axis = axis;
    }
    return axis;
}

static struct group *group_of(struct group *groups, size_t *n, const struct as_cell *c, const char *word)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(groups[i].any->probe, c->probe) == 0 && strcmp(groups[i].any->device, c->device) == 0 &&
            strcmp(groups[i].word, word) == 0 && strcmp(groups[i].any->unit, c->unit) == 0)
            return &groups[i];
    if (*n == GROUPS_MAX)
        return NULL;
    struct group *g = &groups[(*n)++];
    *g = (struct group){.any = c};
    as_copy_text(g->word, sizeof g->word, word);
    return g;
}

static size_t find_groups(const struct as_report_run *run, struct group *groups)
{
    size_t n = 0;
    struct word_axes known = {0};
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *c = &run->cells[i];
        const char *axis = known_word_axis(&known, run, c);
        if (!as_text_measured(c))
            continue;
        struct group *g = group_of(groups, &n, c, axis ? as_axes_text(&c->axes, axis) : "");
        if (!g)
            return n;
        if (c->status != AS_CELL_OK) {
            g->untrusted++;
            continue;
        }
        g->trusted++;
        if (!g->best || as_cell_is_better(c, g->best))
            g->best = c;
        if (!g->least || c->sum.median < g->least->sum.median)
            g->least = c;
        if (!g->most || c->sum.median > g->most->sum.median)
            g->most = c;
    }
    return n;
}

/* Are the cells the same but for their size? */
static bool same_but_size(const struct as_cell *a, const struct as_cell *b)
{
    if (strcmp(a->probe, b->probe) != 0 || strcmp(a->device, b->device) != 0)
        return false;
    for (size_t i = 0; i < a->axes.n; i++)
        if (strcmp(a->axes.v[i].name, "size") != 0 &&
            strcmp(a->axes.v[i].text, as_axes_text(&b->axes, a->axes.v[i].name)) != 0)
            return false;
    return true;
}

struct point {
    double x, y;
};

static int by_x(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x;
}

/* The curve over sizes that the best cell lies on. */
static void add_curve(const struct as_report_run *run, const struct as_cell *best, int unicode, struct as_buf *out)
{
    struct point p[SPARK_MAX];
    double y[SPARK_MAX];
    size_t n = 0;
    for (size_t i = 0; i < run->cells_n && n < SPARK_MAX; i++) {
        const struct as_cell *c = &run->cells[i];
        if (c->status == AS_CELL_OK && as_text_measured(c) && isfinite(as_axes_number(&c->axes, "size")) &&
            same_but_size(best, c))
            p[n++] = (struct point){as_axes_number(&c->axes, "size"), c->sum.median};
    }
    if (n < 4)
        return;
    qsort(p, n, sizeof *p, by_x);
    for (size_t i = 0; i < n; i++)
        y[i] = p[i].y;
    as_text_spark(out, y, n, unicode);
}

static bool varies(const struct as_report_run *run, const struct as_cell *of, const struct as_axis_value *v)
{
    for (size_t i = 0; i < run->cells_n; i++)
        if (strcmp(run->cells[i].probe, of->probe) == 0 && strcmp(run->cells[i].device, of->device) == 0 &&
            strcmp(as_axes_text(&run->cells[i].axes, v->name), v->text) != 0)
            return true;
    return false;
}

/* The axes that make this cell another one than its neighbours on the device; word is shown beside it. */
static void cell_axes(const struct as_report_run *run, const struct as_cell *c, const char *word, struct as_buf *out)
{
    const struct as_probe *probe = as_probe_find(c->probe);
    const char *lead = "";
    for (size_t i = 0; i < c->axes.n; i++) {
        const struct as_axis_value *v = &c->axes.v[i];
        const struct as_axis *axis = probe ? as_probe_axis(probe, v->name) : NULL;
        if (strcmp(v->text, word) == 0 || !varies(run, c, v) || (axis && strcmp(axis->def, v->text) == 0))
            continue;
        as_buf_printf(out, "%s%s=", lead, v->name);
        as_text_axis(out, v, probe);
        lead = " ";
    }
}

static void add_group(struct as_table *t, const struct as_report_run *run, const struct group *g,
                      const struct as_table_style *style)
{
    struct as_buf text = AS_BUF_INIT;
    as_table_add(t, g->any->probe, AS_PAINT_NONE);
    as_table_add(t, g->any->device, AS_PAINT_NONE);
    as_table_add(t, g->word, AS_PAINT_NONE);
    as_table_addf(t, g->trusted ? AS_PAINT_NONE : AS_PAINT_BAD, "%zu of %zu", g->trusted, g->trusted + g->untrusted);
    if (!g->best) {
        if (g->untrusted == 1)
            cell_axes(run, g->any, g->word, &text);
        as_table_add(t, "-", AS_PAINT_NONE);
        as_table_add(t, "-", AS_PAINT_NONE);
        as_table_add(t, as_buf_get(&text), AS_PAINT_DIM);
        as_table_add(t, "", AS_PAINT_NONE);
        as_buf_finish(&text);
        return;
    }
    /* Of what is counted none is the best: where updates are lost at all matters. */
    const bool counted = as_unit_is_count(g->best->unit) && g->most->sum.median > g->least->sum.median;
    const struct as_cell *shown = counted ? g->most : g->best;
    if (counted) {
        as_format_count(&text, g->least->sum.median);
        as_buf_str(&text, " to ");
    }
    as_format_value(&text, shown->sum.median, shown->unit);
    as_table_add(t, as_buf_get(&text), AS_PAINT_STRONG);
    as_buf_clear(&text);
    as_text_relative(&text, &shown->sum);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_clear(&text);
    cell_axes(run, shown, g->word, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_DIM);
    as_buf_clear(&text);
    add_curve(run, shown, style->unicode, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_buf_finish(&text);
}

static enum as_status write_numbers(const struct as_report_run *run, const struct as_table_style *style,
                                    struct as_buf *out, struct as_error *err)
{
    const char *heads[] = {"probe",   "device",   "what", ">trusted", ">best", style->unicode ? ">±" : ">+-",
                           "best at", "?by size", NULL};
    struct group *groups = calloc(GROUPS_MAX, sizeof *groups);
    struct as_table t;
    if (!groups)
        return as_nomem(err, GROUPS_MAX * sizeof *groups, "a table");
    size_t n = find_groups(run, groups);
    as_table_init(&t, heads);
    for (size_t i = 0; i < n; i++)
        add_group(&t, run, &groups[i], style);
    enum as_status st = AS_OK;
    if (n) {
        as_text_title(out, "Numbers", style);
        st = as_table_write(&t, style, out, err);
    }
    as_table_finish(&t);
    free(groups);
    return st;
}

/* "opencl:0, name of it" over the facts of a device where the run has several. */
static void write_device(const struct as_report_run *run, const char *id, const struct as_table_style *style,
                         struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    const char *name = as_report_device_name(run, id);
    as_buf_terminal(&line, id);
    as_buf_str(&line, name[0] ? ": " : "");
    as_buf_terminal(&line, name);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    as_buf_finish(&line);
}

static void write_facts(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    bool titled = false;
    const char *device = "";
    struct as_buf line = AS_BUF_INIT, more = AS_BUF_INIT;
    for (size_t i = 0; i < run->facts_n; i++) {
        const struct as_fact *f = &run->facts[i];
        if (f->verdict == AS_UNDECIDED || as_fact_is_folded(run->facts, run->facts_n, i))
            continue;
        if (!titled)
            as_text_title(out, "Facts", style);
        titled = true;
        if (run->devices_n > 1 && strcmp(device, f->device) != 0)
            write_device(run, f->device, style, out);
        device = f->device;
        as_buf_clear(&line);
        as_buf_terminal(&line, f->sentence);
        if (f->verdict == AS_REFUTED)
            as_buf_str(&line, " (claim refuted)");
        as_buf_str(out, style->unicode ? "• " : "- ");
        as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    }
    if (titled && as_folded_text(run->facts, run->facts_n, NULL, &more)) {
        as_buf_clear(&line);
        as_buf_str(&line, "and ");
        as_buf_terminal(&line, as_buf_get(&more));
        as_buf_str(&line, ": 'assay facts' has all of them");
        as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    }
    as_buf_finish(&more);
    as_buf_finish(&line);
}

struct reason {
    const struct as_cell *first;
    const char *probes[REASON_PROBES_MAX]; /* which have it */
    size_t cells, probes_n;
};

/* Of untrusted cells the gates that failed are the reason, whatever their texts say in numbers, and it is their probe's
 * own; what a device cannot do is one reason for all probes that would need it. */
static bool same_reason(const struct as_cell *a, const struct as_cell *b)
{
    if (a->status != b->status || strcmp(a->device, b->device) != 0)
        return false;
    if (a->status != AS_CELL_UNTRUSTED)
        return strcmp(a->reason, b->reason) == 0;
    if (strcmp(a->probe, b->probe) != 0)
        return false;
    for (int g = 0; g < AS_GATE_N; g++)
        if ((a->gates[g].state == AS_GATE_FAIL) != (b->gates[g].state == AS_GATE_FAIL))
            return false;
    return true;
}

static void add_probe(struct reason *r, const char *probe)
{
    size_t k = 0;
    while (k < r->probes_n && strcmp(r->probes[k], probe) != 0)
        k++;
    if (k == r->probes_n && k < REASON_PROBES_MAX)
        r->probes[r->probes_n++] = probe;
}

enum as_status as_text_missing(const struct as_cell *const *cells, size_t n, const struct as_table_style *style,
                               struct as_buf *out, struct as_error *err)
{
    struct reason reasons[REASONS_MAX];
    size_t found = 0, more = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (cells[i]->status == AS_CELL_OK)
            continue;
        while (k < found && !same_reason(reasons[k].first, cells[i]))
            k++;
        if (k == REASONS_MAX) {
            more++;
            continue;
        }
        if (k == found)
            reasons[found++] = (struct reason){.first = cells[i]};
        reasons[k].cells++;
        add_probe(&reasons[k], cells[i]->probe);
    }
    if (!found)
        return AS_OK;
    as_text_title(out, "Untrusted or not measured", style);
    struct as_buf line = AS_BUF_INIT;
    for (size_t k = 0; k < found; k++) {
        const struct as_cell *c = reasons[k].first;
        as_buf_clear(&line);
        for (size_t p = 0; p < reasons[k].probes_n; p++) {
            as_buf_str(&line, p ? ", " : "");
            as_buf_terminal(&line, reasons[k].probes[p]);
        }
        as_buf_char(&line, ' ');
        as_buf_terminal(&line, c->device);
        as_buf_printf(&line, ": %zu %s%s%s", reasons[k].cells,
                      c->status == AS_CELL_PLANNED ? "not measured" : as_cell_status_word(c->status),
                      c->reason[0] ? ": " : "",
                      c->status == AS_CELL_UNTRUSTED && reasons[k].cells > 1 ? "for example " : "");
        as_buf_terminal(&line, c->reason);
        as_buf_str(out, style->unicode ? "• " : "- ");
        as_text_fill(out, as_buf_get(&line), style->width, 2, 2);
    }
    if (more)
        as_buf_printf(out, "  and %zu cells for other reasons\n", more);
    enum as_status st = as_buf_check(&line, err);
    as_buf_finish(&line);
    return st;
}

static void write_head(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    const struct as_run *r = &run->run;
    struct as_buf line = AS_BUF_INIT;
    char started[32];
    size_t by_status[AS_CELL_STATUS_N] = {0};
    as_format_wall(r->started_at, started, sizeof started);
    as_buf_printf(&line, "Run %lld: ", (long long)r->id);
    as_buf_terminal(&line, r->suite);
    as_buf_str(&line, " on ");
    as_buf_terminal(&line, r->host);
    as_buf_printf(&line, ", %s, %s", started, as_run_state_word(r->state));
    const double length = as_run_length(r);
    if (isfinite(length)) {
        as_buf_str(&line, " after ");
        as_format_duration(&line, length);
    }
    if (r->state == AS_RUN_RUNNING)
        as_buf_printf(&line, ", or killed: then 'assay resume %lld' goes on", (long long)r->id);
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_paint_off(out, AS_PAINT_STRONG, style);
    for (size_t i = 0; i < run->devices_n; i++) {
        as_buf_clear(&line);
        as_buf_terminal(&line, run->devices[i].id);
        as_buf_str(&line, ": ");
        as_buf_terminal(&line, run->devices[i].name);
        as_text_fill(out, as_buf_get(&line), style->width, 2, 0);
    }
    for (size_t i = 0; i < run->cells_n; i++)
        by_status[run->cells[i].status]++;
    as_buf_printf(out, "%zu cells: ", run->cells_n);
    const char *lead = "";
    for (int s = 0; s < AS_CELL_STATUS_N; s++)
        if (by_status[s]) {
            as_buf_printf(out, "%s%zu %s", lead, by_status[s], as_cell_status_word((enum as_cell_status)s));
            lead = ", ";
        }
    as_buf_char(out, '\n');
    as_buf_finish(&line);
}

enum as_status as_report_terminal(const struct as_report_run *run, const struct as_table_style *style,
                                  struct as_buf *out, struct as_error *err)
{
    write_head(run, style, out);
    write_facts(run, style, out);
    enum as_status st = write_numbers(run, style, out, err);
    if (!st)
        st = as_text_twins(run, style, out, err);
    const struct as_cell **cells = calloc(run->cells_n + 1, sizeof(struct as_cell *));
    if (!cells)
        st = st ? st : as_nomem(err, (run->cells_n + 1) * sizeof(struct as_cell *), "a table");
    for (size_t i = 0; cells && i < run->cells_n; i++)
        cells[i] = &run->cells[i];
    if (!st)
        st = as_text_missing(cells, run->cells_n, style, out, err);
    free(cells);
    return st ? st : as_buf_check(out, err);
}
