/* What bandwidth CPU threads reach in other NUMA nodes and in a device's allocators. */
#include "facts/rule.h"

static void derive_bandwidths(struct as_rule_context *c)
{
    static const struct as_ends ends = {.probe = "host_bandwidth",
                                        .nodes = AS_FACT_NUMA_BANDWIDTH,
                                        .device = AS_FACT_HOST_BANDWIDTH,
                                        .cost = AS_FACT_HOST_BANDWIDTH_COST,
                                        .own = "CPUs of a NUMA node on local memory",
                                        .other = "CPUs of a NUMA node on the slowest other node",
                                        .in = "CPU threads on",
                                        .against = "of the bandwidth in"};
    as_facts_of_ends(c, &ends);
}

const struct as_rule as_rules_host_bandwidth[] = {
    {"CPU bandwidth in each kind of memory", derive_bandwidths,
     "the largest arrays of each pair of ends and operation, at the best number of threads; of nodes the median within "
     "a "
     "node and the slowest pair of two; of allocators the ratio to pageable memory that the CPU touched first, where "
     "it "
     "is surely beyond 5%",
     "a stream of the same size in the same memory with another bandwidth"},
    {0},
};
