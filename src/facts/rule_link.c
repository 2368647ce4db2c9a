/* What goes over the links: copies by engine and by kernel, copying against direct access, pairs of devices. */
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 32 }; /* of one rule: a run of absurdly many kinds of cells stays readable */

static double size_of(const struct as_cell *cell)
{
    double size = as_cell_axis_number(cell, "size");
    return isfinite(size) ? size : 0;
}

/* Keeps of the cells those that no other one of the same kind surpasses; kind: the axes by which kinds differ. */
static size_t keep_best(const struct as_cell **cells, size_t n, const char *const *kind,
                        bool (*surpasses)(const struct as_cell *a, const struct as_cell *b))
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        for (bool same = false; k < kept && !same; k += !same) {
            same = true;
            for (size_t x = 0; kind[x] && same; x++)
                same = as_cells_same(cells[k], cells[i], kind[x]);
        }
        if (k == kept)
            cells[kept++] = cells[i];
        else if (surpasses(cells[i], cells[k]))
            cells[k] = cells[i];
    }
    return kept;
}

static bool is_larger(const struct as_cell *a, const struct as_cell *b)
{
    return size_of(a) > size_of(b);
}

static bool is_faster(const struct as_cell *a, const struct as_cell *b)
{
    return a->sum.median > b->sum.median;
}

/* "host" is plain memory of the process. */
static const char *memory_text(const char *allocator)
{
    return strcmp(allocator, "host") == 0 ? "plain host memory" : allocator;
}

/* What the driver says that the bus carries, in GB/s, in the directions of the cell; 0: not known. */
static double claimed_bus(const struct as_rule_context *c, const struct as_cell *cell)
{
    return c->info ? c->info->bus_bandwidth * 1e-9 * (strcmp(as_cell_axis(cell, "direction"), "both") == 0 ? 2 : 1) : 0;
}

/* A copy that is faster than the bus did not go over it: memory that moves lay on the device already. Where no bus is
 * known there may be none. */
bool as_copy_crosses_bus(const struct as_rule_context *c, const struct as_cell *copy)
{
    const double bus = claimed_bus(c, copy);
    return !(bus > 0) || copy->sum.median <= bus;
}

static void add_copy(struct as_rule_context *c, const struct as_cell *cell)
{
    const char *how = as_cell_axis(cell, "how");
    bool both = strcmp(as_cell_axis(cell, "direction"), "both") == 0;
    struct as_fact *f = as_fact_add(c, "copy", cell->unit, "copy.%s%s.%.40s.%.40s", how, both ? ".both" : "",
                                    as_cell_axis(cell, "from"), as_cell_axis(cell, "to"));
    char value[96], size[32];
    if (!f)
        return;
    as_fact_number(f, cell->sum.median, as_cell_interval(cell));
    const bool within =
        strcmp(as_cell_axis(cell, "from"), as_cell_axis(cell, "to")) == 0 || !as_copy_crosses_bus(c, cell);
    as_fact_say(f, "Copies of %s %s %.40s %s %.40s run at %s with %s%s",
                as_fact_value_text(size_of(cell), AS_NO_INTERVAL, "B", size, sizeof size), both ? "between" : "from",
                memory_text(as_cell_axis(cell, "from")), both ? "and" : "to", memory_text(as_cell_axis(cell, "to")),
                as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value),
                strcmp(how, "kernel") == 0 ? "a copy kernel" : "the API's copy",
                within ? ", counting each byte once, not its read and its write" : "");
    as_fact_evidence(f, cell);
}

void rule_copy(struct as_rule_context *c)
{
    static const char *const kind[] = {"from", "to", "direction", "how", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "copy", &cells);
    n = keep_best(cells, n, kind, is_larger);
    for (size_t i = 0; i < n && i < FACTS_MAX; i++)
        add_copy(c, cells[i]);
    free(cells);
}

/* ---- copying first against direct access ---- */

static bool is_reading(const struct as_cell *cell, const char *allocator)
{
    return strcmp(as_cell_axis(cell, "op"), "read") == 0 && strcmp(as_cell_axis(cell, "level"), "memory") == 0 &&
           strcmp(as_cell_axis(cell, "allocator"), allocator) == 0 && as_cell_axis_number(cell, "threads") == 0;
}

/* The best valid reading of memory of this kind by the device that has one of the device's own beside it with all
 * else as there: how much is read matters more than from where. */
static const struct as_cell *reading(const struct as_cell *const *cells, size_t n, const char *allocator,
                                     const char *own, const struct as_cell **near)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && is_reading(cells[i], allocator) && (!best || is_faster(cells[i], best)); k++)
            if (is_reading(cells[k], own) && as_cells_alike(cells[k], cells[i], "allocator")) {
                best = cells[i];
                *near = cells[k];
            }
    return best;
}

/* Of bandwidths; infinite where it never pays. */
static double passes_of(double copy, double direct, double own)
{
    return direct < own ? (1 / copy) / (1 / direct - 1 / own) : INFINITY;
}

bool as_passes_to_pay(const struct as_cell *copy, const struct as_cell *direct, const struct as_cell *own,
                      double *passes, struct as_interval *ci)
{
    struct as_interval cc = as_cell_interval(copy), cd = as_cell_interval(direct), co = as_cell_interval(own);
    *passes = passes_of(copy->sum.median, direct->sum.median, own->sum.median);
    *ci = (struct as_interval){passes_of(cc.hi, cd.lo, co.hi), passes_of(cc.lo, cd.hi, co.lo)};
    return isfinite(*passes) && isfinite(ci->hi);
}

static void add_direct(struct as_rule_context *c, const struct as_cell *copy, const struct as_cell *direct,
                       const struct as_cell *own)
{
    const char *from = as_cell_axis(copy, "from");
    struct as_fact *f = as_fact_add(c, "copy", "passes", "copy.pays.%.40s", from);
    if (!f)
        return;
    double passes;
    struct as_interval ci;
    char reads[96], copies[96];
    as_fact_value_text(direct->sum.median, as_cell_interval(direct), direct->unit, reads, sizeof reads);
    as_fact_value_text(copy->sum.median, as_cell_interval(copy), copy->unit, copies, sizeof copies);
    if (as_passes_to_pay(copy, direct, own, &passes, &ci)) {
        as_fact_number(f, passes, ci);
        char from_on[64] = "even for a single pass";
        if (passes < 1 && ci.hi >= 1)
            snprintf(from_on, sizeof from_on, "from about one pass on");
        else if (ci.hi >= 1)
            snprintf(from_on, sizeof from_on, "from %.3g passes on", passes);
        as_fact_say(f, "A kernel reads %.40s directly at %s, a copy of it runs at %s: copying first pays %s", from,
                    reads, copies, from_on);
    } else {
        const bool slower = direct->sum.median < own->sum.median;
        f->verdict = slower ? AS_UNDECIDED : AS_REFUTED;
        as_fact_say(f, "A kernel reads %.40s directly at %s, %s", from, reads,
                    slower ? "and may be as fast as in its own memory: whether copying it first pays is not known"
                           : "no slower than its own memory: copying it first does not pay");
    }
    as_fact_evidence(f, copy);
    as_fact_evidence(f, direct);
    as_fact_evidence(f, own);
}

/* Is it memory of the device, as that of its first allocator is, which nobody has to bring there? */
static bool is_on_device(const struct as_rule_context *c, const char *allocator, const char *own)
{
    const struct as_allocator *a = c->info ? as_info_allocator(c->info, allocator) : NULL,
                              *first = c->info ? as_info_allocator(c->info, own) : NULL;
    return strcmp(allocator, own) == 0 || (a && first && !a->host_access && !first->host_access);
}

void rule_direct_access(struct as_rule_context *c)
{
    static const char *const kind[] = {"from", "to", NULL};
    const struct as_cell **copies, **reads;
    size_t n = as_cells_of(c, "copy", &copies), reads_n = as_cells_of(c, "bandwidth", &reads), kept = 0;
    const char *own = c->info && c->info->allocators_n ? c->info->allocators[0].name : "";
    for (size_t i = 0; i < n; i++)
        if (strcmp(as_cell_axis(copies[i], "direction"), "one") == 0 &&
            strcmp(as_cell_axis(copies[i], "how"), "engine") == 0 && strcmp(as_cell_axis(copies[i], "to"), own) == 0 &&
            !is_on_device(c, as_cell_axis(copies[i], "from"), own) && as_copy_crosses_bus(c, copies[i]))
            copies[kept++] = copies[i];
    kept = keep_best(copies, kept, kind, is_larger);
    for (size_t i = 0; i < kept && i < FACTS_MAX; i++) {
        const struct as_cell *near = NULL,
                             *direct = reading(reads, reads_n, as_cell_axis(copies[i], "from"), own, &near);
        if (direct)
            add_direct(c, copies[i], direct, near);
    }
    free(copies);
    free(reads);
}

/* ---- pairs ---- */

/* "device 3", "the host", "the host's memory node 1", "every other device" */
static const char *peer_text(const struct as_cell *cell, char *out, size_t size)
{
    const char *peer = as_cell_axis(cell, "peer"), *node = as_cell_axis(cell, "node");
    if (strcmp(peer, "host") == 0)
        snprintf(out, size, strcmp(node, "0") == 0 ? "the host" : "the host's memory node %.8s", node);
    else
        snprintf(out, size, strcmp(peer, "every") == 0 ? "all other devices together" : "device %.8s", peer);
    return out;
}

static struct as_fact *add_pair(struct as_rule_context *c, const struct as_cell *cell, const char *id, const char *what)
{
    const char *peer = as_cell_axis(cell, "peer");
    char object[48];
    bool host = strcmp(peer, "host") == 0;
    snprintf(object, sizeof object, "link:%.8s%s%.8s", peer, host ? "-" : "", host ? as_cell_axis(cell, "node") : "");
    return as_fact_add(c, object, cell->unit, "%s.%.8s%s%.8s.%.16s", id, peer, host ? "-" : "",
                       host ? as_cell_axis(cell, "node") : "", what);
}

/* To the host goes the bus that the driver tells of. */
static void claim_bus(const struct as_rule_context *c, const struct as_cell *cell, struct as_fact *f)
{
    const double bus = claimed_bus(c, cell);
    if (bus > 0 && strcmp(as_cell_axis(cell, "peer"), "host") == 0)
        f->claimed = bus;
}

/* What a kernel carries is not what the link can, where nothing is known of the engine that is made for it. */
static bool is_known_by_engine(const struct as_rule_context *c, const struct as_cell *like)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "link") == 0 && as_cell_is(c->cells[i], "how", "engine") &&
            as_cells_same(c->cells[i], like, "peer") && as_cells_same(c->cells[i], like, "node") &&
            as_cells_same(c->cells[i], like, "direction"))
            return true;
    return false;
}

void rule_link(struct as_rule_context *c)
{
    static const char *const kind[] = {"peer", "node", "direction", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "link", &cells);
    n = keep_best(cells, n, kind, is_faster);
    for (size_t i = 0; i < n && i < FACTS_MAX; i++) {
        const char *direction = as_cell_axis(cells[i], "direction");
        char value[96], peer[64];
        struct as_fact *f = add_pair(c, cells[i], "link", direction);
        if (!f)
            break;
        as_fact_number(f, cells[i]->sum.median, as_cell_interval(cells[i]));
        as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
        claim_bus(c, cells[i], f);
        as_fact_say(f, "The link %s %s carries %s, by %s", strcmp(direction, "both") == 0 ? "to and from" : direction,
                    peer_text(cells[i], peer, sizeof peer), value,
                    !as_cell_is(cells[i], "how", "kernel") ? "the copy engine"
                    : is_known_by_engine(c, cells[i])      ? "a kernel"
                                                           : "a kernel; no number by the copy engine is valid");
        as_fact_evidence(f, cells[i]);
    }
    free(cells);
}

static bool is_smaller_or_slower(const struct as_cell *a, const struct as_cell *b)
{
    return size_of(a) < size_of(b) || (size_of(a) == size_of(b) && a->sum.median > b->sum.median);
}

void rule_link_latency(struct as_rule_context *c)
{
    static const char *const kind[] = {"peer", "node", "what", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "link_latency", &cells);
    n = keep_best(cells, n, kind, is_smaller_or_slower);
    for (size_t i = 0; i < n && i < FACTS_MAX; i++) {
        const char *what = as_cell_axis(cells[i], "what");
        char value[96], peer[64];
        struct as_fact *f = add_pair(c, cells[i], "link.latency", what);
        if (!f)
            break;
        as_fact_number(f, cells[i]->sum.median, as_cell_interval(cells[i]));
        as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
        as_fact_say(f, "%s memory of %s takes %s",
                    strcmp(what, "atomic") == 0 ? "An atomic addition in" : "A load from",
                    peer_text(cells[i], peer, sizeof peer), value);
        as_fact_evidence(f, cells[i]);
    }
    free(cells);
}
