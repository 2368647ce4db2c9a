#include "cli/compare/compare_table.h"

#include "base/text.h"
#include "cli/compare/check_output.h"
#include "model/number.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the numbers and the verdict, and the minimum for the axes. */
enum { NUMBERS = 66, AXES_MIN = 24, LISTED = 20 };

static const struct as_cell *compare_table_cell_of(const struct as_pair *p)
{
    return p->a ? p->a : p->b;
}

/* Both runs have it, and at least one has a number to print. */
static bool is_row(const struct as_pair *p)
{
    return p->a && p->b && (as_report_has_number(p->a) || as_report_has_number(p->b));
}

/* The first pair from i on that has a row; pairs->n if there is none. */
static size_t next_row(const struct as_pairs *pairs, size_t i)
{
    while (i < pairs->n && !is_row(&pairs->v[i]))
        i++;
    return i;
}

static bool compare_table_same_place(const struct as_cell *a, const struct as_cell *b)
{
    return strcmp(a->probe, b->probe) == 0 && strcmp(a->device, b->device) == 0;
}

static void add_axis(const struct as_cell *c, const struct as_axis_value *v, struct as_buf *out)
{
    as_buf_printf(out, "%s%s=", out->len ? " " : "", v->name);
    as_text_axis(out, v, as_probe_find(c->probe));
}

/* Rows under one heading: one probe and device. Axes are indexed as in the first row; an axis missing from another row
 * counts as varying. */
struct rows {
    size_t from, to, n; /* pairs, and rows among them */
    struct {
        bool varies;
        unsigned width; /* widest word */
    } axes[AS_AXES_MAX];
};

static unsigned word_width(const struct as_cell *c, size_t axis)
{
    struct as_buf b = AS_BUF_INIT;
    add_axis(c, &c->axes.v[axis], &b);
    const unsigned width = as_text_width(as_buf_get(&b));
    as_buf_finish(&b);
    return width;
}

/* Adds a row and updates which axes vary. */
static struct rows with_row(const struct as_pairs *pairs, struct rows r, size_t i)
{
    const struct as_cell *c = compare_table_cell_of(&pairs->v[i]), *first = compare_table_cell_of(&pairs->v[r.from]);
    for (size_t k = 0; k < c->axes.n; k++) {
        const bool same_name = k < first->axes.n && strcmp(first->axes.v[k].name, c->axes.v[k].name) == 0;
        const unsigned width = word_width(c, k);
        r.axes[k].varies |= !same_name || strcmp(first->axes.v[k].text, c->axes.v[k].text) != 0;
        r.axes[k].width = width > r.axes[k].width ? width : r.axes[k].width;
    }
    for (size_t k = c->axes.n; k < first->axes.n; k++)
        r.axes[k].varies = true;
    r.to = i + 1;
    r.n++;
    return r;
}

static unsigned compare_table_width_of(const struct rows *r)
{
    unsigned width = 0;
    for (size_t k = 0; k < AS_AXES_MAX; k++)
        width += r->axes[k].varies ? r->axes[k].width + (width > 0) : 0;
    return width;
}

/* The longest group of rows from `from` whose varying axes fit the columns. */
static struct rows rows_from(const struct as_pairs *pairs, size_t from, unsigned room)
{
    struct rows r = with_row(pairs, (struct rows){.from = from}, from);
    for (size_t i = next_row(pairs, r.to); i < pairs->n; i = next_row(pairs, r.to)) {
        const struct rows more = with_row(pairs, r, i);
        if (!compare_table_same_place(compare_table_cell_of(&pairs->v[from]), compare_table_cell_of(&pairs->v[i])) ||
            compare_table_width_of(&more) > room)
            break;
        r = more;
    }
    return r;
}

/* The axes of a row that vary among the rows, or those that are constant; a single row shows all. */
static void axes_words(const struct rows *r, const struct as_cell *c, bool that_vary, struct as_buf *out)
{
    for (size_t k = 0; k < c->axes.n; k++)
        if ((r->n == 1 || r->axes[k].varies) == that_vary)
            add_axis(c, &c->axes.v[k], out);
}

static void compare_table_add_value(struct as_table *t, const struct as_cell *c)
{
    struct as_buf b = AS_BUF_INIT;
    if (as_report_has_number(c))
        as_cell_number(c, &b);
    else
        as_buf_str(&b, as_cell_status_said(c->status));
    as_table_add(t, as_buf_get(&b), AS_PAINT_NONE);
    as_buf_finish(&b);
}

/* The reason why there is no verdict. */
static void add_no_verdict(struct as_table *t, const struct as_cell *a, const struct as_cell *b)
{
    const char *const words[] = {as_cell_status_said(a->status), as_cell_status_said(b->status)};
    if (as_cell_is_valid(a) && as_cell_is_valid(b))
        as_table_add(t, "no number", AS_PAINT_DIM);
    else if (a->status == b->status)
        as_table_add(t, words[0], AS_PAINT_DIM);
    else if (as_cell_is_valid(a) || as_cell_is_valid(b))
        as_table_addf(t, AS_PAINT_DIM, "%s %s", as_cell_is_valid(a) ? "b" : "a", words[as_cell_is_valid(a)]);
    else
        as_table_addf(t, AS_PAINT_DIM, "a %s, b %s", words[0], words[1]);
}

static void compare_table_add_row(struct as_table *t, const char *axes, const struct as_pair *p)
{
    static const enum as_paint paint[] = {[AS_SAME] = AS_PAINT_NONE,
                                          [AS_FASTER] = AS_PAINT_GOOD,
                                          [AS_SLOWER] = AS_PAINT_BAD,
                                          [AS_CANNOT_TELL] = AS_PAINT_DIM};
    as_table_add(t, axes, AS_PAINT_NONE);
    compare_table_add_value(t, p->a);
    compare_table_add_value(t, p->b);
    struct as_buf b = AS_BUF_INIT;
    const struct as_number ratio = {
        .value = p->comparison.ratio, .ci = as_comparison_interval(&p->comparison), .unit = "x"};
    if (isfinite(ratio.value))
        as_number_text(&ratio, &b);
    as_table_add(t, as_buf_get(&b), AS_PAINT_NONE);
    as_buf_clear(&b);
    as_number_interval(&ratio, &b);
    as_table_add(t, as_buf_get(&b), AS_PAINT_NONE);
    as_buf_finish(&b);
    if (p->match == AS_MATCH_BOTH)
        as_table_addf(t, paint[p->comparison.verdict], "%s%s%s%s", as_verdict_word(p->comparison.verdict),
                      p->two_states ? ", two states" : "", p->regression ? ", over the limit" : "",
                      p->other_kernel ? ", different kernel source" : "");
    else
        add_no_verdict(t, p->a, p->b);
}

static void compare_table_add_group(struct as_table *t, const struct as_pairs *pairs, const struct rows *r)
{
    const struct as_cell *c = compare_table_cell_of(&pairs->v[r->from]);
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s %s", c->probe, c->device);
    axes_words(r, c, false, &b);
    as_table_heading(t, as_buf_get(&b));
    for (size_t i = r->from; i < r->to; i = next_row(pairs, i + 1)) {
        as_buf_clear(&b);
        axes_words(r, compare_table_cell_of(&pairs->v[i]), true, &b);
        compare_table_add_row(t, as_buf_get(&b), &pairs->v[i]);
    }
    as_buf_finish(&b);
}

enum as_status as_compare_table(const struct as_pairs *pairs, const struct as_table_style *style, struct as_buf *out,
                                struct as_error *err)
{
    static const char *const heads[] = {"measurement", ">a", ">b", ">b/a", ">interval", "verdict", NULL};
    const unsigned room = style->width > NUMBERS + AXES_MIN ? style->width - NUMBERS : AXES_MIN;
    enum as_status st = AS_OK;
    struct as_table t;
    as_table_init(&t, heads);
    for (size_t i = next_row(pairs, 0); i < pairs->n;) {
        const struct rows r = rows_from(pairs, i, room);
        compare_table_add_group(&t, pairs, &r);
        i = next_row(pairs, r.to);
    }
    as_buf_char(out, '\n');
    if (t.status || t.n > t.columns)
        st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    return st;
}

/* A single cell: its axes without those that are constant within its probe. */
static void compare_table_write_cell(const struct as_pairs *pairs, const struct as_cell *c, struct as_buf *out)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s %s", c->probe, c->device);
    for (size_t i = 0; i < c->axes.n; i++) {
        bool tells = false;
        for (size_t k = 0; k < pairs->n && !tells; k++) {
            const struct as_cell *other = compare_table_cell_of(&pairs->v[k]);
            tells = strcmp(other->probe, c->probe) == 0 &&
                    strcmp(as_axes_text(&other->axes, c->axes.v[i].name), c->axes.v[i].text) != 0;
        }
        if (tells)
            add_axis(c, &c->axes.v[i], &b);
    }
    as_buf_str(out, "  ");
    as_buf_terminal(out, as_buf_get(&b));
    out->failed |= b.failed;
    as_buf_finish(&b);
}

/* "bandwidth cpu op=copy: 23.4 GB/s in a, 19.5 GB/s in b, b/a 0.833x (0.804 to 0.864x)" */
static void write_differing(const struct as_pairs *pairs, const struct as_pair *p, const struct as_table_style *style,
                            struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    const struct as_comparison *by = &p->comparison;
    compare_table_write_cell(pairs, p->a, &line);
    as_buf_str(&line, ": ");
    as_cell_number(p->a, &line);
    as_buf_str(&line, " in a, ");
    as_cell_number(p->b, &line);
    as_buf_str(&line, " in b, b/a ");
    as_number_prose(&(struct as_number){.value = by->ratio, .ci = as_comparison_interval(by), .unit = "x"}, "", "",
                    &line);
    as_buf_str(&line, p->other_kernel ? ", different kernel source" : "");
    as_buf_str(out, "  ");
    as_text_hang(out, as_buf_get(&line) + strspn(as_buf_get(&line), " "), style->width, 4, 2);
    out->failed |= line.failed;
    as_buf_finish(&line);
}

/* Those with a verdict, or that are over the limit, of all that differ. */
static void write_verdict(const struct as_pairs *pairs, const struct as_pair *const *differing, size_t n,
                          enum as_verdict verdict, const struct as_compare_listed *listed,
                          const struct as_table_style *style, struct as_buf *out)
{
    const bool by_limit = verdict == AS_SLOWER && listed->limit >= 0;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        if (by_limit ? !differing[i]->regression : differing[i]->comparison.verdict != verdict)
            continue;
        if (found++ == 0)
            as_buf_printf(out, "\n%s in b%s:\n", verdict == AS_SLOWER ? "Slower" : "Faster",
                          by_limit ? " by more than the limit" : "");
        if (listed->all || found <= LISTED)
            write_differing(pairs, differing[i], style, out);
    }
    if (!listed->all && found > LISTED)
        as_buf_printf(out, "  and %zu more that differ less\n", found - LISTED);
}

static void write_count(const struct as_cell *c, size_t n, struct as_buf *out)
{
    as_buf_str(out, "  ");
    as_buf_terminal(out, c->probe);
    as_buf_char(out, ' ');
    as_buf_terminal(out, c->device);
    as_buf_printf(out, ": %zu measurement%s\n", n, n == 1 ? "" : "s");
}

/* Long lists are shortened to counts by probe and device. */
static void write_only(const struct as_pairs *pairs, enum as_match which, const char *name, bool all,
                       struct as_buf *out)
{
    const struct as_cell *last = NULL;
    size_t n = 0;
    if (!pairs->matches[which])
        return;
    as_buf_printf(out, "\nOnly in %s (%zu):\n", name, pairs->matches[which]);
    for (size_t i = 0; i < pairs->n; i++) {
        const struct as_cell *c = compare_table_cell_of(&pairs->v[i]);
        if (pairs->v[i].match != which)
            continue;
        if (all || pairs->matches[which] <= LISTED) {
            compare_table_write_cell(pairs, c, out);
            as_buf_char(out, '\n');
            continue;
        }
        if (last && !compare_table_same_place(last, c)) {
            write_count(last, n, out);
            n = 0;
        }
        last = c;
        n++;
    }
    if (last)
        write_count(last, n, out);
}

void as_compare_lists(const struct as_pairs *pairs, const struct as_compare_listed *listed,
                      const struct as_table_style *style, struct as_buf *out)
{
    const struct as_pair **differing = malloc((pairs->n + 1) * sizeof *differing);
    const size_t n = differing ? as_pairs_differing(pairs, differing) : 0;
    out->failed |= !differing;
    write_verdict(pairs, differing, n, AS_SLOWER, listed, style, out);
    write_verdict(pairs, differing, n, AS_FASTER, listed, style, out);
    write_only(pairs, AS_MATCH_ONLY_A, "a", listed->all, out);
    write_only(pairs, AS_MATCH_ONLY_B, "b", listed->all, out);
    free(differing);
}

/* "cpu Memory read: 23.4 GB/s ±1% in a, 19.5 GB/s ±1% in b, b/a 0.833x (0.804 to 0.864x)" */
static void write_sheet_line(const struct as_check_line *l, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, safe = AS_BUF_INIT;
    as_buf_printf(&line, "%s %s ", l->device->id, as_check_row_of(l)->group);
    as_check_line_label(l, &line);
    as_buf_str(&line, ": ");
    as_check_number(&l->base_number, style->unicode, &line);
    as_buf_str(&line, " in a, ");
    as_check_number(&l->now_number, style->unicode, &line);
    as_buf_str(&line, " in b, b/a ");
    as_check_ratio(l, &line);
    as_buf_terminal(&safe, as_buf_get(&line));
    as_buf_str(out, "  ");
    as_text_hang(out, as_buf_get(&safe), style->width, 4, 2);
    out->failed |= line.failed || safe.failed;
    as_buf_finish(&line);
    as_buf_finish(&safe);
}

void as_compare_sheet_lines(const struct as_check *check, const struct as_table_style *style, struct as_buf *out)
{
    static const struct {
        enum as_check_verdict verdict;
        const char *word;
    } lists[] = {{AS_CHECK_WORSE, "worse"}, {AS_CHECK_BETTER, "better"}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        if (check->counts[lists[k].verdict])
            as_buf_printf(out, "\nData sheet, %s in b:\n", lists[k].word);
        for (size_t i = 0; i < check->n; i++)
            if (check->v[i].verdict == lists[k].verdict)
                write_sheet_line(&check->v[i], style, out);
    }
}
