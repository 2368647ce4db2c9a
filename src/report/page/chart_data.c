/* The cells of each probe as columns of JSON: every distinct value of a word or axis once, then its index by row. A
 * run of 10,000 cells stays so within some 50 bytes a cell. */
#include "base/text.h"
#include "model/bins.h"
#include "report/map/map.h"
#include "report/model/column.h"
#include "report/model/further.h"
#include "report/page/page.h"

#include <math.h>
#include <string.h>

/* JSON knows no NaN. Six digits tell more than the interval of any cell. */
static void chart_data_number(struct as_buf *b, double v)
{
    if (isfinite(v))
        as_buf_printf(b, "%.6g", v);
    else
        as_buf_str(b, "null");
}

static void chart_data_ranks(struct as_buf *b, const struct as_column *c, size_t rows)
{
    if (c->distinct <= 1)
        return;
    as_buf_str(b, ",\"i\":[");
    for (size_t i = 0; i < rows; i++)
        as_buf_printf(b, i ? ",%u" : "%u", (unsigned)c->rank[i]);
    as_buf_char(b, ']');
}

static void column(struct as_buf *b, const struct as_column *c, size_t rows)
{
    as_buf_char(b, ',');
    as_buf_json_str(b, c->name);
    as_buf_str(b, ":{\"v\":[");
    for (size_t i = 0; i < c->distinct; i++) {
        if (i)
            as_buf_char(b, ',');
        if (c->numbers)
            as_buf_printf(b, "%.17g", c->values[i].number);
        else
            as_buf_json_str(b, c->values[i].text);
    }
    as_buf_char(b, ']');
    chart_data_ranks(b, c, rows);
    as_buf_char(b, '}');
}

/* What the probe says of the words of an axis, as further fields of the figure: "op_type" by op. */
static void abouts(struct as_buf *b, const struct as_columns *c, const char **lead)
{
    static const struct {
        const char *name;
        size_t at;
    } said[] = {{"kind", offsetof(struct as_word, kind)},
                {"base", offsetof(struct as_word, base)},
                {"type", offsetof(struct as_word, type)}};
    for (size_t i = 0; i < c->axes_n; i++) {
        const struct as_column *k = &c->axes[i];
        bool known = false;
        for (size_t v = 0; v < k->distinct && !k->numbers && !known; v++)
            known = as_probe_word(c->probe, k->values[v].text) != NULL;
        for (size_t s = 0; known && s < sizeof said / sizeof *said; s++) {
            as_buf_printf(b, "%s\"%s_%s\":{\"v\":[", *lead, k->axis ? k->axis->name : "", said[s].name);
            *lead = ",";
            for (size_t v = 0; v < k->distinct; v++) {
                const struct as_word *w = as_probe_word(c->probe, k->values[v].text);
                as_buf_str(b, v ? "," : "");
                as_buf_json_str(b, w ? *(const char *const *)((const char *)w + said[s].at) : k->values[v].text);
            }
            as_buf_char(b, ']');
            chart_data_ranks(b, k, c->rows_n);
            as_buf_char(b, '}');
        }
    }
}

enum measure { VALUE, LOW, HIGH };

/* A bound that is missing, or that a logarithmic axis cannot show, is drawn as the number itself: no band. */
static double read_measure(const struct as_cell *c, enum measure which)
{
    const struct as_number n = as_number_of_cell(c);
    const bool drawable = isfinite(n.ci.lo) && isfinite(n.ci.hi) && (n.ci.lo > 0 || n.value <= 0);
    return !drawable || which == VALUE ? n.value : which == LOW ? n.ci.lo : n.ci.hi;
}

static void measures(struct as_buf *b, const struct as_columns *c, const char *name, enum measure which)
{
    as_buf_printf(b, ",\"%s\":[", name);
    for (size_t i = 0; i < c->rows_n; i++) {
        if (i)
            as_buf_char(b, ',');
        chart_data_number(b, read_measure(c->rows[i].cell, which));
    }
    as_buf_char(b, ']');
}

/* Each number as every other view says it: "84 ns", "14 to 35 ns". */
static void numbers_said(struct as_buf *b, const struct as_columns *c)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_str(b, ",\"said\":[");
    for (size_t i = 0; i < c->rows_n; i++) {
        as_buf_clear(&text);
        as_cell_number(c->rows[i].cell, &text);
        as_buf_str(b, i ? "," : "");
        as_buf_json_str(b, as_buf_get(&text));
    }
    as_buf_char(b, ']');
    b->failed |= text.failed;
    as_buf_finish(&text);
}

static void chart_data_ids(struct as_buf *b, const struct as_columns *c)
{
    as_buf_str(b, "\"id\":[");
    for (size_t i = 0; i < c->rows_n; i++)
        as_buf_printf(b, i ? ",%lld" : "%lld", (long long)c->rows[i].cell->id);
    as_buf_str(b, "],\"run\":[");
    for (size_t i = 0; i < c->rows_n; i++)
        as_buf_printf(b, i ? ",%zu" : "%zu", c->rows[i].run);
    as_buf_char(b, ']');
}

/* By row number: the units where they differ from the first row's, and why a point is rejected. */
static void exceptions(struct as_buf *b, const struct as_columns *c)
{
    bool first = true;
    as_buf_str(b, ",\"unit\":");
    as_buf_json_str(b, c->rows_n ? c->rows[0].cell->unit : "");
    as_buf_str(b, ",\"units\":{");
    for (size_t i = 1; i < c->rows_n; i++) {
        if (strcmp(c->rows[i].cell->unit, c->rows[0].cell->unit) == 0)
            continue;
        as_buf_printf(b, first ? "\"%zu\":" : ",\"%zu\":", i);
        as_buf_json_str(b, c->rows[i].cell->unit);
        first = false;
    }
    as_buf_str(b, "},\"rejected\":{");
    first = true;
    for (size_t i = 0; i < c->rows_n; i++) {
        const struct as_cell *cell = c->rows[i].cell;
        if (cell->status != AS_CELL_REJECTED)
            continue;
        as_buf_printf(b, first ? "\"%zu\":\"" : ",\"%zu\":\"", i);
        first = false;
        const char *sep = "";
        for (int g = 0; g < AS_GATE_N; g++) {
            if (cell->gates[g].state != AS_GATE_FAIL)
                continue;
            as_buf_str(b, sep);
            as_buf_str(b, as_gate_name((enum as_gate)g));
            sep = ", ";
        }
        as_buf_char(b, '"');
    }
    as_buf_char(b, '}');
}

/* By row number: physical bounds, of matrix instructions the documented rate. */
static void chart_data_limits(struct as_buf *b, const struct as_columns *c)
{
    const char *lead = "";
    as_buf_str(b, ",\"limit\":{");
    for (size_t i = 0; i < c->rows_n; i++) {
        const double limit = c->rows[i].cell->limit;
        if (!isfinite(limit) || limit <= 0)
            continue;
        as_buf_printf(b, "%s\"%zu\":", lead, i);
        chart_data_number(b, limit);
        lead = ",";
    }
    as_buf_char(b, '}');
}

/* Further metrics by name: a value per row, null where the cell has none. */
static void further_measures(struct as_buf *b, const struct as_columns *c)
{
    struct as_further f = {.n = 0};
    for (size_t i = 0; i < c->rows_n; i++)
        as_further_collect(&f, c->rows[i].cell);
    as_buf_str(b, ",\"further\":{");
    for (size_t k = 0; k < f.n; k++) {
        as_buf_str(b, k ? "," : "");
        as_buf_json_str(b, f.names[k]);
        as_buf_str(b, ":[");
        for (size_t i = 0; i < c->rows_n; i++) {
            struct as_metric_value v;
            as_buf_str(b, i ? "," : "");
            chart_data_number(b, as_cell_metric(c->rows[i].cell, f.names[k], &v) ? v.value : NAN);
        }
        as_buf_char(b, ']');
    }
    as_buf_char(b, '}');
}

/* By row number: the bins of its single events. */
static void chart_data_bins(struct as_buf *b, const struct as_columns *c)
{
    const char *lead = "";
    as_buf_str(b, ",\"bins\":{");
    for (size_t i = 0; i < c->rows_n; i++) {
        struct as_bins of;
        if (!as_bins_of(c->rows[i].cell, &of))
            continue;
        as_buf_printf(b, "%s\"%zu\":\"", lead, i);
        as_bins_write(&of, b);
        as_buf_char(b, '"');
        lead = ",";
    }
    as_buf_char(b, '}');
}

static enum as_status probe_data(struct as_page *p, const char *name)
{
    struct as_columns c;
    enum as_status st = as_columns_make(p->runs, p->n, name, &c, p->err);
    if (st != AS_OK)
        return st;
    struct as_buf *b = p->out;
    as_buf_json_str(b, name);
    as_buf_str(b, ":{");
    chart_data_ids(b, &c);
    measures(b, &c, "value", VALUE);
    measures(b, &c, "lo", LOW);
    measures(b, &c, "hi", HIGH);
    numbers_said(b, &c);
    chart_data_limits(b, &c);
    further_measures(b, &c);
    chart_data_bins(b, &c);
    exceptions(b, &c);
    as_buf_str(b, ",\"better\":");
    as_buf_str(b, c.rows_n && c.rows[0].cell->lower_is_better ? "\"less\"" : "\"more\"");
    as_buf_str(b, ",\"words\":{\"probe\":{\"v\":[");
    as_buf_json_str(b, name);
    as_buf_str(b, "]}");
    column(b, &c.device, c.rows_n);
    column(b, &c.metric, c.rows_n);
    for (size_t i = 0; i < c.axes_n; i++)
        column(b, &c.axes[i], c.rows_n);
    as_buf_str(b, "},\"about\":{");
    const char *lead = "";
    abouts(b, &c, &lead);
    as_buf_str(b, "}}");
    as_columns_finish(&c);
    return AS_OK;
}

/* Where each cache ends by what the map shows of it, inner ones first. */
static void levels_of(struct as_buf *b, const struct as_report_run *rr, const struct as_device_info *info,
                      const char **sep)
{
    struct as_map_numbers numbers;
    as_map_numbers_find(rr, info, &numbers);
    for (int row = 1; row <= AS_MAP_CACHE_MAX; row++) {
        const struct as_map_number *n = &numbers.row[row][AS_MAP_HOLDS];
        if (n->known < AS_MAP_CLAIMED || !(n->value > 0))
            continue;
        as_buf_printf(b, "%s{\"device\":", *sep);
        as_buf_json_str(b, info->id);
        as_buf_printf(b, ",\"run\":\"run %lld\",\"level\":\"L%d\",\"size\":", (long long)rr->run.id, row);
        chart_data_number(b, n->value);
        as_buf_char(b, '}');
        *sep = ",";
    }
}

static void levels(struct as_page *p)
{
    const char *sep = "";
    as_buf_str(p->out, "\"levels\":[");
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].devices_n; i++)
            levels_of(p->out, &p->runs[r], &p->runs[r].devices[i], &sep);
    as_buf_str(p->out, "],");
}

enum as_status as_page_data(struct as_page *p, const char *const *probes, size_t n)
{
    struct as_buf *b = p->out;
    as_buf_str(b, "{\"runs\":[");
    for (size_t r = 0; r < p->n; r++)
        as_buf_printf(b, r ? ",\"run %lld\"" : "\"run %lld\"", (long long)p->runs[r].run.id);
    as_buf_str(b, "],");
    levels(p);
    as_buf_str(b, "\"probes\":{");
    for (size_t i = 0; i < n; i++) {
        if (i)
            as_buf_char(b, ',');
        enum as_status st = probe_data(p, probes[i]);
        if (st != AS_OK)
            return st;
    }
    as_buf_str(b, "}}");
    return AS_OK;
}
