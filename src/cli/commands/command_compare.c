/* assay compare: compares two runs */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/compare/compare_provenance.h"
#include "cli/compare/compare_table.h"
#include "cli/options/lookup.h"
#include "cli/options/session.h"
#include "cli/output/ndjson.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <string.h>

static const struct as_args_range check_range = {as_parse_percent, 0, 10, "0% to 1000%"};
static const char *const match_words[] = {
    [AS_MATCH_BOTH] = "both",
    [AS_MATCH_NO_NUMBER] = "no number",
    [AS_MATCH_ONLY_A] = "only a",
    [AS_MATCH_ONLY_B] = "only b",
};

static void json_pair(const struct as_pair *p, struct as_buf *out)
{
    const struct as_cell *c = p->a ? p->a : p->b;
    struct as_buf b = AS_BUF_INIT;
    as_buf_char(&b, '{');
    as_json_add_text(&b, "match", match_words[p->match]);
    as_json_add_text(&b, "probe", c->probe);
    as_json_add_text(&b, "device", c->device);
    as_json_add_name(&b, "axes");
    as_axes_to_json(&c->axes, &b);
    as_json_add_text(&b, "unit", c->unit);
    as_json_add_text(&b, "better", c->lower_is_better ? "less" : "more");
    as_json_add_number(&b, "a", p->a && as_report_has_number(p->a) ? p->a->sum.median : NAN);
    as_json_add_number(&b, "b", p->b && as_report_has_number(p->b) ? p->b->sum.median : NAN);
    as_json_add_text(&b, "status_a", p->a ? as_cell_status_word(p->a->status) : "");
    as_json_add_text(&b, "status_b", p->b ? as_cell_status_word(p->b->status) : "");
    as_json_add_number(&b, "ratio", p->comparison.ratio);
    as_ndjson_interval(&b, "ratio_ci", p->comparison.ci);
    as_ndjson_interval(&b, "ratio_interval", as_comparison_interval(&p->comparison));
    as_json_add_text(&b, "verdict", p->match == AS_MATCH_BOTH ? as_verdict_word(p->comparison.verdict) : "");
    if (p->two_states)
        as_json_add_text(&b, "reason", as_two_states_why);
    as_json_add_bool(&b, "regression", p->regression);
    as_json_add_bool(&b, "other_kernel", p->other_kernel);
    as_buf_str(&b, "}\n");
    as_buf_str(out, as_buf_get(&b));
    out->failed |= b.failed;
    as_buf_finish(&b);
}

static void write_source(const char *letter, const char *name, const struct as_report_run *r, struct as_buf *out)
{
    as_buf_printf(out, "%s: run %lld", letter, (long long)r->run.id);
    if (name[0] < '0' || name[0] > '9') {
        as_buf_str(out, " (");
        as_buf_terminal(out, name);
        as_buf_char(out, ')');
    }
    as_buf_str(out, ", ");
    as_buf_terminal(out, r->run.suite);
    as_buf_str(out, " on ");
    as_buf_terminal(out, r->run.host);
    as_buf_str(out, ", assay ");
    as_buf_terminal(out, r->run.tool_version);
    as_buf_char(out, ' ');
    as_buf_terminal(out, r->run.tool_commit);
    if (r->against_earlier) {
        as_buf_str(out, "; ");
        as_buf_terminal(out, r->against_earlier);
    }
    as_buf_char(out, '\n');
}

/* Two runs, and what comparing them gave. */
struct compared {
    struct as_report_run runs[2];
    size_t loaded;
    struct as_pairs pairs;
    struct as_sheets_compared sheets;
    double limit, tolerance; /* limit: negative none */
};

static void compare_write_counts(const struct compared *c, const struct as_table_style *style, struct as_buf *out)
{
    const struct as_pairs *pairs = &c->pairs;
    const bool other_build = strcmp(c->runs[0].run.tool_commit, c->runs[1].run.tool_commit) != 0;
    struct as_buf line = AS_BUF_INIT;
    as_pairs_text(pairs, &line);
    if (pairs->matches[AS_MATCH_NO_NUMBER])
        as_buf_printf(&line, "; %zu lack a valid number in a or b", pairs->matches[AS_MATCH_NO_NUMBER]);
    if (c->limit >= 0)
        as_buf_printf(&line, "; %zu slower by more than %.4g%%", pairs->regressions, 100 * c->limit);
    as_buf_char(out, '\n');
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_clear(&line);
    as_sheets_compared_text(&c->sheets, &line);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_clear(&line);
    as_buf_printf(
        &line,
        "faster and slower: the whole 99%% interval, which includes run-to-run variation, is beyond %.4g%%; other "
        "verdicts show the 95%% interval",
        100 * c->tolerance);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_clear(&line);
    if (pairs->two_states)
        as_buf_printf(
            &line,
            "two states: %zu inconclusive measurement%s by half or more. Core-to-core latency, shared caches and "
            "host calls can switch between two states on one host; a third run may decide",
            pairs->two_states, pairs->two_states == 1 ? " differs" : "s differ");
    if (line.len)
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_clear(&line);
    if (pairs->other_kernels)
        as_buf_printf(&line, "%zu of the faster and slower were measured by kernels with different source code",
                      pairs->other_kernels);
    else if (other_build && (pairs->verdicts[AS_FASTER] || pairs->verdicts[AS_SLOWER]))
        as_buf_str(&line, "a and b were measured by different builds of assay, which may explain differences");
    if (line.len)
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    out->failed |= line.failed;
    as_buf_finish(&line);
}

/* Warns that a check of a few cells covers little. */
static void note_unchecked(const struct as_pairs *pairs)
{
    const size_t open = pairs->verdicts[AS_CANNOT_TELL],
                 none = pairs->matches[AS_MATCH_NO_NUMBER] + pairs->matches[AS_MATCH_ONLY_A],
                 all = pairs->matches[AS_MATCH_BOTH] + none;
    if (2 * (open + none) > all)
        as_cli_note("of %zu measurements of the first run, %zu lack a valid number in one of the runs and %zu are "
                    "inconclusive: the "
                    "check covers the other %zu",
                    all, none, open, all - none - open);
}

/* What may explain differences. */
static enum as_status compare_write_conditions(const struct compared *c, struct as_buf *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    enum as_status st = as_compare_provenance(&c->runs[0].run, &c->runs[1].run, false, &text, err);
    if (c->pairs.renamed[0]) {
        as_buf_str(&text, "matched by backend: ");
        as_buf_terminal(&text, c->pairs.renamed);
        as_buf_char(&text, '\n');
    }
    as_buf_printf(out, "%s%s", text.len ? "\n" : "", as_buf_get(&text));
    out->failed |= text.failed;
    as_buf_finish(&text);
    return st;
}

static enum as_status compare_write_all(const struct as_args *args, const struct compared *c,
                                        const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    const struct as_compare_listed listed = {c->limit, as_args_flag(args, "all")};
    write_source("a", as_args_word(args, 0), &c->runs[0], out);
    write_source("b", as_args_word(args, 1), &c->runs[1], out);
    compare_write_counts(c, style, out);
    enum as_status st = compare_write_conditions(c, out, err);
    as_compare_sheet_lines(&c->sheets.check, style, out);
    as_compare_lists(&c->pairs, &listed, style, out);
    if (!st && listed.all)
        st = as_compare_table(&c->pairs, style, out, err);
    if (!listed.all)
        as_buf_str(out, "\nEvery measurement: add --all\n");
    return st;
}

static void json_all(const struct as_pairs *pairs, struct as_buf *out)
{
    struct as_buf b = AS_BUF_INIT;
    for (size_t i = 0; i < pairs->n; i++)
        json_pair(&pairs->v[i], out);
    as_buf_char(&b, '{');
    as_json_add_text(&b, "match", "summary");
    as_json_add_int(&b, "compared", (long long)pairs->matches[AS_MATCH_BOTH]);
    for (int v = AS_SAME; v <= AS_CANNOT_TELL; v++)
        as_json_add_int(&b, as_verdict_word((enum as_verdict)v), (long long)pairs->verdicts[v]);
    as_json_add_int(&b, "no number", (long long)pairs->matches[AS_MATCH_NO_NUMBER]);
    as_json_add_int(&b, "only a", (long long)pairs->matches[AS_MATCH_ONLY_A]);
    as_json_add_int(&b, "only b", (long long)pairs->matches[AS_MATCH_ONLY_B]);
    as_json_add_int(&b, "regressions", (long long)pairs->regressions);
    as_buf_str(&b, "}\n");
    as_buf_str(out, as_buf_get(&b));
    out->failed |= b.failed;
    as_buf_finish(&b);
}

/* Both runs on one page, which renumbers them where they have the same number. */
static enum as_status compare_write_page(struct compared *c, const char *path, struct as_error *err)
{
    struct as_buf page = AS_BUF_INIT;
    as_report_tell_apart(c->runs, 2);
    enum as_status st = as_report_html_within(c->runs, 2, c->tolerance, &page, err);
    if (!st)
        st = as_write_file(path, as_buf_get(&page), page.len, err);
    if (!st)
        as_cli_note("wrote %s", path);
    as_buf_finish(&page);
    return st;
}

/* Exit code of a finished comparison; warns on stderr if it covers few cells. */
static int compare_code_of(const struct as_pairs *pairs, double limit)
{
    if (pairs->matches[AS_MATCH_BOTH] == 0 && limit >= 0) {
        as_cli_note("no measurement has a valid number in both runs: nothing to check");
        return AS_EXIT_FAILED;
    }
    if (limit >= 0)
        note_unchecked(pairs);
    return pairs->regressions ? AS_EXIT_REGRESSION : AS_EXIT_OK;
}

static enum as_status compare_load(const struct as_args *args, struct compared *c, struct as_error *err)
{
    enum as_status st = AS_OK;
    while (c->loaded < 2 && !(st = as_named_report(args, as_args_word(args, c->loaded), &c->runs[c->loaded], err)))
        c->loaded++;
    return st;
}

static enum as_status compare_as_text(const struct as_args *args, struct compared *c,
                                      const struct as_table_style *style, struct as_buf *out, int *code,
                                      struct as_error *err)
{
    const struct as_report_run *a = &c->runs[0], *b = &c->runs[1];
    if (as_run_is_same(&a->run, &b->run) && !as_args_flag(args, "json")) {
        as_buf_printf(out, "a and b are the same run (%s): every number is the same\n", a->run.uuid);
        return AS_OK;
    }
    enum as_status st = as_compare_runs(a, b, c->tolerance, c->limit, &c->pairs, err);
    if (!st && c->pairs.matches[AS_MATCH_BOTH] + c->pairs.matches[AS_MATCH_NO_NUMBER] == 0)
        st = as_fail(err, AS_USAGE, "the runs have no measurement in common: nothing compared");
    if (!st)
        st = as_compare_sheets(a, b, c->tolerance, &c->sheets, err);
    if (!st && as_args_flag(args, "json")) {
        json_all(&c->pairs, out);
        st = as_compare_provenance(&a->run, &b->run, true, out, err);
    } else if (!st)
        st = compare_write_all(args, c, style, out, err);
    if (!st)
        *code = compare_code_of(&c->pairs, c->limit);
    return st;
}

static int run_compare(const struct as_command *command, const struct as_args *args)
{
    struct as_table_style style;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    const char *page = as_args_value(args, "report");
    struct compared c = {.limit = -1};
    int code = AS_EXIT_OK;
    enum as_status st = as_cli_style(args, &style, &err);
    if (!st)
        st = as_args_number(args, "check", &check_range, &c.limit, &err);
    c.tolerance = c.limit >= 0 ? c.limit : as_compare_tolerance;
    if (!st && page && strcmp(page, "-") == 0)
        st = as_fail(&err, AS_USAGE, "--report needs a file name, not '-': the comparison goes to stdout");
    if (!st)
        st = compare_load(args, &c, &err);
    if (!st)
        st = compare_as_text(args, &c, &style, &out, &code, &err);
    as_pairs_finish(&c.pairs);
    as_sheets_compared_finish(&c.sheets);
    if (!st && page)
        st = compare_write_page(&c, page, &err);
    while (c.loaded > 0)
        as_report_run_finish(&c.runs[--c.loaded]);
    if (!st)
        return as_cli_print_text(&out, code);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

static const struct as_option options[] = {
    {"all", 'a', NULL, "print every measurement with a number in either run, and do not shorten lists", false},
    {"check", 0, "P",
     "exit 3 when the second run is slower than the first by more than P, 0% to 1000%, with 99% confidence", false},
    {"report", 0, "FILE", "also write an HTML report of both runs: data sheets with ratios, overlaid curves", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_compare = {
    .name = "compare",
    .args = "RUN RUN",
    .summary = "compare two runs measurement by measurement",
    .about =
        "Prints how many measurements differ, the data sheet lines and measurements that differ most, and those found "
        "in only one run. --all prints all measurements. Each comparison has the ratio of the second run to the first, "
        "its interval, and a verdict on the second run: same (the 95% interval lies within 3%, or within P with "
        "--check), faster or slower "
        "(the 99% interval lies beyond that), or inconclusive. Intervals cover what varies between runs of such a "
        "machine, and numbers that follow the core's clock are compared at that of the first run. Only valid numbers "
        "are compared. Differences between the machines and between the builds of assay are listed.\n\n"
        "A RUN is a run of the store, an exported JSON file, FILE.db for the last run of another store, or "
        "FILE.db:RUN. Measurements are matched by device and axes; a device found in only one run is matched with the "
        "only remaining device of the same backend in the other.",
    .example = "assay compare -2 -1\nassay compare baseline.json last --check 5%\nassay compare 3 4 --report "
               "before-after.html",
    .options = options,
    .min_args = 2,
    .max_args = 2,
    .run = run_compare,
};
