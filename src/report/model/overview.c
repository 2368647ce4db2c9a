#include "report/model/overview.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Do the texts differ only in a number, with its prefix: "1 MiB is too small" and "512 KiB is too small"? */
static bool overview_texts_alike(const char *a, const char *b)
{
    static const char digits[] = "0123456789.", units[] = " KMGTiB";
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, digits);
            b += strspn(b, digits);
            a += strspn(a, units);
            b += strspn(b, units);
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

/* The reason of a rejected cell is its failed gates, per probe; what a device lacks is one reason over all probes. */
static bool overview_same_reason(const struct as_cell *a, const struct as_cell *b)
{
    if (a->status != b->status || strcmp(a->device, b->device) != 0)
        return false;
    if (a->status != AS_CELL_REJECTED)
        return overview_texts_alike(a->reason, b->reason);
    if (strcmp(a->probe, b->probe) != 0)
        return false;
    for (int g = 0; g < AS_GATE_N; g++)
        if ((a->gates[g].state == AS_GATE_FAIL) != (b->gates[g].state == AS_GATE_FAIL))
            return false;
    return true;
}

static void add_probe(struct as_missing_reason *r, const char *probe)
{
    size_t k = 0;
    while (k < r->probes_n && strcmp(r->probes[k], probe) != 0)
        k++;
    if (k == r->probes_n && k < AS_MISSING_PROBES)
        as_copy_text(r->probes[r->probes_n++], sizeof *r->probes, probe);
}

enum as_status as_missing_add(struct as_missing *m, const struct as_cell *cell, struct as_error *err)
{
    size_t k = 0;
    if (as_cell_is_valid(cell))
        return AS_OK;
    while (k < m->n && !overview_same_reason(&m->reasons[k].first, cell))
        k++;
    if (k == AS_MISSING_REASONS) {
        m->more.cells++;
        add_probe(&m->more, cell->probe);
        return AS_OK;
    }
    if (!m->reasons && !(m->reasons = calloc(AS_MISSING_REASONS, sizeof *m->reasons)))
        return as_nomem(err, AS_MISSING_REASONS * sizeof *m->reasons, "reasons");
    if (k == m->n) {
        struct as_missing_reason *r = &m->reasons[m->n++];
        r->first = *cell;
        r->first.detail = r->first.metrics = r->first.answers = NULL;
        r->first.samples = NULL;
        r->first.sample_trial = NULL;
        r->cells = r->probes_n = 0;
    }
    m->reasons[k].cells++;
    add_probe(&m->reasons[k], cell->probe);
    return AS_OK;
}

void as_missing_finish(struct as_missing *m)
{
    free(m->reasons);
    *m = (struct as_missing){0};
}

void as_overview_finish(struct as_overview *o)
{
    as_missing_finish(&o->missing);
    free(o->probes);
    free(o->measured);
    *o = (struct as_overview){0};
}

/* Index of the cell's probe, added when new. */
static enum as_status find_probe(struct as_overview *o, const char *name, size_t *out, struct as_error *err)
{
    size_t i = o->probes_n; /* from the last: cells of a probe are adjacent */
    while (i > 0 && strcmp(o->probes[i - 1].name, name) != 0)
        i--;
    *out = i ? i - 1 : o->probes_n;
    if (i)
        return AS_OK;
    enum as_status st = as_grow((void **)&o->probes, &o->probes_cap, o->probes_n + 1, sizeof *o->probes, err);
    if (st)
        return st;
    o->probes[o->probes_n] = (struct as_overview_probe){0};
    as_copy_text(o->probes[o->probes_n++].name, sizeof o->probes->name, name);
    return AS_OK;
}

enum as_status as_overview_add(struct as_overview *o, const struct as_cell *cell, int64_t handle, struct as_error *err)
{
    size_t probe;
    enum as_status st = as_missing_add(&o->missing, cell, err);
    o->cells++;
    o->by_status[cell->status]++;
    if (!st)
        st = find_probe(o, cell->probe, &probe, err);
    if (st)
        return st;
    o->probes[probe].cells++;
    o->probes[probe].valid += as_cell_is_valid(cell);
    const bool measured = cell->sum.n && isfinite(cell->sum.median),
               waits = cell->status == AS_CELL_SKIPPED || cell->status == AS_CELL_PLANNED;
    if (!measured && (!waits || o->waiting == AS_OVERVIEW_WAITING_MAX))
        return AS_OK;
    o->probes[probe].measured += measured;
    o->waiting += !measured;
    st = as_grow((void **)&o->measured, &o->measured_cap, o->measured_n + 1, sizeof *o->measured, err);
    if (!st)
        o->measured[o->measured_n++] = (struct as_overview_handle){handle, probe};
    return st;
}
