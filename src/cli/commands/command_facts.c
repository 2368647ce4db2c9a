/* assay facts: facts derived from a stored run */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/lookup.h"
#include "facts/refs_facts.h"
#include "report/model/load.h"
#include "report/operations/refs_cells.h"
#include "report/sheet/sheet.h"
#include "report/terminal/terminal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whether two figures differ only in chip and value. */
static bool facts_alike(const struct as_ref *a, const struct as_ref *b)
{
    return strcmp(a->metric, b->metric) == 0 && strcmp(a->axes, b->axes) == 0 &&
           strcmp(a->conditions, b->conditions) == 0 && strcmp(a->source, b->source) == 0;
}

/* "Published, latency of L2 (pointer chase, 1 MiB; source). MI300A: 100 to 108 ns": a figure and its like of other
 * chips. */
static void print_alike(const struct as_refs *refs, size_t first, const struct as_fact *f,
                        const struct as_table_style *style, struct as_buf *out)
{
    const struct as_ref *ref = &refs->v[first];
    struct as_buf text = AS_BUF_INIT, shown = AS_BUF_INIT;
    as_buf_str(&text, "Published, ");
    as_ref_what(ref, &text);
    as_buf_printf(&text, " (%s; %s)", ref->conditions, ref->source);
    for (size_t i = first; i < refs->n; i++)
        if (facts_alike(ref, &refs->v[i]) && as_ref_is_beside(&refs->v[i], f)) {
            as_buf_printf(&text, "%s %s: ", i == first ? "." : ";", refs->v[i].chip);
            as_ref_value(&refs->v[i], false, &text);
            as_ref_deviation(&refs->v[i], f, &text);
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
        while (before < i && !(facts_alike(&refs->v[before], &refs->v[i]) && as_ref_is_beside(&refs->v[before], f)))
            before++;
        if (before == i)
            print_alike(refs, i, f, style, out);
    }
}

/* before: the preceding fact, or NULL. */
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
        as_buf_str(&text, "Measurements:");
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

/* Figures beside cells, one line each; those of operations are only counted, since the report has a table of them. */
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
        as_buf_str(out, listed++ ? "" : "\nPublished figures beside measurements:\n");
        as_buf_clear(&text);
        as_buf_printf(&text, "%s %s: ", found.cell->device, found.cell->probe);
        as_number_text(&(struct as_number){.value = found.measured.value, .ci = found.measured.ci, .unit = ref->unit},
                       &text);
        as_buf_str(&text, ". Published, ");
        as_ref_what(ref, &text);
        as_buf_printf(&text, " (%s; %s). %s: ", ref->conditions, ref->source, ref->chip);
        as_ref_value(ref, false, &text);
        as_buf_clear(&shown);
        as_buf_terminal(&shown, as_buf_get(&text));
        as_text_fill(out, as_buf_get(&shown), style->width, 2, 0);
    }
    const struct as_refs_agreement agreement = as_refs_agree(refs, run->facts, run->facts_n);
    as_buf_char(out, '\n');
    as_refs_agreement_text(&agreement, out);
    as_buf_printf(out, "%sOf the %zu published figures of ", agreement.beside ? "\n" : "", refs->n);
    as_buf_terminal(out, refs->name);
    if (operations)
        as_buf_printf(out, " %zu stand beside operations in 'assay report --refs', and", operations);
    as_buf_printf(out, " %zu have no counterpart in this run.\n", alone);
    out->failed |= text.failed || shown.failed;
    as_buf_finish(&text);
    as_buf_finish(&shown);
}

/* Does a line of the data sheet that the subject means rest on it? */
static bool is_of_lines(const struct as_fact *f, const char *subject)
{
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (const struct as_quantity_source *s = q->sources; s->from && as_quantity_is_meant(q, subject); s++)
            if (strcmp(s->from, f->id) == 0 || (s->fact && strcmp(s->fact, f->id) == 0))
                return true;
    return false;
}

/* By its id, the part of the machine, a line of the data sheet, or, where the subject is a probe, by what it rests on
 * first. */
static bool concerns(const struct as_report_run *run, const struct as_fact *f, const char *subject)
{
    if (as_fact_is_about(f, subject) || strcasecmp(f->object, subject) == 0 ||
        strcasecmp(as_fact_field(f, AS_FIELD_LEVEL), subject) == 0 || is_of_lines(f, subject))
        return true;
    const struct as_cell *cell = f->evidence_n && as_probe_find(subject) ? as_report_cell(run, f->evidence[0]) : NULL;
    return cell && strcmp(cell->probe, subject) == 0;
}

static enum as_status facts_json(const struct as_report_run *run, const char *subject, const struct as_refs *refs,
                                 struct as_buf *out, struct as_error *err)
{
    struct as_fact *about = malloc((run->facts_n + 1) * sizeof *about);
    size_t n = 0;
    if (!about)
        return as_nomem(err, run->facts_n * sizeof *about, "facts");
    for (size_t i = 0; i < run->facts_n; i++)
        if (concerns(run, &run->facts[i], subject))
            about[n++] = run->facts[i];
    as_buf_printf(out, "{\"run\":%lld,\"facts\":", (long long)run->run.id);
    as_facts_to_json(about, n, out);
    free(about);
    if (refs->n) {
        as_buf_str(out, ",\"references\":");
        as_refs_to_json(refs, run->facts, run->facts_n, out);
    }
    as_buf_str(out, "}\n");
    return AS_OK;
}

static size_t facts_about(const struct as_report_run *run, const char *subject)
{
    size_t n = 0;
    for (size_t i = 0; i < run->facts_n; i++)
        n += concerns(run, &run->facts[i], subject);
    return n;
}

/* "alloc 40, bandwidth 12": subjects in the order of the facts, with the count of each. */
static void list_subjects(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_text_title(out, "Facts by subject", style);
    for (size_t i = 0; i < run->facts_n; i++) {
        size_t first = 0, count = 0;
        while (!as_facts_share_subject(&run->facts[first], &run->facts[i]))
            first++;
        for (size_t k = i; k < run->facts_n; k++)
            count += as_facts_share_subject(&run->facts[k], &run->facts[i]);
        if (first == i)
            as_buf_printf(&line, "%s%.*s %zu", line.len ? ", " : "", (int)as_fact_subject(&run->facts[i]),
                          run->facts[i].id, count);
    }
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    out->failed |= line.failed;
    as_buf_finish(&line);
}

/* One sentence of each subject, the first that is decided. */
static void facts_first(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    enum { SHOWN_MAX = 8 };
    size_t shown = 0;
    for (size_t i = 0; i < run->facts_n && shown < SHOWN_MAX; i++) {
        size_t first = 0;
        while (first < i && (run->facts[first].verdict == AS_UNDECIDED ||
                             !as_facts_share_subject(&run->facts[first], &run->facts[i])))
            first++;
        if (first < i || run->facts[i].verdict == AS_UNDECIDED)
            continue;
        if (!shown++)
            as_text_title(out, "First of each subject", style);
        as_text_line(out, style->unicode ? "• " : "- ", run->facts[i].sentence, 2, 2, style);
    }
}

static void facts_short(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    size_t counts[AS_FACT_VERDICTS_N] = {0};
    for (size_t i = 0; i < run->facts_n; i++)
        counts[run->facts[i].verdict]++;
    as_buf_printf(out, "Run %lld: %zu fact%s: %zu supported, %zu refuted, %zu inconclusive\n", (long long)run->run.id,
                  run->facts_n, run->facts_n == 1 ? "" : "s", counts[AS_SUPPORTED], counts[AS_REFUTED],
                  counts[AS_UNDECIDED]);
    as_text_worth(run, style, out);
    facts_first(run, style, out);
    if (run->facts_n)
        list_subjects(run, style, out);
    struct as_buf line = AS_BUF_INIT;
    as_buf_printf(&line, "Rules and evidence: assay facts %lld SUBJECT (e.g. %.*s), or assay facts %lld --all",
                  (long long)run->run.id, run->facts_n ? (int)as_fact_subject(run->facts) : 5,
                  run->facts_n ? run->facts[0].id : "cache", (long long)run->run.id);
    as_buf_char(out, '\n');
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_finish(&line);
}

enum { SUBJECT_MAX = sizeof((struct as_fact *)0)->id };

/* Copies the subject of the run's facts that is nearest to a word, or the id where the word has a dot; false if none is
 * near. */
static bool nearest_subject(const struct as_report_run *run, const char *word, char out[SUBJECT_MAX])
{
    char(*subjects)[SUBJECT_MAX] = calloc(run->facts_n + 1, sizeof *subjects);
    const char **names = calloc(run->facts_n + 1, sizeof *names);
    const bool whole = strchr(word, '.');
    for (size_t i = 0; subjects && names && i < run->facts_n; i++) {
        const struct as_fact *f = &run->facts[i];
        as_copy_text(subjects[i], whole ? SUBJECT_MAX : as_fact_subject(f) + 1, f->id);
        names[i] = subjects[i];
    }
    const char *near = subjects && names ? as_nearest(word, names) : NULL;
    as_copy_text(out, SUBJECT_MAX, near ? near : "");
    free(subjects);
    free((void *)names);
    return out[0];
}

static enum as_status no_subject(const struct as_report_run *run, const char *subject, struct as_error *err)
{
    char near[SUBJECT_MAX];
    const long long id = (long long)run->run.id;
    return nearest_subject(run, subject, near)
               ? as_fail(err, AS_NOTFOUND, "run %lld has no fact about '%s'; did you mean '%s'?", id, subject, near)
               : as_fail(err, AS_NOTFOUND, "run %lld has no fact about '%s'; 'assay facts %lld' lists the subjects", id,
                         subject, id);
}

static enum as_status facts_text(const struct as_report_run *run, const char *subject, const struct as_refs *refs,
                                 const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    const struct as_fact *before = NULL;
    const size_t n = facts_about(run, subject);
    if (!n && subject)
        return no_subject(run, subject, err);
    as_buf_printf(out, "Run %lld: %zu fact%s\n", (long long)run->run.id, n, n == 1 ? "" : "s");
    for (size_t i = 0; i < run->facts_n; i++)
        if (concerns(run, &run->facts[i], subject)) {
            print_fact(&run->facts[i], before, refs, style, out);
            before = &run->facts[i];
        }
    struct as_ref_cells cells;
    if (!refs->n)
        return AS_OK;
    enum as_status st = as_ref_cells_make(run, &cells, err);
    if (!st)
        print_cells(refs, run, &cells, style, out);
    as_ref_cells_finish(&cells);
    return st;
}

enum { RUNS_SEARCHED = 32 };

/* The last run with a fact about the subject, among so many; out stays empty where there is none. */
static enum as_status last_about(struct as_store *store, const char *subject, struct as_report_run *out,
                                 struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0;
    bool found = false;
    enum as_status st = as_store_runs(store, &runs, &n, err);
    for (size_t i = n; i > 0 && n - i < RUNS_SEARCHED && !found && !st; i--) {
        char id[24];
        snprintf(id, sizeof id, "%lld", (long long)runs[i - 1].id);
        st = as_report_load(store, id, out, err);
        found = !st && facts_about(out, subject);
        if (found && i < n)
            as_cli_note("run %s (%s), the last with facts about %s", id, runs[i - 1].suite, subject);
        if (!st && !found) {
            as_report_run_finish(out);
            *out = (struct as_report_run){0};
        }
    }
    as_runs_free(runs, n);
    return st;
}

/* A word that names neither a run nor a subject of a fact in one: what was meant? */
static enum as_status none_about(struct as_store *store, const char *word, struct as_error *err)
{
    struct as_report_run last = {0};
    struct as_error why = {0};
    const struct as_error before = *err;
    char ids[SUBJECT_MAX + 2], near[SUBJECT_MAX];
    snprintf(ids, sizeof ids, strchr(word, '.') ? "%.*s" : "%.*s.*", SUBJECT_MAX - 1, word);
    const bool known = !strpbrk(word, "*? ") && as_fact_ids_exist(ids);
    if (!known && !as_report_load(store, "last", &last, &why) && nearest_subject(&last, word, near))
        as_fail(err, AS_NOTFOUND, "there is no run '%s', and no fact about it; did you mean '%s'?", word, near);
    else if (!known && !as_probe_find(word))
        as_hint_probe(word, err);
    as_report_run_finish(&last);
    if (strcmp(err->text, before.text) == 0)
        as_fail(err, AS_NOTFOUND,
                "there is no run '%s', and none of the last %d runs has a fact about it; 'assay facts' lists the "
                "subjects",
                word, RUNS_SEARCHED);
    return AS_NOTFOUND;
}

/* "[RUN] [SUBJECT]": a single word that names no run is a subject, of the last run with facts about it. */
static enum as_status load_facts(const struct as_args *args, const char **subject, struct as_report_run *out,
                                 struct as_error *err)
{
    struct as_store *store = NULL;
    const char *run = as_args_word(args, 0);
    *subject = as_args_word(args, 1);
    struct as_run_name taken = {"last"};
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st && !run)
        st = as_default_run(store, NULL, &taken, err);
    if (!st)
        st = as_report_load(store, run ? run : taken.text, out, err);
    if (st == AS_NOTFOUND && store && run && !*subject && isalpha((unsigned char)run[0])) {
        struct as_error why = *err;
        st = last_about(store, run, out, err);
        if (!st && !out->facts_n) {
            *err = why;
            st = none_about(store, run, err);
        }
        *subject = run;
    }
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
    const char *names = as_args_value(args, "refs"), *subject = NULL;
    enum as_status st = as_cli_style(args, &style, &err);
    if (!st && names)
        st = as_refs_load_for_facts(names, &refs, &err);
    as_sheet_name_facts(&refs);
    if (!st)
        st = load_facts(args, &subject, &run, &err);
    const bool brief = !subject && !refs.n && !as_args_flag(args, "all");
    if (!st && !names)
        st = as_published_by_itself(&run, &refs, &err);
    if (!st && as_args_flag(args, "json"))
        st = facts_json(&run, subject, &refs, &out, &err);
    else if (!st && brief)
        facts_short(&run, &style, &out);
    else if (!st)
        st = facts_text(&run, subject, &refs, &style, &out, &err);
    as_report_run_finish(&run);
    as_refs_finish(&refs);
    return st ? as_cli_misuse(command, &err) : as_cli_print_text(&out, AS_EXIT_OK);
}

static const struct as_option facts_options[] = {
    {"all", 'a', NULL, "all facts, each with its rule and measurements", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_REFS,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_facts = {
    .name = "facts",
    .args = "[RUN] [SUBJECT]",
    .summary = "print the facts that follow from the valid measurements of a run, with evidence",
    .about =
        "Each fact has a sentence, a verdict (supported, refuted, inconclusive), the rule, what would refute it, and "
        "the "
        "evidence, the measurements it rests on; 'assay explain CELL' shows one. Without --all or a SUBJECT, prints "
        "the facts "
        "worth "
        "knowing and a count per subject. SUBJECT is a prefix of fact ids, such as 'cache' or 'cache.L2', a level or a "
        "quantity of the data sheet ('L2'), or a probe. "
        "--json and "
        "--refs print all facts.",
    .example = "assay facts\nassay facts cache\nassay facts 3 --json\nassay facts --refs mi300a",
    .options = facts_options,
    .max_args = 2,
    .run = run_facts,
};
