/* Aligned tables. */
#include "base/text.h"
#include "report/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 2, INDENT = 2, COMFORT = 16, REMARK_MIN = 10, REMARK = 20 };

void as_table_init(struct as_table *t, const char *const *heads)
{
    *t = (struct as_table){0};
    while (heads[t->columns] && t->columns < AS_TABLE_COLUMNS_MAX) {
        t->spare[t->columns] = heads[t->columns][0] == '?';
        t->right[t->columns] = heads[t->columns][t->spare[t->columns]] == '>';
        t->remark |= heads[t->columns][0] == '/';
        t->columns++;
    }
    for (size_t i = 0; i < t->columns; i++)
        as_table_add(t, heads[i] + t->spare[i] + t->right[i] + (heads[i][0] == '/'), AS_PAINT_STRONG);
}

void as_table_finish(struct as_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i].text);
    free(t->cells);
    *t = (struct as_table){0};
}

void as_table_add(struct as_table *t, const char *text, enum as_paint paint)
{
    struct as_buf b = AS_BUF_INIT;
    if (t->status)
        return;
    t->status = as_grow((void **)&t->cells, &t->cap, t->n + 1, sizeof *t->cells, NULL);
    as_buf_terminal(&b, text);
    char *copy = as_strdup(as_buf_get(&b));
    if (!t->status && (!copy || b.failed))
        t->status = AS_NOMEM;
    as_buf_finish(&b);
    if (t->status) {
        free(copy);
        return;
    }
    t->cells[t->n++] = (struct as_table_cell){copy, (unsigned char)paint, false};
}

void as_table_addf(struct as_table *t, enum as_paint paint, const char *fmt, ...)
{
    struct as_buf b = AS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    as_buf_vprintf(&b, fmt, ap);
    va_end(ap);
    if (b.failed)
        t->status = AS_NOMEM;
    as_table_add(t, as_buf_get(&b), paint);
    as_buf_finish(&b);
}

void as_table_heading(struct as_table *t, const char *text)
{
    as_table_add(t, text, AS_PAINT_STRONG);
    if (!t->status)
        t->headings = t->cells[t->n - 1].heading = true;
    for (size_t c = 1; c < t->columns; c++)
        as_table_add(t, "", AS_PAINT_NONE);
}

/* Where the first word of s ends, which takes its unit with it: "64 KiB". */
static size_t word_end(const char *s)
{
    size_t n = strcspn(s, " ");
    while (n > 0 && s[n] == ' ' && s[n - 1] >= '0' && s[n - 1] <= '9' &&
           ((s[n + 1] >= 'A' && s[n + 1] <= 'Z') || (s[n + 1] >= 'a' && s[n + 1] <= 'z')))
        n += 1 + strcspn(s + n + 1, " ");
    return n;
}

/* Columns that the longest word of a text takes. */
static unsigned longest_word(const char *text)
{
    unsigned longest = 0;
    while (*text) {
        char word[256];
        size_t n = word_end(text);
        as_copy_text(word, n + 1 < sizeof word ? n + 1 : sizeof word, text);
        unsigned w = as_text_width(word);
        longest = w > longest ? w : longest;
        text += n + (text[n] == ' ');
    }
    return longest;
}

static unsigned total_of(const struct as_table *t, const unsigned width[])
{
    unsigned total = t->headings ? INDENT : 0;
    for (size_t c = 0; c < t->columns; c++)
        total += width[c] ? width[c] + (c ? GAP : 0) : 0;
    return total;
}

/* Shrinks the widest column of text, or of numbers, above its minimum until the table fits. */
static void shrink(const struct as_table *t, bool numbers, unsigned most, unsigned width[], const unsigned least[])
{
    for (unsigned total = total_of(t, width); total > most; total--) {
        size_t widest = t->columns;
        for (size_t c = 0; c < t->columns; c++)
            if (t->right[c] == numbers && width[c] > least[c] && (widest == t->columns || width[c] > width[widest]))
                widest = c;
        if (widest == t->columns)
            return;
        width[widest]--;
    }
}

static bool has_text(const struct as_table *t, size_t column)
{
    for (size_t i = t->columns + column; i < t->n; i += t->columns)
        if (t->cells[i].text[0])
            return true;
    return false;
}

/* Widths of columns: as wide as the widest text; words together where they are longer than COMFORT; the longest word;
 * the least, which breaks words, and for numbers, which are else not broken, keeps their units. 0 for a column that is
 * left out. */
struct widths {
    unsigned full[AS_TABLE_COLUMNS_MAX], comfort[AS_TABLE_COLUMNS_MAX], word[AS_TABLE_COLUMNS_MAX],
        least[AS_TABLE_COLUMNS_MAX];
};

static void widths_of(const struct as_table *t, unsigned line, struct widths *w)
{
    for (size_t c = 0; c < t->columns; c++) {
        unsigned longest = 0;
        w->full[c] = w->word[c] = 0;
        for (size_t i = c; i < t->n; i += t->columns) {
            if (t->cells[i].heading)
                continue;
            const unsigned full = as_text_width(t->cells[i].text);
            const unsigned word = longest_word(t->cells[i].text);
            w->full[c] = full > w->full[c] ? full : w->full[c];
            longest = word > longest ? word : longest;
        }
        w->word[c] = t->right[c] ? w->full[c] : longest;
        if (!t->right[c] && w->word[c] > line / 2)
            w->word[c] = line / 2;
        w->least[c] = t->right[c] ? longest : w->word[c] < COMFORT ? w->word[c] : COMFORT;
        w->comfort[c] = w->word[c] > COMFORT ? w->word[c] : w->full[c] < COMFORT ? w->full[c] : COMFORT;
    }
}

static void leave_column_out(struct widths *w, size_t c)
{
    w->full[c] = w->comfort[c] = w->word[c] = w->least[c] = 0;
}

/* Takes remarks, of at most this width, out of the table, whose other columns make room for them: empty ones and bars,
 * which say less, go, and text is broken between words if that is enough. */
static void make_room_for_remarks(const struct as_table *t, unsigned line, unsigned widest, struct widths *w)
{
    const unsigned useful = GAP + (widest < REMARK ? widest : REMARK);
    leave_column_out(w, t->columns - 1);
    for (size_t c = t->columns - 1; c-- > 0 && total_of(t, w->full) + GAP + widest > line;)
        if (!has_text(t, c) || (t->spare[c] && !t->cells[c].text[0]))
            leave_column_out(w, c);
    if (widest && total_of(t, w->comfort) + useful <= line)
        shrink(t, false, line - useful, w->full, w->comfort);
}

/* What the other columns leave to remarks, if that is of use. */
static unsigned remark_width(const struct as_table *t, unsigned line, unsigned widest, const unsigned width[])
{
    const unsigned others = total_of(t, width) + GAP, left = line > others ? line - others : 0;
    return widest <= left ? widest : left < REMARK_MIN ? 0 : left;
}

/* Widths that fit into the style, 0 for a column that is left out. Text is broken between words down to COMFORT; where
 * that is not enough, columns without text go, and those that can be spared, from the right. If that makes the table
 * fit, words are broken where they are longer than COMFORT, and ranges between their numbers. False: nothing fits. */
static bool terminal_table_fit(const struct as_table *t, const struct as_table_style *style, unsigned width[])
{
    struct widths w = {.full = {0}};
    widths_of(t, style->width, &w);
    const unsigned widest = w.full[t->columns - 1];
    if (t->remark)
        make_room_for_remarks(t, style->width, widest, &w);
    for (int spare = 0; spare < 2; spare++)
        for (size_t c = t->columns; c-- > 0 && total_of(t, w.comfort) > style->width;)
            if (spare ? t->spare[c] : !has_text(t, c))
                leave_column_out(&w, c);
    shrink(t, false, style->width, w.full, w.comfort);
    shrink(t, false, style->width, w.full, w.word);
    if (total_of(t, w.least) <= style->width) {
        shrink(t, true, style->width, w.full, w.least);
        shrink(t, false, style->width, w.full, w.least);
    }
    if (t->remark)
        w.full[t->columns - 1] = remark_width(t, style->width, widest, w.full);
    memcpy(width, w.full, sizeof w.full);
    return total_of(t, width) <= style->width;
}

/* Is the first word so wide that its unit has to stand on a line of its own? */
static bool first_too_wide(const char *s, unsigned width)
{
    struct as_buf word = AS_BUF_INIT;
    as_buf_add(&word, s, word_end(s));
    bool wide = as_text_width(as_buf_get(&word)) > width;
    as_buf_finish(&word);
    return wide;
}

/* Where a word that is wider than the column is broken: behind the last '=' or '_' that fits, else anywhere. */
static size_t word_break(const char *s, unsigned width)
{
    const size_t most = as_text_prefix(s, width);
    size_t at = most;
    while (at > 0 && !strchr("=_", s[at - 1]))
        at--;
    return at ? at : most;
}

/* Takes the next line of at most width columns off *text: whole words where they fit. */
static void next_line(const char **text, unsigned width, struct as_buf *line)
{
    const char *s = *text;
    const bool broken = first_too_wide(s, width);
    size_t n = strlen(s), best = 0, at = 0;
    as_buf_clear(line);
    while (at < n) {
        size_t step = broken ? strcspn(s + at, " ") : word_end(s + at);
        struct as_buf part = AS_BUF_INIT;
        as_buf_add(&part, s, at + step);
        bool fits = as_text_width(as_buf_get(&part)) <= width;
        line->failed |= part.failed;
        as_buf_finish(&part);
        if (!fits)
            break;
        best = at + step;
        at = best + (s[best] == ' ');
        if (!s[best])
            break;
    }
    if (best == 0)
        best = word_break(s, width);
    as_buf_add(line, s, best);
    *text = s + best + (s[best] == ' ');
}

/* One line of a row; what is left of each cell is in left. Is anything left? */
static bool terminal_table_write_line(const struct as_table *t, const struct as_table_cell *row, const char **left,
                                      const unsigned width[], const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    unsigned owed = 0; /* blanks that are written only if something follows */
    bool more = false;
    for (size_t c = 0; c < t->columns; c++) {
        if (!width[c])
            continue;
        next_line(&left[c], width[c], &text);
        more |= *left[c] != 0;
        unsigned w = as_text_width(as_buf_get(&text)), blanks = width[c] > w ? width[c] - w : 0;
        if (t->right[c])
            owed += blanks;
        if (w) {
            as_buf_repeat(out, ' ', owed);
            owed = 0;
            as_paint_on(out, (enum as_paint)row[c].paint, style);
            as_buf_str(out, as_buf_get(&text));
            as_paint_off(out, (enum as_paint)row[c].paint, style);
        }
        owed += (t->right[c] ? 0 : blanks) + GAP;
    }
    as_buf_char(out, '\n');
    out->failed |= text.failed;
    as_buf_finish(&text);
    return more;
}

/* A remark that does not fit beside its row, below it. */
static void terminal_table_write_remark(const struct as_table_cell *remark, unsigned margin,
                                        const struct as_table_style *style, struct as_buf *out)
{
    const char *left = remark->text;
    struct as_buf line = AS_BUF_INIT;
    const unsigned width = style->width > margin + COMFORT ? style->width - margin : COMFORT;
    while (*left) {
        next_line(&left, width, &line);
        as_buf_repeat(out, ' ', margin);
        as_paint_on(out, (enum as_paint)remark->paint, style);
        as_buf_str(out, as_buf_get(&line));
        as_paint_off(out, (enum as_paint)remark->paint, style);
        as_buf_char(out, '\n');
    }
    out->failed |= line.failed;
    as_buf_finish(&line);
}

static void terminal_table_write_row(const struct as_table *t, const struct as_table_cell *row, const unsigned width[],
                                     const struct as_table_style *style, struct as_buf *out)
{
    const char *left[AS_TABLE_COLUMNS_MAX];
    if (row[0].heading) {
        as_paint_on(out, (enum as_paint)row[0].paint, style);
        as_text_fill(out, row[0].text, style->width, INDENT, INDENT);
        as_paint_off(out, (enum as_paint)row[0].paint, style);
        return;
    }
    const size_t last = t->columns - 1;
    const bool is_below = t->remark && as_text_width(row[last].text) > width[last];
    for (size_t c = 0; c < t->columns; c++)
        left[c] = c == last && is_below ? "" : row[c].text;
    do
        as_buf_repeat(out, ' ', t->headings ? INDENT : 0);
    while (terminal_table_write_line(t, row, left, width, style, out));
    if (is_below)
        terminal_table_write_remark(&row[last], (t->headings ? INDENT : 0) + width[0] + GAP + INDENT, style, out);
}

/* A field behind what the row is about: "; another run 0.8%". An interval belongs to the number before it, " ±0.4%",
 * and so does ", 1 of 8 trials" in its place. */
static void add_field(struct as_buf *line, const char *head, const char *text, bool first)
{
    const bool is_interval = strcmp(head, "±") == 0 || strcmp(head, "+-") == 0;
    if (is_interval && strchr(text, '%'))
        as_buf_printf(line, " %s%s", head, text);
    else if (is_interval)
        as_buf_printf(line, ", %s", text);
    else
        as_buf_printf(line, "%s%s%s%s", first ? ": " : "; ", head, head[0] ? " " : "", text);
}

/* Columns that say what the row is about: those before the first with a head, at least one. */
static size_t count_subjects(const struct as_table *t)
{
    size_t n = 1;
    while (n < t->columns && !t->cells[0].text[0] && !t->cells[n].text[0])
        n++;
    return n;
}

/* Rows as records, each number behind the head of its column: "Memory read: measured 4.57 TB/s; another run 0.8%". An
 * empty first column repeats the one above. */
static void terminal_table_write_text(const struct as_table *t, const struct as_table_style *style, struct as_buf *out)
{
    const size_t subjects = count_subjects(t);
    const char *above = "";
    struct as_buf line = AS_BUF_INIT;
    for (size_t row = 1; (row + 1) * t->columns <= t->n; row++) {
        const struct as_table_cell *cells = t->cells + row * t->columns;
        as_buf_clear(&line);
        if (cells[0].heading) {
            terminal_table_write_row(t, cells, NULL, style, out);
            continue;
        }
        above = cells[0].text[0] ? cells[0].text : above;
        size_t subject = 0;
        for (size_t c = 0; c < t->columns; c++) {
            const char *text = c ? cells[c].text : above;
            if (!text[0] || strcmp(text, "-") == 0 || strcmp(text, "–") == 0 || (t->spare[c] && !t->cells[c].text[0]))
                continue;
            if (c < subjects)
                as_buf_printf(&line, "%s%s", line.len ? " " : "", text);
            else
                add_field(&line, t->cells[c].text, text, line.len == subject);
            subject = c < subjects ? line.len : subject;
        }
        as_buf_repeat(out, ' ', t->headings ? INDENT : 0);
        as_text_hang(out, as_buf_get(&line), style->width, 2 * INDENT, t->headings ? INDENT : 0);
    }
    out->failed |= line.failed;
    as_buf_finish(&line);
}

static bool has_remark_below(const struct as_table *t, const unsigned width[])
{
    for (size_t i = 2 * t->columns - 1; t->remark && i < t->n; i += t->columns)
        if (as_text_width(t->cells[i].text) > width[t->columns - 1])
            return true;
    return false;
}

bool as_table_leaves_out(const struct as_table *t, size_t column, const struct as_table_style *style)
{
    unsigned width[AS_TABLE_COLUMNS_MAX] = {0};
    return has_text(t, column) && terminal_table_fit(t, style, width) && !width[column];
}

enum as_status as_table_write(const struct as_table *t, const struct as_table_style *style, struct as_buf *out,
                              struct as_error *err)
{
    unsigned width[AS_TABLE_COLUMNS_MAX] = {0};
    if (t->status)
        return as_nomem(err, t->cap * sizeof *t->cells, "a table");
    if (!terminal_table_fit(t, style, width)) {
        terminal_table_write_text(t, style, out);
        return as_buf_check(out, err);
    }
    const unsigned total = has_remark_below(t, width) ? style->width : total_of(t, width);
    for (size_t row = 0; (row + 1) * t->columns <= t->n; row++) {
        terminal_table_write_row(t, t->cells + row * t->columns, width, style, out);
        if (row > 0)
            continue;
        for (unsigned i = 0; i < total && i < style->width; i++)
            as_buf_str(out, style->unicode ? "─" : "-");
        as_buf_char(out, '\n');
    }
    return as_buf_check(out, err);
}
