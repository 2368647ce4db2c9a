/* The other end of a device's link: another device of its backend, or a NUMA node of the host. */
#ifndef AS_LIB_TRANSFER_PEERS_H
#define AS_LIB_TRANSFER_PEERS_H

#include "device/host.h"
#include "os/cpus.h"
#include "os/memory.h"
#include "probe/probe.h"

/* "host", "every_host", "every", "0" .. "31"; NULL-terminated. */
extern const char *const as_peer_words[];
/* The host, with which all devices of the backend exchange data at the same time, each with memory on its nearest node.
 * The backend's first device measures it. */
#define AS_PEER_EVERY_HOST "every_host"

/* The axes of the peer: first in a probe's list. */
#define AS_PEER_AXES(peer_help)                                                                                        \
    AS_WORD_AXIS("peer", as_peer_words, "all", peer_help),                                                             \
        AS_COUNT_AXIS("node", 0, AS_NODES_MAX - 1, "all", "NUMA node of the host (0 for a device)",                    \
                      .domain = AS_DOMAIN_NODE),                                                                       \
        AS_ALLOCATOR_AXIS("allocator", "first", "allocator of the memory at the other end")

/* Is this pair a cell? Reads the axes peer, node and allocator. With more than eight devices only pairs at power-of-two
 * distances are, so that the number of cells does not grow quadratically. */
enum as_applies as_peer_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err);
/* The number after the colon in a device's id; 0 if there is none. */
unsigned as_peer_index(const char *id);
/* The device that the axis peer names; 0 for words. */
unsigned as_peer_number(const struct as_axes *a);
/* Ids of the devices that the axis peer names, at most max; 0 for the host. */
size_t as_peer_owners(const struct as_device_info *info, const struct as_axes *a, char (*owners)[32], size_t max);

/* Placement of thread and memory during preparation and measurement. */
struct as_place {
    struct as_cpus before;
    bool moved, bound;
};
/* Binds to the device's nearest CPUs (if known and allowed) and, on a host with several nodes, its memory to `node`,
 * until as_place_unbind. */
enum as_status as_place_begin(struct as_place *p, const struct as_device_info *info, int node, struct as_error *err);
void as_place_unbind(struct as_place *p);
void as_place_end(struct as_place *p);
#endif
