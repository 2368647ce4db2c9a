/* The host as kinds of cores reported by macOS, the fastest first. */
#include "device/host.h"

#include "device/info.h"
#include "os/facts.h"

/* On a Mac all CPUs are equally near to every device. */
void as_host_near_cpus(const char *bus_id, char *out, size_t size)
{
    (void)bus_id;
    if (size)
        out[0] = 0;
}

/* No variable replaces the topology: only the system reports it. */
void as_host_topology_origin(char *out, size_t size)
{
    if (size)
        out[0] = 0;
}

static void host_macos_add(struct as_device_info *info, const struct as_cache *c)
{
    if (c->size && info->caches_n < AS_CACHES_MAX)
        info->caches[info->caches_n++] = *c;
}

void as_host_caches(struct as_device_info *info)
{
    struct as_core_kind kind;
    if (!as_system_core_kind(0, &kind))
        return;
    const unsigned smt = kind.cores && kind.threads > kind.cores ? kind.threads / kind.cores : 1;
    const unsigned near = kind.cores_per_l2 ? kind.cores_per_l2 * smt : smt;
    host_macos_add(info,
                   &(struct as_cache){.level = 1, .kind = 'd', .size = kind.l1d, .line = kind.line, .shared = smt});
    host_macos_add(info,
                   &(struct as_cache){.level = 2, .kind = 'u', .size = kind.l2, .line = kind.line, .shared = near});
    host_macos_add(
        info, &(struct as_cache){.level = 3, .kind = 'u', .size = kind.l3, .line = kind.line, .shared = kind.threads});
}

uint64_t as_host_last_caches(void)
{
    struct as_core_kind kind;
    uint64_t sum = 0;
    for (unsigned i = 0; as_system_core_kind(i, &kind); i++) {
        const unsigned shared = kind.cores_per_l2 ? kind.cores_per_l2 : 1;
        sum += kind.l3 ? kind.l3 : kind.l2 * ((kind.cores + shared - 1) / shared);
    }
    return sum;
}
