/* The axis node: which memory node of the host a cell's memory is requested on, and where it came to lie. */
#ifndef AS_LIB_CHECKS_NODES_H
#define AS_LIB_CHECKS_NODES_H

#include "device/device.h"
#include "os/cpus.h"
#include "probe/probe.h"

extern const char *const as_node_words[]; /* beside the numbers of nodes; nodes without CPUs too */
#define AS_NODE_AXIS                                                                                                   \
    AS_WORD_AXIS("node", as_node_words, "near",                                                                        \
                 "NUMA node of the memory; near: the default placement, recorded in the note 'node'",                  \
                 .domain = AS_DOMAIN_NODE)

/* The requested node; -1: near, or there is no such axis. */
int as_node_wanted(const struct as_axes *a);
/* Is it near, or a node of several on which this allocator's memory can be requested? */
bool as_node_applies(const struct as_device_info *info, const struct as_axes *a);
/* The same for these nodes of the host. */
bool as_node_is_among(const struct as_device_info *info, const struct as_axes *a, const struct as_cpus *nodes);
/* Notes the node that memory is on (-1: unknown, no note), "node", and the device's nearest one, "near_node".
 * AS_UNSUPPORTED where another was requested (wanted; -1: none). */
enum as_status as_node_check(struct as_trial_context *tc, int wanted, int got, struct as_error *err);

#endif
