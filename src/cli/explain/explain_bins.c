/* The distribution of single events, such as page faults. */
#include "cli/explain/explain.h"

#include "base/text.h"
#include "model/bins.h"
#include "report/terminal/terminal.h"

enum { LABEL = 12, SHARE = 8, BAR = 40 }; /* columns */
static const double SHARE_MIN = 0.005;    /* share of a row; those below it are counted together */

static void bins_row(const char *label, double share, double most, const struct as_table_style *style,
                     struct as_buf *out)
{
    const unsigned width = as_text_width(label), room = style->width - LABEL - SHARE - 2;
    as_buf_repeat(out, ' ', width < LABEL ? LABEL - width : 0);
    as_buf_terminal(out, label);
    as_buf_printf(out, " %6.1f%% ", 100 * share);
    as_text_bar(out, share / most, room < BAR ? room : BAR, style->unicode);
    as_buf_char(out, '\n');
}

void as_explain_bins(const struct as_cell *c, const struct as_table_style *style, struct as_buf *out)
{
    struct as_bins bins;
    struct as_buf label = AS_BUF_INIT;
    double most = 0, rest = 1;
    if (!as_bins_of(c, &bins))
        return;
    const double total = (double)as_bins_total(&bins);
    for (size_t i = 0; i < AS_BINS_MAX; i++)
        most = (double)bins.count[i] / total > most ? (double)bins.count[i] / total : most;
    as_text_title(out, "Single events, from the bin's lower edge on", style);
    for (size_t i = 0; i < AS_BINS_MAX; i++) {
        const double share = (double)bins.count[i] / total;
        if (share < SHARE_MIN)
            continue;
        as_buf_clear(&label);
        as_format_value_to(&label, as_bins_edge(i), c->unit, 3);
        bins_row(as_buf_get(&label), share, most, style, out);
        rest -= share;
    }
    if (rest > 1e-9)
        bins_row("other bins", rest, most > rest ? most : rest, style, out);
    out->failed |= label.failed;
    as_buf_finish(&label);
}
