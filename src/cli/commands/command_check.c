/* assay check: the data sheet of a run against that of another machine or an earlier run */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/compare/check_again.h"
#include "cli/compare/check_output.h"
#include "cli/options/lookup.h"
#include "report/model/load.h"
#include "report/sheet/policy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double usual_tolerance = 0.05;
static const struct as_args_range tolerance_range = {as_parse_percent, 0, 10, "0% to 1000%"};
static const struct as_args_range budget_range = {as_parse_duration, 1, 3600, "1s to 1h"};
static const double usual_budget_s = 30;
enum { SHEET_BYTES_MAX = 1 << 22 };

/* Reads an exported data sheet; *is tells whether the file is one. */
static enum as_status load_sheet(const char *name, struct as_machine_sheet *out, bool *is, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    struct stat info;
    *is = false;
    if (stat(name, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > SHEET_BYTES_MAX)
        return AS_OK;
    enum as_status st = as_buf_read_file(&text, name, SHEET_BYTES_MAX, err);
    *is = !st && as_machine_sheet_is(as_buf_get(&text), text.len);
    if (*is && (st = as_machine_sheet_read(as_buf_get(&text), text.len, out, err))) {
        as_fail_in(err, name);
        st = err->code = st == AS_FORMAT ? AS_USAGE : st; /* the user named a file that is not a data sheet */
    }
    as_buf_finish(&text);
    return st;
}

/* repeats: gets those of the run that its store has; NULL: none are wanted. */
static enum as_status load_run(const struct as_args *args, const char *name, struct as_machine_sheet *out,
                               struct as_repeats *repeats, struct as_error *err)
{
    struct as_named_run named;
    struct as_report_run run;
    enum as_status st = as_named_run_open(args, name, &named, err);
    if (st)
        return st;
    st = as_report_load(named.store, named.run, &run, err);
    if (!st) {
        st = as_machine_sheet_make(&run, out, err);
        if (!st && repeats)
            st = as_repeats_find(named.store, run.run.uuid, repeats, err);
        as_report_run_finish(&run);
    }
    as_named_run_close(&named);
    return st;
}

static enum as_status cli_check_load(const struct as_args *args, const char *name, struct as_machine_sheet *out,
                                     struct as_repeats *repeats, struct as_error *err)
{
    bool is_sheet = false;
    enum as_status st = name ? load_sheet(name, out, &is_sheet, err) : AS_OK;
    if (st || is_sheet)
        return st;
    const char *built_in = name ? as_machine_json(name) : NULL;
    if (built_in)
        return as_machine_sheet_read(built_in, strlen(built_in), out, err);
    st = load_run(args, name, out, repeats, err);
    if (st == AS_NOTFOUND && name) {
        const struct as_error why = *err;
        as_fail(err, st, "%s; h100 and h200 are built in", why.text);
    }
    return st;
}

/* One or more runs as one machine; without runs, the store's last. */
static enum as_status load_all(const struct as_args *args, const char *const *names, size_t n,
                               struct as_machine_sheet *out, struct as_repeats *repeats, struct as_error *err)
{
    enum as_status st = cli_check_load(args, n ? names[0] : NULL, out, repeats, err);
    for (size_t i = 1; i < n && !st; i++) {
        struct as_machine_sheet more = {0};
        if (!(st = cli_check_load(args, names[i], &more, repeats, err)))
            st = as_machine_sheet_merge(out, &more, err);
        as_machine_sheet_finish(&more);
    }
    return st;
}

static enum as_status load_checked(const struct as_args *args, struct as_checked *c, struct as_error *err)
{
    return load_all(args, args->word, args->words, c->now, &c->repeats, err);
}

/* A policy's bounds are of the checked machine's devices. */
static enum as_status load_with_policy(const struct as_args *args, struct as_checked *c, struct as_error *err)
{
    struct as_policy policy = {0};
    c->tolerance = 0;
    enum as_status st = as_policy_read(c->base_names[0], &policy, err);
    if (!st)
        st = load_checked(args, c, err);
    if (!st)
        st = as_policy_sheet(&policy, c->now, c->base, err);
    as_policy_finish(&policy);
    return st;
}

static enum as_status load_sides(const struct as_args *args, struct as_checked *c, const char ***names,
                                 struct as_error *err)
{
    const bool policy = as_args_value(args, "policy");
    enum as_status st = as_args_number(args, "tolerance", &tolerance_range, &c->tolerance, err);
    if (!st)
        st = as_args_values(args, policy ? "policy" : "against", names, &c->base_names_n, err);
    c->base_names = *names;
    if (!st && policy)
        return load_with_policy(args, c, err);
    if (!st)
        st = load_all(args, c->base_names, c->base_names_n, c->base, NULL, err);
    return st ? st : load_checked(args, c, err);
}

static enum as_status check_bases(const struct as_args *args, struct as_error *err)
{
    const bool against = as_args_value(args, "against"), policy = as_args_value(args, "policy");
    if (against == policy)
        return as_fail(err, AS_USAGE,
                       against ? "a check has either a base or a policy: give one of --against and --policy"
                               : "name what to check against: --against BASE, or --policy POLICY");
    if (policy && as_args_value(args, "tolerance"))
        return as_fail(err, AS_USAGE,
                       "a policy's bounds have no tolerance: change the bounds, or leave out --tolerance");
    return AS_OK;
}

/* Writes a file for CI; path NULL: none requested. */
static enum as_status
write_for_ci(const struct as_checked *c, const char *path, void (*make)(const struct as_checked *c, struct as_buf *out),
             enum as_status (*write)(const char *path, const char *data, size_t len, struct as_error *err),
             struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    if (!path)
        return AS_OK;
    make(c, &text);
    enum as_status st = as_buf_check(&text, err);
    if (!st)
        st = as_cli_check_memory(err);
    if (!st)
        st = write(path, as_buf_get(&text), text.len, err);
    as_buf_finish(&text);
    return st;
}

/* Verdicts are written to stdout. */
static enum as_status check_are_files(const struct as_args *args, struct as_error *err)
{
    static const char *const files[] = {"junit", "summary", "prometheus"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = as_args_value(args, files[i]);
        if (path && strcmp(path, "-") == 0)
            return as_fail(err, AS_USAGE, "--%s needs a file name, not '-': the verdicts go to stdout", files[i]);
    }
    return AS_OK;
}

static int exit_code(const struct as_checked *c)
{
    return as_check_failures(c) || as_check_missing_failures(c) ? AS_EXIT_REGRESSION : AS_EXIT_OK;
}

static enum as_status check_sheets(const struct as_args *args, struct as_checked *c, struct as_buf *out,
                                   struct as_error *err)
{
    struct as_table_style style;
    double budget_s = usual_budget_s;
    enum as_status st = as_cli_style(args, &style, err);
    if (!st)
        st = as_args_number(args, "budget", &budget_range, &budget_s, err);
    if (!st)
        st = as_sheet_check(c->base, c->now, c->tolerance, &c->check, err);
    if (!st && !c->base->bounds && c->check.counts[AS_CHECK_MISSING] + c->check.counts[AS_CHECK_NEW] == c->check.n)
        st = as_fail(err, AS_USAGE, "the data sheets have no line in common: nothing to check");
    if (!st && c->check.counts[AS_CHECK_WORSE])
        st = as_check_again(args, budget_s, c, err);
    if (!st && as_args_flag(args, "json"))
        as_check_json(c, out);
    else if (!st)
        st = as_check_text(c, &style, out, err);
    if (!st)
        st = write_for_ci(c, as_args_value(args, "junit"), as_check_junit, as_write_file, err);
    if (!st)
        st = write_for_ci(c, as_args_value(args, "summary"), as_check_markdown, as_append_file, err);
    if (!st)
        st = write_for_ci(c, as_args_value(args, "prometheus"), as_check_prometheus, as_write_file, err);
    return st;
}

static int check_run_check(const struct as_command *command, const struct as_args *args)
{
    struct as_machine_sheet base = {0}, now = {0};
    struct as_checked c = {
        .base = &base, .now = &now, .tolerance = usual_tolerance, .allow_missing = as_args_flag(args, "allow-missing")};
    const char **names = NULL;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    enum as_status st = check_bases(args, &err);
    if (!st)
        st = check_are_files(args, &err);
    if (!st)
        st = load_sides(args, &c, &names, &err);
    if (!st)
        st = check_sheets(args, &c, &out, &err);
    const int code = st == AS_INTERRUPTED ? AS_EXIT_FAILED
                     : st                 ? as_cli_misuse(command, &err)
                                          : as_cli_print_text(&out, exit_code(&c));
    if (st)
        as_buf_finish(&out);
    free(names);
    as_check_finish(&c.check);
    as_repeats_finish(&c.repeats);
    as_machine_sheet_finish(&base);
    as_machine_sheet_finish(&now);
    return code;
}

static const struct as_option options[] = {
    {"against", 0, "BASE",
     "a run, a store, an export, an exported data sheet, h100 or h200; required without --policy; may be given several "
     "times: all of them form the base",
     true},
    {"policy", 0, "POLICY", "check against the bounds of this INI file instead", false},
    {"tolerance", 0, "P", "tolerance of the verdicts, 0% to 1000% (default: 5%)", false},
    {"allow-missing", 0, NULL,
     "list lines of BASE without a number in RUN, but fail only if RUN has no number at all for a GPU of BASE", false},
    {"budget", 0, "TIME", "time limit for measuring again what looks worse, 1s to 1h (default: 30s)", false},
    {"no-measure", 0, NULL, "measure nothing: give the verdict of stored runs and repeats", false},
    {"no-wait", 0, NULL, "where another run is measuring, do not wait to measure again", false},
    {"quiet", 'q', NULL, "no progress and no notes on stderr", false},
    {"junit", 0, "FILE", "write a JUnit report, one test case per line of the data sheet", false},
    {"summary", 0, "FILE", "append a summary in Markdown, e.g. to $GITHUB_STEP_SUMMARY", false},
    {"prometheus", 0, "FILE", "write Prometheus text: the verdict, and number, ratio and state of each line", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_check = {
    .name = "check",
    .args = "--against BASE|--policy POLICY [RUN]...",
    .summary = "check a run's data sheet against that of another run or machine",
    .about =
        "Gives a verdict for each line of the data sheet: same (the 95% interval of the ratio lies within the "
        "tolerance), better "
        "or worse (by more than the tolerance), or inconclusive; beside the ratio is the interval that decides. The "
        "confidence of 'worse' depends on "
        "the number "
        "of lines, so that an unchanged machine fails in at most 1% of checks. Intervals cover "
        "what varies between runs of a machine, so one run on either side rarely decides a line of a guest on a shared "
        "host, and several do.\n\n"
        "A line is worse only if two measurements of the checked machine show it: two RUNs, or a RUN and its repeat. "
        "What looks worse is measured again, if the checked run is the last of this store and of this machine. The "
        "repeat "
        "is a run of its own, which is never 'last'; the store keeps it, and later checks of that RUN use it. A line "
        "that "
        "the repeat does not confirm is inconclusive. What cannot be repeated 'looks worse', and does not fail. Nor "
        "does a "
        "line that depends on the host's CPUs if others used over a quarter of a CPU during the repeat, or a line of a "
        "device that another process used.\n\n"
        "Lines of BASE without a number in RUN are listed with the reason. Exit status: 3 "
        "if a line is worse, or if a line of BASE is missing (not with --allow-missing, and not if RUN measured it but "
        "the result was contended or inconclusive), or if RUN has no number at all for a GPU of BASE (even with "
        "--allow-missing); 2 if a data sheet is "
        "damaged; otherwise 0, even if lines are "
        "inconclusive. Without a RUN, the "
        "last run is checked; several RUNs count as one machine, whose numbers "
        "are "
        "joined.\n\n"
        "A policy is an INI file of bounds: '[cuda:*]', then lines such as 'memory.read.all >= 4.2 TB/s' and "
        "'memory.latency <= 700 ns, warn', and 'devices >= 8' for the number of devices required. Sections name "
        "devices by id or "
        "pattern; quantities have the names of 'assay "
        "export --format sheet'. A bound is met or not met if the whole interval is on one side of it. Exit status 3 "
        "means that a bound is not met or was not measured; what is marked 'warn' never fails.\n\n"
        "BASE and RUN are each a run of the store, FILE.db for the last run of another store, FILE.db:RUN, an "
        "exported JSON file, or a data sheet by 'assay export --format sheet'. h100 and h200 are SXM GPUs on which "
        "assay "
        "was developed, without the lines that depend on their host; they have lines that quick does not measure.",
    .example = "assay check --against h100 --allow-missing\nassay export --format sheet -o base.json\nassay run quick "
               "&& assay check "
               "--against base.json\n"
               "assay check --against 3 --against 4 -2 -1 --tolerance 10% --junit check.xml",
    .options = options,
    .max_args = -1,
    .run = check_run_check,
};
