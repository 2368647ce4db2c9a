/* assay fleet show --policy: the bounds of a policy, node by node. */
#include "base/json.h"
#include "base/text.h"
#include "cli/compare/check_again.h"
#include "cli/fleet/fleet_verbs.h"
#include "report/sheet/policy.h"

#include <math.h>
#include <string.h>

/* What is written of a node stands before the next is read, so that no sheet is kept. */
struct policy_shown {
    struct as_policy policy;
    const char *name; /* of its file */
    struct as_table_style style;
    struct as_buf json, junit, text;
    struct as_check_metrics metrics;
    bool all; /* bounds that are met as well */
    size_t failed, nodes;
};

static void json_bound(const struct as_check_line *line, struct as_buf *out)
{
    as_buf_char(out, '{');
    as_json_add_text(out, "device", line->device->id);
    as_json_add_text(out, "quantity", as_check_row_of(line)->of->name);
    as_json_add_number(out, "bound", line->base->value);
    as_json_add_number(out, "checked", line->now ? line->now->value : NAN);
    as_json_add_text(out, "unit", line->base->unit);
    as_json_add_text(out, "verdict", as_check_verdict_word(line->verdict, true));
    as_json_add_text(out, "severity", line->base->warns ? "warn" : "fail");
    if (line->looks_worse)
        as_json_add_bool(out, "looks_worse", true);
    if (line->why[0])
        as_json_add_text(out, "reason", line->why);
    as_buf_char(out, '}');
}

/* Is the bound not met, missing, or not met in one run; or are all listed? */
static bool is_policy_listed(const struct policy_shown *p, const struct as_check_line *line)
{
    return p->all || line->verdict == AS_CHECK_WORSE || line->verdict == AS_CHECK_MISSING || line->looks_worse;
}

/* The node's verdict, and its bounds that are listed. */
static void policy_json(const struct policy_shown *p, const struct as_fleet_node *node, const struct as_checked *c,
                        const char *summary, struct as_buf *out)
{
    const char *lead = "";
    as_buf_char(out, '{');
    as_json_add_text(out, "node", node->name);
    as_json_add_text(out, "source", node->source);
    as_json_add_text(out, "verdict", as_check_word(c));
    as_json_add_text(out, "summary", summary);
    as_json_add_name(out, "bounds");
    as_buf_char(out, '[');
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *line = &c->check.v[i];
        if (!is_policy_listed(p, line))
            continue;
        as_buf_str(out, lead);
        json_bound(line, out);
        lead = ",";
    }
    as_buf_str(out, "]}\n");
}

static void policy_text(const struct policy_shown *p, const struct as_fleet_node *node, const struct as_checked *c,
                        const char *summary, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_printf(&line, "%s: %s", node->name, summary);
    as_text_line(out, as_check_failures(c) || as_check_missing_failures(c) ? "! " : "  ", as_buf_get(&line), 0, 4,
                 &p->style);
    for (size_t i = 0; i < c->check.n; i++) {
        const struct as_check_line *l = &c->check.v[i];
        if (!is_policy_listed(p, l))
            continue;
        as_buf_clear(&line);
        as_buf_printf(&line, "%s %s %s: ", l->device->id, as_check_row_of(l)->group, as_check_row_of(l)->label);
        if (l->now) {
            as_check_number(&l->now_number, p->style.unicode, &line);
            as_buf_str(&line, ", ");
        }
        as_buf_str(&line, "bound ");
        as_check_number(&l->base_number, p->style.unicode, &line);
        as_buf_printf(&line, ", %s", as_check_line_word(l));
        as_text_line(out, "    ", as_buf_get(&line), 0, 6, &p->style);
    }
    as_buf_finish(&line);
}

static enum as_status show_node(void *user, const struct as_fleet_node *node, struct as_machine_sheet *m,
                                struct as_error *err)
{
    struct policy_shown *p = user;
    struct as_machine_sheet base = {0};
    struct as_checked c = {.base = &base, .now = m, .base_names = &p->name, .base_names_n = 1};
    struct as_buf summary = AS_BUF_INIT;
    enum as_status st = as_policy_sheet(&p->policy, m, &base, err);
    if (!st)
        st = as_sheet_check(&base, m, 0, &c.check, err);
    if (!st && c.check.counts[AS_CHECK_WORSE])
        st = as_check_stored(&c, err);
    if (!st) {
        as_check_verdict_text(&c, &summary);
        policy_json(p, node, &c, as_buf_get(&summary), &p->json);
        policy_text(p, node, &c, as_buf_get(&summary), &p->text);
        as_check_junit_suite(&c, node->name, &p->junit);
        as_check_metrics_add(&p->metrics, node->name, &c);
        p->failed += as_check_failures(&c) || as_check_missing_failures(&c);
        p->nodes++;
    }
    as_buf_finish(&summary);
    as_check_finish(&c.check);
    as_repeats_finish(&c.repeats);
    as_machine_sheet_finish(&base);
    return st;
}

/* Nodes without numbers. */
static void show_missing(const struct as_fleet *f, struct policy_shown *p)
{
    struct as_buf line = AS_BUF_INIT;
    for (size_t i = 0; i < f->nodes_n; i++) {
        const struct as_fleet_node *node = &f->nodes[i];
        if (!node->why[0])
            continue;
        as_buf_char(&p->json, '{');
        as_json_add_text(&p->json, "node", node->name);
        as_json_add_text(&p->json, "source", node->source);
        as_json_add_text(&p->json, "verdict", "unknown");
        as_json_add_text(&p->json, "summary", node->why);
        as_json_add_name(&p->json, "bounds");
        as_buf_str(&p->json, "[]}\n");
        as_buf_str(&p->junit, "<testsuite name=\"");
        as_buf_html(&p->junit, node->name);
        as_buf_str(&p->junit, "\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n<testcase classname=\"node\" "
                              "name=\"data\"><error message=\"");
        as_buf_html(&p->junit, node->why);
        as_buf_str(&p->junit, "\"/></testcase>\n</testsuite>\n");
        as_check_metrics_verdict(&p->metrics, node->name, "unknown");
        as_buf_clear(&line);
        as_buf_printf(&line, "%s: no data: %s", node->name, node->why);
        as_text_line(&p->text, "  ", as_buf_get(&line), 0, 4, &p->style);
    }
    as_buf_finish(&line);
}

/* path NULL: none requested. Finishes text. */
static enum as_status policy_write_file(const char *path, struct as_buf *text, struct as_error *err)
{
    enum as_status st = path ? as_buf_check(text, err) : AS_OK;
    if (path && !st)
        st = as_write_file(path, as_buf_get(text), text->len, err);
    as_buf_finish(text);
    return st;
}

/* The files that were requested; finishes what they are made of. */
static enum as_status policy_write_files(const struct as_args *args, struct policy_shown *p, enum as_status st,
                                         struct as_error *err)
{
    struct as_buf junit = AS_BUF_INIT, metrics = AS_BUF_INIT;
    as_buf_printf(&junit, AS_CHECK_JUNIT_HEAD "%s" AS_CHECK_JUNIT_TAIL, as_buf_get(&p->junit));
    junit.failed |= p->junit.failed;
    as_buf_finish(&p->junit);
    as_check_metrics_write(&p->metrics, &metrics);
    const enum as_status first = policy_write_file(st ? NULL : as_args_value(args, "junit"), &junit, err);
    st = st ? st : first;
    const enum as_status second = policy_write_file(st ? NULL : as_args_value(args, "prometheus"), &metrics, err);
    return st ? st : second;
}

static enum as_status check_policy_options(const struct as_args *args, struct as_error *err)
{
    static const char *const of_comparison[] = {"min-deviation", "fdr", "page"};
    for (size_t i = 0; i < args->given_n; i++)
        for (size_t k = 0; k < sizeof of_comparison / sizeof *of_comparison; k++)
            if (strcmp(args->given[i].option->name, of_comparison[k]) == 0)
                return as_fail(err, AS_USAGE,
                               "--%s cannot be used with --policy: it applies to the comparison of nodes",
                               of_comparison[k]);
    return AS_OK;
}

int as_fleet_show_policy(const struct as_command *command, const struct as_args *args)
{
    struct policy_shown p = {.name = as_args_value(args, "policy"), .all = as_args_flag(args, "all")};
    struct as_fleet f = {.each = show_node, .user = &p};
    struct as_error err = {0};
    const bool json = as_args_flag(args, "json");
    enum as_status st = check_policy_options(args, &err);
    if (!st)
        st = as_cli_style(args, &p.style, &err);
    if (!st)
        st = as_policy_read(p.name, &p.policy, &err);
    if (!st)
        st = as_fleet_read_words(args, &f, NULL, &err);
    if (!st)
        show_missing(&f, &p);
    st = policy_write_files(args, &p, st, &err);
    const int code = p.failed               ? AS_EXIT_REGRESSION
                     : !p.nodes             ? AS_EXIT_FAILED
                     : as_fleet_missing(&f) ? AS_EXIT_PARTLY
                                            : AS_EXIT_OK;
    as_fleet_finish(&f);
    as_policy_finish(&p.policy);
    struct as_buf *kept = json ? &p.json : &p.text;
    as_buf_finish(json ? &p.text : &p.json);
    if (!st)
        return json ? as_cli_print(kept, code) : as_cli_print_text(kept, code);
    as_buf_finish(kept);
    return as_cli_misuse(command, &err);
}
