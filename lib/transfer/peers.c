#include "peers.h"

#include "base/text.h"
#include "team.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS_ALL_DEVICES = 8 };

const char *const as_peer_words[] = {"host",  AS_PEER_EVERY_HOST,
                                     "every", "0",
                                     "1",     "2",
                                     "3",     "4",
                                     "5",     "6",
                                     "7",     "8",
                                     "9",     "10",
                                     "11",    "12",
                                     "13",    "14",
                                     "15",    "16",
                                     "17",    "18",
                                     "19",    "20",
                                     "21",    "22",
                                     "23",    "24",
                                     "25",    "26",
                                     "27",    "28",
                                     "29",    "30",
                                     "31",    NULL};

unsigned as_peer_index(const char *id)
{
    const char *colon = strchr(id, ':');
    uint64_t index = 0;
    return colon && !as_parse_u64(colon + 1, &index, NULL) ? (unsigned)index : 0;
}

/* The axis has words, so its values are not numbers. */
unsigned as_peer_number(const struct as_axes *a)
{
    uint64_t index = 0;
    return as_parse_u64(as_axes_text(a, "peer"), &index, NULL) ? 0 : (unsigned)index;
}

static enum as_applies pair_applies(const struct as_device_info *info, unsigned peer, struct as_error *err)
{
    unsigned own = as_peer_index(info->id), n = info->siblings ? info->siblings : 1;
    unsigned distance = peer > own ? peer - own : own - peer;
    const bool reaches = (info->capabilities & AS_CAP_PEERS) != 0;
    if ((n == 1 || !reaches) && peer == (own == 0)) { /* reported for one pair only */
        if (n == 1)
            as_fail(err, AS_UNSUPPORTED, "backend '%s' has only one device: there is no pair to measure",
                    info->backend);
        else
            as_fail(err, AS_UNSUPPORTED, "devices of backend '%s' cannot access each other's memory", info->backend);
        return AS_INAPPLICABLE;
    }
    if (!reaches || peer >= n || distance == 0)
        return AS_PRUNED;
    const struct as_peer *reported = as_info_peer(info, peer);
    if (reported && !reported->access)
        return as_inapplicable(err, "'%s' has no access to the memory of '%s:%u': %s", info->id, info->backend, peer,
                               reported->why_not);
    return n <= PAIRS_ALL_DEVICES || (distance & (distance - 1)) == 0 ? AS_APPLIES : AS_PRUNED;
}

static bool has_node(double node)
{
    struct as_cpus nodes;
    as_host_nodes("", &nodes);
    return as_cpus_has(&nodes, (int)node);
}

static enum as_applies every_host_applies(const struct as_device_info *info, struct as_error *err)
{
    if (info->siblings < 2 || info->siblings > AS_TRANSFER_TEAM)
        return as_pruned(err, "backend '%s' has %u devices; 2 to %d can copy at the same time", info->backend,
                         info->siblings, AS_TRANSFER_TEAM);
    if (!(info->capabilities & AS_CAP_TEAM))
        return as_pruned(err, "backend '%s' does not drive several devices at the same time", info->backend);
    if (as_peer_index(info->id) != 0)
        return as_pruned(err, "'%s:0' measures the host links of all devices: add --device %s:0", info->backend,
                         info->backend);
    return AS_APPLIES;
}

enum as_applies as_peer_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const char *peer = as_axes_text(a, "peer"), *allocator = as_axes_text(a, "allocator");
    double node = as_axes_number(a, "node");
    bool own_kind = info->allocators_n && strcmp(info->allocators[0].name, allocator) == 0;
    if (info->is_host_cpu || ((info->capabilities & AS_CAP_HOST_KERNELS) && !(info->capabilities & AS_CAP_COPY)))
        return as_pruned(err, "a CPU has no link to itself");
    const struct as_allocator *kind = as_info_allocator(info, allocator);
    const bool of_host = !own_kind && kind && kind->host_access;
    if (strcmp(peer, "host") == 0)
        return of_host && has_node(node) ? AS_APPLIES : AS_PRUNED;
    if (node != 0)
        return AS_PRUNED;
    if (strcmp(peer, AS_PEER_EVERY_HOST) == 0)
        return of_host ? every_host_applies(info, err) : AS_PRUNED;
    if (strcmp(peer, "every") == 0)
        return info->siblings > 2 && info->capabilities & AS_CAP_PEERS ? AS_APPLIES : AS_PRUNED;
    return pair_applies(info, as_peer_number(a), err);
}

size_t as_peer_owners(const struct as_device_info *info, const struct as_axes *a, char (*owners)[32], size_t max)
{
    const char *peer = as_axes_text(a, "peer");
    unsigned own = as_peer_index(info->id), first = 0, end = info->siblings;
    size_t n = 0;
    if (strcmp(peer, "host") == 0 || strcmp(peer, AS_PEER_EVERY_HOST) == 0)
        return 0;
    if (strcmp(peer, "every") != 0) {
        first = as_peer_number(a);
        end = first + 1;
    }
    for (unsigned i = first; i < end && n < max; i++)
        if (i != own)
            snprintf(owners[n++], sizeof *owners, "%.*s:%u", (int)(sizeof *owners - 12), info->backend, i);
    return n;
}

enum as_status as_place_begin(struct as_place *p, const struct as_device_info *info, int node, struct as_error *err)
{
    struct as_cpus near, nodes;
    *p = (struct as_place){0};
    if (as_cpu_list(info->near_cpus, &near) && as_thread_cpus(&p->before))
        p->moved = !as_thread_pin_limit() && as_thread_keep_on(&near);
    as_host_nodes("", &nodes);
    if (node < 0 || as_cpus_count(&nodes) < 2)
        return AS_OK;
    if (as_take_memory_of(node)) {
        enum as_status st =
            as_fail(err, AS_UNSUPPORTED, "memory cannot be allocated on node %d: %s", node, strerror(errno));
        as_place_end(p);
        return st;
    }
    p->bound = true;
    return AS_OK;
}

void as_place_unbind(struct as_place *p)
{
    if (p->bound)
        (void)as_take_memory_of(-1);
    p->bound = false;
}

void as_place_end(struct as_place *p)
{
    as_place_unbind(p);
    if (p->moved)
        as_thread_keep_on(&p->before);
    p->moved = false;
}
