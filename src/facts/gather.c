/* What the rules share: finding the cells that belong together. */
#include "base/clock.h"
#include "base/text.h"
#include "facts/rule.h"
#include "model/metrics.h"
#include "probe/main_memory.h"
#include "stats/order.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double as_cell_note(const struct as_cell *cell, const char *name)
{
    return as_detail_number(cell->detail, name);
}

bool as_cell_note_is(const struct as_cell *cell, const char *name, const char *text)
{
    char *note = as_cell_note_text(cell, name);
    const bool same = note && strcmp(note, text) == 0;
    free(note);
    return same;
}

bool as_cell_has_note(const struct as_cell *cell, const char *name)
{
    json_t *detail = cell->detail ? json_loads(cell->detail, 0, NULL) : NULL;
    const bool has = json_object_get(detail, name) != NULL;
    json_decref(detail);
    return has;
}

struct as_interval as_cell_interval(const struct as_cell *cell)
{
    const struct as_interval ci = as_number_interval_of_cell(cell);
    if (isfinite(ci.lo) && isfinite(ci.hi) && ci.lo <= ci.hi)
        return ci;
    return (struct as_interval){cell->sum.median, cell->sum.median};
}

struct as_interval as_cells_ratio(const struct as_cell *a, const struct as_cell *b)
{
    return as_ratio_interval(a->sum.median, as_cell_interval(a), b->sum.median, as_cell_interval(b));
}

bool as_cell_holds_memory(const struct as_rule_context *c, const struct as_cell *cell)
{
    return as_main_memory_holds(c->info, (struct as_cell_view){.p = c->cells, .n = c->n}, cell);
}

const char *as_cell_axis(const struct as_cell *cell, const char *axis)
{
    return as_axes_text(&cell->axes, axis);
}

/* Bytes per ns: whoever is faster only promises the memory. */
static const double PROMISE = 1e4;

bool as_is_promise(const char *device, const char *allocator, double bytes, double ns)
{
    return as_allocator_role(device, allocator) != AS_ROLE_DEVICE_POOL && bytes > PROMISE * ns;
}

void as_allocator_object(const char *allocator, char *out, size_t size)
{
    snprintf(out, size, "allocator:%.48s", allocator);
}

double as_cell_axis_number(const struct as_cell *cell, const char *axis)
{
    return as_axes_number(&cell->axes, axis);
}

bool as_cells_same(const struct as_cell *a, const struct as_cell *b, const char *axis)
{
    return strcmp(as_cell_axis(a, axis), as_cell_axis(b, axis)) == 0;
}

enum as_fact_verdict as_verdict_control(struct as_interval ci)
{
    if (ci.lo > 1 || ci.hi < 1)
        return AS_REFUTED;
    return ci.lo >= 0.98 && ci.hi <= 1.02 ? AS_SUPPORTED : AS_UNDECIDED;
}

enum as_fact_verdict as_verdict_above(struct as_interval ci, double bound)
{
    return ci.lo > bound ? AS_SUPPORTED : ci.hi < bound ? AS_REFUTED : AS_UNDECIDED;
}

bool as_claim_fits(double claimed, struct as_interval ci, double share)
{
    return claimed >= ci.lo / (1 + share) && claimed <= ci.hi * (1 + share);
}

bool as_cell_is(const struct as_cell *cell, const char *axis, const char *text)
{
    return as_axes_is(&cell->axes, axis, text);
}

bool as_cells_alike(const struct as_cell *a, const struct as_cell *b, const char *but)
{
    if (a->axes.n != b->axes.n)
        return false;
    for (size_t i = 0; i < a->axes.n; i++) {
        const struct as_axis_value *v = &a->axes.v[i];
        if (strcmp(v->name, but) == 0)
            continue;
        /* cells of a probe have their axes in one order; others are looked up */
        const struct as_axis_value *w = &b->axes.v[i];
        if (strcmp(v->name, w->name) != 0)
            w = as_axes_get(&b->axes, v->name);
        if (!w || strcmp(v->text, w->text) != 0)
            return false;
    }
    return true;
}

bool as_cell_on_huge_pages(const struct as_cell *cell)
{
    const enum as_role role = as_allocator_role(cell->device, as_cell_axis(cell, "allocator"));
    return role == AS_ROLE_HUGE_PAGES || role == AS_ROLE_RESERVED_HUGE_PAGES;
}

/* What cells have for a value of an axis: of allocators the rules name the role. */
static const char *text_in_cells(const struct as_rule_context *c, const char *axis, const char *text)
{
    const enum as_role role = strcmp(axis, "allocator") == 0 ? as_role_find(text) : AS_ROLE_UNKNOWN;
    const char *name = role ? as_role_allocator(c->device, role) : "";
    return name[0] ? name : text;
}

size_t as_cells_of(struct as_rule_context *c, const char *probe, const struct as_cell ***out)
{
    size_t n = 0;
    *out = NULL;
    for (size_t i = 0; i < c->n; i++)
        n += strcmp(c->cells[i]->probe, probe) == 0;
    if (n == 0)
        return 0;
    *out = malloc(n * sizeof **out);
    if (!*out) {
        c->status = as_nomem(c->err, n * sizeof **out, "cells");
        return 0;
    }
    n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, probe) == 0)
            (*out)[n++] = c->cells[i];
    return n;
}

/* A cell with what it is sorted by. */
struct keyed {
    const struct as_cell *cell;
    uint64_t others; /* hash of all axes but the one */
    double x;
};

static int by_curve_then_x(const void *a, const void *b)
{
    const struct keyed *p = a, *q = b;
    if (p->others != q->others)
        return p->others < q->others ? -1 : 1;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->cell > q->cell) - (p->cell < q->cell); /* both in one array: the earlier in the run */
}

uint64_t as_cell_hash_but(const struct as_cell *cell, const char *axis)
{
    uint64_t h = 0;
    for (size_t i = 0; i < cell->axes.n; i++) {
        const struct as_axis_value *v = &cell->axes.v[i];
        if (strcmp(v->name, axis) == 0)
            continue;
        uint64_t both[2] = {as_hash(v->name, strlen(v->name)), as_hash(v->text, strlen(v->text))};
        h += as_hash(both, sizeof both); /* a sum: the order of the axes does not matter */
    }
    return h;
}

void as_pairs_make(struct as_rule_context *c, const char *probe, const char *axis, const char *a_text,
                   const char *b_text, struct as_pair **pairs, size_t *n)
{
    const struct as_cell **cells;
    size_t have = as_cells_of(c, probe, &cells), keyed_n = 0;
    struct keyed *keyed = malloc((have + 1) * sizeof *keyed);
    *pairs = malloc((have + 1) * sizeof **pairs);
    *n = 0;
    a_text = text_in_cells(c, axis, a_text);
    b_text = text_in_cells(c, axis, b_text);
    if (!keyed || !*pairs)
        c->status = as_nomem(c->err, have * sizeof *keyed, "pairs of measurements");
    for (size_t i = 0; keyed && i < have; i++) {
        const char *text = as_cell_axis(cells[i], axis);
        bool is_a = strcmp(text, a_text) == 0;
        if (is_a || strcmp(text, b_text) == 0)
            keyed[keyed_n++] = (struct keyed){cells[i], as_cell_hash_but(cells[i], axis), is_a ? 0 : 1};
    }
    if (keyed_n > 1)
        qsort(keyed, keyed_n, sizeof *keyed, by_curve_then_x);
    for (size_t i = 1; *pairs && i < keyed_n; i++) {
        const struct keyed *a = &keyed[i - 1], *b = &keyed[i];
        if (a->others == b->others && a->x < b->x && as_cells_alike(a->cell, b->cell, axis))
            (*pairs)[(*n)++] = (struct as_pair){a->cell, b->cell};
    }
    free(keyed);
    free(cells);
}

static bool curve_make(struct as_curve *curve, const struct keyed *keyed, size_t n)
{
    *curve = (struct as_curve){.cells = malloc(n * sizeof *curve->cells),
                               .x = malloc(n * sizeof *curve->x),
                               .y = malloc(n * sizeof *curve->y),
                               .ci = malloc(n * sizeof *curve->ci)};
    if (!curve->cells || !curve->x || !curve->y || !curve->ci)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && keyed[i].x == keyed[i - 1].x)
            continue;
        size_t k = curve->n++;
        curve->cells[k] = keyed[i].cell;
        curve->x[k] = keyed[i].x;
        curve->y[k] = keyed[i].cell->sum.median;
        curve->ci[k] = as_cell_interval(keyed[i].cell);
    }
    return true;
}

void as_curves_make(struct as_rule_context *c, const char *probe, const char *axis, struct as_curve **curves, size_t *n)
{
    const struct as_cell **cells;
    size_t have = as_cells_of(c, probe, &cells), keyed_n = 0;
    struct keyed *keyed = malloc((have + 1) * sizeof *keyed);
    *curves = NULL;
    *n = 0;
    for (size_t i = 0; keyed && i < have; i++) {
        double x = as_cell_axis_number(cells[i], axis);
        if (isfinite(x) && x > 0)
            keyed[keyed_n++] = (struct keyed){cells[i], as_cell_hash_but(cells[i], axis), x};
    }
    if (keyed_n > 1)
        qsort(keyed, keyed_n, sizeof *keyed, by_curve_then_x);
    size_t count = 0;
    for (size_t i = 0; i < keyed_n; i++)
        count += i == 0 || keyed[i].others != keyed[i - 1].others;
    *curves = calloc(count + 1, sizeof **curves);
    bool good = keyed && *curves;
    for (size_t i = 0, end; good && i < keyed_n; i = end) {
        for (end = i + 1; end < keyed_n && keyed[end].others == keyed[i].others; end++)
            ;
        good = curve_make(&(*curves)[(*n)++], keyed + i, end - i);
    }
    if (!good) {
        as_curves_free(*curves, *n);
        *curves = NULL;
        *n = 0;
        c->status = as_nomem(c->err, keyed_n * sizeof *keyed, "curves");
    }
    free(keyed);
    free(cells);
}

void as_curves_free(struct as_curve *curves, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(curves[i].cells);
        free(curves[i].x);
        free(curves[i].y);
        free(curves[i].ci);
    }
    free(curves);
}

const struct as_cell *as_cells_left_out(const struct as_rule_context *c, const char *probe, size_t *at)
{
    while (*at < c->all_n) {
        const struct as_cell *cell = &c->all[(*at)++];
        if (as_cell_waits(cell) && strcmp(cell->probe, probe) == 0 && strcmp(cell->device, c->device) == 0 &&
            strcmp(as_axes_text(&cell->axes, AS_STATE_AXIS), c->state ? c->state : "") == 0)
            return cell;
    }
    return NULL;
}

const struct as_cell *as_cells_best(const struct as_cell *const *cells, size_t n, const char *axis, const char *text)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(as_cell_axis(cells[i], axis), text) == 0 && (!best || as_cell_is_better(cells[i], best)))
            best = cells[i];
    return best;
}

size_t as_cells_clocks(const struct as_cell *const *cells, size_t n, double *hz, double *off)
{
    size_t found = 0;
    *off = 1;
    for (size_t i = 0; i < n; i++)
        if (isfinite(cells[i]->clock_hz) && cells[i]->clock_hz > 0) {
            hz[found++] = cells[i]->clock_hz;
            *off = fmax(*off, as_cell_note(cells[i], "clock_off"));
        }
    return found;
}

struct as_interval as_spread_interval(double *v, size_t n)
{
    as_sort(v, n);
    return n < 6 ? (struct as_interval){v[0], v[n - 1]} : as_median_interval(v, n, 0.95);
}

double as_warp_of(const struct as_rule_context *c)
{
    return c->info && c->info->warp > 1 && !c->info->is_host_cpu && !c->info->vector_bytes ? c->info->warp : NAN;
}

const char *as_unit_name(const struct as_rule_context *c)
{
    return as_info_words(c->info)->compute_unit;
}

const char *as_workgroup_name(const struct as_rule_context *c)
{
    return as_info_words(c->info)->workgroup;
}

const char *as_shared_memory_name(const struct as_rule_context *c)
{
    return as_info_words(c->info)->shared_memory;
}

const char *as_queue_name(const struct as_rule_context *c)
{
    return as_info_words(c->info)->queue;
}

const char *as_capital(const char *term, char out[AS_TERM_SIZE])
{
    as_copy_text(out, AS_TERM_SIZE, term);
    out[0] = (char)toupper((unsigned char)out[0]);
    return out;
}

bool as_is_higher_roof(const struct as_cell *a, const struct as_cell *b, const char *type)
{
    if (!b)
        return true;
    const bool own_a = strcmp(as_cell_axis(a, "type"), type) == 0, own_b = strcmp(as_cell_axis(b, "type"), type) == 0;
    return own_a != own_b ? own_a : a->sum.median > b->sum.median;
}

bool as_cell_works(const struct as_cell *cell, const char *threads)
{
    return as_cell_axis_number(cell, threads) > 0;
}

bool as_cell_both_work(const struct as_cell *cell)
{
    return as_cell_works(cell, "cpu_threads") && as_cell_works(cell, "device_threads");
}

bool as_app_peak_counts(const struct as_rule_context *c, const struct as_cell *cell)
{
    static const double share = 0.1; /* of the arrays: the process and others allocate a little meanwhile */
    const struct as_allocator *a = c->info ? as_info_allocator(c->info, as_cell_axis(cell, "allocator")) : NULL;
    struct as_metric_value peak;
    if (!a || c->info->is_host_memory || !as_role_is_managed(a->role))
        return true;
    return a->role != AS_ROLE_MANAGED_STATIC && as_cell_metric(cell, "peak_memory", &peak) &&
           fabs(peak.value - as_cell_size(cell)) <= share * as_cell_size(cell);
}

const char *as_array_text(const struct as_cell *cell, char out[64])
{
    const char *n = as_cell_axis(cell, "elements");
    const char *type = as_cell_axis(cell, "type");
    if (strcmp(n, "1") == 0)
        snprintf(out, 64, "one %.8s", type);
    else
        snprintf(out, 64, "%.20s elements of %.8s", n, type);
    return out;
}

const struct as_cell *as_rule_cell(const struct as_rule_context *c, int64_t id)
{
    size_t lo = 0, hi = c->n;
    while (lo < hi) { /* a run's cells are numbered in its order, unless another program wrote them */
        const size_t at = lo + (hi - lo) / 2;
        if (c->cells[at]->id < id)
            lo = at + 1;
        else
            hi = at;
    }
    if (lo < c->n && c->cells[lo]->id == id)
        return c->cells[lo];
    for (size_t i = 0; i < c->n; i++)
        if (c->cells[i]->id == id)
            return c->cells[i];
    return NULL;
}

struct as_quantity_subject as_rule_subject(const struct as_rule_context *c)
{
    struct as_quantity_subject s = {.device = c->device,
                                    .info = c->info,
                                    .cells = {.p = c->cells, .n = c->n},
                                    .facts = c->facts->v,
                                    .facts_n = c->facts->n};
    as_quantity_use_clock(&s);
    return s;
}

const struct as_cell *as_rule_quantity_cell(const struct as_rule_context *c, const char *name)
{
    const struct as_quantity_subject s = as_rule_subject(c);
    struct as_quantity_value v;
    return as_quantity_get(&s, name, &v) && v.cell ? as_rule_cell(c, v.cell) : NULL;
}

bool as_fault_is_drowned(const struct as_rule_context *c, const struct as_cell *cell)
{
    /* stores of earlier versions have the second name */
    if (as_cell_note(cell, "second_touch") >= cell->sum.median || as_cell_note(cell, "control_ns") >= cell->sum.median)
        return true;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "fault") == 0 && as_cell_is(c->cells[i], "what", "control") &&
            as_cells_alike(c->cells[i], cell, "what") && c->cells[i]->sum.median >= cell->sum.median)
            return true;
    return false;
}
