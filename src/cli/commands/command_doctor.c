/* assay doctor: checks for sources of error on this machine, and the store for damage */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output/ndjson.h"
#include "report/terminal/terminal.h"
#include "run/provenance.h"
#include "run/run.h"

#include <stdlib.h>
#include <sys/stat.h>

struct doctor {
    const struct as_args *args;
    struct as_table_style style;
    struct as_buf out;
};

static void doctor_tell(struct doctor *d, enum as_severity severity, const char *what, const char *text,
                        const char *remedy)
{
    static const char *const words[] = {
        [AS_FINE] = "fine", [AS_NOTE] = "note", [AS_WARNING] = "warning", [AS_ERROR] = "error"};
    static const enum as_paint paint[] = {
        [AS_FINE] = AS_PAINT_GOOD, [AS_NOTE] = AS_PAINT_NONE, [AS_WARNING] = AS_PAINT_BAD, [AS_ERROR] = AS_PAINT_BAD};
    struct as_buf line = AS_BUF_INIT;
    if (as_args_flag(d->args, "json")) {
        as_buf_char(&line, '{');
        as_json_add_text(&line, "severity", words[severity]);
        as_json_add_text(&line, "what", what);
        as_json_add_text(&line, "text", text);
        as_json_add_text(&line, "remedy", remedy);
        as_buf_str(&line, "}\n");
        as_buf_str(&d->out, as_buf_get(&line));
    } else {
        as_paint_on(&d->out, paint[severity], &d->style);
        as_buf_printf(&d->out, "%-8s", words[severity]);
        as_paint_off(&d->out, paint[severity], &d->style);
        as_buf_terminal(&line, what);
        as_buf_str(&line, ": ");
        as_buf_terminal(&line, text);
        if (remedy[0]) {
            as_buf_str(&line, "; ");
            as_buf_terminal(&line, remedy);
        }
        as_buf_char(&d->out, ' ');
        as_text_fill(&d->out, as_buf_get(&line), d->style.width, 9, 9);
    }
    d->out.failed |= line.failed;
    as_buf_finish(&line);
}

/* "'/home/x/assay.db' is sound: 12 runs, 4.2 MiB" */
static enum as_status tell_sound(struct doctor *d, struct as_store *store, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_run *runs = NULL;
    struct stat file = {0};
    size_t n = 0;
    enum as_status st = as_store_runs(store, &runs, &n, err);
    if (!st) {
        as_buf_printf(&text, "'%s' is sound: %zu run%s", as_store_path(store), n, n == 1 ? "" : "s");
        if (stat(as_store_path(store), &file) == 0) {
            as_buf_str(&text, ", ");
            as_format_size(&text, (uint64_t)file.st_size);
        }
        st = as_buf_check(&text, err);
    }
    if (!st)
        doctor_tell(d, AS_FINE, "store", as_buf_get(&text), "");
    as_buf_finish(&text);
    as_runs_free(runs, n);
    return st;
}

/* "recomputed 2 cells from stored trials; skipped 1 run that is being measured" */
static enum as_status repair_store(struct doctor *d, struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_buf text = AS_BUF_INIT;
    size_t cells = 0, busy = 0;
    enum as_status st = as_cli_existing_store(d->args, &store, err);
    if (!st)
        st = as_run_repair(store, &cells, &busy, err);
    if (!st) {
        if (cells)
            as_buf_printf(&text, "recomputed %zu measurement%s from stored trials", cells, cells == 1 ? "" : "s");
        else
            as_buf_str(&text, "nothing to repair");
        if (busy)
            as_buf_printf(&text, "; skipped %zu run%s being measured", busy, busy == 1 ? "" : "s");
        st = as_buf_check(&text, err);
    }
    if (!st)
        doctor_tell(d, AS_FINE, "store", as_buf_get(&text), "");
    as_store_close(store);
    as_buf_finish(&text);
    return st;
}

/* A store that does not exist yet is fine; any other failure to read it is not. */
static int look_at_store(struct doctor *d, struct as_error *err)
{
    struct as_store *store = NULL;
    enum as_status st = as_args_flag(d->args, "repair") ? repair_store(d, err) : AS_OK;
    if (!st)
        st = as_cli_store(d->args, AS_STORE_READ, &store, err);
    bool none_yet = st == AS_NOTFOUND || (st == AS_USAGE && !as_args_value(d->args, "store"));
    if (!st)
        st = as_store_verify(store, err);
    if (!st)
        st = tell_sound(d, store, err);
    as_store_close(store);
    if (st)
        doctor_tell(d, none_yet ? AS_NOTE : AS_ERROR, "store", err->text, "");
    return st && !none_yet ? AS_EXIT_FAILED : AS_EXIT_OK;
}

/* Current readings of the devices' sensors. */
static enum as_status look_at_devices(struct doctor *d, struct as_error *err)
{
    struct as_found_device *found = NULL;
    size_t n = 0;
    enum as_status st = as_find_devices(NULL, NULL, &found, &n, err);
    for (size_t i = 0; i < n && !st; i++) {
        struct as_finding f;
        if (found[i].why[0])
            continue;
        as_doctor_device(&found[i].info, &f);
        doctor_tell(d, f.severity, f.what, f.text, f.remedy);
        as_doctor_demand(&found[i].info, &f);
        doctor_tell(d, f.severity, f.what, f.text, f.remedy);
    }
    as_found_devices_free(found, n);
    return st;
}

static int run_doctor(const struct as_command *command, const struct as_args *args)
{
    struct doctor d = {.args = args};
    struct as_finding *findings = NULL;
    struct as_error err = {0};
    size_t n = 0;
    int code = AS_EXIT_OK;
    const char *path = as_args_value(args, "store");
    enum as_status st = as_cli_style(args, &d.style, &err);
    if (!st && path && !*path)
        st = as_fail(&err, AS_USAGE, "--store needs a file name");
    if (!st)
        st = as_doctor(&findings, &n, &err);
    for (size_t i = 0; i < n && !st; i++)
        doctor_tell(&d, findings[i].severity, findings[i].what, findings[i].text, findings[i].remedy);
    free(findings);
    if (!st)
        st = look_at_devices(&d, &err);
    if (!st)
        code = look_at_store(&d, &err);
    if (!st)
        return as_cli_print_text(&d.out, code);
    as_buf_finish(&d.out);
    return as_cli_misuse(command, &err);
}

static const struct as_option doctor_options[] = {
    {"repair", 0, NULL, "recompute measurements whose numbers do not match their stored trials", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_doctor = {
    .name = "doctor",
    .args = "",
    .summary = "check the machine for sources of error, and the store for damage",
    .about =
        "Checks the frequency governor, load, SMT, huge pages, virtualisation, the clock source and the like; what the "
        "devices' sensors report now (throttling, other processes); and the whole store for damage. Changes "
        "nothing without --repair. Exits with 0 whatever it finds on the machine, and with 1 if the store is damaged "
        "or cannot "
        "be read.",
    .example = "assay doctor",
    .options = doctor_options,
    .run = run_doctor,
};
