/* The verdicts of 'assay check' as files for CI systems and monitoring. */
#include "cli/compare/check_output.h"

#include "base/prometheus.h"
#include "base/text.h"

#include <math.h>

/* "FP64: base 33.4 TFLOP/s, checked 30.1 TFLOP/s, ratio 0.901x (0.900 to 0.902x)" */
static void numbers_text(const struct as_check_line *line, struct as_buf *out)
{
    const char *between = "";
    if (line->base) {
        as_buf_str(out, line->bounded ? "bound " : "base ");
        as_check_number(&line->base_number, true, out);
        between = ", ";
    }
    if (line->now) {
        as_buf_printf(out, "%schecked ", between);
        as_check_number(&line->now_number, true, out);
    }
    if (line->why[0])
        as_buf_printf(out, ", %s", line->why);
    if (isfinite(line->comparison.ratio)) {
        as_buf_str(out, ", ratio ");
        as_check_ratio(line, out);
    }
}

void as_check_junit_suite(const struct as_checked *c, const char *name, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    const size_t errors = as_check_missing_failures(c);
    as_buf_str(out, "<testsuite name=\"");
    as_buf_html(out, name);
    as_buf_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", c->check.n,
                  as_check_failures(c), errors,
                  c->check.counts[AS_CHECK_NEW] + c->check.counts[AS_CHECK_MISSING] - errors);
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *line = &c->check.v[i];
        const char *const tag = line->verdict == AS_CHECK_WORSE && !line->base->warns ? "failure"
                                : as_check_fails_missing(c, line)                     ? "error"
                                : !line->base || !line->now                           ? "skipped"
                                                                                      : NULL;
        as_buf_str(out, "<testcase classname=\"");
        as_buf_html(out, line->device->id);
        as_buf_printf(out, "\" name=\"%s ", as_check_row_of(line)->group);
        as_buf_html(out, as_check_row_of(line)->label);
        as_buf_clear(&text);
        as_buf_printf(&text, "%s: ", as_check_line_word(line));
        numbers_text(line, &text);
        if (tag)
            as_buf_printf(out, "\"><%s message=\"", tag);
        else
            as_buf_str(out, "\"><system-out>");
        as_buf_html(out, as_buf_get(&text));
        as_buf_str(out, tag ? "\"/></testcase>\n" : "</system-out></testcase>\n");
    }
    as_buf_str(out, "</testsuite>\n");
    out->failed |= text.failed;
    as_buf_finish(&text);
}

void as_check_junit(const struct as_checked *c, struct as_buf *out)
{
    as_buf_str(out, AS_CHECK_JUNIT_HEAD);
    as_check_junit_suite(c, "assay check", out);
    as_buf_str(out, AS_CHECK_JUNIT_TAIL);
}

/* Escaped: units also come from files. */
static void value_cell(const struct as_number *n, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    as_check_number(n, true, &text);
    as_buf_str(out, " | ");
    as_buf_markdown(out, as_buf_get(&text));
    out->failed |= text.failed;
    as_buf_finish(&text);
}

/* Most lines were decided, and none is missing. */
static bool is_clear(const struct as_checked *c)
{
    const size_t *n = c->check.counts, decided = n[AS_CHECK_SAME] + n[AS_CHECK_BETTER];
    return !c->check.warned && !n[AS_CHECK_MISSING] && decided && n[AS_CHECK_UNDECIDED] <= decided;
}

void as_check_markdown(const struct as_checked *c, struct as_buf *out)
{
    static const char *const marks[AS_CHECK_VERDICTS_N] = {"✅", "✅", "❌", "〰️", "⚠️", "➕"};
    struct as_buf text = AS_BUF_INIT;
    as_check_verdict_text(c, &text);
    as_buf_printf(out, "### %s assay check: ", as_check_failures(c) ? "❌" : is_clear(c) ? "✅" : "⚠️");
    as_buf_markdown(out, as_buf_get(&text));
    as_buf_str(out, "\n\n");
    as_buf_str(out, c->base->bounds ? "Policy: " : "Base: ");
    as_buf_clear(&text);
    as_check_name_bases(c, &text);
    as_buf_markdown(out, as_buf_get(&text));
    as_buf_str(out, "\n\n|  | device | quantity | ");
    as_buf_str(out, c->base->bounds ? "bound" : "base");
    as_buf_str(out, " | checked | ratio |\n|--|--|--|--:|--:|--:|\n");
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *line = &c->check.v[i];
        as_buf_printf(out, "| %s %s | ", marks[line->verdict], as_check_line_word(line));
        as_buf_markdown(out, line->device->id);
        as_buf_str(out, " | ");
        as_buf_markdown(out, as_check_row_of(line)->group);
        as_buf_char(out, ' ');
        as_buf_clear(&text);
        as_check_line_label(line, &text);
        as_buf_markdown(out, as_buf_get(&text));
        value_cell(&line->base_number, out);
        value_cell(&line->now_number, out);
        as_buf_str(out, " | ");
        as_check_ratio(line, out);
        as_buf_str(out, line->why[0] && isfinite(line->comparison.ratio) ? "; " : "");
        as_buf_markdown(out, line->why);
        as_buf_str(out, " |\n");
    }
    as_buf_char(out, '\n');
    out->failed |= text.failed;
    as_buf_finish(&text);
}

/* ---- Prometheus ---- */

static const char verdict_family[] = "assay_check_verdict", ratio_family[] = "assay_check_ratio",
                  value_family[] = "assay_check_value";

void as_check_metrics_verdict(struct as_check_metrics *m, const char *node, const char *verdict)
{
    static const char *const verdicts[] = {"pass", "fail", "incomplete", "unconfirmed", "unknown", NULL};
    as_prometheus_state(&m->verdicts, verdict_family, node, "verdict", verdicts, verdict);
}

/* The label of the row, without what differs between runs, such as the number of threads. */
void as_check_metrics_add(struct as_check_metrics *m, const char *node, const struct as_checked *c)
{
    as_check_metrics_verdict(m, node, as_check_word(c));
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *line = &c->check.v[i];
        const struct as_sheet_row *row = as_check_row_of(line);
        struct as_buf label = AS_BUF_INIT;
        as_buf_printf(&label, "%s %s", row->group, row->label);
        enum { OF_VALUE = 5, OF_RATIO = 7 };
        const struct as_metric_label labels[OF_RATIO] = {
            {"node", node},
            {"device", line->device->id},
            {"quantity", row->of->name},
            {"line", as_buf_get(&label)},
            {"unit", row->unit},
            {"severity", line->base && line->base->warns ? "warn" : "fail"},
            {"state", as_check_line_word(line)}};
        as_prometheus_sample(&m->ratios, ratio_family, labels, OF_RATIO, line->comparison.ratio);
        const double value = line->now ? as_number_point(&line->now_number) : NAN; /* a capacity is a range */
        if (isfinite(value))
            as_prometheus_sample(&m->values, value_family, labels, OF_VALUE, value);
        m->ratios.failed |= label.failed;
        as_buf_finish(&label);
    }
}

void as_check_metrics_write(struct as_check_metrics *m, struct as_buf *out)
{
    const struct {
        const char *family, *help;
        struct as_buf *samples;
    } families[] = {
        {verdict_family, "1 for the node's verdict, 0 for the others", &m->verdicts},
        {ratio_family, "checked number divided by its bound or base, NaN if either is missing or the bound is 0",
         &m->ratios},
        {value_family, "checked number, in the unit of its label; a capacity, which is a range, has none", &m->values}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        as_prometheus_head(out, families[i].family, families[i].help);
        as_buf_add(out, as_buf_get(families[i].samples), families[i].samples->len);
        out->failed |= families[i].samples->failed;
        as_buf_finish(families[i].samples);
    }
}

void as_check_prometheus(const struct as_checked *c, struct as_buf *out)
{
    struct as_check_metrics m = {.verdicts = AS_BUF_INIT};
    as_check_metrics_add(&m, c->now->host, c);
    as_check_metrics_write(&m, out);
}
