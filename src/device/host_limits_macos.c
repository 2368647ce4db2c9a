/* Memory that this process may use. macOS has no control groups; what it can free without writing counts as free. */
#include "device/host_limits.h"

#include "os/facts.h"

#include <stdlib.h>

struct as_host_groups {
    char none;
};

struct as_host_groups *as_host_groups_create(const char *proc_dir, const char *sys_dir)
{
    (void)proc_dir, (void)sys_dir;
    return calloc(1, sizeof(struct as_host_groups));
}

void as_host_groups_destroy(struct as_host_groups *groups)
{
    free(groups);
}

enum as_status as_host_limits_read(const struct as_host_groups *groups, struct as_host_limits *out,
                                   struct as_error *err)
{
    struct as_system_memory memory;
    (void)groups;
    *out = (struct as_host_limits){0};
    if (!as_system_memory(&memory))
        return as_fail(err, AS_IO, "the system does not report the size of memory");
    out->total = memory.total;
    out->free = memory.available;
    return AS_OK;
}

enum as_status as_host_limits_now(struct as_host_limits *out, struct as_error *err)
{
    return as_host_limits_read(NULL, out, err);
}

void as_host_limits_memory_text(const struct as_host_limits *limits, char *out, size_t size)
{
    (void)limits;
    if (size)
        out[0] = 0;
}

uint64_t as_host_oom_kills(void)
{
    return 0;
}

uint64_t as_host_resident(void)
{
    struct as_system_memory memory;
    return as_system_memory(&memory) ? memory.resident : 0;
}
