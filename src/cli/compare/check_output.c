#include "cli/compare/check_output.h"

#include "base/text.h"
#include "cli/output/ndjson.h"
#include "facts/rule.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct as_sheet_row *as_check_row_of(const struct as_check_line *line)
{
    return line->base ? line->base : line->now;
}

/* "27.3 ns, ±1.1%" */
void as_check_number(const struct as_number *n, bool unicode, struct as_buf *out)
{
    struct as_buf precision = AS_BUF_INIT;
    if (!n->unit)
        return;
    as_number_brief(n, out);
    as_number_precision(n, &precision);
    if (precision.len && as_number_has_interval(n))
        as_buf_printf(out, " %s%s", unicode ? "±" : "+-", as_buf_get(&precision));
    as_buf_finish(&precision);
}

/* "0.912x (0.905 to 0.919x)"; empty without a ratio. */
void as_check_ratio(const struct as_check_line *line, struct as_buf *out)
{
    const struct as_number n = {
        .value = line->comparison.ratio, .ci = as_comparison_interval(&line->comparison), .unit = "x"};
    if (isfinite(n.value))
        as_number_prose(&n, "", "", out);
}

bool as_check_fails_missing(const struct as_checked *c, const struct as_check_line *line)
{
    return line->verdict == AS_CHECK_MISSING && (line->gone || !(line->unanswered || c->allow_missing));
}

size_t as_check_missing_failures(const struct as_checked *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->check.n; i++)
        n += as_check_fails_missing(c, &c->check.v[i]);
    return n;
}

/* "; no number for cuda:1, cuda:2" */
static void name_lost(const struct as_checked *c, struct as_buf *out)
{
    const struct as_device_sheet *last = NULL;
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *line = &c->check.v[i];
        if (!line->gone || line->device == last)
            continue;
        as_buf_printf(out, "%s%s", last ? ", " : "; no number for ", line->device->id);
        last = line->device;
    }
}

size_t as_check_failures(const struct as_checked *c)
{
    return c->check.counts[AS_CHECK_WORSE] - c->check.warned;
}

/* Lines that are inconclusive, without those that look worse. */
static size_t count_undecided(const struct as_checked *c)
{
    return c->check.counts[AS_CHECK_UNDECIDED] - c->check.looks_worse;
}

/* "not met: 1 of 5 bounds, of which 1 only warns" */
static void policy_verdict(const struct as_checked *c, size_t compared, struct as_buf *out)
{
    const size_t *n = c->check.counts;
    if (n[AS_CHECK_WORSE])
        as_buf_printf(out, "not met: %zu of %zu bound%s", n[AS_CHECK_WORSE], compared, compared == 1 ? "" : "s");
    else if (compared)
        as_buf_printf(out, "%zu of %zu bound%s met", n[AS_CHECK_BETTER], compared, compared == 1 ? "" : "s");
    else
        as_buf_str(out, "no bound compared");
    if (c->check.warned)
        as_buf_printf(out, ", of which %zu only warn%s", c->check.warned, c->check.warned == 1 ? "s" : "");
    if (c->check.looks_worse)
        as_buf_printf(out, "; %zu not met in one run", c->check.looks_worse);
    if (count_undecided(c))
        as_buf_printf(out, "; %zu inconclusive", count_undecided(c));
    if (n[AS_CHECK_MISSING])
        as_buf_printf(out, "; %zu not measured", n[AS_CHECK_MISSING]);
    name_lost(c, out);
}

void as_check_verdict_text(const struct as_checked *c, struct as_buf *out)
{
    const size_t *n = c->check.counts, looks = c->check.looks_worse;
    const size_t compared = n[AS_CHECK_SAME] + n[AS_CHECK_BETTER] + n[AS_CHECK_WORSE] + n[AS_CHECK_UNDECIDED];
    if (c->base->bounds) {
        policy_verdict(c, compared, out);
        return;
    }
    if (n[AS_CHECK_WORSE])
        as_buf_printf(out, "worse: %zu of %zu line%s by more than %.4g%%", n[AS_CHECK_WORSE], compared,
                      compared == 1 ? "" : "s", 100 * c->tolerance);
    else if (as_check_missing_failures(c))
        as_buf_printf(out, "incomplete: %zu compared", compared);
    else if (looks)
        as_buf_printf(out, "no line confirmed worse: %zu compared", compared);
    else if (n[AS_CHECK_UNDECIDED])
        as_buf_printf(out, "no line is worse; %zu of %zu inconclusive", n[AS_CHECK_UNDECIDED], compared);
    else
        as_buf_printf(out, "no line is worse: %zu compared, tolerance %.4g%%", compared, 100 * c->tolerance);
    if (looks)
        as_buf_printf(out, "; %zu look%s worse", looks, looks == 1 ? "s" : "");
    if (n[AS_CHECK_MISSING])
        as_buf_printf(out, "; %zu line%s of the base missing", n[AS_CHECK_MISSING],
                      n[AS_CHECK_MISSING] == 1 ? "" : "s");
    name_lost(c, out);
}

static void add_count(size_t n, const char *what, struct as_buf *out)
{
    if (n)
        as_buf_printf(out, "%s%zu %s", out->len ? ", " : "", n, what);
}

static void counts_text(const struct as_checked *c, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    for (int v = 0; v < AS_CHECK_VERDICTS_N; v++) {
        if (v == AS_CHECK_UNDECIDED)
            add_count(c->check.looks_worse,
                      c->base->bounds             ? "not met in one run"
                      : c->check.looks_worse == 1 ? "looks worse"
                                                  : "look worse",
                      &text);
        add_count(v == AS_CHECK_UNDECIDED ? count_undecided(c) : c->check.counts[v],
                  as_check_verdict_word((enum as_check_verdict)v, c->base->bounds), &text);
    }
    as_buf_str(out, as_buf_get(&text));
    out->failed |= text.failed;
    as_buf_finish(&text);
}

/* ---- terminal ---- */

void as_check_name_bases(const struct as_checked *c, struct as_buf *out)
{
    for (size_t i = 0; i < c->base_names_n; i++) {
        as_buf_str(out, i ? ", " : "");
        as_buf_str(out, c->base_names[i]);
    }
}

static void name_machine(const char *what, const struct as_machine_sheet *m, const char *name, struct as_buf *out)
{
    as_buf_printf(out, "%s: ", what);
    as_buf_terminal(out, name);
    as_buf_str(out, name[0] ? ", " : "");
    const size_t whole = m->runs - m->again;
    if (m->runs > 1 && whole)
        as_buf_printf(out, "%zu run%s of ", whole, whole == 1 ? "" : "s");
    as_buf_terminal(out, m->suite);
    if (m->again && whole)
        as_buf_printf(out, " and %zu repeat%s of some of its measurements", m->again, m->again == 1 ? "" : "s");
    as_buf_str(out, " on ");
    as_buf_terminal(out, m->host);
    as_buf_char(out, '\n');
}

static void check_output_add_row(struct as_table *t, const struct as_check_line *line, bool first,
                                 const struct as_table_style *style)
{
    static const enum as_paint paints[AS_CHECK_VERDICTS_N] = {
        [AS_CHECK_SAME] = AS_PAINT_GOOD, [AS_CHECK_BETTER] = AS_PAINT_GOOD, [AS_CHECK_WORSE] = AS_PAINT_BAD};
    struct as_buf text = AS_BUF_INIT;
    as_table_add(t, first ? as_check_row_of(line)->group : "", AS_PAINT_STRONG);
    as_check_line_label(line, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    for (int i = 0; i < 2; i++) {
        as_buf_clear(&text);
        as_check_number(i ? &line->now_number : &line->base_number, style->unicode, &text);
        as_table_add(t, as_buf_get(&text), i ? AS_PAINT_STRONG : AS_PAINT_NONE);
    }
    as_buf_clear(&text);
    as_check_ratio(line, &text);
    as_table_add(t, as_buf_get(&text), AS_PAINT_NONE);
    as_table_add(t, as_check_line_word(line), paints[line->verdict]);
    as_buf_finish(&text);
}

/* Index after the last line of a device. */
static size_t end_of_device(const struct as_checked *c, size_t at)
{
    const struct as_device_sheet *device = c->check.v[at].device;
    while (at < c->check.n && c->check.v[at].device == device)
        at++;
    return at;
}

static bool is_all_new(const struct as_checked *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (c->check.v[i].verdict != AS_CHECK_NEW)
            return false;
    return true;
}

static enum as_status device_text(const struct as_checked *c, size_t from, size_t to,
                                  const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    const char *const heads[] = {"", "", c->base->bounds ? ">bound" : ">base", ">checked", ">ratio", "verdict", NULL};
    const struct as_device_sheet *device = c->check.v[from].device;
    const char *group = "";
    struct as_buf title = AS_BUF_INIT;
    struct as_table t;
    const struct as_device_sheet *against = c->check.v[from].against;
    as_buf_printf(&title, "%s%s%s", device->id, device->name[0] ? ": " : "", device->name);
    if (against && strcmp(against->name, device->name) != 0)
        as_buf_printf(&title, "; checked: %s", against->name);
    as_text_title(out, as_buf_get(&title), style);
    as_buf_finish(&title);
    as_table_init(&t, heads);
    for (size_t i = from; i < to; i++) {
        const struct as_check_line *line = &c->check.v[i];
        check_output_add_row(&t, line, strcmp(group, as_check_row_of(line)->group) != 0, style);
        group = as_check_row_of(line)->group;
    }
    const enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    return st;
}

/* Every missing line, with the reason. */
static void list_missing(const struct as_checked *c, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, safe = AS_BUF_INIT;
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *l = &c->check.v[i];
        if (l->verdict != AS_CHECK_MISSING)
            continue;
        as_buf_clear(&line);
        as_buf_clear(&safe);
        as_buf_printf(&line, "missing: %s, %s, ", l->device->id, l->base->group);
        as_check_line_label(l, &line);
        as_buf_printf(&line, ": %s", l->why);
        as_buf_terminal(&safe, as_buf_get(&line));
        as_text_fill(out, as_buf_get(&safe), style->width, 0, 2);
    }
    out->failed |= line.failed || safe.failed;
    as_buf_finish(&line);
    as_buf_finish(&safe);
}

/* The lines that are inconclusive, or look worse, for one reason; of those listed already, nothing. */
static void list_reason(const struct as_checked *c, size_t at, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, safe = AS_BUF_INIT;
    const char *why = c->check.v[at].why;
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *l = &c->check.v[i];
        if (l->verdict != AS_CHECK_UNDECIDED || strcmp(l->why, why) != 0)
            continue;
        if (i < at)
            break;
        as_buf_printf(&line, "%s%s %s %s", line.len ? "; " : "", l->device->id, l->base->group,
                      l->base->shown[0] ? l->base->shown : l->base->label);
    }
    if (line.len) {
        as_buf_printf(&safe, "%s, since %s: ", as_check_line_word(&c->check.v[at]), why);
        as_buf_terminal(&safe, as_buf_get(&line));
        as_text_fill(out, as_buf_get(&safe), style->width, 0, 2);
    }
    out->failed |= line.failed || safe.failed;
    as_buf_finish(&line);
    as_buf_finish(&safe);
}

static void list_undecided(const struct as_checked *c, const struct as_table_style *style, struct as_buf *out)
{
    for (size_t i = 0; i < c->check.n; i++)
        if (c->check.v[i].verdict == AS_CHECK_UNDECIDED && !c->check.v[i].again)
            list_reason(c, i, style, out);
}

/* "runs 6 and 9" */
static void name_repeats(const struct as_checked *c, struct as_buf *out)
{
    const size_t n = c->repeats.n;
    as_buf_str(out, n == 1 ? "run " : "runs ");
    for (size_t i = 0; i < n; i++)
        as_buf_printf(out, "%s%lld", !i ? "" : i + 1 < n ? ", " : " and ", (long long)c->repeats.v[i].run.run.id);
}

/* What measuring again did to the verdicts. */
static void repeated_text(const struct as_checked *c, struct as_buf *out)
{
    struct as_buf reasons = AS_BUF_INIT;
    size_t again = 0, worse = 0;
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *l = &c->check.v[i];
        again += l->again;
        worse += l->again && l->verdict == AS_CHECK_WORSE;
        if (l->again && l->why[0])
            as_buf_printf(&reasons, "; %s, %s %s: %s", l->device->id, l->base->group, l->base->label, l->why);
    }
    if (again) {
        as_buf_printf(out, c->base->bounds ? "%zu bound%s not met in one run; " : "%zu line%s looked worse; ", again,
                      again == 1 ? "" : "s");
        name_repeats(c, out);
        as_buf_printf(out, " repeated %s, %zu confirmed%s", again == 1 ? "it" : "them", worse, as_buf_get(&reasons));
    }
    out->failed |= reasons.failed;
    as_buf_finish(&reasons);
}

/* Why what looks worse was left open, and what would decide it. */
static void open_text(const struct as_checked *c, struct as_buf *out)
{
    if (!c->check.looks_worse || !c->not_again[0])
        return;
    const size_t n = c->check.looks_worse;
    if (c->base->bounds)
        as_buf_printf(out, "%zu bound%s not met in one run", n, n == 1 ? " is" : "s are");
    else
        as_buf_printf(out, "%zu line%s worse", n, n == 1 ? " looks" : "s look");
    as_buf_printf(
        out,
        ", which takes two runs that agree, or a run and its repeat, to confirm. Not repeated: %s. To decide, "
        "measure the machine again and check both runs",
        c->not_again);
}

/* The numbers stand at the clock of their side, ratios and verdicts are at one. */
static void clock_text(const struct as_checked *c, struct as_buf *out)
{
    const double hz[] = {c->base->clock_hz, c->now->clock_hz};
    bool differs = false;
    for (size_t i = 0; i < c->check.n && !c->base->bounds; i++) {
        const struct as_check_line *l = &c->check.v[i];
        differs |= l->base && l->now && as_machine_sheet_is_carried(l->now, hz[1], hz[0]);
    }
    if (!differs)
        return;
    as_buf_str(out, "Ratios of numbers that scale with the core clock are at the same clock; the base ran at ");
    as_format_value(out, hz[0], "Hz");
    as_buf_str(out, ", the checked run at ");
    as_format_value(out, hz[1], "Hz");
}

static void sentences_text(const struct as_checked *c, const struct as_table_style *style, struct as_buf *out)
{
    static void (*const texts[])(const struct as_checked *c, struct as_buf *out) = {repeated_text, open_text,
                                                                                    clock_text};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct as_buf text = AS_BUF_INIT, safe = AS_BUF_INIT;
        texts[i](c, &text);
        as_buf_terminal(&safe, as_buf_get(&text));
        if (text.len)
            as_text_fill(out, as_buf_get(&safe), style->width, 0, 0);
        out->failed |= text.failed || safe.failed;
        as_buf_finish(&text);
        as_buf_finish(&safe);
    }
}

enum as_status as_check_text(const struct as_checked *c, const struct as_table_style *style, struct as_buf *out,
                             struct as_error *err)
{
    enum as_status st = AS_OK;
    struct as_buf names = AS_BUF_INIT, line = AS_BUF_INIT;
    as_check_name_bases(c, &names);
    if (c->base->bounds) {
        as_buf_str(out, "policy: ");
        as_buf_terminal(out, as_buf_get(&names));
        as_buf_char(out, '\n');
    } else
        name_machine("base", c->base, as_buf_get(&names), out);
    name_machine("checked", c->now, "", out);
    as_buf_finish(&names);
    for (size_t i = 0, end; i < c->check.n && !st; i = end) {
        end = end_of_device(c, i);
        if (is_all_new(c, i, end)) {
            as_buf_printf(out, "\nnot in the base: %zu line%s of ", end - i, end - i == 1 ? "" : "s");
            as_buf_terminal(out, c->check.v[i].device->id);
            as_buf_char(out, '\n');
        } else
            st = device_text(c, i, end, style, out, err);
    }
    as_buf_char(out, '\n');
    list_missing(c, style, out);
    list_undecided(c, style, out);
    counts_text(c, out);
    as_buf_char(out, '\n');
    if (c->base->bounds)
        as_buf_str(&line, "Met and not met: the whole interval is on one side of the bound. Its confidence is set so "
                          "that at most 1% of checks of a machine that meets all bounds report one as not met.");
    else
        as_buf_printf(
            &line,
            "Better and worse: the whole interval is beyond %.4g%%. Its confidence is set so that at most 1%% "
            "of checks of an unchanged machine report a worse line. Other verdicts show the 95%% interval of the "
            "ratio. "
            "Intervals of ratios include run-to-run variation; the interval of a single run's number does not.",
            100 * c->tolerance);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_finish(&line);
    sentences_text(c, style, out);
    struct as_buf verdict = AS_BUF_INIT;
    as_check_verdict_text(c, &verdict);
    as_text_line(out, "", as_buf_get(&verdict), 0, 0, style);
    as_buf_finish(&verdict);
    return st;
}

/* ---- JSON ---- */

/* A capacity is its range. */
static void json_side(const char *name, const struct as_sheet_row *row, const struct as_number *n, struct as_buf *out)
{
    char ci[24];
    snprintf(ci, sizeof ci, "%s_ci", name);
    as_json_add_number(out, name, row ? as_number_point(n) : NAN);
    as_ndjson_interval(out, ci, row ? n->ci : (struct as_interval){NAN, NAN});
}

const char *as_check_word(const struct as_checked *c)
{
    return as_check_failures(c)           ? "fail"
           : as_check_missing_failures(c) ? "incomplete"
           : c->check.looks_worse         ? "unconfirmed"
                                          : "pass";
}

void as_check_json(const struct as_checked *c, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *line = &c->check.v[i];
        as_buf_char(out, '{');
        as_json_add_text(out, "device", line->device->id);
        as_json_add_text(out, "group", as_check_row_of(line)->group);
        as_json_add_text(out, "quantity", as_check_row_of(line)->label);
        as_buf_clear(&text);
        as_check_line_label(line, &text);
        as_json_add_text(out, "label", as_buf_get(&text));
        as_json_add_text(out, "unit", as_check_row_of(line)->unit);
        if (line->bounded)
            as_json_add_number(out, "bound", line->base->value);
        else
            json_side("base", line->base, &line->base_number, out);
        json_side("checked", line->now, &line->now_number, out);
        as_json_add_number(out, "ratio", line->comparison.ratio);
        as_ndjson_interval(out, "ratio_ci", line->comparison.ci);
        as_ndjson_interval(out, "ratio_interval", as_comparison_interval(&line->comparison));
        as_json_add_text(out, "verdict", as_check_verdict_word(line->verdict, line->bounded));
        if (line->bounded)
            as_json_add_text(out, "severity", line->base->warns ? "warn" : "fail");
        if (line->again)
            as_json_add_bool(out, "measured_again", true);
        if (line->looks_worse)
            as_json_add_bool(out, "looks_worse", true);
        if (line->why[0])
            as_json_add_text(out, "reason", line->why);
        as_buf_str(out, "}\n");
    }
    as_buf_clear(&text);
    as_check_verdict_text(c, &text);
    as_buf_char(out, '{');
    as_json_add_text(out, "summary", as_buf_get(&text));
    as_json_add_text(out, "host", c->now->host);
    as_json_add_text(out, "verdict", as_check_word(c));
    if (!c->base->bounds)
        as_json_add_number(out, "tolerance", c->tolerance);
    for (int v = c->base->bounds ? AS_CHECK_BETTER : AS_CHECK_SAME;
         v < (c->base->bounds ? AS_CHECK_NEW : AS_CHECK_VERDICTS_N); v++)
        as_json_add_int(out,
                        v == AS_CHECK_WORSE && c->base->bounds
                            ? "not_met"
                            : as_check_verdict_word((enum as_check_verdict)v, c->base->bounds),
                        (long long)c->check.counts[v]);
    if (c->check.warned)
        as_json_add_int(out, "warned", (long long)c->check.warned);
    if (c->check.looks_worse)
        as_json_add_int(out, "looks_worse", (long long)c->check.looks_worse);
    if (c->repeats.n)
        as_json_add_int(out, "measured_again_in_run", (long long)c->repeats.v[c->repeats.n - 1].run.run.id);
    if (c->not_again[0])
        as_json_add_text(out, "not_measured_again", c->not_again);
    as_buf_str(out, "}\n");
    as_buf_finish(&text);
}
