#include "report/operations/refs_cells.h"

#include "base/text.h"
#include "model/metrics.h"
#include "probe/view_role.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS_MAX = sizeof((struct as_ref *)0)->axes };

enum as_status as_ref_cells_make(const struct as_report_run *run, struct as_ref_cells *out, struct as_error *err)
{
    *out = (struct as_ref_cells){.run = run};
    return as_operations_make(run, &out->operations, &out->operations_n, err);
}

void as_ref_cells_finish(struct as_ref_cells *c)
{
    free(c->operations);
    *c = (struct as_ref_cells){0};
}

static bool has_axis(const struct as_ref *ref, const char *name)
{
    char value[AXIS_MAX];
    as_ref_axis(ref, name, value, sizeof value);
    return value[0] != 0;
}

/* ---- sequences of operations ---- */

static bool same_operation(const char *published, size_t n, const char *measured, size_t m)
{
    const char *ours = as_ref_our_name("", published, n);
    if (ours)
        return strlen(ours) == m && strncmp(ours, measured, m) == 0;
    return n == m && strncmp(published, measured, n) == 0;
}

/* "4*fadd16/ffma16" means "4*ffma16": the same count and one of the operations. */
static bool same_term(const char *published, size_t n, const char *measured, size_t m)
{
    const char *end = published + n, *star = memchr(published, '*', n), *own = memchr(measured, '*', m);
    const size_t count = star ? (size_t)(star - published) : 0, own_count = own ? (size_t)(own - measured) : 0;
    if (count != own_count || strncmp(published, measured, count) != 0)
        return false;
    measured += count + (count > 0);
    m -= count + (count > 0);
    for (published += count + (count > 0); published < end; published++) {
        const char *slash = memchr(published, '/', (size_t)(end - published));
        const char *stop = slash ? slash : end;
        if (same_operation(published, (size_t)(stop - published), measured, m))
            return true;
        published = stop;
    }
    return false;
}

bool as_ref_same_sequence(const char *published, const char *measured)
{
    for (;;) {
        const size_t n = strcspn(published, "+"), m = strcspn(measured, "+");
        if (!same_term(published, n, measured, m) || (published[n] == 0) != (measured[m] == 0))
            return false;
        if (!published[n])
            return true;
        published += n + 1;
        measured += m + 1;
    }
}

/* The cheapest cell of a sequence, over its numbers of chains. */
static const struct as_cell *cheapest(const struct as_report_run *run, const char *device, const char *sequence)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *c = &run->cells[i];
        if (as_has_role(c, AS_VIEW_OPERATION_SEQUENCES) && as_cell_is_evidence(c) &&
            (!device || strcmp(c->device, device) == 0) &&
            as_ref_same_sequence(sequence, as_axes_text(&c->axes, "mix")) &&
            (!best || c->sum.median < best->sum.median))
            best = c;
    }
    return best;
}

/* The source counts cycles in which each lane of a core could do an FMA of 32 bits. */
static bool of_sequence(const struct as_ref_cells *c, const struct as_ref *ref, struct as_ref_cell *out)
{
    char sequence[AXIS_MAX];
    as_ref_axis(ref, "mix", sequence, sizeof sequence);
    if (strcmp(ref->metric, "throughput") != 0 || strcmp(ref->unit, "cycles") != 0)
        return false;
    const struct as_cell *cell = cheapest(c->run, NULL, sequence);
    const struct as_cell *fma = cell ? cheapest(c->run, cell->device, "ffma32") : NULL;
    if (!fma || !(fma->sum.median > 0) || !as_ref_is_of_side(ref, cell->device))
        return false;
    const struct as_interval ci = as_number_interval_of_cell(cell), one = as_number_interval_of_cell(fma);
    out->cell = cell;
    out->measured = (struct as_measure){cell->sum.median / fma->sum.median, {ci.lo / one.hi, ci.hi / one.lo}};
    return true;
}

/* ---- cells by their axes ---- */

/* Is the value one of the words with '/' between them, '_' standing for a blank? */
static bool refs_cells_is_one_of(const char *words, const char *value)
{
    for (size_t n; *words; words += n + (words[n] == '/')) {
        n = strcspn(words, "/");
        size_t i = 0;
        while (i < n && value[i] && (words[i] == value[i] || (words[i] == '_' && value[i] == ' ')))
            i++;
        if (i == n && !value[i])
            return true;
    }
    return false;
}

static bool has_axes(const struct as_cell *cell, const struct as_ref *ref)
{
    char text[AXIS_MAX], *save = NULL;
    as_copy_text(text, sizeof text, ref->axes);
    for (char *one = strtok_r(text, " ", &save); one; one = strtok_r(NULL, " ", &save)) {
        char *value = strchr(one, '=');
        *value++ = 0;
        if (strcmp(one, "further") == 0)
            continue;
        if (!refs_cells_is_one_of(value, strcmp(one, "probe") == 0 ? cell->probe : as_axes_text(&cell->axes, one)))
            return false;
    }
    return true;
}

/* The cell's value, or that of the further metric that the figure names, in the figure's unit. */
static bool refs_cells_value_of(const struct as_cell *cell, const struct as_ref *ref, struct as_measure *out)
{
    char name[AXIS_MAX];
    struct as_metric_value further;
    as_ref_axis(ref, "further", name, sizeof name);
    *out = (struct as_measure){cell->sum.median, as_number_interval_of_cell(cell)};
    if (!name[0])
        return strcmp(cell->unit, ref->unit) == 0;
    if (!as_cell_metric(cell, name, &further))
        return false;
    *out = (struct as_measure){further.value, further.ci};
    return strcmp(further.unit, ref->unit) == 0;
}

static bool of_probe(const struct as_ref_cells *c, const struct as_ref *ref, struct as_ref_cell *out)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < c->run->cells_n; i++) {
        const struct as_cell *cell = &c->run->cells[i];
        struct as_measure m;
        if (as_cell_is_evidence(cell) && as_ref_is_of_side(ref, cell->device) && has_axes(cell, ref) &&
            refs_cells_value_of(cell, ref, &m) && (!best || as_cell_is_better(cell, best))) {
            best = cell;
            out->measured = m;
        }
    }
    out->cell = best;
    return best != NULL;
}

bool as_ref_is_of_operation(const struct as_ref *ref)
{
    return has_axis(ref, "op") && !has_axis(ref, "probe");
}

static bool of_operation(const struct as_ref_cells *c, const struct as_ref *ref, struct as_ref_cell *out)
{
    for (size_t i = 0; i < c->operations_n; i++) {
        const struct as_operation *o = &c->operations[i];
        if (!as_operation_of_ref(c->run, o, ref, &out->measured))
            continue;
        out->cell = o->throughput ? o->throughput : o->latency;
        return true;
    }
    return false;
}

bool as_ref_cells_find(const struct as_ref_cells *c, const struct as_ref *ref, struct as_ref_cell *out)
{
    if (has_axis(ref, "probe"))
        return of_probe(c, ref, out);
    if (has_axis(ref, "mix"))
        return of_sequence(c, ref, out);
    return as_ref_is_of_operation(ref) && of_operation(c, ref, out);
}
