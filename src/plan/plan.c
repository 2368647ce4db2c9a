/* Turns grids of axis expressions into planned cells. */
#include "plan/plan.h"

#include "base/text.h"
#include "model/metrics.h"
#include "probe/main_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 100000 };

/* Maps (probe, axes) to cells of the plan, so that grids may overlap. */
struct key_slot {
    uint64_t key; /* 0: free */
    size_t cell;
};
struct key_set {
    struct key_slot *slot;
    size_t cap, n;
};

/* *cell: the new cell's index or, if the key is known, the existing one's. */
static enum as_status key_set_add(struct key_set *set, uint64_t key, size_t *cell, int *added, struct as_error *err)
{
    if (key == 0)
        key = 1;
    if (2 * (set->n + 1) > set->cap) {
        size_t cap = set->cap ? 2 * set->cap : 1024;
        struct key_slot *slot = calloc(cap, sizeof *slot);
        if (!slot)
            return as_nomem(err, cap * sizeof *slot, "the plan");
        for (size_t i = 0; i < set->cap; i++)
            for (size_t j = set->slot[i].key % cap; set->slot[i].key; j = (j + 1) % cap)
                if (slot[j].key == 0) {
                    slot[j] = set->slot[i];
                    break;
                }
        free(set->slot);
        set->slot = slot;
        set->cap = cap;
    }
    size_t j = key % set->cap;
    while (set->slot[j].key && set->slot[j].key != key)
        j = (j + 1) % set->cap;
    *added = set->slot[j].key == 0;
    if (*added) {
        set->slot[j] = (struct key_slot){key, *cell};
        set->n++;
    }
    *cell = set->slot[j].cell;
    return AS_OK;
}

struct planner {
    struct as_plan *plan;
    bool has_pruned, has_foreign; /* of this device, with a reason */
    size_t cap;
    const struct as_device_info *info;
    double precision;    /* of the grid's cells */
    bool size_is_chosen; /* the grid leaves the size of memory's working set to the device: symbol DRAM */
    bool fit;            /* as_grid.fit */
    bool is_fallback;    /* only cells with an allocator of only_in_state */
    bool only_in_state[AS_ALLOCATORS_MAX];
    struct key_set seen;
    struct as_error *err;
};

static void cell_init(struct as_cell *c, const struct planner *p, const struct as_probe *probe,
                      const struct as_axes *axes)
{
    const struct as_metric metric = as_probe_metric(probe, axes);
    *c = (struct as_cell){.limit = NAN,
                          .clock_hz = NAN,
                          .lower_is_better = metric.lower_is_better,
                          .axes = *axes,
                          .precision = p->precision};
    as_copy_text(c->backend, sizeof c->backend, p->info->backend);
    as_copy_text(c->device, sizeof c->device, p->info->id);
    as_copy_text(c->probe, sizeof c->probe, probe->name);
    as_copy_text(c->metric, sizeof c->metric, metric.name);
    as_copy_text(c->unit, sizeof c->unit, metric.unit);
    as_copy_text(c->counts, sizeof c->counts, metric.counts);
    c->key = as_cell_key(c->probe, c->metric, &c->axes);
    c->sum.median = c->sum.mad = c->sum.min = c->sum.max = NAN;
    c->sum.ci.lo = c->sum.ci.hi = NAN;
}

/* Appends the cell; if it is already planned, keeps the tighter precision. */
static enum as_status plan_keep_cell(struct planner *p, const struct as_cell *c, const char *const *answers)
{
    struct as_plan *plan = p->plan;
    size_t at = plan->n;
    int added;
    enum as_status st = key_set_add(&p->seen, c->key, &at, &added, p->err);
    if (!st && !added)
        plan->cells[at].precision = fmin(plan->cells[at].precision, c->precision);
    if (st || !added)
        return st;
    if (plan->n >= CELLS_MAX)
        return as_fail(p->err, AS_USAGE, "the plan has more than %d measurements; give fewer values with --set",
                       CELLS_MAX);
    if ((st = as_grow((void **)&plan->cells, &p->cap, plan->n + 1, sizeof *c, p->err)))
        return st;
    plan->cells[at] = *c;
    plan->cells[at].index = (int)at;
    plan->n++;
    return as_cell_set_answers(&plan->cells[at], answers, p->err);
}

static void append_why(const struct planner *p, const struct as_probe *probe, const char *why, char *text, size_t size)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s on %s: %s", length ? "; " : "", probe->name, p->info->id, why);
}

static void note_pruned(struct planner *p, const struct as_probe *probe, const char *why)
{
    if (!p->has_pruned && why[0])
        append_why(p, probe, why, p->plan->pruned, sizeof p->plan->pruned);
    p->has_pruned |= why[0] != 0;
}

/* Which allocators of the device no cell without a state measures. */
static void find_only_in_state(struct planner *p)
{
    const struct as_device_info *info = p->info;
    for (size_t k = 0; k < info->allocators_n; k++)
        p->only_in_state[k] = true;
    for (size_t i = 0; i < p->plan->n; i++) {
        const struct as_cell *c = &p->plan->cells[i];
        if (c->status != AS_CELL_PLANNED || strcmp(c->device, info->id) != 0 || as_axes_get(&c->axes, AS_STATE_AXIS))
            continue;
        for (size_t v = 0; v < c->axes.n; v++)
            for (size_t k = 0; k < info->allocators_n; k++)
                p->only_in_state[k] &= strcmp(c->axes.v[v].text, info->allocators[k].name) != 0;
    }
}

/* Has the cell memory of such an allocator? */
static bool is_only_in_state(const struct planner *p, const struct as_axes *axes)
{
    for (size_t v = 0; v < axes->n; v++)
        for (size_t k = 0; k < p->info->allocators_n; k++)
            if (p->only_in_state[k] && strcmp(axes->v[v].text, p->info->allocators[k].name) == 0)
                return true;
    return false;
}

/* Does the axis say how much memory is taken? */
static bool plan_is_extent(const char *axis)
{
    return strcmp(axis, "size") == 0 || strcmp(axis, "pages") == 0 || strcmp(axis, "elements") == 0;
}

/* What does not apply, but would with less memory: the largest of its halves that does. *axes is then that. It does not
 * depend on how much is free at the moment, as long as half is. */
static bool plan_shrink(const struct planner *p, const struct as_probe *probe, struct as_axes *axes)
{
    enum { HALVINGS = 10, LINE = 64 };
    struct as_axis_value *v = NULL;
    struct as_axes less = *axes;
    struct as_device_info usual = *p->info;
    struct as_error why;
    if (usual.memory_bytes && usual.memory_free > usual.memory_bytes / 2)
        usual.memory_free = usual.memory_bytes / 2;
    for (size_t i = 0; i < less.n; i++)
        v = plan_is_extent(less.v[i].name) ? &less.v[i] : v;
    uint64_t n = v && v->number >= 1 ? (uint64_t)v->number : 0;
    for (int i = 0; i < HALVINGS && n >= 2 * LINE; i++) {
        n /= 2;
        n -= strcmp(v->name, "size") == 0 ? n % LINE : 0;
        v->number = (double)n;
        snprintf(v->text, sizeof v->text, "%llu", (unsigned long long)n);
        if (as_plan_applies(probe, &less, &usual, &why) == AS_APPLIES) {
            *axes = less;
            return true;
        }
    }
    return false;
}

static enum as_status plan_add_cell(struct planner *p, const struct as_probe *probe, const struct as_axes *asked)
{
    struct as_error why = {0};
    struct as_axes fitted = *asked;
    const struct as_axes *axes = &fitted;
    enum as_applies applies = as_plan_applies(probe, axes, p->info, &why);
    const bool is_fitted = applies == AS_INAPPLICABLE && p->fit && plan_shrink(p, probe, &fitted);
    applies = is_fitted ? AS_APPLIES : applies;
    if (p->is_fallback && (applies != AS_APPLIES || !is_only_in_state(p, axes)))
        return AS_OK;
    if (applies == AS_PRUNED) {
        note_pruned(p, probe, why.text);
        return AS_OK;
    }
    struct as_cell c;
    cell_init(&c, p, probe, axes);
    if (applies == AS_INAPPLICABLE) {
        c.status = AS_CELL_UNSUPPORTED;
        as_copy_text(c.reason, sizeof c.reason, why.text);
    }
    const size_t before = p->plan->n;
    const enum as_status st = plan_keep_cell(p, &c, as_probe_metric(probe, axes).answers);
    p->plan->fitted += is_fitted ? p->plan->n - before : 0;
    return st;
}

/* The device's working set of memory exceeds what some allocators give, such as managed memory that migrates: there,
 * the smallest that no cache holds, if that is given. Was the size changed? */
static bool plan_fit_size(const struct planner *p, const struct as_probe *probe, struct as_axes *axes)
{
    const struct as_axis_value *size = as_axes_get(axes, "size");
    const struct as_allocator *a = as_info_allocator(p->info, as_axes_text(axes, "allocator"));
    const struct as_memory_path path = as_main_memory_path(p->info, probe->name, axes);
    const uint64_t least = as_info_memory_least(p->info, path.allocator, path.threads);
    if (!p->size_is_chosen || !size || !a || !a->most || size->number <= (double)a->most || least > a->most)
        return false;
    for (size_t i = 0; i < axes->n; i++)
        if (&axes->v[i] == size) {
            axes->v[i].number = (double)least;
            snprintf(axes->v[i].text, sizeof axes->v[i].text, "%llu", (unsigned long long)least);
        }
    return true;
}

/* "DRAM", and not "DRAM1" */
static bool plan_is_chosen(const char *expr)
{
    const char *at = strstr(expr, "DRAM");
    return at && at[strlen("DRAM")] != '1';
}

static const char *grid_expr(const struct as_grid *g, const struct as_axis *axis)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->axis[i].name, axis->name) == 0)
            return g->axis[i].expr;
    return axis->def;
}

/* "axis=expr" or "probe.axis=expr": the expression if it is for this axis of this probe. */
static const char *set_expr(const char *set, const struct as_probe *probe, const struct as_axis *axis)
{
    const char *eq = strchr(set, '='), *dot = strchr(set, '.');
    if (dot && eq && dot < eq) {
        if (strncmp(set, probe->name, (size_t)(dot - set)) != 0 || probe->name[dot - set])
            return NULL;
        set = dot + 1;
    }
    size_t n = strlen(axis->name);
    return eq && (size_t)(eq - set) == n && strncmp(set, axis->name, n) == 0 ? eq + 1 : NULL;
}

/* The process states of a grid, "" for none. */
static const char *grid_states(const struct as_grid *g, const char *const *sets, size_t sets_n)
{
    static const struct as_axis state = {.name = AS_STATE_AXIS};
    const char *states = g->states;
    for (size_t i = 0; i < sets_n; i++) {
        const char *e = set_expr(sets[i], g->probe, &state);
        states = e ? e : states;
    }
    return states;
}

/* Does the device, as assay was started, run in this state anyway? By the environment, or by the device's word. */
static bool is_own_state(const struct as_device_info *info, const char *state)
{
    while (*state) {
        char part[AS_STATE_SIZE], *value;
        const size_t n = strcspn(state, "+");
        as_copy_text(part, n < sizeof part ? n + 1 : sizeof part, state);
        if (strcmp(part, info->ignored) != 0) {
            if (!(value = strchr(part, '=')))
                return false;
            *value++ = 0;
            const char *set = getenv(part);
            if (!set || strcmp(set, value) != 0)
                return false;
        }
        state += n + (state[n] == '+');
    }
    return true;
}

/* Is the grid measured in the process state of the device's description? */
static enum as_status plan_in_state(const struct planner *p, const char *states, bool *in, struct as_error *err)
{
    struct as_state_list list = {0};
    enum as_status st = states[0] ? as_states_add(&list, p->info->id, states, err) : AS_OK;
    *in = states[0] ? as_states_have(&list, p->info->state) : !p->info->state[0];
    for (size_t i = 0; i < list.n && !p->info->state[0]; i++)
        *in |= is_own_state(p->info, list.v[i]);
    return st;
}

static void add_state_axis(const struct planner *p, struct as_axes *axes)
{
    if (!p->info->state[0])
        return;
    struct as_axis_value *v = &axes->v[axes->n++];
    *v = (struct as_axis_value){.name = AS_STATE_AXIS, .number = NAN};
    as_copy_text(v->text, sizeof v->text, p->info->state);
}

/* The device has none of the grid's allocators: asks the probe whether the device would qualify otherwise. */
static void note_no_allocator(struct planner *p, const struct as_probe *probe, const struct as_axis_values *values,
                              size_t axes_n)
{
    struct as_axes axes = {.n = axes_n};
    struct as_axis_values first[AS_AXES_MAX] = {{0}};
    struct as_error why = {0};
    bool known = true;
    for (size_t i = 0; i < axes_n && known; i++) {
        const struct as_axis_values *v = &values[i];
        if (v->n == 0) {
            known = !as_axis_parse(&probe->axes[i], "first", p->info, &first[i], &why) && first[i].n;
            v = &first[i];
        }
        if (known)
            axes.v[i] = v->v[0];
    }
    if (known && !p->has_foreign && as_plan_applies(probe, &axes, p->info, &why) != AS_APPLIES && why.text[0]) {
        append_why(p, probe, why.text, p->plan->foreign, sizeof p->plan->foreign);
        p->has_foreign = true;
    }
    for (size_t i = 0; i < axes_n; i++)
        as_axis_values_finish(&first[i]);
}

/* Bandwidth depends on the size: where an allocator got a smaller one, the grid's memory of the device is measured with
 * it too, to compare them. */
static enum as_status plan_add_of_device(struct planner *p, const struct as_probe *probe,
                                         const struct as_axis_values *values, const struct as_axes *fitted)
{
    struct as_axes axes = *fitted;
    struct as_error why = {0};
    for (size_t i = 0; i < axes.n; i++)
        for (size_t k = 0; strcmp(axes.v[i].name, "allocator") == 0 && k < values[i].n; k++)
            if (as_allocator_role(p->info->id, values[i].v[k].text) == AS_ROLE_DEVICE) {
                axes.v[i] = values[i].v[k];
                add_state_axis(p, &axes);
                /* the cell of the grid's own size states the reason */
                return as_plan_applies(probe, &axes, p->info, &why) == AS_APPLIES ? plan_add_cell(p, probe, &axes)
                                                                                  : AS_OK;
            }
    return AS_OK;
}

static enum as_status add_product(struct planner *p, const struct as_probe *probe, const struct as_axis_values *values,
                                  size_t axes_n)
{
    size_t at[AS_AXES_MAX] = {0};
    for (;;) {
        struct as_axes axes = {.n = axes_n};
        for (size_t i = 0; i < axes_n; i++)
            axes.v[i] = values[i].v[at[i]];
        enum as_status st = plan_fit_size(p, probe, &axes) ? plan_add_of_device(p, probe, values, &axes) : AS_OK;
        add_state_axis(p, &axes);
        if (!st)
            st = plan_add_cell(p, probe, &axes);
        if (st)
            return st;
        size_t i = axes_n;
        while (i > 0 && ++at[i - 1] == values[i - 1].n)
            at[--i] = 0;
        if (i == 0)
            return AS_OK;
    }
}

static enum as_status plan_add_grid(struct planner *p, const struct as_grid *g, const char *fallback_states,
                                    const char *const *sets, size_t sets_n)
{
    struct as_axis_values values[AS_AXES_MAX] = {{0}};
    size_t n = 0;
    p->size_is_chosen = false;
    bool foreign = false; /* the grid names an allocator of another device */
    bool in_state;
    const char *states = grid_states(g, sets, sets_n);
    p->is_fallback = p->info->state[0] && !states[0];
    enum as_status st = plan_in_state(p, p->is_fallback ? fallback_states : states, &in_state, p->err);
    if (st || !in_state)
        return st;
    if (g->probe->needs & ~p->info->capabilities) /* reported by one cell without axes */
        return p->is_fallback ? AS_OK : plan_add_cell(p, g->probe, &(struct as_axes){0});
    for (; g->probe->axes[n].name && n < AS_AXES_MAX - 1 && !st; n++) {
        const char *expr = grid_expr(g, &g->probe->axes[n]);
        for (size_t i = 0; i < sets_n; i++) {
            const char *e = set_expr(sets[i], g->probe, &g->probe->axes[n]);
            expr = e ? e : expr;
            p->fit &= !(e && plan_is_extent(g->probe->axes[n].name)); /* what was asked for is never replaced */
        }
        st = as_axis_parse(&g->probe->axes[n], expr, p->info, &values[n], p->err);
        if (strcmp(g->probe->axes[n].name, "size") == 0)
            p->size_is_chosen = plan_is_chosen(expr);
        foreign |= values[n].n == 0;
    }
    if (st)
        as_fail_in(p->err, g->probe->name);
    else if (foreign && !p->is_fallback)
        note_no_allocator(p, g->probe, values, n);
    else if (!foreign)
        st = add_product(p, g->probe, values, n);
    for (size_t i = 0; i < n; i++)
        as_axis_values_finish(&values[i]);
    return st;
}

/* Whether device id is in a list such as "cpu,opencl:0,all". A backend's name means all its devices. */
static int in_device_list(const char *list, const struct as_device_info *info)
{
    if (!list[0])
        return 1;
    while (*list) {
        size_t n = strcspn(list, ",");
        while (n && *list == ' ') {
            list++;
            n--;
        }
        size_t len = n;
        while (len && list[len - 1] == ' ')
            len--;
        if ((len == 3 && strncmp(list, "all", 3) == 0) ||
            (strlen(info->id) == len && strncmp(list, info->id, len) == 0) ||
            (strlen(info->backend) == len && strncmp(list, info->backend, len) == 0))
            return 1;
        list += n;
        list += *list == ',';
    }
    return 0;
}

static bool is_for_device(const struct as_suite *suite, size_t grid, const struct as_device_info *info)
{
    return in_device_list(suite->grid_devices ? suite->grid_devices[grid] : "", info) &&
           in_device_list(suite->grids[grid].devices, info);
}

enum as_status as_plan_add(struct as_plan *plan, const struct as_suite *suite, const struct as_device_info *info,
                           const char *const *sets, size_t sets_n, struct as_error *err)
{
    struct planner p = {.plan = plan, .cap = plan->n, .info = info, .err = err};
    enum as_status st = AS_OK;
    int added;
    for (size_t i = 0; i < plan->n && !st; i++) {
        size_t at = i;
        if (strcmp(plan->cells[i].device, info->id) == 0)
            st = key_set_add(&p.seen, plan->cells[i].key, &at, &added, err);
    }
    if (info->state[0])
        find_only_in_state(&p);
    for (size_t i = 0; i < suite->grids_n && !st; i++) {
        p.fit = suite->grids[i].fit;
        p.precision = suite->grids[i].precision > 0 ? suite->grids[i].precision : suite->precision;
        if (is_for_device(suite, i, info))
            st = plan_add_grid(&p, &suite->grids[i], suite->fallback_states, sets, sets_n);
    }
    free(p.seen.slot);
    return st;
}

void as_plan_say_fitted(const struct as_plan *plan, struct as_buf *out)
{
    if (plan->fitted)
        as_buf_printf(out, "%zu measurement%s reduced to fit in memory", plan->fitted,
                      plan->fitted == 1 ? " is" : "s are");
}

enum as_status as_plan_states(const struct as_suite *suite, const struct as_device_info *info, const char *const *sets,
                              size_t sets_n, struct as_state_list *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < suite->grids_n && !st; i++) {
        struct as_state_list list = {0};
        const char *states = grid_states(&suite->grids[i], sets, sets_n);
        states = states[0] ? states : suite->fallback_states;
        if (states[0] && is_for_device(suite, i, info))
            st = as_states_add(&list, info->id, states, err);
        for (size_t k = 0; k < list.n && !st; k++)
            if (!is_own_state(info, list.v[k]))
                st = as_states_add(out, info->id, list.v[k], err);
    }
    return st;
}

void as_plan_finish(struct as_plan *plan)
{
    as_cells_free(plan->cells, plan->n);
    *plan = (struct as_plan){0};
}
