/* The groups of an overview: the best of each, and the curve over sizes that it lies on. */
#include "base/text.h"
#include "report/overview_work.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(AS_OVERVIEW_GROUPS <= UCHAR_MAX, "a group's number fits a byte");

/* Numbers by which a group is shown; NULL: none is valid. */
struct extremes {
    const struct number *any, *best, *least, *most;
};

/* The axis by which the cells of a probe are told apart: the first with a few values; words->n when none fits. */
static size_t telling_axis(const struct probe_words *words)
{
    size_t i = 0;
    while (i < words->n && (words->of[i].n < 2 || words->of[i].n > WORDS_MAX))
        i++;
    return i;
}

static bool is_better(const struct number *a, const struct number *b)
{
    return a->lower_is_better ? a->median < b->median : a->median > b->median;
}

static void take_number(struct as_overview_group *g, struct extremes *e, const struct number *x)
{
    if (!x->valid) {
        g->rejected++;
        return;
    }
    g->valid++;
    if (!e->best || is_better(x, e->best))
        e->best = x;
    if (!e->least || x->median < e->least->median)
        e->least = x;
    if (!e->most || x->median > e->most->median)
        e->most = x;
}

static void find_groups(struct as_overview *o, struct extremes *extremes)
{
    struct overview_work *w = o->work;
    for (size_t i = 0; i < w->numbers_n; i++) {
        const struct number *x = &w->numbers[i];
        struct kind *kind = &w->kinds[x->kind];
        const struct scope *scope = &w->scopes[kind->scope];
        const struct probe_words *words = &w->words[scope->probe];
        const size_t axis = telling_axis(words), word = axis < words->n ? x->words >> 4 * axis & 15 : 0;
        if (!kind->group[word]) {
            if (o->groups_n == AS_OVERVIEW_GROUPS)
                return;
            extremes[o->groups_n].any = x;
            o->groups[o->groups_n++] =
                (struct as_overview_group){.probe = w->probes[scope->probe].name,
                                           .device = scope->device,
                                           .word = axis < words->n ? words->of[axis].values[word] : "",
                                           .least = NAN};
            kind->group[word] = (unsigned char)o->groups_n;
        }
        const size_t g = kind->group[word] - 1u;
        take_number(&o->groups[g], &extremes[g], x);
    }
}

static int by_size(const void *a, const void *b)
{
    const struct number *const *p = a, *const *q = b;
    return (*p)->size < (*q)->size ? -1 : (*p)->size > (*q)->size;
}

static void find_curve(const struct overview_work *w, const struct number *shown, struct as_overview_group *g)
{
    const struct number *points[AS_OVERVIEW_POINTS];
    for (size_t i = 0; i < w->numbers_n && g->points < AS_OVERVIEW_POINTS; i++)
        if (w->numbers[i].alike == shown->alike && w->numbers[i].valid && isfinite(w->numbers[i].size))
            points[g->points++] = &w->numbers[i];
    qsort(points, g->points, sizeof(points[0]), by_size);
    for (size_t i = 0; i < g->points; i++) {
        g->size[i] = points[i]->size;
        g->number[i] = points[i]->median;
    }
}

static void find_varying(const struct scope *scope, struct as_overview_group *g)
{
    for (size_t a = 0; a < g->shown->axes.n; a++) {
        const struct as_axis_value *first = as_axes_get(&scope->first, g->shown->axes.v[a].name);
        g->varies[a] = !first || scope->varies[first - scope->first.v];
    }
}

static enum as_status finish_group(const struct overview_work *w, const struct extremes *e, as_cell_fetch fetch,
                                   void *user, struct as_overview_group *g, struct as_error *err)
{
    if (!e->any)
        return AS_OK;
    const struct kind *kind = &w->kinds[e->any->kind];
    /* Counts have no best cell: any lost update matters. */
    const bool counted = e->best && as_unit_is_count(kind->unit) && e->most->median > e->least->median;
    const struct number *shown = counted ? e->most : e->best ? e->best : g->rejected == 1 ? e->any : NULL;
    if (!shown)
        return AS_OK;
    if (counted)
        g->least = e->least->median;
    if (e->best)
        find_curve(w, shown, g);
    g->shown = malloc(sizeof *g->shown);
    if (!g->shown)
        return as_nomem(err, sizeof *g->shown, "a cell");
    enum as_status s = fetch(user, shown->handle, g->shown, err);
    if (s) {
        free(g->shown);
        g->shown = NULL;
        return s;
    }
    as_cell_finish(g->shown); /* only its axes and summary are needed */
    find_varying(&w->scopes[kind->scope], g);
    return AS_OK;
}

enum as_status as_overview_end(struct as_overview *o, as_cell_fetch fetch, void *user, struct as_error *err)
{
    struct overview_work *w = o->work;
    struct extremes *extremes = calloc(AS_OVERVIEW_GROUPS, sizeof *extremes);
    o->groups = calloc(AS_OVERVIEW_GROUPS, sizeof *o->groups);
    enum as_status s = AS_OK;
    if (!extremes || !o->groups)
        s = as_nomem(err, AS_OVERVIEW_GROUPS * sizeof *o->groups, "groups of cells");
    else
        find_groups(o, extremes);
    for (size_t i = 0; i < o->groups_n && !s; i++)
        s = finish_group(w, &extremes[i], fetch, user, &o->groups[i], err);
    free(extremes);
    free(w->numbers);
    w->numbers = NULL;
    w->numbers_n = w->numbers_cap = 0;
    return s;
}
