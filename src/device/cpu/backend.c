/* The CPU backend: one device, the CPUs that this process may use. */
#include "device/cpu/cpu.h"
#include "device/cpu/roles.h"

#include "base/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool pin(void *user, int cpu)
{
    hwloc_topology_t topology = user;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        return false;
    hwloc_bitmap_only(set, (unsigned)cpu);
    bool good = hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) == 0;
    hwloc_bitmap_free(set);
    return good;
}

static void cpu_close(struct as_device *dev)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    if (!cpu)
        return;
    as_team_destroy(cpu->team);
    as_cpu_memory_close(cpu);
    if (cpu->caller_start && cpu->caller && !hwloc_bitmap_isequal(cpu->caller, cpu->caller_start))
        hwloc_set_cpubind(cpu->topology, cpu->caller_start, HWLOC_CPUBIND_THREAD);
    as_usable_cpus_forget();
    as_host_groups_destroy(cpu->groups);
    hwloc_bitmap_free(cpu->allowed);
    hwloc_bitmap_free(cpu->caller);
    hwloc_bitmap_free(cpu->caller_start);
    if (cpu->topology)
        hwloc_topology_destroy(cpu->topology);
    free(cpu->clock_cpus);
    free(cpu->order);
    free(cpu);
    dev->ctx = NULL;
}

static enum as_status load_topology(struct as_cpu_device *cpu, struct as_error *err)
{
    if (hwloc_topology_init(&cpu->topology)) {
        cpu->topology = NULL;
        return as_nomem(err, 0, "the machine's topology");
    }
    hwloc_topology_set_icache_types_filter(cpu->topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(cpu->topology))
        return as_fail(err, AS_FAILED, "hwloc cannot read the machine's topology");
    cpu->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(cpu->topology));
    cpu->caller_start = hwloc_bitmap_alloc();
    if (!cpu->allowed || !cpu->caller_start)
        return as_nomem(err, 0, "a set of CPUs");
    if (hwloc_get_cpubind(cpu->topology, cpu->caller_start, HWLOC_CPUBIND_THREAD))
        return as_fail(err, AS_UNSUPPORTED, "cannot read on what CPUs this process may run: %s", strerror(errno));
    as_usable_cpus_keep();
    hwloc_bitmap_and(cpu->allowed, cpu->allowed, cpu->caller_start);
    cpu->caller = hwloc_bitmap_dup(cpu->caller_start);
    return cpu->caller ? AS_OK : as_nomem(err, 0, "a set of CPUs");
}

static enum as_status fill_device(struct as_device *dev, struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    as_cpu_clock_start(cpu);
    as_cpu_pages_read(&cpu->pages);
    cpu->groups = as_host_groups_create("/proc", "/sys/fs/cgroup");
    if (!cpu->groups)
        return as_nomem(err, 0, "the list of control groups");
    enum as_status s = load_topology(cpu, err);
    if (!s)
        s = as_cpu_order(cpu, err);
    if (!s)
        s = as_cpu_fill_info(dev, err);
    if (!s)
        s = as_team_create(pin, cpu->topology, dev->info.threads, &cpu->team, err);
    cpu->resident_start = as_host_resident();
    return s;
}

static uint64_t cpu_preemptions(struct as_device *dev)
{
    return as_team_preemptions(as_cpu(dev)->team);
}

static const struct as_device_ops device_ops = {
    .close = cpu_close,
    .memory_free = as_cpu_memory_free,
    .clock = as_cpu_clock,
    .preemptions = cpu_preemptions,
    .topology = as_cpu_topology,
};

static enum as_status open_device(void *backend, size_t index, struct as_device *out, struct as_error *err)
{
    (void)backend;
    (void)index;
    *out = (struct as_device){
        .device = &device_ops,
        .memory = &as_cpu_memory_ops,
        .program = &as_cpu_program_ops,
        .queue = &as_cpu_queue_ops,
        .gemm = &as_cpu_gemm_ops,
        .ctx = calloc(1, sizeof(struct as_cpu_device)),
    };
    if (!out->ctx)
        return as_nomem(err, sizeof(struct as_cpu_device), "the CPU's record");
    enum as_status s = fill_device(out, err);
    if (s)
        cpu_close(out);
    return s;
}

static enum as_status backend_open(void **backend, struct as_error *err)
{
    (void)err;
    *backend = NULL;
    return AS_OK;
}

static void backend_close(void *backend)
{
    (void)backend;
}

static size_t backend_count(void *backend)
{
    (void)backend;
    return 1;
}

static const struct as_vocabulary words = {.compute_unit = "core",
                                           .workgroup = "team",
                                           .subgroup = "thread",
                                           .shared_memory = "local memory",
                                           .queue = "queue"};

extern const struct as_backend as_backend_cpu;
const struct as_backend as_backend_cpu = {
    .abi = AS_DEVICE_ABI,
    .name = "cpu",
    .title = "CPU, native kernels on pinned threads",
    .roles = as_cpu_roles,
    .single = true,
    .open = backend_open,
    .close = backend_close,
    .count = backend_count,
    .words = &words,
    .open_device = open_device,
};
