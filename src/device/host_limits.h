/* Limits of host memory and CPU time, from the kernel and the control groups of this process. */
#ifndef AS_DEVICE_HOST_LIMITS_H
#define AS_DEVICE_HOST_LIMITS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct as_host_limits {
    uint64_t total, free; /* bytes */
    double quota;         /* CPU time as a number of CPUs; 0: no quota */
    /* What limits memory and CPU time: "'/sys/fs/cgroup/job/memory.max'", "RLIMIT_AS (ulimit -v)"; "" if nothing. With
     * a memory limit, total is that limit. */
    char memory_by[160], quota_by[160];
};
struct as_host_groups; /* the control groups of this process and their ancestors */
struct as_host_groups *as_host_groups_create(const char *proc_dir, const char *sys_dir); /* NULL: out of memory */
void as_host_groups_destroy(struct as_host_groups *groups);
enum as_status as_host_limits_read(const struct as_host_groups *groups, struct as_host_limits *out,
                                   struct as_error *err);
/* The same, read once for this process. */
enum as_status as_host_limits_now(struct as_host_limits *out, struct as_error *err);
/* "this process may use 600 MiB by '/sys/fs/cgroup/job/memory.max'; raise that limit"; "" without a limit. */
void as_host_limits_memory_text(const struct as_host_limits *limits, char *out, size_t size);
/* OOM kills in this process's control group, or on the whole machine without one; 0 unknown. */
uint64_t as_host_groups_oom_kills(const struct as_host_groups *groups);
uint64_t as_host_oom_kills(void);
uint64_t as_host_resident(void); /* resident bytes of this process, without the huge-page pool */

#endif
