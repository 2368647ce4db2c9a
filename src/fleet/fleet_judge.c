/* Who is slow: every line of the fleet, and all findings against chance together. */
#include "fleet/fleet.h"
#include "quantity/quantity.h"

#include <math.h>
#include <stdlib.h>

/* Observations of a line that are judged together, and where their verdicts go. */
struct fleet_group {
    struct as_observation *obs;
    uint32_t *device;
    struct as_deviation *of_device, *of_node;
    double *y;
    size_t n;
};
/* Verdicts that are not by themselves chance: the others need not be kept. */
struct fleet_candidates {
    struct as_fleet_finding *v;
    size_t n, cap;
};
static const double LIKELY_CHANCE = 0.05;

static bool group_begin(struct fleet_group *g, size_t n, size_t nodes)
{
    *g = (struct fleet_group){.obs = malloc((n + 1) * sizeof *g->obs),
                              .device = malloc((n + 1) * sizeof *g->device),
                              .of_device = malloc((n + 1) * sizeof *g->of_device),
                              .of_node = malloc((nodes + 1) * sizeof *g->of_node),
                              .y = malloc((n + 1) * sizeof *g->y)};
    return g->obs && g->device && g->of_device && g->of_node && g->y;
}

static void group_end(struct fleet_group *g)
{
    free(g->obs);
    free(g->device);
    free(g->of_device);
    free(g->of_node);
    free(g->y);
}

static enum as_status candidates_add(struct fleet_candidates *c, const struct as_fleet_finding *found,
                                     struct as_error *err)
{
    const enum as_status st = as_grow((void **)&c->v, &c->cap, c->n + 1, sizeof *c->v, err);
    if (!st)
        c->v[c->n++] = *found;
    return st;
}

/* The median of the node's devices in the group. */
static double median_of_node(const struct fleet_group *g, uint32_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->obs[i].node == node)
            g->y[n++] = g->obs[i].y;
    return as_median(g->y, n);
}

static enum as_status collect_candidates(const struct as_fleet *f, size_t line, const struct fleet_group *g,
                                         struct fleet_candidates *c, struct as_fleet_judged *out, struct as_error *err)
{
    const bool lower = as_quantity_lower_is_better(f->lines[line].of);
    enum as_status st = AS_OK;
    for (size_t i = 0; i < g->n + f->nodes_n && !st; i++) {
        const bool whole = i >= g->n;
        const struct as_deviation *d = whole ? &g->of_node[i - g->n] : &g->of_device[i];
        if (!isfinite(d->effect))
            continue;
        const uint32_t node = whole ? (uint32_t)(i - g->n) : g->obs[i].node;
        out->tests++;
        out->compared[node] = true;
        if (d->p > LIKELY_CHANCE)
            continue;
        const double y = whole ? median_of_node(g, node) : g->obs[i].y;
        const struct as_fleet_finding found = {.line = line,
                                               .node = node,
                                               .device = whole ? AS_FLEET_WHOLE_NODE : g->device[i],
                                               .deviation = *d,
                                               .value = exp(y),
                                               .others = exp(y - d->effect),
                                               .worse = lower == (d->effect > 0)};
        st = candidates_add(c, &found, err);
    }
    return st;
}

/* Of two clusters the one that scatters more counts. */
static void reach_of_group(struct fleet_group *g, struct as_fleet_reach *out)
{
    size_t n = 0;
    double df = NAN;
    for (size_t i = 0; i < g->n; i++)
        if (isfinite(g->of_device[i].effect)) {
            g->y[n++] = g->of_device[i].spread;
            df = g->of_device[i].df;
        }
    const double spread = n ? as_median(g->y, n) : NAN;
    for (size_t i = n = 0; i < g->n; i++)
        if (isfinite(g->of_device[i].effect))
            g->y[n++] = g->obs[i].error;
    if (n && !(out->spread >= spread))
        *out = (struct as_fleet_reach){.spread = spread, .error = as_median(g->y, n), .df = df};
}

const char *as_fleet_limit_word(enum as_fleet_limit limit)
{
    static const char *const words[] = {[AS_FLEET_BY_IGNORED] = "--min-deviation",
                                        [AS_FLEET_BY_DEVICES] = "few devices",
                                        [AS_FLEET_BY_PRECISION] = "precision",
                                        [AS_FLEET_BY_SCATTER] = "scatter"};
    return words[limit];
}

/* One finding among all comparisons is what Benjamini and Hochberg ask most of. */
static void complete_reach(const struct as_fleet_judged *j, const struct as_fleet_asked *asked,
                           struct as_fleet_reach *r)
{
    static const double MANY_DEVICES = 1e6, FEW = 1.5;
    const double p = asked->fdr / (double)(j->tests ? j->tests : 1), ignored = log1p(asked->ignored);
    const double least = as_outliers_least(r->spread, r->df, p, ignored);
    r->least = expm1(least);
    r->limit = least <= ignored                                                 ? AS_FLEET_BY_IGNORED
               : least > FEW * as_outliers_least(r->spread, MANY_DEVICES, p, 0) ? AS_FLEET_BY_DEVICES
               : 2 * r->error * r->error > r->spread * r->spread                ? AS_FLEET_BY_PRECISION
                                                                                : AS_FLEET_BY_SCATTER;
}

/* Units between two values of y are judged together. */
static enum as_status judge_between(const struct as_fleet *f, size_t line, double lo, double hi, double ignored,
                                    struct fleet_group *g, struct fleet_candidates *c, struct as_fleet_judged *out,
                                    struct as_error *err)
{
    const struct as_fleet_line *l = &f->lines[line];
    g->n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->obs[i].y >= lo && l->obs[i].y < hi) {
            g->device[g->n] = l->device[i];
            g->obs[g->n++] = l->obs[i];
        }
    const enum as_status st = as_outliers_judge(g->obs, g->n, f->nodes_n, ignored, g->of_device, g->of_node, err);
    if (!st)
        reach_of_group(g, &out->reach[line]);
    return st ? st : collect_candidates(f, line, g, c, out, err);
}

/* Whether the devices form two clusters, and where. */
static bool find_split(const struct as_fleet *f, size_t line, double *y, struct as_fleet_split *out)
{
    const struct as_fleet_line *l = &f->lines[line];
    double share;
    *out = (struct as_fleet_split){.line = line};
    for (size_t i = 0; i < l->n; i++)
        y[i] = exp(l->obs[i].y);
    if (!as_two_modes(y, l->n, out->mode, &share))
        return false;
    out->n[0] = (size_t)(share * (double)l->n + 0.5);
    out->n[1] = l->n - out->n[0];
    return true;
}

static enum as_status judge_line(const struct as_fleet *f, size_t line, double ignored, struct fleet_candidates *c,
                                 struct as_fleet_judged *out, struct as_error *err)
{
    struct fleet_group g;
    struct as_fleet_split split;
    enum as_status st =
        group_begin(&g, f->lines[line].n, f->nodes_n) ? AS_OK : as_nomem(err, f->lines[line].n, "observations");
    if (!st && find_split(f, line, g.y, &split)) {
        const double middle = 0.5 * (log(split.mode[0]) + log(split.mode[1]));
        struct as_fleet_split *more = realloc(out->splits, (out->splits_n + 1) * sizeof *more);
        st = more ? AS_OK : as_nomem(err, sizeof *more, "clusters");
        out->splits = more ? more : out->splits;
        if (!st) {
            out->splits[out->splits_n++] = split;
            st = judge_between(f, line, -INFINITY, middle, ignored, &g, c, out, err);
        }
        if (!st)
            st = judge_between(f, line, middle, INFINITY, ignored, &g, c, out, err);
    } else if (!st)
        st = judge_between(f, line, -INFINITY, INFINITY, ignored, &g, c, out, err);
    group_end(&g);
    return st;
}

/* The worse before the better; the largest deviation first. */
static int order_findings(const void *a, const void *b)
{
    const struct as_fleet_finding *x = a, *y = b;
    if (x->worse != y->worse)
        return x->worse ? -1 : 1;
    const double dx = fabs(x->deviation.effect), dy = fabs(y->deviation.effect);
    return dx > dy ? -1 : dx < dy;
}

static enum as_status keep_discoveries(struct fleet_candidates *c, double fdr, struct as_fleet_judged *out,
                                       struct as_error *err)
{
    double *p = malloc((c->n + 1) * sizeof *p);
    if (!p)
        return as_nomem(err, c->n * sizeof *p, "findings");
    for (size_t i = 0; i < c->n; i++)
        p[i] = c->v[i].deviation.p;
    const double below = as_discoveries_below(p, c->n, out->tests, fdr);
    free(p);
    out->v = c->v;
    c->v = NULL;
    for (size_t i = 0; i < c->n && out->v; i++)
        if (out->v[i].deviation.p <= below)
            out->v[out->n++] = out->v[i];
    if (out->v && out->n > 1)
        qsort(out->v, out->n, sizeof *out->v, order_findings);
    while (out->v && out->worse < out->n && out->v[out->worse].worse)
        out->worse++;
    return AS_OK;
}

enum as_status as_fleet_judge(const struct as_fleet *f, const struct as_fleet_asked *asked, struct as_fleet_judged *out,
                              struct as_error *err)
{
    struct fleet_candidates c = {0};
    enum as_status st = AS_OK;
    *out = (struct as_fleet_judged){.compared = calloc(f->nodes_n + 1, sizeof *out->compared),
                                    .reach = malloc((f->lines_n + 1) * sizeof *out->reach)};
    if (!out->compared || !out->reach)
        st = as_nomem(err, f->nodes_n + f->lines_n, "nodes");
    for (size_t i = 0; i < f->lines_n && !st; i++)
        out->reach[i] = (struct as_fleet_reach){NAN, NAN, NAN, NAN, AS_FLEET_BY_DEVICES};
    for (size_t i = 0; i < f->lines_n && !st; i++)
        st = judge_line(f, i, log1p(asked->ignored), &c, out, err);
    for (size_t i = 0; i < f->lines_n && !st; i++)
        complete_reach(out, asked, &out->reach[i]);
    if (!st)
        st = keep_discoveries(&c, asked->fdr, out, err);
    free(c.v);
    if (st)
        as_fleet_judged_finish(out);
    return st;
}

void as_fleet_judged_finish(struct as_fleet_judged *j)
{
    free(j->v);
    free(j->splits);
    free(j->compared);
    free(j->reach);
    *j = (struct as_fleet_judged){0};
}
