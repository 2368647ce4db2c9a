/* The order of cells: levels for thinning the plan, random orders, and the gain per second. */
#include "run/engine.h"

#include "base/clock.h"
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Grids of fewer values are not thinned. */
enum { THINNED_FROM = 5 };
/* Widths are capped here: a cell that never gets precise must not starve the others. */
static const double WIDTH_MAX = 0.5;
static const double CONFIDENCE = 0.95;

/* Cells of one probe on one device, indices in order of the plan. */
struct group {
    const struct as_engine *e;
    const size_t *cell;
    size_t n;
};

static const struct as_engine *sorted_engine; /* of by_probe; the parent has one thread */

static int by_probe(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct as_cell *p = &sorted_engine->cells[x], *q = &sorted_engine->cells[y];
    int c = strcmp(p->device, q->device);
    c = c ? c : strcmp(p->probe, q->probe);
    return c ? c : (x > y) - (x < y);
}

static bool same_group(const struct as_engine *e, size_t a, size_t b)
{
    return strcmp(e->cells[a].device, e->cells[b].device) == 0 && strcmp(e->cells[a].probe, e->cells[b].probe) == 0;
}

/* 0 for every fourth value of the grid and its last, 1 for those half-way between, 2 for the others. */
static int density(const double *values, size_t n, double v)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (values[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo % 4 == 0 || lo == n - 1 ? 0 : lo % 2 == 0 ? 1 : 2;
}

/* The smallest value within each factor of two, and the last; of counts those that are left out last. */
static bool is_coarse(const struct as_axis *axis, const double *values, size_t n, double v)
{
    if (axis->type != AS_AXIS_SIZE)
        return n < THINNED_FROM || density(values, n, v) == 0;
    size_t i = 0;
    while (i + 1 < n && values[i] < v)
        i++;
    return i == 0 || i == n - 1 || floor(log2(v)) > floor(log2(values[i - 1]));
}

static void rank_axis(const struct group *g, const struct as_axis *axis, unsigned bit, double *values)
{
    const char *name = axis->name;
    size_t n = 0, unique = 0;
    for (size_t k = 0; k < g->n; k++) {
        const double v = as_axes_number(&g->e->cells[g->cell[k]].axes, name);
        if (isfinite(v))
            values[n++] = v;
    }
    as_sort(values, n);
    for (size_t k = 0; k < n; k++)
        if (unique == 0 || values[k] > values[unique - 1])
            values[unique++] = values[k];
    for (size_t k = 0; k < g->n; k++) {
        const double v = as_axes_number(&g->e->cells[g->cell[k]].axes, name);
        struct as_progress *p = &g->e->progress[g->cell[k]];
        p->coarse |= !isfinite(v) || is_coarse(axis, values, unique, v) ? bit : 0;
        if (unique < THINNED_FROM)
            continue;
        const int level = isfinite(v) ? density(values, unique, v) : 0;
        p->level = level > p->level ? level : p->level;
    }
}

static void rank_allocators(const struct group *g, const char *name, unsigned bit)
{
    const char *first = as_axes_text(&g->e->cells[g->cell[0]].axes, name);
    for (size_t k = 0; k < g->n; k++)
        if (strcmp(as_axes_text(&g->e->cells[g->cell[k]].axes, name), first) == 0)
            g->e->progress[g->cell[k]].coarse |= bit;
}

static void rank_group(const struct group *g, double *values)
{
    const struct as_probe *probe = as_probe_find(g->e->cells[g->cell[0]].probe);
    for (size_t i = 0; probe && probe->axes[i].name; i++)
        if (probe->axes[i].type != AS_AXIS_WORD)
            rank_axis(g, &probe->axes[i], 1u << i, values);
    for (size_t i = 0; probe && probe->axes[i].name; i++)
        if (probe->axes[i].domain == AS_DOMAIN_ALLOCATOR)
            rank_allocators(g, probe->axes[i].name, 1u << i);
}

static uint64_t order_arena_of(const struct as_cell *cell)
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    uint64_t h = as_hash(cell->device, strlen(cell->device));
    for (const struct as_axis *a = probe ? probe->axes : NULL; a && a->name; a++) {
        if (a->domain != AS_DOMAIN_ALLOCATOR && strcmp(a->name, "pages") != 0)
            continue;
        const char *text = as_axes_text(&cell->axes, a->name);
        const uint64_t pair[] = {h, as_hash(text, strlen(text))};
        h = as_hash(pair, sizeof pair);
    }
    return h;
}

static void rank_first(const struct as_engine *e, const struct as_cell *cell, struct as_progress *p)
{
    const struct as_slot *slot = as_engine_slot(e, cell);
    const struct as_probe *probe = as_probe_find(cell->probe);
    if (probe)
        p->first = as_quantity_order_of(slot ? &slot->info : NULL, probe, cell, p->coarse, &p->place);
}

enum as_status as_engine_rank(struct as_engine *e, struct as_error *err)
{
    const size_t n = e->sentinels_first;
    size_t *order = calloc(n ? n : 1, sizeof *order);
    double *values = calloc(n ? n : 1, sizeof *values);
    for (size_t i = 0; order && values && i < n; i++) {
        order[i] = i;
        e->progress[i].level = 0;
        e->progress[i].coarse = 0;
        e->progress[i].arena = order_arena_of(&e->cells[i]);
    }
    if (order && values) {
        sorted_engine = e;
        qsort(order, n, sizeof *order, by_probe);
        for (size_t i = 0, k; i < n; i = k) {
            for (k = i + 1; k < n && same_group(e, order[i], order[k]); k++)
                ;
            rank_group(&(struct group){e, order + i, k - i}, values);
        }
    }
    for (size_t i = 0; i < n; i++)
        rank_first(e, &e->cells[i], &e->progress[i]);
    const bool failed = !order || !values;
    free(order);
    free(values);
    return failed ? as_nomem(err, n * sizeof *order, "the order of measurements") : as_engine_group(e, err);
}

struct place {
    size_t cell;
    enum as_quantity_order first;
    size_t place; /* among the first */
    double bytes;
    int level;
    uint64_t group, own; /* random */
};

static int order_by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->own > y->own) - (x->own < y->own);
}

void as_engine_shuffle(const struct as_engine *e, size_t *order, size_t n, uint64_t seed, enum as_order by)
{
    struct place *t = calloc(n ? n : 1, sizeof *t);
    for (size_t i = 0; t && i < n; i++) {
        const struct as_progress *p = &e->progress[order[i]];
        const struct as_cell *c = &e->cells[order[i]];
        const bool is_other = by != AS_ORDER_RANDOM && !p->first;
        t[i] = (struct place){.cell = order[i],
                              .first = by != AS_ORDER_RANDOM ? p->first : AS_QUANTITY_OF_NONE,
                              .place = by == AS_ORDER_FIRST_ROUND ? p->place : 0,
                              .level = is_other ? p->level : 0,
                              .bytes = is_other ? as_engine_bytes_of(c) : 0,
                              .group = as_hash(&(uint64_t[]){seed, p->arena}, 2 * sizeof(uint64_t)),
                              .own = as_hash(&(uint64_t[]){seed, c->key, order[i]}, 3 * sizeof(uint64_t))};
    }
    if (t) { /* out of memory: keep the order of the plan */
        qsort(t, n, sizeof *t, order_by_place);
        for (size_t i = 0; i < n; i++)
            order[i] = t[i].cell;
    }
    free(t);
}

/* Narrowing per second by one more trial, in units of the requested width; 0: none. The width of Student's interval is
 * proportional to t / sqrt(trials). */
static double gain_of(const struct as_engine *e, size_t i)
{
    const struct as_progress *p = &e->progress[i];
    const struct as_cell *c = &e->cells[i];
    const double asked = 0.5 * c->precision;
    if (p->over || p->left_out || c->status == AS_CELL_REJECTED)
        return 0;
    if (p->counted == 0)
        return p->trials ? 0 : INFINITY;
    const double width = fmin(as_cell_width(c), WIDTH_MAX);
    if (!(width > asked) || (!isfinite(e->deadline) && p->trials >= e->rounds + AS_EXTRA_TRIALS))
        return 0;
    const unsigned df = (unsigned)p->counted;
    const double narrower = sqrt(df / (df + 1.0)) * as_student(df + 1, CONFIDENCE) / as_student(df, CONFIDENCE);
    return width * (1 - narrower) / asked / fmax(p->took_s, 1e-3);
}

struct gain {
    size_t cell;
    double gain;
};

static int largest_first(const void *a, const void *b)
{
    const struct gain *x = a, *y = b;
    return (x->gain < y->gain) - (x->gain > y->gain);
}

void as_engine_by_gain(const struct as_engine *e, size_t *order, size_t *n)
{
    struct gain *g = calloc(e->sentinels_first ? e->sentinels_first : 1, sizeof *g);
    *n = 0;
    for (size_t i = 0; g && i < e->sentinels_first; i++) {
        const double gain = gain_of(e, i);
        if (gain > 0)
            g[(*n)++] = (struct gain){i, gain};
    }
    if (g)
        qsort(g, *n, sizeof *g, largest_first);
    for (size_t i = 0; i < *n; i++)
        order[i] = g[i].cell;
    free(g);
}
