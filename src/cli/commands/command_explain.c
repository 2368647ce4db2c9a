/* assay explain: describes whatever tables and messages name, and stored cells */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/explain/explain.h"
#include "cli/options/lookup.h"
#include "plan/plan.h"
#include "report/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

static const char *const type_words[] = {[AS_AXIS_SIZE] = "size", [AS_AXIS_COUNT] = "count", [AS_AXIS_WORD] = "word"};

static void allocator_roles(const struct as_probe *p, const struct as_table_style *style, struct as_buf *out)
{
    const struct as_axis *a = p->axes;
    while (a->name && a->domain != AS_DOMAIN_ALLOCATOR)
        a++;
    if (!a->name)
        return;
    struct as_buf text = AS_BUF_INIT;
    as_buf_str(&text, "Roles of allocators, by API in 'assay list roles': ");
    for (int role = AS_ROLE_UNKNOWN + 1; role < AS_ROLES_N; role++)
        as_buf_printf(&text, "%s%s", role > AS_ROLE_UNKNOWN + 1 ? ", " : "", as_role_word((enum as_role)role));
    as_text_fill(out, as_buf_get(&text), style->width, 2, 0);
    as_buf_finish(&text);
}

/* Adds "op, store: every word", the axes to which that applies; the first entry gets the introduction. */
static void all_of(const struct as_probe *p, bool (*is)(const struct as_axis *a), const char *what, struct as_buf *out)
{
    const char *lead = out->len ? "; for " : "--set AXIS=all means for ";
    size_t n = 0;
    for (const struct as_axis *a = p->axes; a->name; a++) {
        if (!is(a))
            continue;
        as_buf_printf(out, "%s%s", n ? ", " : lead, a->name);
        n++;
    }
    if (n)
        as_buf_printf(out, ": %s", what);
}

static bool takes_doublings(const struct as_axis *a)
{
    return a->domain == AS_DOMAIN_THREADS || (a->type != AS_AXIS_WORD && a->domain == AS_DOMAIN_NONE && a->max);
}

static bool takes_cpus(const struct as_axis *a)
{
    return a->domain == AS_DOMAIN_CPU;
}

static bool takes_nodes(const struct as_axis *a)
{
    return a->domain == AS_DOMAIN_NODE;
}

static bool takes_words(const struct as_axis *a)
{
    return a->type == AS_AXIS_WORD && a->domain == AS_DOMAIN_NONE && !a->all;
}

static bool takes_allocators(const struct as_axis *a)
{
    return a->domain == AS_DOMAIN_ALLOCATOR;
}

/* What the value "all" of --set means, which is more than the largest value. */
static void explain_all(const struct as_probe *p, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    all_of(p, takes_doublings, "1, 2, 4 ... up to the largest, which alone is 'max'", &text);
    all_of(p, takes_cpus, "every CPU that assay may use", &text);
    all_of(p, takes_nodes, "every node of the host", &text);
    all_of(p, takes_words, "every value", &text);
    all_of(p, takes_allocators, "every allocator that can be used", &text);
    for (const struct as_axis *a = p->axes; a->name; a++)
        if (a->type == AS_AXIS_WORD && a->all)
            as_buf_printf(&text, "%s%s: %s", text.len ? "; for " : "--set AXIS=all means for ", a->name, a->all);
    if (text.len)
        as_text_fill(out, as_buf_get(&text), style->width, 2, 0);
    out->failed |= text.failed;
    as_buf_finish(&text);
}

static enum as_status probe_axes(const struct as_probe *p, bool all, const struct as_table_style *style,
                                 struct as_buf *out, struct as_error *err)
{
    static const char *const heads[] = {"axis", "kind", "values", "default", "what it is", NULL};
    struct as_buf range = AS_BUF_INIT;
    struct as_table t;
    as_table_init(&t, heads);
    for (const struct as_axis *a = p->axes; a->name; a++) {
        as_buf_clear(&range);
        as_explain_axis_range(p, a, all, &range);
        as_table_add(&t, a->name, AS_PAINT_STRONG);
        as_table_add(&t, type_words[a->type], AS_PAINT_NONE);
        as_table_add(&t, as_buf_get(&range), AS_PAINT_NONE);
        as_table_add(&t, a->def, AS_PAINT_NONE);
        as_table_add(&t, a->help, AS_PAINT_NONE);
    }
    as_text_title(out, "Axes", style);
    enum as_status st = as_table_write(&t, style, out, err);
    explain_all(p, style, out);
    allocator_roles(p, style, out);
    as_table_finish(&t);
    as_buf_finish(&range);
    return st;
}

static void explain_grids(const char *title, const char *const *list, const struct as_table_style *style,
                          struct as_buf *out)
{
    if (!list || !list[0])
        return;
    as_text_title(out, title, style);
    for (; *list; list++)
        as_buf_printf(out, "  %s\n", **list ? *list : "all axes at their defaults");
}

/* Results of a probe whose cells are answers, by word of an axis: "cut: rounding of aligned summands (answer)". */
static void answers_found(const struct as_probe *p, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    if (p->answers) {
        as_buf_str(&line, "Answers: ");
        for (size_t i = 0; p->answers[i]; i++)
            as_buf_printf(&line, "%s%s", i ? ", " : "", p->answers[i]);
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    } else
        as_text_fill(out, "Results by property:", style->width, 0, 0);
    for (const struct as_own_metric *own = p->own_metrics; own && own->axis; own++) {
        as_buf_clear(&line);
        as_buf_printf(&line, "%s: %s", own->word, own->metric.counts);
        if (strcmp(own->metric.unit, AS_UNIT_ANSWER) != 0)
            as_buf_printf(&line, " (%s)", own->metric.unit);
        as_buf_str(out, "  ");
        as_text_fill(out, as_buf_get(&line), style->width, 4, 2);
    }
    out->failed |= line.failed;
    as_buf_finish(&line);
}

static void numbers_given(const struct as_probe *p, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    const bool alike = strcmp(p->metric, p->unit) == 0;
    as_buf_printf(&line, "Gives %s%s%s; %s is better. Counts %s.", p->metric, alike ? "" : " in ", alike ? "" : p->unit,
                  p->lower_is_better ? "less" : "more", p->counts);
    for (const struct as_own_metric *own = p->own_metrics; own && own->axis; own++)
        as_buf_printf(&line, " With %s=%s: %s in %s; %s is better. Counts %s.", own->axis, own->word, own->metric.name,
                      own->metric.unit, own->metric.lower_is_better ? "less" : "more", own->metric.counts);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    out->failed |= line.failed;
    as_buf_finish(&line);
}

static enum as_status explain_probe(const struct as_probe *p, bool all, const struct as_table_style *style,
                                    struct as_buf *out, struct as_error *err)
{
    struct as_buf line = AS_BUF_INIT;
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_buf_printf(out, "%s: %s\n", p->name, p->title);
    as_paint_off(out, AS_PAINT_STRONG, style);
    as_text_fill(out, p->question, style->width, 0, 0);
    if (strcmp(p->unit, AS_UNIT_ANSWER) == 0)
        answers_found(p, style, out);
    else
        numbers_given(p, style, out);
    if (p->needs) {
        as_buf_clear(&line);
        as_buf_str(&line, "Needs of the device: ");
        as_capability_phrases(p->needs, ", ", &line);
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    }
    enum as_status st = probe_axes(p, all, style, out, err);
    explain_grids("Quick", p->quick, style, out);
    explain_grids("Full", p->full, style, out);
    as_text_title(out, "Method", style);
    for (size_t i = 0; as_probes[i]; i++)
        if (as_probes[i] == p)
            as_text_markdown(out, as_probe_texts[i], style->width);
    as_buf_finish(&line);
    return st;
}

/* A gate or a cause of width. */
struct check {
    const char *name, *help;
    int gate;       /* -1: none */
    unsigned cause; /* 0: none */
};

static bool find_check(const char *name, struct check *out)
{
    for (int g = 0; g < AS_GATE_N; g++)
        if (strcmp(as_gate_name((enum as_gate)g), name) == 0) {
            *out = (struct check){name, as_gate_help((enum as_gate)g), g, 0};
            return true;
        }
    for (unsigned i = 0; i < AS_WIDE_CAUSES; i++)
        if (strcmp(as_wide_word(1u << i), name) == 0) {
            *out = (struct check){name, as_cause_help(name), -1, 1u << i};
            return true;
        }
    return false;
}

/* The text for an affected cell; NULL: not affected. */
static const char *said_of(const struct check *check, const struct as_cell *c)
{
    if (check->gate >= 0)
        return c->gates[check->gate].state == AS_GATE_FAIL ? c->gates[check->gate].text : NULL;
    return c->causes & check->cause ? c->reason : NULL;
}

static enum as_status explain_check(const struct as_args *args, const struct check *check,
                                    const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_run run = {0};
    struct as_cell *cells = NULL;
    struct as_error why = {0};
    size_t n = 0, found = 0;
    struct as_buf line = AS_BUF_INIT;
    as_buf_printf(&line, "%s: %s", check->name, check->help);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    struct as_run_name taken;
    /* the explanation works without a store; the last run is optional */
    if (as_cli_store(args, AS_STORE_READ, &store, &why) || as_last_run(store, &taken, &why) ||
        as_store_run(store, taken.text, &run, &why))
        goto done;
    struct as_cell_filter filter = {.run_id = run.id};
    if (as_store_cells(store, &filter, &cells, &n, &why))
        goto done;
    for (size_t i = 0; i < n; i++)
        found += said_of(check, &cells[i]) != NULL;
    as_buf_printf(out, "\nIn the last run (%lld) it %s %zu of %zu measurements%s\n", (long long)run.id,
                  check->gate >= 0 ? "failed in" : "widened", found, n, found ? ":" : "");
    for (size_t i = 0; i < n; i++) {
        const char *text = said_of(check, &cells[i]);
        if (!text)
            continue;
        as_buf_clear(&line);
        as_buf_printf(&line, "cell %lld ", (long long)cells[i].id);
        as_explain_axes(&cells[i], &line);
        as_buf_str(&line, ": ");
        as_buf_terminal(&line, text);
        as_buf_str(out, "  ");
        as_text_fill(out, as_buf_get(&line), style->width, 4, 2);
    }
done:
    as_cells_free(cells, n);
    as_run_finish(&run);
    as_store_close(store);
    as_buf_finish(&line);
    return as_buf_check(out, err);
}

static enum as_status explain_stored(const struct as_args *args, const char *name, uint64_t id,
                                     const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_explained e = {0};
    if (id > INT64_MAX)
        return as_fail(err, AS_NOTFOUND,
                       "there is no cell %s; 'assay show RUN PROBE' lists measurements with their numbers", name);
    enum as_status st = as_cli_store(args, AS_STORE_READ, &store, err);
    if (!st)
        st = as_explain_load(store, (int64_t)id, &e, err);
    if (!st)
        st = as_explain_cell(&e, style, out, err);
    as_explain_finish(&e);
    as_store_close(store);
    return st;
}

/* "alu/ffma32" */
static enum as_status explain_word(const struct as_args *args, const char *text, const struct as_table_style *style,
                                   struct as_buf *out, struct as_error *err)
{
    char name[32];
    const char *slash = strchr(text, '/');
    size_t length = (size_t)(slash - text);
    as_copy_text(name, length < sizeof name ? length + 1 : sizeof name, text);
    const struct as_probe *probe = as_probe_find(name);
    if (!probe || probe->hidden || length >= sizeof name) /* "GB/s" */
        return as_explain_nearest(text, style, out) ? as_buf_check(out, err) : as_unknown_probe(name, err);
    const struct as_word *word = as_probe_word(probe, slash + 1);
    if (!word)
        return as_unknown_word(probe, slash + 1, err);
    struct as_store *store = NULL;
    struct as_error why = {0};
    if (as_cli_store(args, AS_STORE_READ, &store, &why))
        store = NULL;
    enum as_status st = as_explain_word(store, probe, word, style, out, err);
    as_store_close(store);
    return st;
}

static bool explain_fact(const struct as_args *args, const char *id, const struct as_table_style *style,
                         struct as_buf *out)
{
    struct as_store *store = NULL;
    struct as_error why = {0};
    if (!as_fact_ids_exist(id))
        return false;
    if (as_cli_store(args, AS_STORE_READ, &store, &why))
        store = NULL;
    const bool found = as_explain_fact(store, id, style, out);
    as_store_close(store);
    return found;
}

static enum as_status unknown(const char *name, const struct as_table_style *style, struct as_buf *out,
                              struct as_error *err)
{
    enum { NAMES_MAX = 4000 };
    static const char *names[NAMES_MAX + 1];
    size_t n = 0;
    for (const char *const *p = as_probe_names(); *p && n < NAMES_MAX / 2; p++)
        names[n++] = *p;
    for (int g = 0; g < AS_GATE_N; g++)
        names[n++] = as_gate_name((enum as_gate)g);
    for (unsigned i = 0; i < AS_WIDE_CAUSES; i++)
        names[n++] = as_wide_word(1u << i);
    for (size_t i = 0; as_suite_texts[i].name && n < NAMES_MAX; i++)
        names[n++] = as_suite_texts[i].name;
    n += as_explain_terms(names + n, NAMES_MAX - n);
    names[n] = NULL;
    const bool of_words = strchr(name, ' '); /* rather other words for a quantity than a typing error */
    const char *near = as_nearest(name, names);
    if ((of_words || !near) && as_explain_nearest(name, style, out))
        return as_buf_check(out, err);
    return as_fail(err, AS_USAGE,
                   "there is no probe, axis, gate, cause, suite, quantity, fact, word or measurement '%s'%s%s%s", name,
                   near                ? "; did you mean '"
                   : strchr(name, '.') ? "; 'assay facts --all' has the ids of facts"
                                       : "; see 'assay list probes' and 'assay list gates'",
                   near ? near : "", near ? "'?" : "");
}

static enum as_status explain_any(const struct as_args *args, const struct as_table_style *style, struct as_buf *out,
                                  struct as_error *err)
{
    bool suites, probes; /* candidates for a near match; gates and cells have no prefix */
    const char *name = as_suite_or_probe(as_args_word(args, as_args_word(args, 1) ? 1 : 0), &suites, &probes);
    const struct as_probe *probe = probes ? as_probe_find(name) : NULL;
    const bool either = suites && probes, all = as_args_flag(args, "all");
    uint64_t id = 0;
    if (probe && !probe->hidden)
        return explain_probe(probe, all, style, out, err);
    if (all)
        return as_fail(err, AS_USAGE, "'--all' is for probes, and '%s' is not one", name);
    struct check check;
    if (either && find_check(name, &check))
        return explain_check(args, &check, style, out, err);
    for (size_t i = 0; suites && as_suite_texts[i].name; i++)
        if (strcmp(as_suite_texts[i].name, name) == 0) {
            as_buf_str(out, as_suite_texts[i].text);
            return AS_OK;
        }
    if (probes && strchr(name, '/'))
        return explain_word(args, name, style, out, err);
    if (either && as_parse_u64(name, &id, NULL) == AS_OK)
        return explain_stored(args, name, id, style, out, err);
    if (either && (as_explain_term(name, style, out) || explain_fact(args, name, style, out) ||
                   as_explain_axis(name, style, out)))
        return as_buf_check(out, err);
    return unknown(as_args_word(args, as_args_word(args, 1) ? 1 : 0), style, out, err);
}

static int run_explain(const struct as_command *command, const struct as_args *args)
{
    struct as_table_style style;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    enum as_status st = as_cli_style(args, &style, &err);
    const char *kind = as_args_word(args, 0), *name = as_args_word(args, 1);
    if (name && strcmp(kind, "cell") != 0 && strcmp(kind, "probe") != 0 && strcmp(kind, "suite") != 0)
        st = as_fail(&err, AS_USAGE,
                     "'explain' does not take '%s' after '%s'; a name of several words goes in quotes: '%s %s'", name,
                     kind, kind, name);
    if (!st)
        st = explain_any(args, &style, &out, &err);
    if (!st)
        return as_cli_print_text(&out, AS_EXIT_OK);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

static const struct as_option options[] = {
    {"all", 0, NULL, "list every value of a probe's axes", false},
    AS_OPTION_COLOUR,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_explain = {
    .name = "explain",
    .args = "PROBE[/OP]|AXIS|GATE|CAUSE|SUITE|QUANTITY|FACT|WORD|[cell] CELL",
    .summary = "explain a probe, operation, axis, gate, suite, quantity, fact, word or measurement",
    .about =
        "A probe: its question, axes with ranges and defaults, what it counts, its method. One of its operations (see "
        "'assay list ops'): its types, its source in the kernels of each API and its CPU instructions, the "
        "expected machine instructions, the reference it is checked against, how its chains are built, and its numbers "
        "in "
        "the last run. An axis ('peer'): the probes that have it, with its values. A gate: when it passes, and which "
        "measurements of the last run failed it. A cause of width (see "
        "'assay "
        "list "
        "gates'): what makes intervals wider than requested, and which measurements of the last run it widened. A "
        "suite: its "
        "text; where a probe has the same name, write 'suite:link'. A quantity of the data sheet, by name, level, "
        "group or "
        "label ('L2', 'core to core'): what gives it. A fact by its id: what the last run says. A word of tables and "
        "messages: 'imprecise', 'sentinel'. A measurement "
        "(its "
        "number is in 'assay show'): "
        "axes, numbers, distribution, gates, trials, provenance, and how to measure it again.",
    .example = "assay explain latency\nassay explain mix --all\nassay explain alu/ffma32\nassay explain drift\nassay "
               "explain 'L2 latency'\nassay explain sentinel\nassay explain cell 117",
    .options = options,
    .min_args = 1,
    .max_args = 2,
    .run = run_explain,
};
