/* What CPU loads from other NUMA nodes and from a device's allocators cost. */
#include "facts/rule.h"

#include <stdlib.h>

/* Loads that no cache answers take over 40 times as long as hits in L1. */
static const double UNCACHED = 8;

static void derive_latencies(struct as_rule_context *c)
{
    static const struct as_ends ends = {.probe = "host_latency",
                                        .lower_is_better = true,
                                        .nodes = AS_FACT_NUMA_LATENCY,
                                        .device = AS_FACT_HOST_LATENCY,
                                        .cost = AS_FACT_HOST_LATENCY_COST,
                                        .own = "A load from the local NUMA node takes",
                                        .other = "A load from the farthest NUMA node takes",
                                        .in = "A CPU load from",
                                        .against = "as long as from"};
    as_facts_of_ends(c, &ends);
}

static bool is_smallest(const struct as_cell *const *cells, size_t n, const struct as_cell *cell)
{
    for (size_t i = 0; i < n; i++)
        if (as_cells_same(cells[i], cell, "allocator") && as_cell_size(cells[i]) < as_cell_size(cell))
            return false;
    return true;
}

static void add_cached(struct as_rule_context *c, const struct as_cell *combined, const struct as_cell *pinned)
{
    const char *allocator = as_cell_axis(combined, "allocator"), *other = as_cell_axis(pinned, "allocator");
    char object[64], size[32], takes[96], against[96];
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_HOST_CACHED, combined, pinned, AS_BY(.object = object));
    if (!f)
        return;
    const enum as_fact_verdict uncached = as_verdict_above(f->ci, UNCACHED);
    f->verdict = uncached == AS_UNDECIDED ? AS_UNDECIDED : AS_SUPPORTED;
    as_fact_value_text(as_cell_size(combined), AS_NO_INTERVAL, "B", size, sizeof size);
    as_fact_value_text(combined->sum.median, as_cell_interval(combined), combined->unit, takes, sizeof takes);
    as_fact_value_text(pinned->sum.median, as_cell_interval(pinned), pinned->unit, against, sizeof against);
    as_fact_say(f,
                uncached == AS_SUPPORTED ? "The CPU does not cache '%s' memory: a load over %s takes %s, from '%s' %s"
                : uncached == AS_REFUTED
                    ? "The CPU caches '%s' memory: a load over %s takes %s, from '%s' %s"
                    : "Whether the CPU caches '%s' memory is inconclusive: a load over %s takes %s, from '%s' %s",
                allocator, size, takes, other, against);
}

/* Write-combined is a request: a hypervisor may map the memory as cached all the same. */
static void derive_cached(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "host_latency", &cells);
    for (size_t i = 0; i < n; i++) {
        if (as_allocator_role(c->device, as_cell_axis(cells[i], "allocator")) != AS_ROLE_PINNED_WC ||
            !as_cell_is(cells[i], "touch", "cpu") || !is_smallest(cells, n, cells[i]))
            continue;
        size_t k = 0;
        while (k < n && !(as_allocator_role(c->device, as_cell_axis(cells[k], "allocator")) == AS_ROLE_PINNED &&
                          as_cells_alike(cells[k], cells[i], "allocator")))
            k++;
        if (k < n)
            add_cached(c, cells[i], cells[k]);
    }
    free(cells);
}

const struct as_rule as_rules_host_latency[] = {
    {"CPU latency in each kind of memory", derive_latencies,
     "the largest buffer of each pair of ends; of nodes the median within a node and the slowest pair of two; of "
     "allocators the ratio to pageable memory that the CPU touched first, where it is surely beyond 5%",
     "a chase of the same size in the same memory with another latency"},
    {"CPU cache and write-combined memory", derive_cached,
     "the smallest buffer in write-combined memory against the same in pinned memory: 8 times as long is not cached",
     "a chase of that size in write-combined memory with another latency"},
    {0},
};
