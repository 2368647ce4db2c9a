#include "cpus.h"

#include "base/host.h"
#include "lib/kernel_timer/kernel_timer.h"
#include "os/cpus.h"

#include <stdlib.h>

unsigned as_interference_cpus_usable(const struct as_device_info *info)
{
    struct as_cpus set;
    if (info->capabilities & AS_CAP_HOST_KERNELS)
        return info->threads;
    return as_usable_cpus(&set) ? (unsigned)as_cpus_count(&set) : 1;
}

/* args: 0 the address of a list. Threads are bound when they run. */
static void host_where(const struct as_host_call *call)
{
    int *cpus = as_pointer_in(call->args[0]);
    cpus[call->thread] = as_thread_cpu();
}
static const struct as_host_kernel host_kernels[] = {{"where", host_where}, {NULL, NULL}};

static enum as_status interference_ask(struct as_device *cpu, unsigned n, int *cpus, struct as_error *err)
{
    const struct as_program_desc desc = {.name = "interference", .host = host_kernels};
    struct as_buffers own;
    struct as_timing unused;
    as_buffers_open(&own, cpu, &desc, err);
    const struct as_arg arg = as_pointer_arg(cpus);
    const struct as_launch launch = as_launch_of(as_buffers_kernel(&own, "where", err), &arg, 1, n, 1);
    const enum as_status st = own.status ? own.status : cpu->queue->launch(cpu, &launch, &unused, err);
    as_buffers_finish(&own);
    return st;
}

/* A backend that does not bind threads may name a CPU twice. */
static void make_distinct(int *cpus, unsigned n)
{
    struct as_cpus rest;
    if (!as_usable_cpus(&rest))
        return;
    for (unsigned i = 0; i < n; i++) {
        if (!as_cpus_has(&rest, cpus[i]))
            cpus[i] = as_cpus_next(&rest, -1);
        as_cpus_remove(&rest, cpus[i]);
    }
}

static enum as_status interference_find(struct as_device *cpu, unsigned *n, int **cpus, struct as_error *err)
{
    const unsigned all = cpu->info.threads;
    *n = *n ? *n : all;
    if (*n > all || all < 2)
        return as_fail(err, AS_UNSUPPORTED, "needs %u CPUs, and this process may use %u", *n < 2 ? 2 : *n, all);
    *cpus = calloc(*n, sizeof **cpus);
    if (!*cpus)
        return as_nomem(err, *n * sizeof **cpus, "a list of CPUs");
    enum as_status st = interference_ask(cpu, *n, *cpus, err);
    if (!st)
        make_distinct(*cpus, *n);
    return st;
}

enum as_status as_interference_cpus_find(struct as_device *dev, unsigned *n, int **cpus, struct as_error *err)
{
    struct as_opened opened;
    *cpus = NULL;
    if (dev->info.capabilities & AS_CAP_HOST_KERNELS)
        return interference_find(dev, n, cpus, err);
    enum as_status st = as_device_open("cpu", &opened, err);
    if (st)
        return st;
    st = interference_find(&opened.device, n, cpus, err);
    as_device_close(&opened);
    return st;
}
