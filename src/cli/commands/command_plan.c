/* assay plan, run --dry-run: what a run would measure */
#include "base/json.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/run_request.h"
#include "probe/probe.h"
#include "report/terminal/terminal.h"
#include "run/deadline.h"

#include <stdlib.h>
#include <string.h>

/* Cells of one probe on one device. */
struct share {
    const struct as_cell *first;
    size_t cells, unsupported;
    const char *why; /* the first unsupported one is */
};
struct shares {
    struct share *v; /* owned */
    size_t n, cap;
};

static bool is_of_share(const struct share *s, const struct as_cell *c)
{
    return strcmp(s->first->probe, c->probe) == 0 && strcmp(s->first->device, c->device) == 0;
}

static enum as_status plan_shares(const struct as_plan *plan, struct shares *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0, k; i < plan->n && !st; i++) {
        const struct as_cell *c = &plan->cells[i];
        for (k = 0; k < out->n && !is_of_share(&out->v[k], c); k++)
            ;
        if (k == out->n && !(st = as_grow((void **)&out->v, &out->cap, out->n + 1, sizeof *out->v, err)))
            out->v[out->n++] = (struct share){.first = c, .why = ""};
        if (st)
            continue;
        struct share *s = &out->v[k];
        const bool supported = c->status == AS_CELL_PLANNED;
        s->why = !supported && s->unsupported == 0 ? c->reason : s->why;
        s->cells += supported;
        s->unsupported += !supported;
    }
    return st;
}

/* How many values of an axis the cells have, at most AXIS_MAX. */
enum { AXIS_MAX = 256 };
static size_t plan_values(const struct as_plan *plan, const struct share *s, const char *axis)
{
    const char *seen[AXIS_MAX];
    size_t n = 0, k;
    for (size_t i = 0; i < plan->n && n < AXIS_MAX; i++) {
        const struct as_cell *c = &plan->cells[i];
        if (c->status != AS_CELL_PLANNED || !is_of_share(s, c))
            continue;
        const char *value = as_axes_text(&c->axes, axis);
        for (k = 0; k < n && strcmp(seen[k], value) != 0; k++)
            ;
        if (k == n)
            seen[n++] = value;
    }
    return n;
}

/* "18 of size, 2 of allocator": the axes that vary, with how many values each has. */
static void plan_axes(const struct as_plan *plan, const struct share *s, struct as_buf *out)
{
    const struct as_probe *probe = as_probe_find(s->first->probe);
    const char *lead = "";
    for (const struct as_axis *a = probe ? probe->axes : NULL; a && a->name; a++) {
        const size_t n = plan_values(plan, s, a->name);
        if (n < 2)
            continue;
        as_buf_printf(out, "%s%zu%s of %s", lead, n, n == AXIS_MAX ? " or more" : "", a->name);
        lead = ", ";
    }
    const size_t states = plan_values(plan, s, AS_STATE_AXIS);
    if (states > 1)
        as_buf_printf(out, "%s%zu of " AS_STATE_AXIS, lead, states);
}

static size_t plan_count(const struct as_dry_run *d, bool supported)
{
    size_t n = 0;
    for (size_t i = 0; i < d->plan.n; i++)
        n += (d->plan.cells[i].status == AS_CELL_PLANNED) == supported;
    return n;
}

static enum as_status plan_table(const struct as_dry_run *d, const struct as_table_style *style, struct as_buf *out,
                                 struct as_error *err)
{
    static const char *const heads[] = {"device", "probe", ">measurements", "axes that vary", ">unsupported",
                                        "?why",   NULL};
    static const char *const all_supported[] = {"device", "probe", ">measurements", "axes that vary", NULL};
    const bool all = plan_count(d, false) == 0;
    struct shares shares = {0};
    struct as_buf axes = AS_BUF_INIT;
    struct as_table t;
    as_table_init(&t, all ? all_supported : heads);
    enum as_status st = plan_shares(&d->plan, &shares, err);
    for (size_t i = 0; i < shares.n && !st; i++) {
        const struct share *s = &shares.v[i];
        as_buf_clear(&axes);
        plan_axes(&d->plan, s, &axes);
        as_table_add(&t, s->first->device, AS_PAINT_NONE);
        as_table_add(&t, s->first->probe, AS_PAINT_STRONG);
        as_table_addf(&t, AS_PAINT_NONE, "%zu", s->cells);
        as_table_add(&t, as_buf_get(&axes), AS_PAINT_NONE);
        if (all)
            continue;
        if (s->unsupported)
            as_table_addf(&t, AS_PAINT_NONE, "%zu", s->unsupported);
        else
            as_table_add(&t, "", AS_PAINT_NONE);
        as_table_add(&t, s->why, AS_PAINT_DIM);
    }
    if (!st)
        st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    as_buf_finish(&axes);
    free(shares.v);
    return st;
}

/* How many cells the budget can hold at best. */
static size_t plan_fits(const struct as_dry_run *d)
{
    return as_deadline_fits(d->budget_s, plan_count(d, true));
}

static void plan_head(const struct as_dry_run *d, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    const size_t cells = plan_count(d, true), unsupported = plan_count(d, false);
    as_buf_printf(&line, "%s: %zu measurement%s on %zu device%s", d->suite, cells, cells == 1 ? "" : "s", d->devices_n,
                  d->devices_n == 1 ? "" : "s");
    if (unsupported)
        as_buf_printf(&line, ", %zu unsupported", unsupported);
    as_text_line(out, "", as_buf_get(&line), 0, 0, style);
    for (size_t i = 0; i < d->devices_n; i++) {
        as_buf_clear(&line);
        as_buf_printf(&line, "%s: ", d->devices[i].id);
        as_text_line(out, as_buf_get(&line), as_info_title(&d->devices[i]), 2, 0, style);
    }
    as_buf_clear(&line);
    as_buf_str(&line, d->budget_s > 0 ? "Time: at most " : "Time: about ");
    as_format_duration(&line, d->estimated_s);
    as_buf_printf(&line, "; %d trial%s per measurement, more until its precision (%.3g%%) is reached%s", d->trials,
                  d->trials == 1 ? "" : "s", 100 * d->precision,
                  d->budget_s > 0 ? ", as far as the budget allows" : "; no budget");
    as_text_line(out, "", as_buf_get(&line), 0, 0, style);
    as_buf_clear(&line);
    as_plan_say_fitted(&d->plan, &line);
    if (line.len)
        as_text_line(out, "", as_buf_get(&line), 0, 0, style);
    as_buf_clear(&line);
    if (plan_fits(d) < cells) {
        as_buf_printf(&line, "At most %zu of %zu measurements fit the budget; the others are left out", plan_fits(d),
                      cells);
        as_text_line(out, "", as_buf_get(&line), 0, 0, style);
    }
    as_buf_char(out, '\n');
    as_buf_finish(&line);
}

static void plan_json_devices(const struct as_dry_run *d, struct as_buf *out)
{
    as_json_add_name(out, "devices");
    for (size_t i = 0; i < d->devices_n; i++) {
        as_buf_str(out, i ? ",{" : "[{");
        as_json_add_text(out, "id", d->devices[i].id);
        as_json_add_text(out, "name", as_info_title(&d->devices[i]));
        as_buf_char(out, '}');
    }
    as_buf_str(out, d->devices_n ? "]" : "[]");
}

static void plan_json(const struct as_dry_run *d, struct as_buf *out)
{
    as_buf_char(out, '{');
    as_json_add_text(out, "event", "plan");
    as_json_add_text(out, "suite", d->suite);
    plan_json_devices(d, out);
    as_json_add_int(out, "cells", (long long)plan_count(d, true));
    as_json_add_int(out, "unsupported", (long long)plan_count(d, false));
    as_json_add_int(out, "fit_at_most", (long long)plan_fits(d));
    as_json_add_int(out, "trials", d->trials);
    as_json_add_number(out, "precision", d->precision);
    as_json_add_number(out, "budget_s", d->budget_s);
    as_json_add_number(out, "estimated_s", d->estimated_s);
    as_json_add_text(out, "left_out", as_buf_get(&d->left_out));
    as_buf_str(out, "}\n");
    for (size_t i = 0; i < d->plan.n; i++) {
        const struct as_cell *c = &d->plan.cells[i];
        as_buf_char(out, '{');
        as_json_add_text(out, "event", "cell");
        as_json_add_text(out, "device", c->device);
        as_json_add_text(out, "probe", c->probe);
        as_json_add_name(out, "axes");
        as_axes_to_json(&c->axes, out);
        as_json_add_text(out, "status", as_cell_status_word(c->status));
        as_json_add_text(out, "reason", c->reason);
        as_json_add_text(out, "unit", c->unit);
        as_json_add_number(out, "precision", c->precision);
        as_buf_str(out, "}\n");
    }
}

static int run_plan(const struct as_command *command, const struct as_args *args)
{
    struct as_run_request request = {0};
    struct as_dry_run dry = {0};
    struct as_table_style style;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    const bool json = as_args_flag(args, "json");
    enum as_status st = as_run_request_read(args, &request, &err);
    if (!st)
        st = as_cli_style(args, &style, &err);
    if (!st)
        st = as_run_plan(&request.options, &dry, &err);
    if (!st && json)
        plan_json(&dry, &out);
    else if (!st) {
        plan_head(&dry, &style, &out);
        st = plan_table(&dry, &style, &out, &err);
    }
    if (!st && !json && dry.left_out.len)
        as_cli_note("%s; --device all measures all", as_buf_get(&dry.left_out));
    as_dry_run_finish(&dry);
    as_run_request_finish(&request);
    if (!st)
        return as_cli_print_text(&out, AS_EXIT_OK);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

static const struct as_option plan_options[] = {
    AS_OPTIONS_PLAN,
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_END,
};
const struct as_command as_command_plan = {
    .name = "plan",
    .args = "[SUITE|PROBE]...",
    .summary = "show what a run would measure",
    .about =
        "Prints devices, probes, measurements and the time that 'assay run' with the same arguments would take. "
        "Devices are "
        "opened to be asked what they are; nothing is measured and no store is written. With a budget a run takes at "
        "most "
        "that; without one the time is that of all trials, without their preparation.\n\n"
        "With --json, the first line is the plan and each further line a measurement.",
    .example = "assay plan quick\nassay plan latency --device cpu --set 'size=1KiB..1GiB x4' --json",
    .options = plan_options,
    .max_args = -1,
    .run = run_plan,
};
