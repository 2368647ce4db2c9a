/* assay run, resume, replay: measure */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/run_request.h"
#include "cli/options/session.h"
#include "cli/output/ndjson.h"
#include "model/metrics.h"
#include "report/sheet/runs_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum as_status check_report(const char *path, struct as_error *err)
{
    if (path && strcmp(path, "-") == 0)
        return as_fail(err, AS_USAGE, "--report needs a file; 'assay report -o -' writes the page to stdout");
    return AS_OK;
}

static int run_run(const struct as_command *command, const struct as_args *args)
{
    struct as_run_request request = {0};
    struct as_run_result result = {0};
    struct as_session session = {0};
    struct as_store *store = NULL;
    struct as_error err = {0};
    const char *report = as_args_value(args, "report");
    if (as_args_flag(args, "dry-run"))
        return as_command_plan.run(command, args);
    enum as_status st = as_run_request_read(args, &request, &err);
    if (!st)
        st = check_report(report, &err);
    if (!st)
        st = as_session_begin(&session, args, AS_SESSION_SHEET, &request.options, &err);
    if (!st)
        st = as_cli_store(args, AS_STORE_WRITE, &store, &err);
    if (!st)
        st = as_run_start(store, &request.options, &result, &err);
    int code = as_session_end(&session, command, st, &err, &result);
    code = as_session_views(&session, store, &result, report, code);
    if (st)
        as_store_abandon(store);
    else
        as_store_close(store);
    as_run_request_finish(&request);
    return code;
}

static const struct as_option run_options[] = {
    AS_OPTIONS_PLAN,
    {"seed", 0, "N", "seed for the order of measurements and for inputs, 0 to 2^64-1 (default: random, and stored)",
     false},
    {"isolate", 0, NULL, "repeat each measurement in a fresh process and report those that differ", false},
    {"report", 0, "FILE", "write a report of this run to FILE", false},
    {"dry-run", 0, NULL, "print what would be measured, and measure nothing: as 'assay plan'", false},
    {"no-wait", 0, NULL, "fail when another run is measuring, instead of waiting for it", false},
    {"quiet", 'q', NULL, "no progress and no notes on stderr", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_run = {
    .name = "run",
    .args = "[SUITE|PROBE]...",
    .summary = "measure this machine",
    .about =
        "Measures suites, single probes, or suites from .ini files (given by path); without a name, the suite quick. "
        "A name shared by a suite and a probe means the suite; write 'probe:link' for the probe. Every finished trial "
        "is "
        "stored at once, or within a second where the disk is slow. Ctrl-C stops after the current trial; "
        "'assay resume' continues the run.\n\n"
        "Lines of the data sheet appear on stderr as soon as they have a number, the most quoted ones first: on a "
        "terminal in place, with their intervals as they narrow and the time left, otherwise one line each. The "
        "numbers "
        "are printed to stdout at the end. With --json stdout gets one event per line, among them 'line' for each line "
        "of "
        "the data sheet that is new, has narrowed by half, has moved out of its interval or is withdrawn; the last "
        "event of a line has its final number.",
    .example = "assay run quick --report report.html\nassay run latency --device cpu --set 'size=1KiB..1GiB x4'\n"
               "assay run quick --budget 30s --json\nassay run full --dry-run",
    .options = run_options,
    .max_args = -1,
    .run = run_run,
};

static int run_resume(const struct as_command *command, const struct as_args *args)
{
    struct as_run_options options = {.budget_s = NAN, .precision = NAN};
    struct as_run_result result = {0};
    struct as_session session = {0};
    struct as_store *store = NULL;
    struct as_error err = {0};
    const char *report = as_args_value(args, "report");
    enum as_status st = as_args_number(args, "budget", &as_budget_range, &options.budget_s, &err);
    if (!st)
        st = check_report(report, &err);
    if (!st)
        st = as_session_begin(&session, args, AS_SESSION_SHEET, &options, &err);
    if (!st)
        st = as_cli_existing_store(args, &store, &err);
    if (!st)
        st = as_run_resume(store, as_args_word(args, 0), &options, &result, &err);
    int code = as_session_end(&session, command, st, &err, &result);
    code = as_session_views(&session, store, &result, report, code);
    as_store_close(store);
    return code;
}

static const struct as_option resume_options[] = {
    {"budget", 0, "TIME", "time limit of the rest: 60s, 10m; 0 for none (default: the rest of the run's budget)",
     false},
    {"report", 0, "FILE", "write a report of this run to FILE", false},
    {"no-wait", 0, NULL, "fail when another run is measuring, instead of waiting for it", false},
    {"quiet", 'q', NULL, "no progress and no notes on stderr", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_resume = {
    .name = "resume",
    .args = "[RUN]",
    .summary = "resume a run that was interrupted or killed",
    .about =
        "Without a RUN, resumes the last unfinished run of this host. Stored trials are kept. A run of another host, "
        "or of a device that has been replaced (different UUID, PCI bus, name, compute units or caches), is refused; "
        "if only some of its devices are present, the measurements of the others are skipped.",
    .example = "assay resume\nassay resume 3",
    .options = resume_options,
    .max_args = 1,
    .run = run_resume,
};

/* ---- replay ---- */

struct replayed {
    struct as_cell old, again;
    struct as_run old_run, run;
    struct as_comparison comparison; /* of again against old */
    bool two_states;                 /* as as_cells_compare returns */
};

static void replayed_finish(struct replayed *r)
{
    as_cell_finish(&r->old);
    as_cell_finish(&r->again);
    as_run_finish(&r->old_run);
    as_run_finish(&r->run);
}

static enum as_status load_run_of(struct as_store *store, const struct as_cell *cell, struct as_run *out,
                                  struct as_error *err)
{
    char name[24];
    snprintf(name, sizeof name, "%lld", (long long)cell->run_id);
    return as_store_run(store, name, out, err);
}

static enum as_status replay_compare(struct as_store *store, int64_t again, struct replayed *r, struct as_error *err)
{
    enum as_status st = as_store_cell(store, again, 0, &r->again, err);
    if (!st)
        st = load_run_of(store, &r->old, &r->old_run, err);
    if (!st)
        st = load_run_of(store, &r->again, &r->run, err);
    if (!st && (!as_cell_is_valid(&r->old) || !as_cell_is_valid(&r->again))) {
        const struct as_cell *c = as_cell_is_valid(&r->old) ? &r->again : &r->old;
        st = as_fail(err, AS_UNSUPPORTED, "cell %lld has no valid number to compare: %s", (long long)c->id, c->reason);
    }
    const struct as_comparing by = as_comparing_of(&r->old_run, &r->run, r->old.precision);
    if (!st)
        r->two_states = as_cells_compare(&by, &r->old, &r->again, &r->comparison);
    return st;
}

/* The stored value, the new one and the verdict. */
static int print_replay(const struct replayed *r, bool json, int code)
{
    struct as_buf out = AS_BUF_INIT;
    const struct as_comparison *c = &r->comparison;
    const struct as_interval interval = as_comparison_interval(c);
    if (json) {
        as_buf_char(&out, '{');
        as_json_add_text(&out, "event", "replay");
        as_json_add_int(&out, "cell", r->old.id);
        as_json_add_int(&out, "run", r->run.id);
        as_json_add_number(&out, "ratio", c->ratio);
        as_ndjson_interval(&out, "ratio_ci", c->ci);
        as_ndjson_interval(&out, "ratio_interval", interval);
        as_json_add_text(&out, "verdict", as_verdict_word(c->verdict));
        if (r->two_states)
            as_json_add_text(&out, "reason", as_two_states_why);
        as_buf_str(&out, "}\n");
        return as_cli_print(&out, code);
    }
    as_buf_printf(&out, "cell %lld: %s ", (long long)r->old.id, r->old.probe);
    as_buf_terminal(&out, r->old.device);
    as_buf_char(&out, ' ');
    as_axes_to_text(&r->old.axes, &out);
    as_buf_str(&out, "\nstored:   ");
    as_cell_number(&r->old, &out);
    as_buf_str(&out, "\nmeasured: ");
    as_cell_number(&r->again, &out);
    as_buf_printf(&out, "\nverdict:  %s; ratio ", as_verdict_word(c->verdict));
    as_number_prose(&(struct as_number){.value = c->ratio, .ci = interval, .unit = "x"}, "", "", &out);
    as_buf_printf(&out, " (run %lld)%s%s\n", (long long)r->run.id, r->two_states ? "; " : "",
                  r->two_states ? as_two_states_why : "");
    return as_cli_print_text(&out, code);
}

static int run_replay(const struct as_command *command, const struct as_args *args)
{
    struct as_run_options options = {.precision = NAN, .budget_s = NAN};
    struct as_run_result result = {0};
    struct as_session session = {0};
    struct as_store *store = NULL;
    struct replayed r = {.comparison = {.ratio = NAN, .verdict = AS_CANNOT_TELL, .shown = {NAN, NAN}}};
    struct as_error err = {0};
    uint64_t id = 0;
    int64_t again = 0;
    enum as_status st = as_parse_u64(as_args_word(args, 0), &id, &err);
    if (!st && id > INT64_MAX)
        st = as_fail(&err, AS_NOTFOUND, "there is no cell %s", as_args_word(args, 0));
    if (!st)
        st = as_session_begin(&session, args, AS_SESSION_PROGRESS, &options, &err);
    if (!st)
        st = as_cli_existing_store(args, &store, &err);
    if (!st)
        st = as_store_cell(store, (int64_t)id, 0, &r.old, &err);
    if (!st)
        st = as_run_replay(store, (int64_t)id, &options, &result, &again, &err);
    if (!st && again)
        st = replay_compare(store, again, &r, &err);
    int code = as_session_end(&session, command, st, &err, &result);
    if (!st && again)
        code = print_replay(&r, session.json, code);
    replayed_finish(&r);
    as_store_close(store);
    return code;
}

static const struct as_option replay_options[] = {
    {"no-wait", 0, NULL, "fail when another run is measuring, instead of waiting for it", false},
    {"quiet", 'q', NULL, "no progress and no notes on stderr", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_replay = {
    .name = "replay",
    .args = "CELL",
    .summary = "repeat a stored measurement with the same axes and precision",
    .about = "Stores the new numbers as a separate run and compares the two: same, faster, slower or inconclusive. A "
             "note says "
             "whether the host or device differs.",
    .example = "assay replay 117",
    .options = replay_options,
    .min_args = 1,
    .max_args = 1,
    .run = run_replay,
};
