/* assay show: prints a stored run */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/list/list.h"
#include "cli/options/lookup.h"
#include "cli/output/ndjson.h"
#include "report/model/load.h"
#include "report/sheet/machine_runs.h"
#include "report/sheet/sheet_export.h"
#include "report/terminal/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The requested part of a run. */
struct asked {
    const char *run, *probe; /* NULL: the last; every probe */
    const char *device;      /* whose data sheet, "all" each in full; NULL: all, identical GPUs folded */
    bool all;
};

static enum as_status show_load(const struct as_args *args, const struct asked *asked, struct as_report_run *out,
                                size_t *stored, struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_run *runs = NULL;
    struct as_run_name taken = {"last"};
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st && asked->probe && !asked->run)
        st = as_default_run(store, asked->probe, &taken, err);
    if (!st)
        st = asked->probe
                 ? as_report_load_probe(store, asked->run ? asked->run : taken.text, asked->probe, asked->all, out, err)
             : asked->all ? as_report_load(store, asked->run, out, err)
                          : as_report_load_short(store, asked->run, out, err);
    if (st && store && asked->run)
        as_hint_probe(asked->run, err);
    if (!st && !(st = as_store_runs(store, &runs, stored, err)))
        as_runs_free(runs, *stored);
    as_store_close(store);
    return st;
}

static bool has_line(const struct as_machine_sheet *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].sheet.n)
            return true;
    return false;
}

/* Names the last run of the store if it is not in the machine's sheet. */
static void name_newer(const struct as_run *last, const struct as_machine_runs *m, struct as_buf *out)
{
    bool joined = false;
    for (size_t i = 0; i < m->n; i++)
        joined |= m->v[i].id == last->id;
    if (!joined)
        as_buf_printf(out, "Run %lld is %s and not joined: assay show %lld\n", (long long)last->id,
                      as_run_state_word(last->state), (long long)last->id);
}

/* Does the run have the device whose sheet is asked for? */
static enum as_status check_device(const struct as_report_run *run, const char *device, struct as_error *err)
{
    struct as_buf ids = AS_BUF_INIT;
    if (!device || strcmp(device, AS_TEXT_EVERY) == 0 || as_report_device(run, device))
        return AS_OK;
    for (size_t i = 0; i < run->devices_n; i++)
        as_buf_printf(&ids, "%s, ", run->devices[i].id);
    as_fail(err, AS_USAGE, "no device '%s' was measured; --device is one of: %s%s", device, as_buf_get(&ids),
            AS_TEXT_EVERY);
    as_buf_finish(&ids);
    return AS_USAGE;
}

/* The machine of the last run over all its runs. *shown false: nothing is joined, so the last run is to be shown. */
static enum as_status show_machine(const struct as_args *args, const struct asked *asked, const struct as_refs *chip,
                                   const struct as_table_style *style, bool *shown, struct as_buf *out,
                                   struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_machine_runs machine = {0};
    struct as_run last = {0};
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st)
        st = as_store_run(store, NULL, &last, err);
    if (!st && (st = as_machine_runs_load(store, AS_MACHINE_NOW, chip, &machine, err)) == AS_NOTFOUND)
        st = AS_OK;
    *shown = !st && has_line(&machine.sheet);
    if (*shown && !(asked->device && as_machine_sheet_device(&machine.sheet, asked->device)))
        st = check_device(&machine.fullest, asked->device, err);
    if (*shown && !st) {
        st = as_text_machine(&machine, asked->device, style, out, err);
        name_newer(&last, &machine, out);
    }
    as_machine_runs_finish(&machine);
    as_run_finish(&last);
    as_store_close(store);
    return st;
}

/* Mentions other runs if no run was named. */
static void name_others(const struct as_args *args, size_t stored, struct as_buf *out)
{
    if (stored < 2)
        return;
    as_buf_printf(out, "\nThe last of %zu runs in this store:  assay list runs", stored);
    as_args_add_store(as_args_value(args, "store"), out);
    as_buf_char(out, '\n');
}

struct json_lines {
    struct as_writer writer;
    struct as_buf out;
    bool closed; /* the reader closed the pipe */
};

static enum as_status pass_lines(struct json_lines *lines, struct as_error *err)
{
    enum as_status st = as_buf_check(&lines->out, err);
    if (!st)
        st = as_writer_add(&lines->writer, as_buf_get(&lines->out), lines->out.len, err);
    lines->closed = st == AS_IO && errno == EPIPE;
    as_buf_clear(&lines->out);
    return st;
}

static enum as_status json_cell(void *user, struct as_cell *cell, struct as_error *err)
{
    enum { PART = 1 << 16 };
    struct json_lines *lines = user;
    as_buf_char(&lines->out, '{');
    as_json_add_int(&lines->out, "run", cell->run_id);
    as_ndjson_cell(&lines->out, cell);
    as_buf_str(&lines->out, "}\n");
    return lines->out.len < PART ? AS_OK : pass_lines(lines, err);
}

static enum as_status check_probe(struct as_store *store, const struct as_run *run, const char *probe,
                                  struct as_error *err)
{
    size_t n = 1;
    enum as_status st = probe && !as_probe_find(probe) ? as_store_count(store, run->id, probe, &n, err) : AS_OK;
    return st || n ? st : as_unknown_probe(probe, err);
}

/* One line per cell, written as it is read. */
static int show_json(const struct as_command *command, const struct as_args *args, const struct asked *asked)
{
    struct json_lines lines = {.out = AS_BUF_INIT};
    struct as_store *store = NULL;
    struct as_run run = {0};
    struct as_error err = {0};
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, &err);
    if (!st && (st = as_store_run(store, asked->run, &run, &err)) && asked->run)
        as_hint_probe(asked->run, &err);
    if (!st)
        st = check_probe(store, &run, asked->probe, &err);
    if (!st && !(st = as_writer_open(&lines.writer, "-", &err))) {
        const struct as_cell_filter filter = {.run_id = run.id, .probe = asked->probe};
        st = as_store_each_cell(store, &filter, json_cell, &lines, &err);
        if (!st)
            st = pass_lines(&lines, &err);
        st = as_writer_close(&lines.writer, st, &err);
    }
    as_buf_finish(&lines.out);
    as_run_finish(&run);
    as_store_close(store);
    return !st ? AS_EXIT_OK : lines.closed ? AS_EXIT_FAILED : as_cli_misuse(command, &err);
}

/* Every probe of the run, in the order of its cells. */
static enum as_status show_all(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out,
                               struct as_error *err)
{
    const char **probes = NULL;
    size_t n = 0, cap = 0;
    enum as_status st = AS_OK;
    for (size_t i = 0; i < run->cells_n && !st; i++) {
        size_t k = 0;
        while (k < n && strcmp(probes[k], run->cells[i].probe) != 0)
            k++;
        if (k == n && !(st = as_grow((void **)&probes, &cap, n + 1, sizeof *probes, err)))
            probes[n++] = run->cells[i].probe;
    }
    for (size_t k = 0; k < n && !st; k++)
        st = as_report_probe(run, probes[k], style, out, err);
    free(probes);
    return st;
}

static bool has_probe(const struct as_report_run *run, const char *probe)
{
    for (size_t i = 0; i < run->cells_n; i++)
        if (strcmp(run->cells[i].probe, probe) == 0)
            return true;
    return false;
}

/* Whether the run has a device of the chip's kind (CPU or GPU). */
static bool has_side(const struct as_report_run *run, const struct as_refs *chip)
{
    for (size_t i = 0; i < run->devices_n; i++)
        for (size_t k = 0; k < chip->n; k++)
            if (as_ref_is_of_side(&chip->v[k], run->devices[i].id))
                return true;
    return false;
}

/* "show L2", "show 3 'memory read'": lines of the data sheet; false: the words name none. */
static bool show_lines(const struct as_args *args, const struct as_table_style *style, struct as_buf *out,
                       enum as_status *st, struct as_error *err)
{
    struct as_buf lines = AS_BUF_INIT;
    const char *run = NULL;
    as_run_and_lines(args, &run, &lines);
    const bool asked = lines.len;
    if (asked && (as_args_flag(args, "json") || as_args_value(args, "refs") || as_args_value(args, "device")))
        *st = as_fail(
            err, AS_USAGE,
            "--json, --refs and --device do not apply to lines of the data sheet ('%s'); for JSON use 'assay export "
            "--format sheet'",
            as_buf_get(&lines));
    else if (asked)
        *st = as_list_lines(args, run, as_buf_get(&lines), style, out, err);
    as_buf_finish(&lines);
    return asked;
}

static int run_show(const struct as_command *command, const struct as_args *args)
{
    struct as_table_style style;
    struct as_report_run run = {0};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    struct asked asked = {.device = as_args_value(args, "device"), .all = as_args_flag(args, "all")};
    struct as_refs refs = {0}, chip = {0};
    const char *published = as_args_value(args, "refs");
    size_t stored = 0;
    bool shown = false;
    enum as_status st = as_cli_style(args, &style, &err);
    if (!st && show_lines(args, &style, &out, &st, &err)) {
        if (!st)
            return as_cli_print_text(&out, AS_EXIT_OK);
        as_buf_finish(&out);
        return as_cli_misuse(command, &err);
    }
    if (!st)
        st = as_run_and_probe(args, &asked.run, &asked.probe, &err);
    if (!st && published && as_args_flag(args, "json"))
        st = as_fail(&err, AS_USAGE,
                     "--json lists measurements only, without --refs; use 'assay export --format sheet'");
    if (!st && asked.device && (asked.probe || asked.all || as_args_flag(args, "json")))
        st = as_fail(&err, AS_USAGE, "--device chooses data sheets: it does not apply to a probe, --all or --json");
    if (!st && as_args_flag(args, "json"))
        return show_json(command, args, &asked);
    if (!st && published)
        st = as_published(published, &refs, &chip, &err);
    if (!st && published && !chip.n)
        st = as_fail(&err, AS_USAGE, "'%s' has no figures for the data sheet: use 'assay facts --refs %s'", published,
                     published);
    if (!st && !asked.run && !asked.probe && !asked.all)
        st = show_machine(args, &asked, chip.n ? &chip : NULL, &style, &shown, &out, &err);
    if (!st && !shown)
        st = show_load(args, &asked, &run, &stored, &err);
    if (!st && !shown)
        st = check_device(&run, asked.device, &err);
    run.chip = chip.n ? &chip : NULL;
    if (!st && !shown && chip.n && !has_side(&run, &chip))
        as_cli_note("figures of '%s' are not shown: it is a %s, and the run has none", chip.name,
                    strcmp(chip.v[0].device, "cpu") == 0 ? "CPU" : "GPU");
    if (!st && asked.probe && !has_probe(&run, asked.probe) && !as_probe_find(asked.probe))
        st = as_unknown_probe(asked.probe, &err);
    if (!st && !shown)
        st = asked.probe ? as_report_probe(&run, asked.probe, &style, &out, &err)
             : asked.all ? show_all(&run, &style, &out, &err)
                         : as_report_terminal(&run, asked.device, &style, &out, &err);
    if (!st && !asked.run && !shown)
        name_others(args, stored, &out);
    as_report_run_finish(&run);
    as_refs_finish(&refs);
    as_refs_finish(&chip);
    if (!st)
        return as_cli_print_text(&out, AS_EXIT_OK);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

/* 'assay' with options only: the machine's sheet, as text or JSON. */
static int run_machine(const struct as_command *command, const struct as_args *args)
{
    struct as_store *store = NULL;
    struct as_machine_runs machine = {0};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    if (!as_args_flag(args, "json"))
        return run_show(command, args);
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, &err);
    if (!st)
        st = as_machine_runs_load(store, AS_MACHINE_NOW, NULL, &machine, &err);
    if (!st) {
        as_machine_to_json(&machine, &out);
        st = as_buf_check(&out, &err);
    }
    as_machine_runs_finish(&machine);
    as_store_close(store);
    if (!st)
        return as_cli_print_text(&out, AS_EXIT_OK);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

static const struct as_option show_options[] = {
    {"all", 'a', NULL, "all measurements of all probes, or of the named one", false},
    {"device", 0, "DEV", "print the data sheet of this device only; all: of every device, identical GPUs in full too",
     false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_REFS_SHEET,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_show = {
    .name = "show",
    .args = "[RUN] [PROBE|QUANTITY]",
    .summary = "print the machine's data sheet, or a run's, some of its lines, or all measurements of one probe",
    .about =
        "Without a RUN, prints the data sheet of the machine: all complete runs of the last run's host in the same "
        "state (kernel, driver, settings, build of assay), joined line by line. '±' is then the 95% interval of the "
        "machine's number, which covers what varies between runs; further runs lie within 'another run'. With one "
        "run, both assume the scatter usual for such machines; further runs replace the assumption. A line that "
        "changed by itself rests on the runs "
        "since. With a RUN, prints that run alone, with the intervals of its own trials. Of identical GPUs, the first "
        "is printed in full; for the others, only lines that differ from it by more than 1% and beyond their joint "
        "intervals (if all are equal, a line is listed by chance in 5% of sheets). --device all prints each in "
        "full.\n\n"
        "RUN is a number, 4 or more leading characters of a UUID, 'last', or -2 for the one before "
        "the last. With a probe, prints a plot if an axis is a size, and a table of its measurements with median, the "
        "farther "
        "end of the 95% interval relative to it (up to 25%, beyond that the interval in place of the median), samples, "
        "trials and status; for a run of more than "
        "12,000 measurements, the first 2,000 unless --all is given; without a RUN, of the last run. With a quantity, "
        "as in "
        "'assay history' ('L2', 'memory read'), prints its lines of the data sheet. In the data "
        "sheet, "
        "'specified' values are from the "
        "vendor's data sheet and 'reported' ones from the driver or OS.",
    .example = "assay show\nassay show last\nassay show latency\nassay show 3 bandwidth\nassay show L2\nassay show "
               "--refs h100",
    .options = show_options,
    .max_args = 2,
    .run = run_show,
};

const struct as_command as_command_machine = {
    .name = "show",
    .args = "",
    .summary = "print the machine's data sheet",
    .about = "The data sheet of the machine over all its runs, as 'assay show' prints it. With --json, the same as one "
             "JSON object (docs/sheet.schema.json), in which each line says of how many runs it is and where another "
             "run lies.",
    .example = "assay --json",
    .options = show_options,
    .max_args = 0,
    .run = run_machine,
};
