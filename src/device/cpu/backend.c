/* The CPU backend: one device, the CPUs that this process may use. */
#include "device/cpu/cpu.h"
#include "device/cpu/roles.h"
#include "os/cpus.h"

#include <stdlib.h>

static bool cpu_pin(int cpu)
{
    struct as_cpus one = {{0}};
    as_cpus_add(&one, cpu);
    return as_thread_keep_on(&one);
}

static void cpu_close(struct as_device *dev)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    if (!cpu)
        return;
    as_team_destroy(cpu->team);
    as_cpu_memory_close(cpu);
    as_cpu_machine_close(cpu->machine);
    as_host_groups_destroy(cpu->groups);
    free(cpu->clock_cpus);
    free(cpu->order);
    free(cpu);
    dev->ctx = NULL;
}

static enum as_status cpu_fill_device(struct as_device *dev, struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    as_cpu_clock_start(cpu);
    as_cpu_pages_read(&cpu->pages);
    cpu->groups = as_host_groups_create("/proc", "/sys/fs/cgroup");
    if (!cpu->groups)
        return as_nomem(err, 0, "the list of control groups");
    enum as_status st = as_cpu_machine_open(&cpu->machine, err);
    if (!st)
        st = as_cpu_machine_order(cpu->machine, &cpu->order, &cpu->order_n, err);
    if (!st)
        st = as_cpu_fill_info(dev, err);
    if (!st)
        st = as_team_create(cpu_pin, dev->info.threads, &cpu->team, err);
    cpu->resident_start = as_host_resident();
    return st;
}

static uint64_t cpu_preemptions(struct as_device *dev)
{
    return as_team_preemptions(as_cpu(dev)->team);
}

static const struct as_program_ops program_ops = {
    .build = as_native_build,
    .destroy = as_native_destroy,
    .kernel = as_native_kernel,
    .kernel_destroy = as_native_kernel_destroy,
};

static const struct as_device_ops device_ops = {
    .close = cpu_close,
    .memory_free = as_cpu_memory_free,
    .clock = as_cpu_clock,
    .preemptions = cpu_preemptions,
    .topology = as_cpu_topology,
};

static enum as_status cpu_open_device(void *backend, size_t index, struct as_device *out, struct as_error *err)
{
    (void)backend;
    (void)index;
    *out = (struct as_device){
        .device = &device_ops,
        .memory = &as_cpu_memory_ops,
        .program = &program_ops,
        .queue = &as_cpu_queue_ops,
        .gemm = &as_cpu_gemm_ops,
        .ctx = calloc(1, sizeof(struct as_cpu_device)),
    };
    if (!out->ctx)
        return as_nomem(err, sizeof(struct as_cpu_device), "the CPU's record");
    enum as_status st = cpu_fill_device(out, err);
    if (st)
        cpu_close(out);
    return st;
}

static enum as_status cpu_backend_open(void **backend, struct as_error *err)
{
    (void)err;
    *backend = NULL;
    return AS_OK;
}

static void cpu_backend_close(void *backend)
{
    (void)backend;
}

static size_t cpu_backend_count(void *backend)
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
    .open = cpu_backend_open,
    .close = cpu_backend_close,
    .count = cpu_backend_count,
    .words = &words,
    .open_device = cpu_open_device,
};
