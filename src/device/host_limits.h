/* Limits of host memory and CPU time, by the kernel and the control groups of this process. */
#ifndef AS_DEVICE_HOST_LIMITS_H
#define AS_DEVICE_HOST_LIMITS_H

#include "base/error.h"

#include <stdint.h>

struct as_host_limits {
    uint64_t total, free; /* bytes */
    double quota;         /* CPUs' worth of time; 0: no quota */
};
struct as_host_groups; /* the control groups that bind this process */
struct as_host_groups *as_host_groups_create(const char *proc_dir, const char *sys_dir); /* NULL: out of memory */
void as_host_groups_destroy(struct as_host_groups *groups);
enum as_status as_host_limits_read(const struct as_host_groups *groups, struct as_host_limits *out,
                                   struct as_error *err);
/* The same once, of this process where it is. */
enum as_status as_host_limits_now(struct as_host_limits *out, struct as_error *err);
uint64_t as_host_resident(void); /* bytes of this process that are backed by memory now, huge-page pool not counted */

#endif
