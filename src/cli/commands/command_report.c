/* assay report, export, import: write and read runs as files */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/lookup.h"
#include "cli/output/deliver.h"
#include "cli/output/hwloc_export.h"
#include "cli/output/outputs.h"
#include "report/sheet/machine_runs.h"
#include "report/sheet/sheet_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usual_page[] = "assay-report.html";

/* Without a run, the sheet is the machine's over its runs, as that of 'assay show'. */
static enum as_status load_machine(const struct as_args *args, const struct as_refs *chip, struct as_report_run *last,
                                   struct as_machine_runs *machine, struct as_error *err)
{
    struct as_store *store = NULL;
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st && (st = as_machine_runs_load(store, AS_MACHINE_NOW, chip, machine, err)) == AS_NOTFOUND)
        st = AS_OK;
    if (!st && machine->sheet.n) {
        last->machine = machine;
        last->joined = machine->joined;
        last->joined_n = machine->joined_n;
    }
    as_store_close(store);
    return st;
}

static int run_report(const struct as_command *command, const struct as_args *args)
{
    static const char *const last[] = {NULL};
    const char *path = as_args_value(args, "output") ? as_args_value(args, "output") : usual_page;
    const bool open = as_args_flag(args, "open");
    const char *const *names = args->words ? args->word : last;
    size_t n = args->words ? args->words : 1, loaded = 0;
    struct as_report_run *runs = calloc(n, sizeof *runs);
    struct as_refs *about = calloc(n, sizeof *about); /* figures of each run's chip */
    const char *published = as_args_value(args, "refs");
    struct as_refs refs = {0}, chip = {0};
    struct as_machine_runs machine = {0};
    struct as_buf page = AS_BUF_INIT;
    struct as_error err = {0};
    enum as_status st = runs && about ? AS_OK : as_nomem(&err, n * sizeof *runs, "runs");
    if (!st && open && strcmp(path, "-") == 0)
        st = as_fail(&err, AS_USAGE, "--open needs a file: give -o FILE, or omit -o");
    if (!st && path == usual_page)
        st = as_check_output(args, path, &err);
    if (!st && published)
        st = as_published(published, &refs, &chip, &err);
    for (size_t i = 0; i < n && !st; i++)
        if (!(st = as_named_report(args, names[i], &runs[i], &err))) {
            if (!published)
                st = as_published_by_itself(&runs[loaded], &about[loaded], &err);
            runs[loaded].refs = refs.n ? &refs : about[loaded].n ? &about[loaded] : NULL;
            runs[loaded++].chip = chip.n ? &chip : NULL;
        }
    if (!st && !args->words)
        st = load_machine(args, chip.n ? &chip : NULL, &runs[0], &machine, &err);
    if (!st) {
        as_report_tell_apart(runs, loaded);
        st = as_report_html(runs, loaded, &page, &err);
    }
    int code = st ? as_cli_misuse(command, &err) : as_deliver(&page, path);
    if (open && code == AS_EXIT_OK && as_open_in_browser(path, &err))
        code = as_cli_fail(&err);
    as_buf_finish(&page);
    as_machine_runs_finish(&machine);
    for (size_t i = 0; i < loaded; i++) {
        as_report_run_finish(&runs[i]);
        as_refs_finish(&about[i]);
    }
    free(runs);
    free(about);
    as_refs_finish(&refs);
    as_refs_finish(&chip);
    return code;
}

static const struct as_option report_options[] = {
    {"output", 'o', "FILE", "file to write, - for stdout (default: assay-report.html)", false},
    {"open", 0, NULL, "open the page in the browser", false},
    AS_OPTION_REFS_SHEET,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_report = {
    .name = "report",
    .args = "[RUN]...",
    .summary = "write a report of runs as a web page",
    .about =
        "One self-contained HTML file that needs no network: the machine map, the data sheet, all facts, a section "
        "per probe, and what was not measured and why. Several runs are shown side by side. Without a RUN, shows the "
        "last run, with the data sheet joined over all runs of the machine, even if there is only one. With a RUN, "
        "shows its own data sheet, with intervals within the run. A RUN is a run of the store, FILE.db for "
        "the last run of another store, FILE.db:RUN, or an exported JSON file.",
    .example = "assay report --open\nassay report 3 other.db -o before-after.html\nassay report --refs h100",
    .options = report_options,
    .max_args = -1,
    .run = run_report,
};

typedef enum as_status (*export_fn)(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                    struct as_error *err);
static const struct {
    const char *name;
    export_fn write;
    export_fn machine; /* where no run is named, NULL: as of the last run */
} formats[] = {{"json", as_store_export_json, NULL},     {"csv", as_store_export_csv, NULL},
               {"layout", as_store_export_layout, NULL}, {"sheet", as_export_sheet, NULL},
               {"header", as_export_header, NULL},       {"hwloc", as_export_hwloc, as_export_hwloc_joined}};

static enum as_status find_format(const char *name, bool is_named, export_fn *out, struct as_error *err)
{
    static const char *const names[] = {"json", "csv", "layout", "sheet", "header", "hwloc", NULL};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!name || strcmp(formats[i].name, name) == 0) {
            *out = !is_named && formats[i].machine ? formats[i].machine : formats[i].write;
            return AS_OK;
        }
    const char *near = as_nearest(name, names);
    return as_fail(err, AS_USAGE, "--format is json, csv, layout, sheet, header or hwloc, not '%s'%s%s%s", name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

struct export_file {
    struct as_writer writer;
    bool to_terminal;
    bool closed; /* the reader closed the pipe */
};

static enum as_status write_part(void *user, const char *bytes, size_t n, struct as_error *err)
{
    struct export_file *file = user;
    struct as_buf text = AS_BUF_INIT;
    if (file->to_terminal) {
        as_buf_add(&text, bytes, n);
        as_make_readable(&text);
    }
    enum as_status st = as_buf_check(&text, err);
    if (!st)
        st = file->to_terminal ? as_writer_add(&file->writer, as_buf_get(&text), text.len, err)
                               : as_writer_add(&file->writer, bytes, n, err);
    file->closed = st && errno == EPIPE;
    as_buf_finish(&text);
    return st;
}

static enum as_status export_to(struct export_file *file, const char *path, export_fn write, struct as_store *store,
                                const struct as_run *run, struct as_error *err)
{
    struct as_buf out = AS_BUF_INIT;
    file->to_terminal = as_is_terminal(path);
    enum as_status st = as_writer_open(&file->writer, path, err);
    if (st)
        return st;
    st = write(store, run, &(struct as_sink){write_part, file, &out}, err);
    as_buf_finish(&out);
    if (!st)
        st = as_cli_check_memory(err);
    return as_writer_close(&file->writer, st, err);
}

static int run_export(const struct as_command *command, const struct as_args *args)
{
    const char *path = as_args_value(args, "output");
    struct as_store *store = NULL;
    struct export_file file = {.closed = false};
    struct as_run run = {0};
    struct as_error err = {0};
    export_fn write = NULL;
    enum as_status st = find_format(as_args_value(args, "format"), as_args_word(args, 0) != NULL, &write, &err);
    if (!st)
        st = as_cli_store(args, AS_STORE_READ, &store, &err);
    struct as_run_name taken;
    if (!st && !as_args_word(args, 0))
        st = as_last_run(store, &taken, &err);
    if (!st)
        st = as_store_run(store, as_args_word(args, 0) ? as_args_word(args, 0) : taken.text, &run, &err);
    if (!st)
        as_store_settle_state(store, &run);
    if (!st && run.state == AS_RUN_RUNNING)
        as_cli_note("run %lld is still being measured: the export has what it measured so far", (long long)run.id);
    int code = st ? as_cli_misuse(command, &err) : AS_EXIT_OK;
    if (!st && export_to(&file, path ? path : "-", write, store, &run, &err))
        code = file.closed ? AS_EXIT_FAILED : as_cli_misuse(command, &err);
    else if (!st && path && strcmp(path, "-") != 0)
        as_cli_note("wrote %s", path);
    as_run_finish(&run);
    as_store_close(store);
    return code;
}

static const struct as_option export_options[] = {
    {"format", 'f', "FORMAT",
     "json (with samples and provenance), csv (one row per measurement and metric, notes as JSON), layout (where the "
     "elements "
     "of matrix fragments lie, one row each), sheet (the data sheet as JSON), header (the data sheet as a C header) or "
     "hwloc (this machine's topology as XML, annotated with measurements) (default: "
     "json)",
     false},
    {"output", 'o', "FILE", "file to write, - for stdout (default: -)", false},
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_export = {
    .name = "export",
    .args = "[RUN]",
    .summary = "export a run as JSON or CSV, or its data sheet",
    .about =
        "The JSON has a format_version and is described by export.schema.json; 'assay import' and 'assay compare' read "
        "it. The data sheet is described by sheet.schema.json. hwloc's XML has memory attributes ('lstopo --memattrs "
        "-i "
        "FILE'; HWLOC_XMLFILE for programs), and data-sheet lines as info attributes of the machine and its PCI "
        "devices. "
        "Without a RUN, the latest run that is not in progress is exported; --format hwloc then exports the data sheet "
        "over all complete runs of the machine, as 'assay show' prints it.",
    .example =
        "assay export -o run.json\nassay export 3 --format csv -o run.csv\nassay export --format hwloc -o machine.xml",
    .options = export_options,
    .max_args = 1,
    .run = run_export,
};

static int run_import(const struct as_command *command, const struct as_args *args)
{
    const char *path = as_args_word(args, 0);
    struct as_store *store = NULL;
    struct as_buf text = AS_BUF_INIT, out = AS_BUF_INIT;
    struct as_error err = {0};
    int64_t id = 0;
    enum as_status st = as_read_export(strcmp(path, "-") == 0 ? "/dev/stdin" : path, &text, &err);
    if (!st)
        st = as_cli_store(args, AS_STORE_WRITE, &store, &err);
    if (!st && (st = as_store_import_json(store, as_buf_get(&text), text.len, &id, &err)))
        as_fail_in(&err, path);
    as_buf_finish(&text);
    if (st) {
        as_store_abandon(store);
        return as_cli_misuse(command, &err);
    }
    as_store_close(store);
    as_buf_printf(&out, "imported as run %lld\n", (long long)id);
    return as_cli_print(&out, AS_EXIT_OK);
}

static const struct as_option import_options[] = {
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_import = {
    .name = "import",
    .args = "FILE",
    .summary = "add an exported run to the store",
    .about =
        "FILE is a JSON file by 'assay export'; - is stdin. The run gets a new number. A damaged or foreign file is "
        "rejected as a whole.",
    .example = "assay import run.json",
    .options = import_options,
    .min_args = 1,
    .max_args = 1,
    .run = run_import,
};
