/* assay list, devices: lists what is available */
#include "cli/list/list.h"

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output/ndjson.h"
#include "run/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cells of a row: the first strong, the others plain. Ends with NULL. */
static void list_row(struct as_table *t, const char *first, ...) __attribute__((sentinel));
static void list_row(struct as_table *t, const char *first, ...)
{
    va_list more;
    as_table_add(t, first, AS_PAINT_STRONG);
    va_start(more, first);
    for (const char *text; (text = va_arg(more, const char *)) != NULL;)
        as_table_add(t, text, AS_PAINT_NONE);
    va_end(more);
}

/* Members of an object: name, text, ... and NULL. */
static void list_members(struct as_buf *line, ...) __attribute__((sentinel));
static void list_members(struct as_buf *line, ...)
{
    va_list pairs;
    va_start(pairs, line);
    for (const char *name; (name = va_arg(pairs, const char *)) != NULL;)
        as_json_add_text(line, name, va_arg(pairs, const char *));
    va_end(pairs);
}

/* The end of a list: its table, where it is not JSON. */
static enum as_status list_write(const struct as_listing *l, enum as_status st, struct as_table *t,
                                 struct as_error *err)
{
    if (!st && !l->json)
        st = as_table_write(t, l->style, l->out, err);
    as_table_finish(t);
    return st;
}

void as_list_json_line(struct as_buf *line, struct as_buf *out)
{
    as_buf_str(line, "}\n");
    as_buf_str(out, as_buf_get(line));
    out->failed |= line->failed;
    as_buf_clear(line);
    as_buf_char(line, '{');
}

static void add_units(struct as_table *t, const struct as_probe *p)
{
    struct as_buf units = AS_BUF_INIT;
    const bool answers = strcmp(p->unit, AS_UNIT_ANSWER) == 0 && !p->answers; /* units differ by property */
    as_buf_str(&units, answers ? "per property" : p->unit);
    for (const struct as_own_metric *own = p->own_metrics; own && own->axis && !answers; own++)
        as_buf_printf(&units, ", %s", own->metric.unit);
    as_table_add(t, as_buf_get(&units), AS_PAINT_NONE);
    as_buf_finish(&units);
}

static enum as_status list_probes(const struct as_listing *l, struct as_error *err)
{
    static const char *const heads[] = {"probe", "unit", "question", "axes", NULL};
    struct as_buf b = AS_BUF_INIT, line = AS_BUF_INIT;
    struct as_table t;
    as_table_init(&t, heads);
    as_buf_char(&line, '{');
    for (size_t i = 0; as_probes[i]; i++) {
        const struct as_probe *p = as_probes[i];
        if (p->hidden)
            continue;
        as_buf_clear(&b);
        for (const struct as_axis *a = p->axes; a->name; a++)
            as_buf_printf(&b, "%s%s", a == p->axes ? "" : " ", a->name);
        if (!l->json) {
            as_table_add(&t, p->name, AS_PAINT_STRONG);
            add_units(&t, p);
            as_table_add(&t, p->question, AS_PAINT_NONE);
            as_table_add(&t, as_buf_get(&b), AS_PAINT_DIM);
            continue;
        }
        list_members(&line, "probe", p->name, "title", p->title, "question", p->question, "metric", p->metric, "unit",
                     p->unit, "counts", p->counts, "axes", as_buf_get(&b), NULL);
        as_list_json_line(&line, l->out);
    }
    as_buf_finish(&line);
    as_buf_finish(&b);
    return list_write(l, AS_OK, &t, err);
}

/* Under the same precision, where it differs from the suite's. */
static bool is_listed_before(const struct as_suite *s, size_t at, bool differs)
{
    for (size_t i = 0; i < at; i++)
        if (s->grids[i].probe == s->grids[at].probe && (!differs || s->grids[i].precision == s->grids[at].precision))
            return true;
    return false;
}

/* "latency alloc (20%)": probes in order, with the precision of those that have their own. */
static void suite_probes(const struct as_suite *s, bool with_precision, struct as_buf *out)
{
    for (size_t g = 0; g < s->grids_n; g++) {
        const struct as_grid *grid = &s->grids[g];
        const bool differs = with_precision && grid->precision > 0;
        if (is_listed_before(s, g, differs))
            continue;
        as_buf_printf(out, "%s%s", g ? " " : "", grid->probe->name);
        if (differs)
            as_buf_printf(out, " (%.3g%%)", 100 * grid->precision);
    }
}

static void add_suite(const struct as_listing *l, struct as_table *t, const struct as_suite *s)
{
    struct as_buf probes = AS_BUF_INIT, text = AS_BUF_INIT;
    suite_probes(s, !l->json, &probes);
    if (l->json) {
        as_buf_char(&text, '{');
        as_json_add_text(&text, "suite", s->name);
        as_json_add_text(&text, "title", s->title);
        as_json_add_number(&text, "budget_s", s->budget_s);
        as_json_add_number(&text, "budget_per_device_s", s->device_budget_s);
        as_json_add_number(&text, "precision", s->precision);
        as_json_add_int(&text, "trials", s->trials);
        as_json_add_text(&text, "probes", as_buf_get(&probes));
        as_list_json_line(&text, l->out);
    } else {
        if (s->budget_s > 0)
            as_format_duration(&text, s->budget_s);
        if (s->device_budget_s > 0) {
            as_buf_str(&text, text.len ? " + " : "");
            as_format_duration(&text, s->device_budget_s);
            as_buf_str(&text, " per device");
        }
        as_table_add(t, s->name, AS_PAINT_STRONG);
        as_table_add(t, text.len ? as_buf_get(&text) : "none", AS_PAINT_NONE);
        as_table_addf(t, AS_PAINT_NONE, "%.3g%%", 100 * s->precision);
        as_table_addf(t, AS_PAINT_NONE, "%d", s->trials);
        as_table_add(t, as_buf_get(&probes), AS_PAINT_NONE);
        as_table_add(t, s->title, AS_PAINT_NONE);
    }
    as_buf_finish(&probes);
    as_buf_finish(&text);
}

static enum as_status list_suites(const struct as_listing *l, struct as_error *err)
{
    static const char *const heads[] = {"suite", ">budget", ">precision", ">trials", "probes", "title", NULL};
    struct as_table t;
    enum as_status st = AS_OK;
    as_table_init(&t, heads);
    for (size_t i = 0; as_suite_texts[i].name && !st; i++) {
        struct as_suite s;
        st = as_suite_find(as_suite_texts[i].name, &s, err);
        if (!st) {
            add_suite(l, &t, &s);
            as_suite_finish(&s);
        }
    }
    return list_write(l, st, &t, err);
}

static void add_run(const struct as_listing *l, struct as_table *t, const struct as_run *r)
{
    struct as_buf line = AS_BUF_INIT;
    char started[32];
    as_format_wall(r->started_at, started, sizeof started);
    if (l->json) {
        as_buf_char(&line, '{');
        as_ndjson_run(&line, r);
        as_json_add_int(&line, "cells", r->cells);
        as_json_add_int(&line, "cells_ok", r->cells_ok);
        as_list_json_line(&line, l->out);
    } else {
        char id[24];
        snprintf(id, sizeof id, "%lld", (long long)r->id);
        list_row(t, id, started, r->suite, r->host, NULL);
        as_table_add(t, as_run_state_word(r->state), r->state == AS_RUN_COMPLETE ? AS_PAINT_NONE : AS_PAINT_BAD);
        as_table_addf(t, AS_PAINT_NONE, "%d", r->cells);
        as_table_addf(t, AS_PAINT_NONE, "%d", r->cells_ok);
    }
    as_buf_finish(&line);
}

static enum as_status list_runs(const struct as_listing *l, struct as_error *err)
{
    static const char *const heads[] = {">run", "started", "what", "host", "state", ">measurements", ">valid", NULL};
    struct as_store *store = NULL;
    struct as_run *runs = NULL;
    struct as_table t;
    size_t n = 0;
    enum as_status st = as_cli_store(l->args, AS_STORE_READ, &store, err);
    if (!st)
        st = as_store_runs(store, &runs, &n, err);
    as_table_init(&t, heads);
    for (size_t i = 0; i < n && !st; i++) {
        as_store_settle_state(store, &runs[i]);
        add_run(l, &t, &runs[i]);
    }
    if (!st && !l->json && n == 0) {
        as_buf_str(l->out, "no runs in ");
        as_buf_terminal(l->out, as_store_path(store));
        as_buf_char(l->out, '\n');
    } else if (!st && !l->json) {
        st = as_table_write(&t, l->style, l->out, err);
    }
    as_table_finish(&t);
    as_runs_free(runs, n);
    as_store_close(store);
    return st;
}

/* One line of JSON, or a row of the table t. */
static void add_check(const struct as_listing *l, struct as_table *t, const char *kind, const char *name,
                      const char *help)
{
    if (!l->json) {
        list_row(t, name, help, NULL);
        return;
    }
    struct as_buf line = AS_BUF_INIT;
    as_buf_char(&line, '{');
    list_members(&line, kind, name, "help", help, NULL);
    as_list_json_line(&line, l->out);
    as_buf_finish(&line);
}

/* Gates decide whether a number is valid; causes explain why its interval is wide. */
static enum as_status list_gates(const struct as_listing *l, struct as_error *err)
{
    static const char *const gate_heads[] = {"gate", "rule", NULL}, *const cause_heads[] = {"cause", "meaning", NULL};
    struct as_table gates, causes;
    as_table_init(&gates, gate_heads);
    as_table_init(&causes, cause_heads);
    for (int g = 0; g < AS_GATE_N; g++)
        add_check(l, &gates, "gate", as_gate_name((enum as_gate)g), as_gate_help((enum as_gate)g));
    for (unsigned i = 0; i < AS_WIDE_CAUSES; i++)
        add_check(l, &causes, "cause", as_wide_word(1u << i), as_cause_help(as_wide_word(1u << i)));
    const enum as_status st = list_write(l, AS_OK, &gates, err);
    if (!st && !l->json)
        as_text_title(l->out, "Why an interval is wider than requested", l->style);
    return list_write(l, st, &causes, err);
}

static void add_op(const struct as_listing *l, struct as_table *t, const struct as_word *w)
{
    if (!l->json) {
        list_row(t, w->name, w->kind, w->type, w->title, NULL);
        as_table_add(t, w->dialects, AS_PAINT_DIM);
        return;
    }
    struct as_buf line = AS_BUF_INIT;
    as_buf_char(&line, '{');
    list_members(&line, "op", w->name, "kind", w->kind, "type", w->type, "title", w->title, "dialects", w->dialects,
                 NULL);
    for (const char *const *more = w->more; more && more[0]; more += 2) {
        char name[32];
        as_copy_text(name, sizeof name, more[0]);
        for (char *c = name; *c; c++)
            *c = *c == ' ' ? '_' : *c;
        as_json_add_text(&line, name, more[1]);
    }
    as_list_json_line(&line, l->out);
    as_buf_finish(&line);
}

/* Probes of operations share one table. */
static enum as_status list_ops(const struct as_listing *l, struct as_error *err)
{
    static const char *const heads[] = {"op", "kind", "type", "what it is", "in kernels and CPUs of", NULL};
    const struct as_word *last = NULL;
    struct as_table t;
    as_table_init(&t, heads);
    for (size_t i = 0; as_probes[i]; i++) {
        if (!as_probes[i]->about || as_probes[i]->about == last)
            continue;
        last = as_probes[i]->about;
        for (const struct as_word *w = last; w->name; w++)
            add_op(l, &t, w);
    }
    return list_write(l, AS_OK, &t, err);
}

static void json_device(const struct as_found_device *d, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT, info = AS_BUF_INIT;
    as_buf_char(&line, '{');
    as_json_add_text(&line, "id", d->info.id);
    as_json_add_text(&line, "backend", d->info.backend);
    as_json_add_bool(&line, "usable", d->why[0] == 0);
    as_json_add_text(&line, "reason", d->why);
    if (!d->why[0]) {
        as_info_to_json(&d->info, &info);
        as_json_add_name(&line, "info");
        as_buf_str(&line, as_buf_get(&info));
    }
    as_list_json_line(&line, out);
    as_buf_finish(&info);
    as_buf_finish(&line);
}

static void list_add_device(struct as_table *t, const struct as_found_device *d)
{
    struct as_buf b = AS_BUF_INIT;
    char units[16];
    snprintf(units, sizeof units, "%u", d->info.compute_units);
    as_format_size(&b, d->info.memory_bytes);
    list_row(t, d->info.id, as_info_title(&d->info), units, as_buf_get(&b), d->info.bus_id[0] ? d->info.bus_id : "-",
             d->info.sensor[0] ? d->info.sensor : "none", NULL);
    as_table_add(t, d->info.driver, AS_PAINT_DIM);
    as_buf_finish(&b);
}

/* "hip:0: Infinity Cache of 256 MiB in front of memory, known from the KFD topology" */
static void say_memory_side(const struct as_listing *l, const struct as_device_info *info, struct as_buf *line)
{
    const struct as_cache *c = as_info_memory_side(info);
    char label[24];
    if (!c)
        return;
    as_cache_label(c, label);
    as_buf_clear(line);
    as_buf_terminal(line, info->id);
    as_buf_str(line, ": ");
    as_buf_terminal(line, label);
    as_buf_str(line, " of ");
    as_format_size(line, c->size);
    as_buf_str(line, " in front of memory, known from ");
    as_buf_terminal(line, as_cache_source_text(c));
    as_text_fill(l->out, as_buf_get(line), l->style->width, 2, 0);
}

/* Access to the memory of the backend's other devices. */
static void say_peers(const struct as_listing *l, const struct as_device_info *info, struct as_buf *line)
{
    struct as_buf peers = AS_BUF_INIT;
    if (!info->peers_n)
        return;
    as_info_peers(info, &peers);
    as_buf_clear(line);
    as_buf_terminal(line, info->id);
    as_buf_str(line, ": memory of ");
    as_buf_terminal(line, as_buf_get(&peers));
    as_text_fill(l->out, as_buf_get(line), l->style->width, 2, 0);
    as_buf_finish(&peers);
}

static enum as_status list_devices(const struct as_listing *l, struct as_error *err)
{
    static const char *const heads[] = {"device", "name", ">units", ">memory", "bus", "sensor", "driver", NULL};
    struct as_found_device *found = NULL;
    struct as_buf line = AS_BUF_INIT;
    struct as_table t;
    size_t n = 0;
    enum as_status st = as_find_devices(NULL, NULL, &found, &n, err);
    as_table_init(&t, heads);
    for (size_t i = 0; i < n && !st; i++) {
        if (l->json)
            json_device(&found[i], l->out);
        else if (!found[i].why[0])
            list_add_device(&t, &found[i]);
    }
    if (!st && !l->json && (t.status || t.n > t.columns))
        st = as_table_write(&t, l->style, l->out, err);
    for (size_t i = 0; i < n && !st && !l->json; i++) {
        const struct as_device_info *info = &found[i].info;
        bool usable = !found[i].why[0];
        if (usable) {
            say_memory_side(l, info, &line);
            say_peers(l, info, &line);
        }
        if (usable && !info->sensor_why[0])
            continue;
        as_buf_clear(&line);
        as_buf_terminal(&line, info->id);
        as_buf_str(&line, !usable           ? ": not usable: "
                          : info->sensor[0] ? ": not reported by its sensor: "
                                            : ": no sensor: ");
        as_buf_terminal(&line, usable ? info->sensor_why : found[i].why);
        as_text_fill(l->out, as_buf_get(&line), l->style->width, 2, 0);
    }
    as_table_finish(&t);
    as_buf_finish(&line);
    as_found_devices_free(found, n);
    return st;
}

static const struct {
    const char *name;
    enum as_status (*list)(const struct as_listing *l, struct as_error *err);
    const char *about;
} lists[] = {
    {"probes", list_probes, "what can be measured"},
    {"suites", list_suites, "probes that are measured together"},
    {"runs", list_runs, "what is in the store"},
    {"devices", list_devices, "devices of this machine"},
    {"gates", list_gates, "checks of a number, and causes of wide intervals"},
    {"refs", as_list_refs, "published figures"},
    {"ops", list_ops, "operations of the probes alu and alu_latency"},
    {"roles", as_list_roles, "what allocators are for"},
};

/* What can be listed. */
static int list_lists(void)
{
    struct as_buf out = AS_BUF_INIT;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        as_buf_printf(&out, "assay list %-8s %s\n", lists[i].name, lists[i].about);
    return as_cli_print_text(&out, AS_EXIT_OK);
}

static int run_listing(const struct as_command *command, const struct as_args *args, const char *what)
{
    static const char *const names[] = {"probes", "suites", "runs", "devices", "gates", "refs", "ops", "roles", NULL};
    struct as_table_style style;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    struct as_listing l = {args, &style, as_args_flag(args, "json"), &out};
    size_t i = 0;
    while (i < sizeof lists / sizeof *lists && strcmp(lists[i].name, what) != 0)
        i++;
    enum as_status st = as_cli_style(args, &style, &err);
    if (!st && i == sizeof lists / sizeof *lists) {
        const char *near = as_nearest(what, names);
        st =
            as_fail(&err, AS_USAGE, "there is no list of '%s'%s%s%s", what,
                    near ? "; did you mean '" : "; there are probes, suites, runs, devices, gates, refs, ops and roles",
                    near ? near : "", near ? "'?" : "");
    }
    if (!st && as_args_word(args, 1) && lists[i].list != as_list_refs)
        st = as_fail(&err, AS_USAGE, "'list %s' does not take '%s'; only 'list refs' takes a name", what,
                     as_args_word(args, 1));
    if (!st)
        st = lists[i].list(&l, &err);
    if (!st)
        return as_cli_print_text(&out, AS_EXIT_OK);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

static int run_list(const struct as_command *command, const struct as_args *args)
{
    if (!as_args_word(args, 0) && !as_args_flag(args, "json"))
        return list_lists();
    return run_listing(command, args, as_args_word(args, 0) ? as_args_word(args, 0) : "");
}

static int run_devices(const struct as_command *command, const struct as_args *args)
{
    return run_listing(command, args, "devices");
}

static const struct as_option list_options[] = {
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_list = {
    .name = "list",
    .args = "[probes|suites|runs|devices|gates|refs|ops|roles [NAME]]",
    .summary = "list probes, suites, runs, devices, gates, refs, ops or roles",
    .about =
        "Lists the probes and suites of this build, the runs of the store, or the devices of this machine. Gates are "
        "the checks that a number must pass to be valid; the list also has the causes of width, which explain why an "
        "interval is wider than requested. Refs are published figures, shown beside the measured numbers: those of "
        "gpus and cpus in the data sheet of a device of that name, others on request (--refs); with NAME, one of them, "
        "a "
        "chip or a CSV file, its figures are listed. Ops are "
        "the operations of the probes alu and alu_latency; 'assay explain alu/OP' describes one. Roles say what "
        "allocators are for, with each API's own names; an axis of allocators takes either.",
    .example =
        "assay list runs\nassay list probes --json\nassay list refs metal_benchmarks\nassay list ops\nassay list roles",
    .options = list_options,
    .max_args = 2,
    .run = run_list,
};

static const struct as_option devices_options[] = {
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_END,
};
const struct as_command as_command_devices = {
    .name = "devices",
    .args = "",
    .summary = "list the devices of this machine, and why others are not usable",
    .about = "The names are what 'assay run --device' takes: cpu, opencl:0, ... in the order of the PCI bus.",
    .example = "assay devices",
    .options = devices_options,
    .run = run_devices,
};
