/* Who is at the other end of a device's link: another device of its backend, or a memory node of the host. */
#ifndef AS_LIB_TRANSFER_PEERS_H
#define AS_LIB_TRANSFER_PEERS_H

#include "device/host.h"
#include "probe/probe.h"

#include <sched.h>

enum { AS_PEERS_MAX = 32 };
/* "host", "every", "0" .. "31"; ends with NULL. */
extern const char *const as_peer_words[];

/* The axes that say who: they come first in a probe's list. */
#define AS_PEER_AXES(peer_help)                                                                                        \
    {.name = "peer", .help = (peer_help), .type = AS_AXIS_WORD, .words = as_peer_words, .def = "all"},                 \
        {.name = "node",                                                                                               \
         .help = "memory node of the host (0 for a device)",                                                           \
         .type = AS_AXIS_COUNT,                                                                                        \
         .max = AS_NODES_MAX - 1,                                                                                      \
         .def = "0..7"},                                                                                               \
    {                                                                                                                  \
        .name = "allocator", .help = "kind of the memory at the other end", .type = AS_AXIS_WORD,                      \
        .domain = AS_DOMAIN_ALLOCATOR, .def = "first"                                                                  \
    }

/* Does this pair make a cell? Reads the axes peer, node and allocator. Beyond eight devices only pairs at distances of
 * a power of two do, so that cells do not grow with the square. */
enum as_applies as_peer_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err);
/* The number behind the colon of a device's id, 0 when there is none. */
unsigned as_peer_index(const char *id);
/* Ids of the devices that the axis peer names, at most max; 0 for the host. */
size_t as_peer_owners(const struct as_device_info *info, const struct as_axes *a, char (*owners)[32], size_t max);

/* Where the thread runs and takes its memory from while it prepares and measures. */
struct as_place {
    cpu_set_t before;
    bool moved, bound;
};
/* Goes to the device's near CPUs (where they are known and may be used) and, on a host of several nodes, takes memory
 * from `node` only until as_place_unbind. */
enum as_status as_place_begin(struct as_place *p, const struct as_device_info *info, int node, struct as_error *err);
void as_place_unbind(struct as_place *p);
void as_place_end(struct as_place *p);
/* The node on which an address of the process lies; -1 when the system does not say. */
int as_node_of(const void *address);

#endif
