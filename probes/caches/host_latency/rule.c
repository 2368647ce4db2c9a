/* What CPU loads from other NUMA nodes and from a device's allocators cost. */
#include "facts/rule.h"

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

const struct as_rule as_rules_host_latency[] = {
    {"CPU latency in each kind of memory", derive_latencies,
     "the largest buffer of each pair of ends; of nodes the median within a node and the slowest pair of two; of "
     "allocators the ratio to pageable memory that the CPU touched first, where it is surely beyond 5%",
     "a chase of the same size in the same memory with another latency"},
    {0},
};
