/* Where a budget may end before every cell has a trial, groups of cells share the time: the memories of each probe and
 * device, and in each the kinds of measurement. The group that has had the least goes next. */
#include "run/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Estimated time to fill one byte. A cell that is not measured yet counts with this, so that large cells wait for cheap
 * ones; then its measured time counts. */
static const double SECONDS_PER_BYTE = 1e-9;

/* Longer than any trial in bursts: sustained ones, each a kind of its own, come after the sizes of curves. */
static const double SUSTAINED_S = 2;

/* Axes that count what takes memory, with the least bytes of each. */
static const struct {
    const char *axis;
    double bytes;
} counted[] = {{"pages", 4096}, {"elements", 4}};

double as_engine_bytes_of(const struct as_cell *cell)
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    double bytes = 0;
    if (probe && probe->untouched && probe->untouched(&cell->axes))
        return 0;
    for (const struct as_axis *a = probe ? probe->axes : NULL; a && a->name; a++)
        if (a->type == AS_AXIS_SIZE)
            bytes = fmax(bytes, as_axes_number(&cell->axes, a->name));
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        bytes = fmax(bytes, counted[i].bytes * as_axes_number(&cell->axes, counted[i].axis));
    return bytes;
}

/* Of a trial of a cell that is not measured yet. */
static double seconds_expected(const struct as_cell *cell)
{
    return SECONDS_PER_BYTE * as_engine_bytes_of(cell) +
           (strcmp(as_axes_text(&cell->axes, "hold"), "sustained") == 0 ? SUSTAINED_S : 0);
}

/* ---- groups ---- */

static uint64_t hash_more(uint64_t h, const char *text)
{
    return as_hash(&(uint64_t[]){h, as_hash(text, strlen(text))}, 2 * sizeof(uint64_t));
}

/* Each level has the names of the one above it. */
static void name_groups(const struct as_cell *cell, uint64_t name[AS_FAIR_LEVELS])
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    const struct as_axis none = {0}, *axes = probe ? probe->axes : &none;
    name[AS_FAIR_ALL] = 0;
    name[AS_FAIR_MEMORY] = hash_more(as_hash(cell->device, strlen(cell->device)), cell->probe);
    for (const struct as_axis *a = axes; a->name; a++)
        if (a->domain == AS_DOMAIN_ALLOCATOR)
            name[AS_FAIR_MEMORY] = hash_more(name[AS_FAIR_MEMORY], as_axes_text(&cell->axes, a->name));
    name[AS_FAIR_KIND] = hash_more(name[AS_FAIR_MEMORY], as_axes_text(&cell->axes, AS_STATE_AXIS));
    for (const struct as_axis *a = axes; a->name; a++)
        if (a->type == AS_AXIS_WORD && a->domain != AS_DOMAIN_ALLOCATOR)
            name[AS_FAIR_KIND] = hash_more(name[AS_FAIR_KIND], as_axes_text(&cell->axes, a->name));
}

struct named {
    uint64_t name;
    size_t cell;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

enum as_status as_engine_group(struct as_engine *e, struct as_error *err)
{
    const size_t n = e->sentinels_first;
    struct named *all = calloc(n ? n : 1, sizeof *all);
    if (!all)
        return as_nomem(err, n * sizeof *all, "the order of measurements");
    for (int level = 0; level < AS_FAIR_LEVELS; level++) {
        for (size_t i = 0; i < n; i++) {
            uint64_t name[AS_FAIR_LEVELS];
            name_groups(&e->cells[i], name);
            all[i] = (struct named){name[level], i};
        }
        qsort(all, n, sizeof *all, by_name);
        for (size_t i = 0, first = 0; i < n; i++) {
            first = all[i].name == all[first].name ? first : i;
            e->progress[all[i].cell].fair[level].group = all[first].cell;
        }
    }
    free(all);
    return AS_OK;
}

/* ---- the next cell ---- */

static struct as_fair *group_of(const struct as_engine *e, size_t cell, int level)
{
    return &e->progress[e->progress[cell].fair[level].group].fair[level];
}

static void add_up_time(const struct as_engine *e)
{
    for (size_t i = 0; i < e->sentinels_first; i++)
        for (int level = 0; level < AS_FAIR_LEVELS; level++) {
            e->progress[i].fair[level].spent_s = 0;
            e->progress[i].fair[level].has_next = false;
        }
    for (size_t i = 0; i < e->sentinels_first; i++)
        for (int level = 0; level < AS_FAIR_LEVELS; level++)
            group_of(e, i, level)->spent_s += e->cells[i].duration_s;
}

/* Sets each group's next cell: from the subgroup with the least time after running it. Ties, and the innermost level,
 * go by order. */
static void find_next(const struct as_engine *e, const size_t *order, size_t n, int level)
{
    const bool is_innermost = level + 1 == AS_FAIR_LEVELS;
    for (size_t k = 0; k < n; k++) {
        const struct as_fair *inside = is_innermost ? NULL : group_of(e, order[k], level + 1);
        struct as_fair *group = group_of(e, order[k], level);
        if (inside && inside->next != k)
            continue;
        const double then = inside ? inside->spent_s + seconds_expected(&e->cells[order[k]]) : 0;
        if (group->has_next && group->next_s <= then)
            continue;
        *group = (struct as_fair){
            .group = group->group, .spent_s = group->spent_s, .has_next = true, .next = k, .next_s = then};
    }
}

void as_engine_fair_next(const struct as_engine *e, size_t *order, size_t n)
{
    if (n < 2)
        return;
    add_up_time(e);
    for (int level = AS_FAIR_LEVELS; level-- > 0;)
        find_next(e, order, n, level);
    const size_t at = group_of(e, order[0], AS_FAIR_ALL)->next, cell = order[at];
    memmove(order + 1, order, at * sizeof *order); /* the others keep their order */
    order[0] = cell;
}
