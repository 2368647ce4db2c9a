#include "report/operations/operations.h"

#include "base/text.h"
#include "device/process_state.h"
#include "model/number.h"
#include "probe/view_role.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct as_measure unknown = {NAN, {NAN, NAN}};

/* ---- reading cells ---- */

static const char *operations_op_of(const struct as_cell *c)
{
    return as_axes_text(&c->axes, "op");
}

bool as_operation_cell(const struct as_cell *c)
{
    return (as_has_role(c, AS_VIEW_OPERATION_THROUGHPUT) || as_has_role(c, AS_VIEW_OPERATION_LATENCY)) &&
           operations_op_of(c)[0] && !as_axes_get(&c->axes, AS_STATE_AXIS); /* the machine's own state */
}

static bool operations_measured(const struct as_cell *c)
{
    return c && (as_cell_is_valid(c) || c->status == AS_CELL_REJECTED) && isfinite(c->sum.median) && c->sum.median > 0;
}

static struct as_measure measure_of(const struct as_cell *c)
{
    if (!operations_measured(c))
        return unknown;
    struct as_measure m = {c->sum.median, as_number_interval_of_cell(c)};
    if (!isfinite(m.ci.lo) || !isfinite(m.ci.hi))
        m.ci = (struct as_interval){m.value, m.value};
    return m;
}

/* A note that is text, "" where there is none. */
static void note_of(const struct as_cell *c, const char *name, char *out, size_t size)
{
    json_t *detail = c && c->detail ? json_loads(c->detail, 0, NULL) : NULL;
    const char *text = json_string_value(json_object_get(detail, name));
    as_copy_text(out, size, text ? text : "");
    json_decref(detail);
}

static double note_number(const struct as_cell *c, const char *name)
{
    json_t *detail = c->detail ? json_loads(c->detail, 0, NULL) : NULL;
    const json_t *v = json_object_get(detail, name);
    double number = json_is_number(v) ? json_number_value(v) : NAN;
    json_decref(detail);
    return number;
}

/* Of a bound its end: what is sure of it. */
static double operations_sure(const struct as_cell *c)
{
    const struct as_number n = as_number_of_cell(c);
    const double end = c->lower_is_better ? n.ci.hi : n.ci.lo;
    return n.bound && isfinite(end) ? end : n.value;
}

/* Valid before rejected before none; then the better value, as facts choose it: they leave out what contention bounds.
 */
bool as_operation_beats(const struct as_cell *a, const struct as_cell *b)
{
    if (!a || !b)
        return a;
    int rank_a = as_cell_is_valid(a) && operations_measured(a) ? 2 : operations_measured(a);
    int rank_b = as_cell_is_valid(b) && operations_measured(b) ? 2 : operations_measured(b);
    if (rank_a != rank_b || !rank_a)
        return rank_a > rank_b;
    const double x = operations_sure(a), y = operations_sure(b);
    return a->lower_is_better ? x < y : x > y;
}

/* ---- rows ---- */

static const struct as_word *word_of(const char *op)
{
    const struct as_word *w = as_probe_word(as_probe_find(as_view_probes[AS_VIEW_OPERATION_THROUGHPUT]), op);
    return w ? w : as_probe_word(as_probe_find(as_view_probes[AS_VIEW_OPERATION_LATENCY]), op);
}

static const char *form_axis(const struct as_cell *c)
{
    return as_axes_text(&c->axes, "operands");
}

/* Of a CPU's vectors in bits, or "sve"; "scalar" also where a store is older than the axis. */
static const char *width_of(const struct as_cell *c)
{
    const char *width = as_axes_text(&c->axes, "width");
    return width[0] ? width : "scalar";
}

static bool operations_is_scalar(const struct as_cell *c)
{
    return strcmp(width_of(c), "scalar") == 0;
}

static const struct as_cell *any_of(const struct as_operation *o)
{
    return o->throughput ? o->throughput : o->latency;
}

static struct as_operation *row_of(struct as_operation *rows, size_t *n, const struct as_cell *c)
{
    for (size_t i = 0; i < *n; i++) {
        const struct as_cell *any = any_of(&rows[i]);
        if (strcmp(rows[i].device, c->device) == 0 && strcmp(rows[i].name, operations_op_of(c)) == 0 &&
            strcmp(form_axis(any), form_axis(c)) == 0 && strcmp(width_of(any), width_of(c)) == 0)
            return &rows[i];
    }
    struct as_operation *o = &rows[(*n)++];
    *o = (struct as_operation){.name = operations_op_of(c),
                               .device = c->device,
                               .word = word_of(operations_op_of(c)),
                               .warp = unknown,
                               .relative = unknown,
                               .adjusted = unknown};
    return o;
}

/* The row of another operation in the same width, with the better latency where there are several forms. */
static const struct as_operation *operations_beside(const struct as_operation *rows, size_t n,
                                                    const struct as_operation *o, const char *op)
{
    const struct as_operation *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].device, o->device) == 0 && strcmp(rows[i].name, op) == 0 &&
            strcmp(width_of(any_of(&rows[i])), width_of(any_of(o))) == 0 &&
            (!found || as_operation_beats(rows[i].latency ? rows[i].latency : rows[i].throughput,
                                          found->latency ? found->latency : found->throughput)))
            found = &rows[i];
    return found;
}

/* The best rate of ffma32 in that width. */
static struct as_measure fma_of(const struct as_operation *rows, size_t n, const struct as_operation *o)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].device, o->device) == 0 && strcmp(rows[i].name, "ffma32") == 0 && rows[i].throughput &&
            strcmp(width_of(rows[i].throughput), width_of(any_of(o))) == 0 &&
            as_operation_beats(rows[i].throughput, best))
            best = rows[i].throughput;
    return measure_of(best);
}

/* ---- what follows ---- */

static struct as_measure quotient(struct as_measure a, struct as_measure b)
{
    if (!(a.value > 0) || !(b.value > 0))
        return unknown;
    return (struct as_measure){a.value / b.value, {a.ci.lo / b.ci.hi, a.ci.hi / b.ci.lo}};
}

/* Results per instruction: vector lanes, warp lanes, or 1 on a scalar core. */
static double lanes_of(const struct as_cell *c, const struct as_device_info *info)
{
    const double lanes = c ? note_number(c, "lanes") : NAN;
    if (lanes > 0 || (c && !operations_is_scalar(c)))
        return lanes;
    if (!info)
        return NAN;
    return info->is_host_cpu || info->vector_bytes || !info->warp ? 1 : info->warp;
}

static const struct {
    const char *axis, *form;
} forms[] = {{"0", "usual"}, {"1", "second = first"}, {"2", "third = second"}, {"3", "all differ"}};

/* Newer runs note the details behind "usual". On a CPU, by OpenCL too, the usual form is a thread's scalar instruction:
 * peaks of the data sheet take vectors. */
static void name_form(struct as_operation *o, const struct as_device_info *info)
{
    const struct as_cell *c = any_of(o);
    const char *axis = form_axis(c);
    as_copy_text(o->form, sizeof o->form, axis);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(axis, forms[i].axis) == 0)
            as_copy_text(o->form, sizeof o->form, forms[i].form);
    if (operations_is_scalar(c)) {
        if (info && info->is_host_cpu && strcmp(axis, "0") == 0)
            as_copy_text(o->form, sizeof o->form, "scalar");
        return;
    }
    char form[sizeof o->form];
    as_copy_text(form, sizeof form, o->form);
    const bool sve = strcmp(width_of(c), "sve") == 0;
    snprintf(o->form, sizeof o->form, "%.30s%s%.12s%s", strcmp(axis, "0") == 0 ? "" : form,
             strcmp(axis, "0") == 0 ? "" : ", ", sve ? "SVE" : width_of(c), sve ? "" : " bits");
}

static void name_steps(struct as_operation *o)
{
    static const char lead[] = "each step is ";
    char text[160];
    note_of(o->throughput, "instructions", text, sizeof text);
    if (!text[0])
        note_of(o->latency, "instructions", text, sizeof text);
    as_copy_text(o->steps, sizeof o->steps, text + (strncmp(text, lead, strlen(lead)) == 0 ? strlen(lead) : 0));
}

static void operations_derive(const struct as_report_run *run, struct as_operation *rows, size_t n,
                              struct as_operation *o)
{
    const struct as_measure rate = measure_of(o->throughput);
    const struct as_device_info *info = as_report_device(run, o->device);
    const double results = (o->word ? o->word->results : 1) * lanes_of(o->throughput, info);
    o->place = info ? (size_t)(info - run->devices) : run->devices_n;
    name_form(o, info);
    name_steps(o);
    o->warp = quotient((struct as_measure){results, {results, results}}, rate);
    o->relative = quotient(rate, fma_of(rows, n, o));
    note_of(o->latency, "link", o->link_name, sizeof o->link_name);
    struct as_measure raw = measure_of(o->latency);
    if (!o->link_name[0]) {
        note_of(o->throughput, "link", o->link_name, sizeof o->link_name);
        o->adjusted = o->link_name[0] ? unknown : raw;
        return;
    }
    const struct as_operation *link = operations_beside(rows, n, o, o->link_name);
    char other[48];
    note_of(link ? link->latency : NULL, "link", other, sizeof other);
    /* a round trip of two conversions: each links to the other, and neither is known alone */
    o->link = link && operations_measured(link->latency) && !other[0] ? link->latency : NULL;
    const struct as_measure less = measure_of(o->link);
    /* Without an interval: two intervals say nothing of the cycles from one pipe to the other and back. */
    if (isfinite(raw.value) && isfinite(less.value))
        o->adjusted = (struct as_measure){raw.value - less.value, {NAN, NAN}};
}

static int operations_by_place(const void *x, const void *y)
{
    const struct as_operation *a = x, *b = y;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    int device = strcmp(a->device, b->device);
    if (device)
        return device;
    if (!a->word != !b->word)
        return a->word ? -1 : 1;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1; /* of one array */
    return strcmp(a->word ? a->form : a->name, b->word ? b->form : b->name);
}

bool as_operations_any(const struct as_report_run *run)
{
    for (size_t i = 0; i < run->cells_n; i++)
        if (as_operation_cell(&run->cells[i]))
            return true;
    return false;
}

enum as_status as_operations_make(const struct as_report_run *run, struct as_operation **out, size_t *n,
                                  struct as_error *err)
{
    size_t most = 1;
    *n = 0;
    for (size_t i = 0; i < run->cells_n; i++)
        most += as_operation_cell(&run->cells[i]);
    struct as_operation *rows = *out = calloc(most, sizeof *rows);
    if (!rows)
        return as_nomem(err, most * sizeof *rows, "operations");
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *c = &run->cells[i];
        if (!as_operation_cell(c))
            continue;
        struct as_operation *o = row_of(rows, n, c);
        const struct as_cell **slot = as_has_role(c, AS_VIEW_OPERATION_LATENCY) ? &o->latency : &o->throughput;
        if (as_operation_beats(c, *slot))
            *slot = c;
    }
    for (size_t i = 0; i < *n; i++)
        operations_derive(run, rows, *n, &rows[i]);
    qsort(rows, *n, sizeof *rows, operations_by_place);
    return AS_OK;
}

/* ---- how they are to be taken ---- */

static void status_of(const struct as_cell *c, struct as_buf *out)
{
    as_buf_str(out, as_cell_status_said(c->status));
    if (c->status == AS_CELL_REJECTED)
        as_report_failed_gates(c, out);
}

void as_operation_status(const struct as_operation *o, struct as_buf *out)
{
    if (!o->throughput || !o->latency) {
        status_of(o->throughput ? o->throughput : o->latency, out);
        return;
    }
    struct as_buf one = AS_BUF_INIT, other = AS_BUF_INIT;
    status_of(o->throughput, &one);
    status_of(o->latency, &other);
    as_buf_str(out, as_buf_get(&one));
    if (strcmp(as_buf_get(&one), as_buf_get(&other)) != 0)
        as_buf_printf(out, "; latency %s", as_buf_get(&other));
    out->failed |= one.failed || other.failed;
    as_buf_finish(&one);
    as_buf_finish(&other);
}

bool as_operation_is_valid(const struct as_operation *o)
{
    return (!o->throughput || as_cell_is_valid(o->throughput)) && (!o->latency || as_cell_is_valid(o->latency));
}
