#include "report/backends/backend_pairs.h"
#include "base/clock.h"
#include "base/text.h"
#include "probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Smaller differences are irrelevant, however significant. */
static const double TOLERANCE = 0.01;

/* ---- which devices are one ---- */

bool as_is_same_hardware(const struct as_device_info *a, const struct as_device_info *b, char *how, size_t size)
{
    return strcmp(a->backend, b->backend) != 0 && as_info_same_hardware(a, b, how, size);
}

/* ---- which cells are asked for alike ---- */

struct candidate {
    const struct as_cell *cell;
    uint64_t key; /* of everything but the allocator */
    bool second;  /* of the second device */
};

/* A device API always uses all threads of the CPU. */
static const char *axis_text(const struct as_device_info *info, const struct as_axis_value *v)
{
    bool all = (info->capabilities & AS_CAP_HOST_KERNELS) && strcmp(v->name, "threads") == 0 && info->threads > 0 &&
               v->number == info->threads;
    return all ? "0" : v->text;
}

static uint64_t backend_pairs_key_of(const struct as_device_info *info, const struct as_cell *c)
{
    const char *const names[] = {c->probe, c->metric, c->unit};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t chain[2] = {h, as_hash(names[i], strlen(names[i]))};
        h = as_hash(chain, sizeof chain);
    }
    for (size_t i = 0; i < c->axes.n; i++) {
        const struct as_axis_value *v = &c->axes.v[i];
        const char *text = axis_text(info, v);
        if (strcmp(v->name, "allocator") == 0)
            continue;
        uint64_t both[2] = {as_hash(v->name, strlen(v->name)), as_hash(text, strlen(text))};
        h += as_hash(both, sizeof both); /* a sum: the order of the axes does not matter */
    }
    return h;
}

static int by_key(const void *pa, const void *pb)
{
    const struct candidate *a = pa, *b = pb;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->second != b->second)
        return a->second ? 1 : -1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

struct list {
    struct as_backend_pair *v;
    size_t n, cap;
};

static enum as_status add_twin(struct list *l, const struct as_cell *a, const struct as_cell *b, bool aside,
                               struct as_error *err)
{
    void *grown = l->v;
    enum as_status st = as_grow(&grown, &l->cap, l->n + 1, sizeof *l->v, err);
    l->v = grown;
    if (!st)
        l->v[l->n++] =
            (struct as_backend_pair){.a = a,
                                     .b = b,
                                     .allocators_differ = aside,
                                     .comparison = {NAN, {NAN, NAN}, AS_CANNOT_TELL, {NAN, NAN}, {NAN, NAN}}};
    return st;
}

/* Probes that default to all allocators compare allocators; others use one only as a source of memory. */
static bool asks_of_allocators(const struct as_cell *c)
{
    const struct as_probe *probe = as_probe_find(c->probe);
    const struct as_axis *axis = probe ? as_probe_axis(probe, "allocator") : NULL;
    return axis && axis->def && strcmp(axis->def, "all") == 0;
}

/* Cells of one key: first[0..na) of the first device, first[na..n) of the second. */
static enum as_status match_group(struct list *l, const struct candidate *first, size_t na, size_t n,
                                  struct as_error *err)
{
    enum as_status st = AS_OK;
    bool exact = false;
    const struct as_cell *best[2] = {NULL, NULL};
    for (size_t i = 0; i < n; i++) {
        const struct as_cell **b = &best[first[i].second];
        if (!*b || as_cell_is_better(first[i].cell, *b))
            *b = first[i].cell;
    }
    for (size_t i = 0; i < na && !st; i++)
        for (size_t k = na; k < n && !st; k++) {
            const struct as_cell *a = first[i].cell, *b = first[k].cell;
            if (strcmp(as_axes_text(&a->axes, "allocator"), as_axes_text(&b->axes, "allocator")) == 0) {
                st = add_twin(l, a, b, false, err);
                exact = true;
                break;
            }
        }
    /* Counts and costs of one allocator do not compare with another's. */
    if (!st && !exact && best[0] && best[1] && !as_unit_is_count(best[0]->unit) && strcmp(best[0]->unit, "x") != 0 &&
        !asks_of_allocators(best[0]))
        st = add_twin(l, best[0], best[1], true, err);
    return st;
}

static enum as_status match_devices(const struct as_report_run *run, const struct as_device_info *a,
                                    const struct as_device_info *b, struct candidate *scratch, struct list *l,
                                    struct as_error *err)
{
    size_t n = 0;
    enum as_status st = AS_OK;
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *c = &run->cells[i];
        bool first = strcmp(c->device, a->id) == 0, second = strcmp(c->device, b->id) == 0;
        if ((first || second) && as_cell_is_valid(c))
            scratch[n++] = (struct candidate){c, backend_pairs_key_of(first ? a : b, c), second};
    }
    if (n > 1)
        qsort(scratch, n, sizeof *scratch, by_key);
    for (size_t i = 0, end; i < n && !st; i = end) {
        size_t na = 0;
        for (end = i; end < n && scratch[end].key == scratch[i].key; end++)
            na += !scratch[end].second;
        st = match_group(l, &scratch[i], na, end - i, err);
    }
    return st;
}

/* ---- comparing ---- */

bool as_backend_pair_differs(const struct as_backend_pair *t)
{
    return t->comparison.verdict == AS_FASTER || t->comparison.verdict == AS_SLOWER;
}

static int by_difference(const void *pa, const void *pb)
{
    const struct as_backend_pair *a = pa, *b = pb;
    int device = strcmp(a->a->device, b->a->device);
    if (!device)
        device = strcmp(a->b->device, b->b->device);
    if (device)
        return device;
    if (as_backend_pair_differs(a) != as_backend_pair_differs(b))
        return as_backend_pair_differs(a) ? -1 : 1;
    double x = fabs(log(a->comparison.ratio)), y = fabs(log(b->comparison.ratio));
    if (isfinite(x) && isfinite(y) && x != y)
        return x > y ? -1 : 1;
    if (isfinite(x) != isfinite(y))
        return isfinite(x) ? -1 : 1;
    return (a->a->index > b->a->index) - (a->a->index < b->a->index);
}

enum as_status as_backend_pairs_make(struct as_report_run *run, struct as_error *err)
{
    struct list l = {0};
    struct candidate *scratch = NULL;
    enum as_status st = AS_OK;
    char how[64];
    for (size_t i = 0; i < run->devices_n && !st; i++)
        for (size_t k = i + 1; k < run->devices_n && !st; k++) {
            if (!as_is_same_hardware(&run->devices[i], &run->devices[k], how, sizeof how))
                continue;
            if (!scratch && !(scratch = malloc((run->cells_n + 1) * sizeof *scratch)))
                st = as_nomem(err, run->cells_n * sizeof *scratch, "measurements of two backends");
            if (!st)
                st = match_devices(run, &run->devices[i], &run->devices[k], scratch, &l, err);
        }
    for (size_t i = 0; i < l.n && !st; i++)
        as_compare(&l.v[i].a->sum, &l.v[i].b->sum, l.v[i].a->lower_is_better, TOLERANCE, &l.v[i].comparison);
    free(scratch);
    if (st) {
        free(l.v);
        return st;
    }
    if (l.n > 1)
        qsort(l.v, l.n, sizeof *l.v, by_difference);
    run->backend_pairs = l.v;
    run->backend_pairs_n = l.n;
    return AS_OK;
}

size_t as_backend_pairs_end(const struct as_report_run *run, size_t from)
{
    const struct as_backend_pair *t = run->backend_pairs;
    size_t end = from + 1;
    while (end < run->backend_pairs_n && strcmp(t[end].a->device, t[from].a->device) == 0 &&
           strcmp(t[end].b->device, t[from].b->device) == 0)
        end++;
    return end;
}

void as_backend_pairs_summary(struct as_buf *b, const struct as_backend_pair *backend_pairs, size_t n)
{
    size_t differ = 0, same = 0;
    for (size_t i = 0; i < n; i++) {
        differ += as_backend_pair_differs(&backend_pairs[i]);
        same += backend_pairs[i].comparison.verdict == AS_SAME;
    }
    as_buf_printf(b, "%zu of %zu measurements on both devices differ by more than their intervals", differ, n);
    if (same)
        as_buf_printf(b, ", %zu %s the same", same, same == 1 ? "is" : "are");
    if (differ + same < n)
        as_buf_printf(b, ", %zu inconclusive", n - differ - same);
}
