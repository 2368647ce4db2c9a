/* assay fleet: many machines beside each other */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output/outputs.h"
#include "fleet/fleet.h"

#include <stdlib.h>
#include <string.h>

static const struct as_args_range deviation_range = {as_parse_percent, 0, 1, "0% to 100%"};
static const struct as_args_range fdr_range = {as_parse_percent, 1e-6, 0.5, "0.0001% to 50%"};
static const double usual_deviation = 0.01, usual_fdr = 0.005;

static enum as_status read_nodes(const struct as_args *args, size_t first, struct as_fleet *f, struct as_buf *merged,
                                 struct as_error *err)
{
    enum as_status st = AS_OK;
    if (first >= args->words)
        return as_fail(err, AS_USAGE, "name the files: stores of nodes, or sheets of 'assay export --format sheet'");
    for (size_t i = first; i < args->words && !st; i++)
        st = as_fleet_read(f, args->word[i], merged, err);
    return st;
}

static enum as_status
write_option(const struct as_args *args, const char *option, const struct as_fleet *f, const struct as_fleet_judged *j,
             void (*write)(const struct as_fleet *, const struct as_fleet_judged *, struct as_buf *),
             struct as_error *err)
{
    const char *path = as_args_value(args, option);
    struct as_buf out = AS_BUF_INIT;
    if (!path)
        return AS_OK;
    write(f, j, &out);
    const enum as_status st = as_write_file(path, as_buf_get(&out), out.len, err);
    as_buf_finish(&out);
    return st;
}

static enum as_status write_page(const struct as_args *args, const struct as_fleet *f, const struct as_fleet_judged *j,
                                 struct as_error *err)
{
    const char *path = as_args_value(args, "page");
    struct as_buf out = AS_BUF_INIT;
    enum as_status st = path ? as_fleet_page(f, j, &out, err) : AS_OK;
    if (!st && path)
        st = as_write_file(path, as_buf_get(&out), out.len, err);
    as_buf_finish(&out);
    return st;
}

static int fleet_show(const struct as_command *command, const struct as_args *args)
{
    struct as_fleet f = {0};
    struct as_fleet_judged j = {0};
    struct as_fleet_asked asked = {usual_deviation, usual_fdr};
    struct as_table_style style;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    enum as_status st = as_args_number(args, "min-deviation", &deviation_range, &asked.ignored, &err);
    if (!st)
        st = as_args_number(args, "fdr", &fdr_range, &asked.fdr, &err);
    if (!st)
        st = as_cli_style(args, &style, &err);
    if (!st)
        st = read_nodes(args, 1, &f, NULL, &err);
    as_fleet_sort(&f);
    if (!st)
        st = as_fleet_judge(&f, &asked, &j, &err);
    if (!st && as_args_flag(args, "json"))
        as_fleet_json(&f, &j, &out);
    else if (!st)
        st = as_fleet_text(&f, &j, as_args_flag(args, "all"), &style, &out, &err);
    if (!st)
        st = write_page(args, &f, &j, &err);
    if (!st)
        st = write_option(args, "junit", &f, &j, as_fleet_junit, &err);
    if (!st)
        st = write_option(args, "prometheus", &f, &j, as_fleet_prometheus, &err);
    const int code = j.worse                             ? AS_EXIT_REGRESSION
                     : as_fleet_missing(&f) == f.nodes_n ? AS_EXIT_FAILED
                     : as_fleet_missing(&f)              ? AS_EXIT_PARTLY
                                                         : AS_EXIT_OK;
    as_fleet_judged_finish(&j);
    as_fleet_finish(&f);
    if (!st)
        return as_args_flag(args, "json") ? as_cli_print(&out, code) : as_cli_print_text(&out, code);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

static int fleet_merge(const struct as_command *command, const struct as_args *args)
{
    struct as_fleet f = {0};
    struct as_buf merged = AS_BUF_INIT;
    struct as_error err = {0};
    const char *path = as_args_value(args, "output");
    enum as_status st = path ? AS_OK : as_fail(&err, AS_USAGE, "merge needs -o FILE");
    if (!st)
        st = read_nodes(args, 1, &f, &merged, &err);
    for (size_t i = 0; i < f.nodes_n && !st; i++)
        if (f.nodes[i].why[0])
            as_cli_note("%s: %s", f.nodes[i].source, f.nodes[i].why);
    if (!st && !merged.len)
        st = as_fail(&err, AS_FAILED, "no file contains measurements");
    if (!st)
        st = as_write_file(path, as_buf_get(&merged), merged.len, &err);
    if (!st && strcmp(path, "-") != 0)
        as_cli_note("wrote %s: %zu node%s", path, f.nodes_n, f.nodes_n == 1 ? "" : "s");
    const int code = as_fleet_missing(&f) ? AS_EXIT_PARTLY : AS_EXIT_OK;
    as_fleet_finish(&f);
    as_buf_finish(&merged);
    return st ? as_cli_misuse(command, &err) : code;
}

static const struct verb {
    const char *name;
    as_command_fn run;
    const char *foreign[6]; /* options of the other */
} verbs[] = {{"show", fleet_show, {"output"}}, {"merge", fleet_merge, {"page", "junit", "prometheus", "json", "all"}}};
enum { VERBS = sizeof verbs / sizeof *verbs };

static enum as_status find_verb(const char *word, size_t *out, struct as_error *err)
{
    const char *names[VERBS + 1] = {NULL};
    for (*out = 0; *out < VERBS; ++*out) {
        names[*out] = verbs[*out].name;
        if (strcmp(word, verbs[*out].name) == 0)
            return AS_OK;
    }
    const char *near = as_nearest(word, names);
    return as_fail(err, AS_USAGE, "'%s' is not show or merge%s%s%s", word, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

/* Options of the other verb, and a file that would be stdout. */
static enum as_status check_options(const struct as_args *args, size_t verb, struct as_error *err)
{
    static const char *const files[] = {"output", "page", "junit", "prometheus"};
    for (const char *const *o = verbs[verb].foreign; *o; o++)
        if (as_args_value(args, *o) || as_args_flag(args, *o))
            return as_fail(err, AS_USAGE, "--%s applies to '%s' only", *o, verbs[!verb].name);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = as_args_value(args, files[i]);
        if (path && strcmp(path, "-") == 0)
            return as_fail(err, AS_USAGE, "--%s needs a file name, not '-'", files[i]);
    }
    return AS_OK;
}

static int run_fleet(const struct as_command *command, const struct as_args *args)
{
    struct as_error err = {0};
    size_t verb = 0;
    enum as_status st = as_check_outputs(args, &err);
    if (!st)
        st = find_verb(args->word[0], &verb, &err);
    if (!st)
        st = check_options(args, verb, &err);
    return st ? as_cli_misuse(command, &err) : verbs[verb].run(command, args);
}

static const struct as_option options[] = {
    {"output", 'o', "FILE", "of merge: the file for the sheets of all nodes, one per line", false},
    {"min-deviation", 0, "PERCENT", "ignore deviations up to this (default: 1%)", false},
    {"fdr", 0, "PERCENT", "false discovery rate: the expected share of false findings (default: 0.5%)", false},
    {"all", 0, NULL, "also print the spread of each line over the fleet", false},
    {"page", 0, "FILE", "write a web page: findings, and a map of the nodes by any line", false},
    {"junit", 0, "FILE", "write a JUnit report, one test case per node", false},
    {"prometheus", 0, "FILE", "write Prometheus text: the state of each node, and deviations", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_END,
};
const struct as_command as_command_fleet = {
    .name = "fleet",
    .args = "show|merge FILE...",
    .summary = "find the slow devices and nodes among many machines",
    .about =
        "Each FILE is the store of a node, a sheet of 'assay export --format sheet', or several sheets one after the "
        "other, as merge writes them. Devices of one model and API are compared line by line: within their node if it "
        "has four or more of them, otherwise with the devices of all nodes that have fewer; and nodes by the median of "
        "their devices. Outliers are listed with the 95% interval of their deviation. Over all comparisons the "
        "expected "
        "share of false findings is at most --fdr (Benjamini and Hochberg). If the devices form two clusters, both are "
        "reported and each device is compared within its own: where a tenth of the devices or more are slow by a "
        "similar amount, they are such a cluster and no outliers.\n\n"
        "A node whose file cannot be read, or that has no complete run, is listed as such and never as slow. Exit "
        "status: 3 if a device or node is slower than the others, 4 if a node has no data, 1 if none has.",
    .example = "assay fleet show node*.db\nassay fleet merge node*.db -o fleet.json\nassay fleet show fleet.json --all",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .run = run_fleet,
};
