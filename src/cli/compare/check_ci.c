/* The verdicts of 'assay check' as files for CI systems. */
#include "cli/compare/check_output.h"

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
    const bool missing = as_check_is_incomplete(c);
    const size_t errors = missing ? c->check.counts[AS_CHECK_MISSING] - c->check.unanswered : 0;
    as_buf_str(out, "<testsuite name=\"");
    as_buf_html(out, name);
    as_buf_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", c->check.n,
                  as_check_failures(c), errors,
                  c->check.counts[AS_CHECK_NEW] + c->check.counts[AS_CHECK_MISSING] - errors);
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *line = &c->check.v[i];
        const char *const tag = line->verdict == AS_CHECK_WORSE && !line->base->warns               ? "failure"
                                : line->verdict == AS_CHECK_MISSING && missing && !line->unanswered ? "error"
                                : !line->base || !line->now                                         ? "skipped"
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
    as_buf_printf(out, "### %s assay check: %s\n\n",
                  as_check_failures(c) ? "❌"
                  : is_clear(c)        ? "✅"
                                       : "⚠️",
                  as_buf_get(&text));
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
