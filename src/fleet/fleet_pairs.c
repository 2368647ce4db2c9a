#include "fleet/fleet_pairs.h"
#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static int by_ranks(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

/* Rounds in which each rank meets another. */
static void pairs_of_tournament(int ranks, int rounds, uint64_t seed, int *order, int (*pairs)[2], size_t *n)
{
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int round = 0; round < rounds; round++) {
        as_rng_shuffle(&rng, order, (size_t)ranks, sizeof *order);
        for (int i = 0; i + 1 < ranks; i += 2, ++*n) {
            pairs[*n][0] = order[i] < order[i + 1] ? order[i] : order[i + 1];
            pairs[*n][1] = order[i] < order[i + 1] ? order[i + 1] : order[i];
        }
    }
}

enum as_status as_link_pairs(int ranks, int all_up_to, uint64_t seed, int (**pairs)[2], size_t *n, struct as_error *err)
{
    const bool is_all = ranks <= all_up_to;
    const size_t most = is_all ? (size_t)ranks * (size_t)ranks / 2 + 1 : (size_t)all_up_to * (size_t)(ranks / 2) + 1;
    int *order = malloc(((size_t)ranks + 1) * sizeof *order);
    *n = 0;
    *pairs = malloc(most * sizeof **pairs);
    if (!*pairs || !order) {
        free(order);
        return as_nomem(err, most * sizeof **pairs, "pairs of ranks");
    }
    for (int i = 0; i < ranks && is_all; i++)
        for (int k = i + 1; k < ranks; k++, ++*n)
            (*pairs)[*n][0] = i, (*pairs)[*n][1] = k;
    if (!is_all)
        pairs_of_tournament(ranks, all_up_to, seed, order, *pairs, n);
    if (*n)
        qsort(*pairs, *n, sizeof **pairs, by_ranks);
    size_t kept = 0; /* a matching may repeat a pair */
    for (size_t i = 0; i < *n; i++)
        if (!kept || by_ranks((*pairs)[i], (*pairs)[kept - 1]) != 0)
            memcpy((*pairs)[kept++], (*pairs)[i], sizeof **pairs);
    *n = kept;
    free(order);
    return AS_OK;
}

void as_link_steps_finish(struct as_link_steps *s)
{
    free(s->items);
    free(s->first);
    *s = (struct as_link_steps){0};
}

/* Steps of several items while they are filled. */
struct step_table {
    struct shared_step {
        uint64_t kind;
        size_t step;
    } * v;
    size_t n, cap;
    unsigned char *taken; /* of each, `nodes` of them */
    size_t taken_cap, nodes;
};

static enum as_status step_open(struct step_table *t, uint64_t kind, size_t step, struct as_error *err)
{
    enum as_status st = as_grow((void **)&t->v, &t->cap, t->n + 1, sizeof *t->v, err);
    if (!st)
        st = as_grow((void **)&t->taken, &t->taken_cap, (t->n + 1) * t->nodes, 1, err);
    if (st)
        return st;
    memset(t->taken + t->n * t->nodes, 0, t->nodes);
    t->v[t->n++] = (struct shared_step){kind, step};
    return AS_OK;
}

/* The first step in which the item's nodes are free; *steps rises where that is a new one. */
static enum as_status step_find(struct step_table *t, const struct as_link_item *item, const int *node, size_t *steps,
                                size_t *out, struct as_error *err)
{
    const size_t a = (size_t)node[item->rank[0]], b = (size_t)node[item->rank[1]];
    size_t at = 0;
    if (item->alone) {
        *out = (*steps)++;
        return AS_OK;
    }
    while (at < t->n && (t->v[at].kind != item->kind || t->taken[at * t->nodes + a] || t->taken[at * t->nodes + b]))
        at++;
    const enum as_status st = at < t->n ? AS_OK : step_open(t, item->kind, (*steps)++, err);
    if (st)
        return st;
    t->taken[at * t->nodes + a] = t->taken[at * t->nodes + b] = 1;
    *out = t->v[at].step;
    return AS_OK;
}

/* Items by their steps. */
static void steps_list(const size_t *step_of, size_t n, struct as_link_steps *out)
{
    for (size_t i = 0; i < n; i++)
        out->first[step_of[i] + 1]++;
    for (size_t i = 0; i < out->n; i++) {
        out->widest = out->first[i + 1] > out->widest ? out->first[i + 1] : out->widest;
        out->first[i + 1] += out->first[i];
    }
    for (size_t i = n; i-- > 0;) /* from the end of each step, whose beginning is put right below */
        out->items[--out->first[step_of[i] + 1]] = i;
    memmove(out->first, out->first + 1, out->n * sizeof *out->first);
    out->first[out->n] = n;
}

enum as_status as_link_steps_make(const struct as_link_item *items, size_t n, const int *node, size_t nodes,
                                  uint64_t seed, struct as_link_steps *out, struct as_error *err)
{
    struct step_table t = {.nodes = nodes};
    size_t *order = malloc((n + 1) * sizeof *order), *step_of = malloc((n + 1) * sizeof *step_of);
    struct as_rng rng;
    *out = (struct as_link_steps){.items = malloc((n + 1) * sizeof *out->items),
                                  .first = calloc(n + 2, sizeof *out->first)};
    enum as_status st =
        order && step_of && out->items && out->first ? AS_OK : as_nomem(err, n * sizeof *order, "a schedule");
    for (size_t i = 0; i < n && !st; i++)
        order[i] = i;
    as_rng_seed(&rng, seed);
    if (!st)
        as_rng_shuffle(&rng, order, n, sizeof *order);
    for (size_t i = 0; i < n && !st; i++)
        st = step_find(&t, &items[order[i]], node, &out->n, &step_of[order[i]], err);
    if (!st)
        steps_list(step_of, n, out);
    else
        as_link_steps_finish(out);
    free(t.v);
    free(t.taken);
    free(order);
    free(step_of);
    return st;
}
