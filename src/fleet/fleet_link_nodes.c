/* Links as numbers of nodes: of each node the median over the pairs that it is in, compared like those of devices. */
#include "base/text.h"
#include "fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct as_quantity link_quantities[] = {
    {.name = "node_link.latency", .group = "Messages", .label = "latency", .unit = "ns", .kind = AS_KIND_LATENCY},
    {.name = "node_link.bandwidth",
     .group = "Messages",
     .label = "bandwidth",
     .unit = "GB/s",
     .kind = AS_KIND_BANDWIDTH},
    {.name = "node_link.both",
     .group = "Messages",
     .label = "bidirectional",
     .unit = "GB/s",
     .kind = AS_KIND_BANDWIDTH},
    {.name = NULL},
};

static const struct as_quantity *link_quantity(const char *what)
{
    const struct as_quantity *q = link_quantities;
    while (q->name && strcmp(strchr(q->name, '.') + 1, what) != 0)
        q++;
    return q->name ? q : NULL;
}

/* The first node of that host; nodes_n: none. */
static size_t node_of_host(const struct as_fleet *f, const char *host)
{
    size_t i = 0;
    while (i < f->nodes_n && (!host[0] || strcmp(f->nodes[i].name, host) != 0))
        i++;
    return i;
}

/* Numbers of one node for one kind of links while they are collected. */
struct node_pairs {
    size_t *links; /* indices */
    double *values;
    size_t n;
};

static void collect_pairs(const struct as_fleet *f, const size_t (*node)[2], size_t kind, size_t at,
                          struct node_pairs *out)
{
    out->n = 0;
    for (size_t i = 0; i < f->links.n; i++) {
        const struct as_fleet_link *link = &f->links.v[i];
        if (link->kind != kind || !isfinite(link->number.value) || node[i][0] == node[i][1] ||
            (node[i][0] != at && node[i][1] != at))
            continue;
        out->links[out->n] = i;
        out->values[out->n++] = link->number.value;
    }
}

/* The median of its pairs, with the interval of the pair next to it. */
static struct as_estimated median_of_pairs(const struct as_fleet *f, const struct node_pairs *p)
{
    const double middle = as_median(p->values, p->n);
    size_t near = 0;
    for (size_t i = 1; i < p->n; i++)
        if (fabs(p->values[i] - middle) < fabs(p->values[near] - middle))
            near = i;
    const struct as_number *of = &f->links.v[p->links[near]].number;
    const double by = middle / of->value;
    return (struct as_estimated){middle, {of->ci.lo * by, of->ci.hi * by}};
}

/* The device that stands for a node's links. */
static enum as_status links_device(struct as_fleet *f, size_t node, uint32_t kind, size_t *device, struct as_error *err)
{
    if (*device)
        return AS_OK;
    const enum as_status st = as_grow((void **)&f->devices, &f->devices_cap, f->devices_n + 1, sizeof *f->devices, err);
    if (st)
        return st;
    f->devices[f->devices_n] = (struct as_fleet_device){.node = (uint32_t)node, .kind = kind, .id = "its links"};
    f->kinds[kind].devices++;
    *device = ++f->devices_n;
    return AS_OK;
}

static enum as_status add_kind(struct as_fleet *f, const size_t (*node)[2], size_t at, uint32_t kind, size_t *device,
                               struct node_pairs *p, struct as_error *err)
{
    const struct as_link_kind *of = &f->links.kinds[at];
    const struct as_quantity *q = of->of_pair ? link_quantity(of->what) : NULL;
    struct as_buf label = AS_BUF_INIT;
    enum as_status st = AS_OK;
    as_buf_str(&label, "Message ");
    as_link_kind_text(of, &label);
    for (size_t i = 0; i < f->nodes_n && q && !st; i++) {
        p->n = 0;
        if (!f->nodes[i].why[0]) /* one that failed is without numbers, and not slow because of it */
            collect_pairs(f, node, at, i, p);
        if (!p->n)
            continue;
        st = links_device(f, i, kind, &device[i], err);
        const struct as_estimated number = median_of_pairs(f, p);
        if (!st)
            st = as_fleet_add_number(f, q, as_buf_get(&label), q->unit, kind, (uint32_t)(device[i] - 1), &number, err);
    }
    as_buf_finish(&label);
    return st;
}

enum as_status as_fleet_use_links(struct as_fleet *f, struct as_error *err)
{
    if (!f->links.n || !f->nodes_n)
        return AS_OK;
    size_t(*node)[2] = calloc(f->links.n, sizeof *node), *device = calloc(f->nodes_n, sizeof *device);
    struct node_pairs p = {.links = calloc(f->links.n, sizeof *p.links),
                           .values = calloc(f->links.n, sizeof *p.values)};
    enum as_status st =
        node && device && p.links && p.values ? AS_OK : as_nomem(err, f->links.n * sizeof *node, "links of nodes");
    for (size_t i = 0; i < f->links.n && !st; i++)
        for (int k = 0; k < 2; k++)
            node[i][k] = node_of_host(f, f->links.v[i].host[k]);
    uint32_t kind = (uint32_t)f->kinds_n;
    if (!st)
        st = as_grow((void **)&f->kinds, &f->kinds_cap, f->kinds_n + 1, sizeof *f->kinds, err);
    if (!st)
        f->kinds[f->kinds_n++] = (struct as_fleet_kind){.name = "links between nodes", .is_links = true};
    for (size_t i = 0; i < f->links.kinds_n && !st; i++)
        st = add_kind(f, (const size_t(*)[2])node, i, kind, device, &p, err);
    if (!st && !f->kinds[kind].devices)
        f->kinds_n--; /* of other hosts than these nodes */
    free(node);
    free(device);
    free(p.links);
    free(p.values);
    return st;
}
