/* assay show, assay facts: look at a stored run */
#include "base/text.h"
#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/ndjson.h"
#include "report/load.h"
#include "report/refs_cells.h"
#include "report/sheet.h"
#include "report/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The requested part of a run. */
struct asked {
    const char *run, *probe; /* NULL: the last; every probe */
    bool all;
};

static enum as_status load(const struct as_args *args, const struct asked *asked, struct as_report_run *out,
                           size_t *stored, struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_run *runs = NULL;
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st)
        st = asked->probe ? as_report_load_probe(store, asked->run, asked->probe, asked->all, out, err)
             : asked->all ? as_report_load(store, asked->run, out, err)
                          : as_report_load_short(store, asked->run, out, err);
    if (st && store && asked->run)
        as_hint_probe(asked->run, err);
    if (!st && !(st = as_store_runs(store, &runs, stored, err)))
        as_runs_free(runs, *stored);
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
    bool closed; /* by who reads it */
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

/* One line a cell, as they are read. */
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

/* Every probe of the run, in the order in which its cells come. */
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

/* Does the run have a device of the side of a machine that the chip's figures are of? */
static bool has_side(const struct as_report_run *run, const struct as_refs *chip)
{
    for (size_t i = 0; i < run->devices_n; i++)
        for (size_t k = 0; k < chip->n; k++)
            if (as_ref_is_of_side(&chip->v[k], run->devices[i].id))
                return true;
    return false;
}

static int run_show(const struct as_command *command, const struct as_args *args)
{
    struct as_table_style style;
    struct as_report_run run = {0};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    struct asked asked = {.all = as_args_flag(args, "all")};
    struct as_refs refs = {0}, chip = {0};
    const char *published = as_args_value(args, "refs");
    size_t stored = 0;
    enum as_status st = as_cli_style(args, &style, &err);
    if (!st)
        st = as_run_and_probe(args, &asked.run, &asked.probe, &err);
    if (!st && as_args_flag(args, "json"))
        return show_json(command, args, &asked);
    if (!st && published)
        st = as_published(published, &refs, &chip, &err);
    if (!st && published && !chip.n)
        st = as_fail(&err, AS_USAGE, "'%s' has no figures for the data sheet: use 'assay facts --refs %s'", published,
                     published);
    if (!st)
        st = load(args, &asked, &run, &stored, &err);
    run.chip = chip.n ? &chip : NULL;
    if (!st && chip.n && !has_side(&run, &chip))
        as_cli_note("no figure of '%s' is shown: it is a %s, and the run has no such device", chip.name,
                    strcmp(chip.v[0].device, "cpu") == 0 ? "CPU" : "GPU");
    if (!st && asked.probe && !has_probe(&run, asked.probe) && !as_probe_find(asked.probe))
        st = as_unknown_probe(asked.probe, &err);
    if (!st)
        st = asked.probe ? as_report_probe(&run, asked.probe, &style, &out, &err)
             : asked.all ? show_all(&run, &style, &out, &err)
                         : as_report_terminal(&run, &style, &out, &err);
    if (!st && !asked.run)
        name_others(args, stored, &out);
    as_report_run_finish(&run);
    as_refs_finish(&refs);
    as_refs_finish(&chip);
    if (!st)
        return as_cli_print(&out, AS_EXIT_OK);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

static const struct as_option show_options[] = {
    {"all", 'a', NULL, "all cells of all probes, or of the named one", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_REFS_SHEET,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_show = {
    .name = "show",
    .args = "[RUN] [PROBE]",
    .summary = "print a run's data sheet, or all cells of one probe",
    .about =
        "RUN is a number, 4 or more leading characters of a uuid, 'last' (the default), or -2 for the one before "
        "the last. With a probe: a plot where an axis is a size, and a table of its cells with median, half the 95% "
        "interval relative to it, samples, trials and status; of a run with more than "
        "12,000 cells, the first 2,000 unless --all is given. In the data sheet, 'specified' values are of the "
        "vendor's data sheet and 'reported' ones of driver or OS.",
    .example = "assay show\nassay show latency\nassay show 3 bandwidth\nassay show --refs h100",
    .options = show_options,
    .max_args = 2,
    .run = run_show,
};

/* Do two figures differ only in chip and value? */
static bool alike(const struct as_ref *a, const struct as_ref *b)
{
    return strcmp(a->metric, b->metric) == 0 && strcmp(a->axes, b->axes) == 0 &&
           strcmp(a->conditions, b->conditions) == 0 && strcmp(a->source, b->source) == 0;
}

/* "Published, latency of L2 (pointer chase, 1 MiB; source). MI300A: 100 to 108 ns": a figure and those alike. */
static void print_alike(const struct as_refs *refs, size_t first, const struct as_fact *f,
                        const struct as_table_style *style, struct as_buf *out)
{
    const struct as_ref *ref = &refs->v[first];
    struct as_buf text = AS_BUF_INIT, shown = AS_BUF_INIT;
    as_buf_str(&text, "Published, ");
    as_ref_what(ref, &text);
    as_buf_printf(&text, " (%s; %s)", ref->conditions, ref->source);
    for (size_t i = first; i < refs->n; i++)
        if (alike(ref, &refs->v[i]) && as_ref_is_beside(&refs->v[i], f)) {
            as_buf_printf(&text, "%s %s: ", i == first ? "." : ";", refs->v[i].chip);
            as_ref_value(&refs->v[i], false, &text);
        }
    as_buf_char(&text, '.');
    as_buf_terminal(&shown, as_buf_get(&text));
    as_buf_str(out, "  ");
    as_text_fill(out, as_buf_get(&shown), style->width, 4, 2);
    out->failed |= text.failed || shown.failed;
    as_buf_finish(&shown);
    as_buf_finish(&text);
}

/* Published figures of other machines for the quantity of a fact. */
static void print_refs(const struct as_refs *refs, const struct as_fact *f, const struct as_table_style *style,
                       struct as_buf *out)
{
    for (size_t i = 0; i < refs->n; i++) {
        size_t before = 0;
        if (!as_ref_is_beside(&refs->v[i], f))
            continue;
        while (before < i && !(alike(&refs->v[before], &refs->v[i]) && as_ref_is_beside(&refs->v[before], f)))
            before++;
        if (before == i)
            print_alike(refs, i, f, style, out);
    }
}

/* before: the fact above it, or NULL. */
static void print_fact(const struct as_fact *f, const struct as_fact *before, const struct as_refs *refs,
                       const struct as_table_style *style, struct as_buf *out)
{
    static const enum as_paint paint[] = {
        [AS_SUPPORTED] = AS_PAINT_GOOD, [AS_REFUTED] = AS_PAINT_BAD, [AS_UNDECIDED] = AS_PAINT_DIM};
    struct as_buf text = AS_BUF_INIT;
    as_buf_char(out, '\n');
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_buf_terminal(out, f->device);
    as_buf_char(out, ' ');
    as_buf_terminal(out, f->id);
    as_paint_off(out, AS_PAINT_STRONG, style);
    as_buf_char(out, ' ');
    as_paint_on(out, paint[f->verdict], style);
    as_buf_str(out, as_fact_verdict_text(f->verdict));
    as_paint_off(out, paint[f->verdict], style);
    as_buf_char(out, '\n');
    as_buf_terminal(&text, f->sentence);
    as_text_fill(out, as_buf_get(&text), style->width, 2, 0);
    print_refs(refs, f, style, out);
    as_buf_clear(&text);
    if (before && strcmp(f->rule, before->rule) == 0 && strcmp(f->refuted_by, before->refuted_by) == 0)
        as_buf_str(&text, "Rule: as above.");
    else
        as_buf_printf(&text, "Rule: %s. Refuted by: %s.", f->rule, f->refuted_by);
    as_text_fill(out, as_buf_get(&text), style->width, 2, 0);
    if (f->evidence_n) {
        as_buf_clear(&text);
        as_buf_str(&text, "Cells:");
        for (size_t i = 0; i < f->evidence_n && i < AS_EVIDENCE_MAX; i++)
            as_buf_printf(&text, " %lld", (long long)f->evidence[i]);
        as_text_fill(out, as_buf_get(&text), style->width, 2, 0);
    }
    as_buf_finish(&text);
}

static bool has_fact(const struct as_ref *ref, const struct as_report_run *run)
{
    for (size_t k = 0; k < run->facts_n; k++)
        if (as_ref_is_beside(ref, &run->facts[k]))
            return true;
    return false;
}

/* Figures beside cells, one line each; those of operations are in the report's table, and are only counted. */
static void print_cells(const struct as_refs *refs, const struct as_report_run *run, const struct as_ref_cells *cells,
                        const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT, shown = AS_BUF_INIT;
    size_t alone = 0, operations = 0, listed = 0;
    for (size_t i = 0; i < refs->n; i++) {
        const struct as_ref *ref = &refs->v[i];
        struct as_ref_cell found;
        if (has_fact(ref, run))
            continue;
        if (!as_ref_cells_find(cells, ref, &found)) {
            alone++;
            continue;
        }
        if (as_ref_is_of_operation(ref)) {
            operations++;
            continue;
        }
        as_buf_str(out, listed++ ? "" : "\nPublished figures beside cells:\n");
        as_buf_clear(&text);
        as_buf_printf(&text, "%s %s: ", found.cell->device, found.cell->probe);
        as_format_value(&text, found.measured.value, ref->unit);
        as_buf_str(&text, ". Published, ");
        as_ref_what(ref, &text);
        as_buf_printf(&text, " (%s; %s). %s: ", ref->conditions, ref->source, ref->chip);
        as_ref_value(ref, false, &text);
        as_buf_clear(&shown);
        as_buf_terminal(&shown, as_buf_get(&text));
        as_text_fill(out, as_buf_get(&shown), style->width, 2, 0);
    }
    as_buf_printf(out, "\nOf the %zu published figures of ", refs->n);
    as_buf_terminal(out, refs->name);
    if (operations)
        as_buf_printf(out, " %zu stand beside operations in 'assay report --refs', and", operations);
    as_buf_printf(out, " %zu have no matching fact in this run.\n", alone);
    out->failed |= text.failed || shown.failed;
    as_buf_finish(&text);
    as_buf_finish(&shown);
}

static void facts_json(const struct as_report_run *run, const struct as_refs *refs, struct as_buf *out)
{
    as_buf_printf(out, "{\"run\":%lld,\"facts\":", (long long)run->run.id);
    as_facts_to_json(run->facts, run->facts_n, out);
    if (refs->n) {
        as_buf_str(out, ",\"references\":");
        as_refs_to_json(refs, run->facts, run->facts_n, out);
    }
    as_buf_str(out, "}\n");
}

static enum as_status facts_text(const struct as_report_run *run, const struct as_refs *refs,
                                 const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    as_buf_printf(out, "Run %lld: %zu fact%s\n", (long long)run->run.id, run->facts_n, run->facts_n == 1 ? "" : "s");
    for (size_t i = 0; i < run->facts_n; i++)
        print_fact(&run->facts[i], i ? &run->facts[i - 1] : NULL, refs, style, out);
    struct as_ref_cells cells;
    if (!refs->n)
        return AS_OK;
    enum as_status st = as_ref_cells_make(run, &cells, err);
    if (!st)
        print_cells(refs, run, &cells, style, out);
    as_ref_cells_finish(&cells);
    return st;
}

static enum as_status load_facts(const struct as_args *args, const char *name, struct as_report_run *out,
                                 struct as_error *err)
{
    struct as_store *store = NULL;
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st && (st = as_report_load(store, name, out, err)) && name)
        as_hint_probe(name, err);
    as_store_close(store);
    return st;
}

static int run_facts(const struct as_command *command, const struct as_args *args)
{
    struct as_table_style style;
    struct as_report_run run = {0};
    struct as_refs refs = {0};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    const char *names = as_args_value(args, "refs");
    enum as_status st = as_cli_style(args, &style, &err);
    if (!st && names)
        st = as_refs_load(names, &refs, &err);
    as_sheet_name_facts(&refs);
    if (!st)
        st = load_facts(args, as_args_word(args, 0), &run, &err);
    if (!st && as_args_flag(args, "json"))
        facts_json(&run, &refs, &out);
    else if (!st)
        st = facts_text(&run, &refs, &style, &out, &err);
    as_report_run_finish(&run);
    as_refs_finish(&refs);
    return st ? as_cli_misuse(command, &err) : as_cli_print(&out, AS_EXIT_OK);
}

static const struct as_option facts_options[] = {
    AS_OPTION_COLOUR, AS_OPTION_JSON, AS_OPTION_REFS, AS_OPTION_STORE, AS_OPTION_END,
};
const struct as_command as_command_facts = {
    .name = "facts",
    .args = "[RUN]",
    .summary = "print the facts that follow from the valid cells of a run, with evidence",
    .about =
        "Each fact has a sentence, a verdict (supported, refuted, undecided), the rule, what would refute it, and the "
        "evidence, the cells it rests on; 'assay explain CELL' shows one.",
    .example = "assay facts\nassay facts 3 --json\nassay facts --refs mi300a",
    .options = facts_options,
    .max_args = 1,
    .run = run_facts,
};
