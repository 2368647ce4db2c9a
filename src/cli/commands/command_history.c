/* assay history: the quantities of a machine over its runs */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/history/history.h"

#include <stdlib.h>
#include <string.h>

static enum as_status load_histories(const struct as_args *args, struct as_machine_runs *m, struct as_history **v,
                                     size_t *n, struct as_error *err)
{
    struct as_store *store = NULL;
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st)
        st = as_machine_runs_load(store, AS_MACHINE_EVER, NULL, m, err);
    as_store_close(store);
    return st ? st : as_histories_make(m, v, n, err);
}

/* AS_NOTFOUND: the runs have no such device; names the nearest. */
static enum as_status check_device(const struct as_machine_runs *m, const char *device, struct as_error *err)
{
    const char **names = calloc(m->sheet.n + 1, sizeof *names);
    bool found = false;
    if (!names)
        return as_nomem(err, m->sheet.n * sizeof *names, "devices");
    for (size_t i = 0; i < m->sheet.n; i++) {
        names[i] = m->sheet.v[i].id;
        found |= strcmp(names[i], device) == 0;
    }
    const char *near = found ? NULL : as_nearest(device, names);
    free((void *)names);
    return found ? AS_OK
                 : as_fail(err, AS_NOTFOUND, "the runs have no device '%s'%s%s%s", device,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static enum as_status history_write(const struct as_args *args, const struct as_history_asked *asked,
                                    const struct as_machine_runs *m, const struct as_history *v, size_t n,
                                    struct as_buf *out, struct as_error *err)
{
    const bool json = as_args_flag(args, "json"), csv = as_args_flag(args, "csv");
    struct as_table_style style;
    enum as_status st = as_cli_style(args, &style, err);
    size_t found = 0;
    if (csv)
        as_history_csv_head(out);
    for (size_t i = 0; i < n && !st; i++) {
        if (!as_history_is_asked(&v[i], asked) || !v[i].n)
            continue;
        found++;
        if (json)
            as_history_json(&v[i], out);
        else if (csv)
            as_history_csv(&v[i], out);
        else if (asked->quantity)
            st = as_history_table(&v[i], m, &style, out, err);
    }
    if (!st && !found)
        st = as_fail(err, AS_NOTFOUND, "no complete run measured '%s'%s%s",
                     asked->quantity ? asked->quantity->name
                     : asked->group  ? asked->group
                                     : "a line of the data sheet",
                     asked->device ? " on " : "", asked->device ? asked->device : "");
    if (!st && !json && !csv && !asked->quantity)
        st = as_history_summary(v, n, asked, m, &style, out, err);
    return st;
}

static int run_history(const struct as_command *command, const struct as_args *args)
{
    struct as_history_asked asked;
    struct as_machine_runs machine = {0};
    struct as_history *v = NULL;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    size_t n = 0;
    enum as_status st = as_history_find(args, &asked, &err);
    if (!st && as_args_flag(args, "json") && as_args_flag(args, "csv"))
        st = as_fail(&err, AS_USAGE, "--json and --csv exclude each other");
    if (!st)
        st = load_histories(args, &machine, &v, &n, &err);
    if (!st && asked.device)
        st = check_device(&machine, asked.device, &err);
    if (!st)
        st = history_write(args, &asked, &machine, v, n, &out, &err);
    as_histories_free(v, n);
    as_machine_runs_finish(&machine);
    if (!st)
        return as_args_flag(args, "csv") ? as_cli_print(&out, AS_EXIT_OK) : as_cli_print_text(&out, AS_EXIT_OK);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

static const struct as_option options[] = {
    {"device", 0, "ID", "only this device, such as cuda:0", false},
    {"csv", 0, NULL, "a table for programs: one row per run and line", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_history = {
    .name = "history",
    .args = "[QUANTITY]",
    .summary = "show how the machine's numbers changed over its runs",
    .about =
        "Without a QUANTITY, lists the lines of the data sheet that changed over all complete runs of the last run's "
        "host, or else what is steady. With one, shows it run by run: value, 95% interval, reference clock and a plot. "
        "A QUANTITY is a name ('memory.latency'), a line ('memory read') or a group ('memory'). Numbers that follow "
        "the core's clock are carried over to that of the last run.\n\n"
        "'changed' marks the first run of a new level that at least two runs share, 'alone' a single run outside what "
        "the others predict. The confidence is corrected for the number of runs and lines, so that at most 5% of "
        "machines that do not change show any. Beside it stands what the runs recorded: kernel, driver, settings and "
        "build, or else clock, load and other processes. That it was recorded does not prove that it is the cause.",
    .example = "assay history\nassay history memory.latency\nassay history 'L2 latency' --csv",
    .options = options,
    .max_args = -1,
    .run = run_history,
};
