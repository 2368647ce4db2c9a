/* Launches: binds arguments, maps workgroups to threads, and moves the calling thread away. */
#include "device/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* Saves the list of CPUs for the clock, and moves the caller if the list changed. */
static enum as_status use_cpus(struct as_cpu_device *cpu, const struct as_launch *launch, struct as_error *err)
{
    size_t n = launch->workgroups;
    if (n == 0 || n > AS_TEAM_THREADS_MAX)
        return as_fail(err, AS_USAGE, "%zu threads were requested; request 1 to %d", n, (int)AS_TEAM_THREADS_MAX);
    bool same = cpu->clock_cpus_n == n;
    enum as_status st = as_grow((void **)&cpu->clock_cpus, &cpu->clock_cpus_cap, n, sizeof *cpu->clock_cpus, err);
    if (st)
        return st;
    for (size_t i = 0; i < n; i++) {
        int c = launch->cpus ? launch->cpus[i] : cpu->order[i % cpu->order_n];
        if (!as_cpu_machine_allows(cpu->machine, c)) {
            cpu->clock_cpus_n = 0;
            return as_fail(err, AS_USAGE, "this process may not use CPU %d", c);
        }
        same = same && cpu->clock_cpus[i] == c;
        cpu->clock_cpus[i] = c;
    }
    cpu->clock_cpus_n = n;
    if (!same)
        as_cpu_machine_keep_away(cpu->machine, cpu->clock_cpus, n);
    return AS_OK;
}

static enum as_status cpu_queue_submit(struct as_device *dev, const struct as_launch *launch, struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    union as_team_value values[AS_TEAM_ARGS_MAX];
    bool is_memory[AS_TEAM_ARGS_MAX];
    if (launch->args_n > AS_TEAM_ARGS_MAX)
        return as_fail(err, AS_USAGE, "a kernel takes at most %d arguments, not %zu", (int)AS_TEAM_ARGS_MAX,
                       launch->args_n);
    for (size_t i = 0; i < launch->args_n; i++) {
        const struct as_arg *a = &launch->args[i];
        if (a->kind == AS_ARG_TENSOR)
            return as_fail(err, AS_UNSUPPORTED, "kernel \"%s\" takes a tensor, which CPUs do not have",
                           launch->kernel->host->name);
        is_memory[i] = a->kind == AS_ARG_MEMORY;
        if (is_memory[i])
            values[i].memory = a->u.memory ? as_cpu_memory_address(a->u.memory) : NULL;
        else
            memcpy(&values[i], &a->u, sizeof values[i]);
    }
    enum as_status st = use_cpus(cpu, launch, err);
    if (st)
        return st;
    struct as_team_job job = {
        .run = launch->kernel->host->run,
        .values = values,
        .is_memory = is_memory,
        .args_n = launch->args_n,
        .cpus = cpu->clock_cpus,
        .threads = launch->workgroups,
        .reps = launch->reps,
        .barrier = (launch->flags & AS_LAUNCH_BARRIER) != 0,
    };
    return as_team_submit(cpu->team, &job, err);
}

static enum as_status cpu_queue_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    (void)err;
    as_team_wait(as_cpu(dev)->team, how, NULL);
    return AS_OK;
}

/* This launch may have been the first touch, so the page size may be known now. */
static void look_at_pages(struct as_cpu_device *cpu, const struct as_launch *launch)
{
    for (size_t i = 0; i < launch->args_n; i++)
        if (launch->args[i].kind == AS_ARG_MEMORY && launch->args[i].u.memory && !launch->args[i].u.memory->page_size)
            as_cpu_memory_look(cpu, launch->args[i].u.memory);
}

static enum as_status cpu_queue_launch(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                                       struct as_error *err)
{
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = cpu_queue_submit(dev, launch, err);
    /* The caller sleeps: spinning would take execution resources and power. */
    if (st)
        return st;
    as_team_wait(as_cpu(dev)->team, AS_WAIT_BLOCK, &out->host_s);
    look_at_pages(as_cpu(dev), launch);
    return AS_OK;
}

const struct as_queue_ops as_cpu_queue_ops = {
    .launch = cpu_queue_launch,
    .submit = cpu_queue_submit,
    .wait = cpu_queue_wait,
};
