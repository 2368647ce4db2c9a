/* assay report, export, import: runs as files */
#include "base/text.h"
#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/session.h"
#include "report/load.h"
#include "report/sheet_export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_terminal(const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0)
        return isatty(STDOUT_FILENO);
    if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode))
        return false;
    int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool is = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return is;
}

/* Raw text for files and programs; escaped for a terminal. */
static void make_readable(struct as_buf *b)
{
    struct as_buf lines = AS_BUF_INIT;
    as_buf_terminal_lines(&lines, as_buf_get(b));
    lines.failed |= b->failed;
    as_buf_finish(b);
    *b = lines;
}

/* To stdout or a file; the file is named on stderr. */
static int deliver(struct as_buf *b, const char *path)
{
    struct as_error err = {0};
    if (is_terminal(path))
        make_readable(b);
    if (strcmp(path, "-") == 0)
        return as_cli_print(b, AS_EXIT_OK);
    enum as_status st = as_buf_check(b, &err);
    if (!st)
        st = as_cli_check_memory(&err);
    if (!st)
        st = as_write_file(path, as_buf_get(b), b->len, &err);
    as_buf_finish(b);
    if (st)
        return as_cli_fail(&err);
    as_cli_note("wrote %s", path);
    return AS_EXIT_OK;
}

static int run_report(const struct as_command *command, const struct as_args *args)
{
    static const char *const last[] = {NULL};
    const char *path = as_args_value(args, "output");
    const char *const *names = args->words ? args->word : last;
    size_t n = args->words ? args->words : 1, loaded = 0;
    struct as_report_run *runs = calloc(n, sizeof *runs);
    const char *published = as_args_value(args, "refs");
    struct as_refs refs = {0}, chip = {0};
    struct as_store *store = NULL;
    struct as_buf page = AS_BUF_INIT;
    struct as_error err = {0};
    enum as_status st = runs ? AS_OK : as_nomem(&err, n * sizeof *runs, "runs");
    if (!st && !path)
        st = as_fail(&err, AS_USAGE, "the report needs a file: -o FILE, or -o - for stdout");
    if (!st)
        st = as_session_check_output(path, &err);
    if (!st && published)
        st = as_published(published, &refs, &chip, &err);
    if (!st)
        st = as_cli_store(args, AS_STORE_READ, &store, &err);
    for (size_t i = 0; i < n && !st; i++)
        if (!(st = as_report_load(store, names[i], &runs[i], &err))) {
            runs[loaded].refs = refs.n ? &refs : NULL;
            runs[loaded++].chip = chip.n ? &chip : NULL;
        }
    if (!st)
        st = as_report_html(runs, loaded, &page, &err);
    int code = st ? as_cli_misuse(command, &err) : deliver(&page, path);
    as_buf_finish(&page);
    for (size_t i = 0; i < loaded; i++)
        as_report_run_finish(&runs[i]);
    free(runs);
    as_refs_finish(&refs);
    as_refs_finish(&chip);
    as_store_close(store);
    return code;
}

static const struct as_option report_options[] = {
    {"output", 'o', "FILE", "file to write, - for stdout; required", false},
    AS_OPTION_REFS_SHEET,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_report = {
    .name = "report",
    .args = "[RUN]... -o FILE",
    .summary = "write a report of runs as a web page",
    .about =
        "One self-contained HTML file that needs no network: the machine map, the data sheet, all facts, a section "
        "per probe, and what was not measured and why. Several runs are shown side by side. Without a RUN, the last.",
    .example =
        "assay report -o report.html\nassay report 3 4 -o before-after.html\nassay report --refs h100 -o report.html",
    .options = report_options,
    .max_args = -1,
    .run = run_report,
};

typedef enum as_status (*export_fn)(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                    struct as_error *err);
static const struct {
    const char *name;
    export_fn write;
} formats[] = {{"json", as_store_export_json},
               {"csv", as_store_export_csv},
               {"sheet", as_export_sheet},
               {"header", as_export_header}};

static enum as_status find_format(const char *name, export_fn *out, struct as_error *err)
{
    static const char *const names[] = {"json", "csv", "sheet", "header", NULL};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!name || strcmp(formats[i].name, name) == 0) {
            *out = formats[i].write;
            return AS_OK;
        }
    const char *near = as_nearest(name, names);
    return as_fail(err, AS_USAGE, "--format is json, csv, sheet or header, not '%s'%s%s%s", name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

struct export_file {
    struct as_writer writer;
    bool to_terminal;
    bool closed; /* by who reads it */
};

static enum as_status write_part(void *user, const char *bytes, size_t n, struct as_error *err)
{
    struct export_file *file = user;
    struct as_buf text = AS_BUF_INIT;
    if (file->to_terminal) {
        as_buf_add(&text, bytes, n);
        make_readable(&text);
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
    file->to_terminal = is_terminal(path);
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
    enum as_status st = find_format(as_args_value(args, "format"), &write, &err);
    if (!st)
        st = as_session_check_output(path, &err);
    if (!st)
        st = as_cli_store(args, AS_STORE_READ, &store, &err);
    if (!st)
        st = as_store_run(store, as_args_word(args, 0), &run, &err);
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
     "json (with samples and provenance), csv (one row per cell and metric), sheet (the data sheet as JSON) or header "
     "(the "
     "data sheet as a C header) (default: json)",
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
        "it. The data sheet is described by sheet.schema.json. Without a RUN, the last.",
    .example = "assay export -o run.json\nassay export 3 --format csv -o run.csv",
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
        "FILE is a JSON export by 'assay export'; - is stdin. The run gets a new number. A damaged or foreign file is "
        "rejected as a whole.",
    .example = "assay import run.json",
    .options = import_options,
    .min_args = 1,
    .max_args = 1,
    .run = run_import,
};
