/* Facts of a probe in which CPU threads (axis from: their NUMA node) use memory elsewhere: of a node (axis node), or of
 * a device's allocator after either side's first touch (axes allocator and touch). */
#ifndef AS_FACTS_ENDS_H
#define AS_FACTS_ENDS_H

#include "facts/rule.h"

struct as_ends {
    const char *probe;
    bool lower_is_better;
    /* field what: "own" or "other"; fields allocator and touch; likewise, against pageable memory of the host */
    enum as_relation nodes, device, cost;
    /* Parts of sentences: before the number of nodes, with the operation between where cells have one; before an
     * allocator's name; before that of pageable memory. */
    const char *own, *other, *in, *against;
};
/* Of the largest size, and of the operation's best number of threads. A ratio only where it is surely beyond 5%. */
void as_facts_of_ends(struct as_rule_context *c, const struct as_ends *e);

#endif
