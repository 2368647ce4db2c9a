/* The numbers beside the boxes of the machine map, or under them on a narrow page. */
#include "base/text.h"
#include "report/map/map_draw.h"
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/sheet/sheet_header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const as_map_bar_fill[AS_MAP_KINDS] = {NULL, "var(--latency,#d55e00)", "var(--bandwidth,#0072b2)"};

void as_map_text_at(struct as_buf *b, double x, double y, const char *css_class, const char *fill, double size,
                    const char *anchor)
{
    as_html_tag(b, "text", "class='%s' x='%.1f' y='%.1f' fill='%s' font-size='%.1f' text-anchor='%s'", css_class, x, y,
                fill, size, anchor);
}

void as_map_textf(struct as_buf *b, double x, double y, const char *css_class, const char *fill, double size,
                  const char *anchor, const char *fmt, ...)
{
    va_list ap;
    as_map_text_at(b, x, y, css_class, fill, size, anchor);
    va_start(ap, fmt);
    as_html_vprintf(b, fmt, ap);
    va_end(ap);
    as_html_close(b, "text");
}

enum { FITS = 9, ONE_LINE = 7 }; /* letters of a word; of a name on one line of a narrow page */

const char *as_map_row_name(const struct as_map_drawing *d, int row, char name[static 24])
{
    if (row == AS_MAP_CORE)
        return d->info->words.compute_unit[0] ? d->info->words.compute_unit
               : d->tree.unit[0]              ? d->tree.unit
                                              : "CU"; /* the column is narrow */
    if (row == AS_MAP_MEMORY)
        return "memory";
    if (row == AS_MAP_LOCAL) { /* "shared", but not "threadgroup" */
        const char *whole = as_info_words(d->info)->shared_memory;
        return strcspn(whole, " ") > FITS ? whole : as_page_local_name(d->info, name);
    }
    const struct as_cache *side = as_info_memory_side(d->info);
    if (side && side->level == (unsigned)row)
        as_cache_label(side, name);
    else
        snprintf(name, 24, "L%d", row);
    return name;
}

double as_map_bar_share(const struct as_map_number *n)
{
    static const struct {
        const char *unit;
        double lo, hi;
    } spans[] = {{"ns", 0.5, 2000}, {"GB/s", 1, 40000}};
    struct as_number number = n->number;
    number.unit = n->unit;
    const bool is_drawn = n->known == AS_MAP_MEASURED && (!n->of || as_number_is_said(&number));
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        if (!is_drawn || strcmp(n->unit, spans[i].unit) != 0)
            continue;
        double share = log(n->high / spans[i].lo) / log(spans[i].hi / spans[i].lo);
        return fmin(fmax(share, 0.02), 1); /* minimum, also for values without a logarithm */
    }
    return 0;
}

/* About how wide the first n characters are, in heights of a letter, in a wide font. */
static double note_width(const char *note, size_t n)
{
    double width = 0;
    for (size_t i = 0; i < n; i++)
        width += strchr("fijlrt ,.;:'", note[i]) ? 0.4 : strchr("mwMW", note[i]) ? 0.95 : 0.63;
    return width;
}

/* The parts of a note that fit into its column; the first part always. */
static size_t note_length(const struct as_map_drawing *d, const char *note, double size)
{
    size_t length = strlen(note);
    while (size * note_width(note, length) > d->s.note_w) {
        size_t k = length;
        while (k > 0 && note[k - 1] != ',')
            k--;
        if (!k)
            break;
        length = k - 1;
    }
    return length;
}

/* Below a value: the reported value, the measured range if the reported value is shown, or each direction of a link. */
static void number_note(struct as_map_drawing *d, const struct as_map_number *n, double x, double y)
{
    const bool claim = n->claimed > 0;
    const double usual = d->s.wide ? 11.5 : 9.5;
    char part[sizeof n->note], next[sizeof n->note];
    const size_t first = note_length(d, n->note, usual);
    const char *rest = n->note + first + strspn(n->note + first, ", ");
    as_copy_text(part, first + 1, n->note);
    as_copy_text(next, note_length(d, rest, usual) + 1, rest);
    const double size = claim ? usual : fmin(usual, d->s.note_w / (0.55 * (double)(strlen(part) + 1)));
    if (!claim && !n->note[0])
        return;
    as_map_text_at(d->b, x, y, "claimed", AS_MAP_MUTED, size, "start");
    if (!claim) {
        as_buf_html(d->b, part);
        if (n->is_way && next[0]) {
            as_html_close(d->b, "text");
            as_map_text_at(d->b, x, y + size + 2, "claimed", AS_MAP_MUTED, size, "start");
            as_buf_html(d->b, next);
        }
    } else if (as_map_shows_claim(n)) {
        as_buf_str(d->b, "reported; measured");
        as_html_close(d->b, "text");
        as_map_text_at(d->b, x, y + size + 2, "claimed", AS_MAP_MUTED, size, "start");
        as_page_range(d->b, n->number.ci.lo, n->number.ci.hi, n->unit);
    } else {
        as_buf_str(d->b, "reported ");
        as_page_value(d->b, n->claimed, n->unit);
    }
    as_html_close(d->b, "text");
}

/* Opens the group of a measured number with what it cites. */
static void map_labels_cite(struct as_map_drawing *d, const struct as_map_number *n)
{
    if (n->of) {
        as_html_cite(d->b, "g", NULL, d->info->id, n->of, n->value);
        return;
    }
    as_html_start(d->b, "g");
    as_html_attribute(d->b, "data-fact", n->fact ? n->fact->id : "several");
    as_html_started(d->b);
}

static void map_labels_number(struct as_map_drawing *d, const struct as_map_number *n, enum as_map_kind kind, double y)
{
    double x = d->s.number_x[kind], big = d->s.wide ? 17 : 13.5, small = d->s.wide ? 12.5 : 10.5;
    bool measured = n->known == AS_MAP_MEASURED, absent = n->known < AS_MAP_CLAIMED;
    if (measured)
        map_labels_cite(d, n);
    struct as_buf text = AS_BUF_INIT;
    as_map_number_text(&text, n);
    const double usual = absent ? small : big, size = fmin(usual, (d->s.note_w + 8) / (0.62 * (double)(text.len + 1)));
    as_map_text_at(d->b, x, y + 20,
                   measured ? "value"
                   : absent ? "none"
                            : "said",
                   measured ? AS_MAP_INK : AS_MAP_MUTED, size, "start");
    as_buf_str(d->b, as_buf_get(&text));
    d->b->failed |= text.failed;
    as_buf_finish(&text);
    as_html_close(d->b, measured ? "text/g" : "text");
    double share = as_map_bar_share(n);
    if (share > 0) {
        as_html_tag(d->b, "rect/", "x='%.1f' y='%.1f' width='%.1f' height='4' rx='2' fill='%s' opacity='0.18'", x,
                    y + 27, d->s.number_w, as_map_bar_fill[kind]);
        as_html_tag(d->b, "rect/", "x='%.1f' y='%.1f' width='%.1f' height='4' rx='2' fill='%s'", x, y + 27,
                    d->s.number_w * share, as_map_bar_fill[kind]);
    }
    number_note(d, n, x, y + (share > 0 ? 44 : 36));
}

/* A tooltip is read at a glance; a core has hundreds of facts where its instructions were measured. */
enum { TITLE_LINES = 16 };

/* Tooltip: facts about a row or link. */
static void map_labels_title(struct as_map_drawing *d, int row, const char *link)
{
    size_t n = 0;
    for (size_t i = 0; i < d->run->facts_n; i++) {
        const struct as_fact *f = &d->run->facts[i];
        bool about = link ? strcmp(f->object, link) == 0 : as_map_row(f->object) == row;
        if (!about || strcmp(f->device, d->info->id) != 0)
            continue;
        if (n++ >= TITLE_LINES)
            continue;
        if (n > 1)
            as_buf_char(d->b, '\n');
        else
            as_html_open(d->b, "title", NULL);
        as_buf_html(d->b, f->sentence);
    }
    if (n > TITLE_LINES)
        as_buf_printf(d->b, "\nand %zu more facts", n - TITLE_LINES);
    if (n)
        as_html_close(d->b, "title");
}

/* The column is narrow: a long name takes two lines, and smaller letters where one of them is long. */
static void row_title(struct as_map_drawing *d, const char *name, double y)
{
    const char *blank = strlen(name) > (size_t)(d->s.wide ? FITS : ONE_LINE) ? strchr(name, ' ') : NULL;
    char first[24];
    as_copy_text(first, blank && (size_t)(blank - name) < sizeof first ? (size_t)(blank - name) + 1 : sizeof first,
                 name);
    const size_t longest = blank && strlen(blank + 1) > strlen(first) ? strlen(blank + 1) : strlen(first);
    const double size =
        ((d->s.wide ? 15 : 12) - (blank ? 2 : 0)) * (longest > FITS ? (double)FITS / (double)longest : 1);
    as_map_textf(d->b, d->s.label_x, blank ? y - size / 2 : y, "level", AS_MAP_INK, size, "start", "%s", first);
    if (!blank)
        return;
    as_map_textf(d->b, d->s.label_x, y + size / 2 + 2, "level", AS_MAP_INK, size, "start", "%s", blank + 1);
}

/* Kinds from first to last: a core has only a clock, a link no size. */
static void map_labels_line(struct as_map_drawing *d, const char *name, const struct as_map_number *numbers,
                            enum as_map_kind first, enum as_map_kind last, double y)
{
    row_title(d, name, y + (d->s.wide ? d->s.box_h / 2 + 5 : 20));
    for (enum as_map_kind k = first; k <= last; k++)
        map_labels_number(d, &numbers[k], k, y);
}

static void column_heads(struct as_map_drawing *d, double y)
{
    static const char *const heads[AS_MAP_KINDS] = {"size, clock", "latency", "bandwidth"};
    for (int k = 0; k < AS_MAP_KINDS; k++) {
        as_map_textf(d->b, d->s.number_x[k], y, "head", AS_MAP_MUTED, d->s.wide ? 12.5 : 11, "start", "%s", heads[k]);
    }
}

/* On a narrow page the numbers are a table of their own. */
static double place_below(struct as_map_drawing *d, double y)
{
    const double line_h = 50, link_h = 56; /* a link has two lines of notes */
    y += 22;
    for (int i = 0; i < AS_MAP_ROWS; i++) {
        int r = as_map_order[i];
        d->line.row[r] = isfinite(d->box.row[r]) ? y : NAN;
        y += isfinite(d->box.row[r]) ? line_h : 0;
    }
    for (size_t i = 0; i < d->numbers.links_n; i++)
        d->line.link[i] = y + (double)i * link_h;
    return y + (double)d->numbers.links_n * link_h;
}

void as_map_draw_numbers(struct as_map_drawing *d, double *y)
{
    if (!as_map_has_numbers(&d->numbers)) {
        if (d->s.wide) {
            as_map_textf(d->b, d->s.label_x, d->top + 20, "note", AS_MAP_MUTED, 13, "start",
                         "no fact about its levels was derived");
        }
        return;
    }
    column_heads(d, d->s.wide ? d->top - 20 : *y + 14);
    if (!d->s.wide)
        *y = place_below(d, *y);
    for (int i = 0; i < AS_MAP_ROWS; i++) {
        int r = as_map_order[i];
        char name[24];
        if (!isfinite(d->line.row[r]))
            continue;
        as_html_open(d->b, "g", "row");
        map_labels_title(d, r, NULL);
        map_labels_line(d, as_map_row_name(d, r, name), d->numbers.row[r], AS_MAP_HOLDS,
                        r == AS_MAP_CORE ? AS_MAP_HOLDS : AS_MAP_BANDWIDTH, d->line.row[r]);
        as_html_close(d->b, "g");
    }
    for (size_t i = 0; i < d->numbers.links_n; i++) {
        const struct as_map_link *l = &d->numbers.link[i];
        as_html_open(d->b, "g", "row");
        if (l->object[0])
            map_labels_title(d, -1, l->object);
        map_labels_line(d, l->name, l->number, AS_MAP_LATENCY, AS_MAP_BANDWIDTH, d->line.link[i]);
        as_html_close(d->b, "g");
    }
}

static void describe_line(const char *name, const struct as_map_number *numbers, struct as_buf *b)
{
    bool any = false;
    for (int k = 0; k < AS_MAP_KINDS; k++) {
        const struct as_map_number *n = &numbers[k];
        if (n->known != AS_MAP_MEASURED)
            continue;
        as_buf_char(b, any ? ',' : ' ');
        if (!any)
            as_buf_html(b, name);
        as_buf_char(b, ' ');
        as_map_number_text(b, n);
        if (as_map_shows_claim(n)) {
            as_buf_str(b, " reported (measured ");
            as_page_range(b, n->number.ci.lo, n->number.ci.hi, n->unit);
            as_buf_char(b, ')');
        }
        any = true;
    }
    as_buf_str(b, any ? ";" : "");
}

void as_map_describe(const struct as_map_drawing *d, struct as_buf *b)
{
    as_buf_html(b, as_sheet_device_name(d->run, d->info->id));
    as_buf_char(b, ':');
    for (int i = 0; i < AS_MAP_ROWS; i++) {
        char name[24];
        describe_line(as_map_row_name(d, as_map_order[i], name), d->numbers.row[as_map_order[i]], b);
    }
    for (size_t i = 0; i < d->numbers.links_n; i++)
        describe_line(d->numbers.link[i].about, d->numbers.link[i].number, b);
    as_buf_char(b, '\n');
}
