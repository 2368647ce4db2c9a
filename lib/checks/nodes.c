/* The axis node of probes whose memory may be requested on a memory node of the host, and where it came to lie. */
#include "nodes.h"

#include "base/text.h"
#include "device/host.h"
#include "device/shared_host.h"
#include "lib/checks/checks.h"

const char *const as_node_words[] = {"near", NULL};

int as_node_wanted(const struct as_axes *a)
{
    uint64_t node = 0;
    return as_parse_u64(as_axes_text(a, "node"), &node, NULL) ? -1 : (int)node;
}

/* Memory of the host: other memory has no node to choose. */
static bool can_be_placed(const struct as_device_info *info, const char *name)
{
    const struct as_allocator *a = as_info_allocator(info, name);
    if (as_info_has_host_kernels(info))
        return true;
    return a && a->host_access && (info->is_host_memory || as_role_is_pageable(a->role) || as_role_is_pinned(a->role));
}

bool as_node_is_among(const struct as_device_info *info, const struct as_axes *a, const struct as_cpus *nodes)
{
    const int node = as_node_wanted(a);
    if (node < 0)
        return true;
    return as_info_shares_host(info) && as_cpus_count(nodes) > 1 && as_cpus_has(nodes, node) &&
           can_be_placed(info, as_axes_text(a, "allocator"));
}

bool as_node_applies(const struct as_device_info *info, const struct as_axes *a)
{
    struct as_cpus nodes;
    as_host_nodes("", &nodes);
    return as_node_is_among(info, a, &nodes);
}

enum as_status as_node_check(struct as_trial_context *tc, int wanted, int got, struct as_error *err)
{
    const int near = as_host_near_node("", tc->dev->info.near_cpus);
    if (got < 0)
        return AS_OK;
    as_note_number(tc, "node", got);
    if (near >= 0)
        as_note_number(tc, "near_node", near);
    return wanted < 0 || got == wanted
               ? AS_OK
               : as_fail(err, AS_UNSUPPORTED, "memory was requested on node %d, but is on node %d", wanted, got);
}
