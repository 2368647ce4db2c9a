#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77 };

static const char *machine = "";

bool conformance_runs_on_host(void)
{
    return gpu.dev.info.capabilities & AS_CAP_HOST_KERNELS;
}

struct as_program_desc conformance_program(const char *defines)
{
    return (struct as_program_desc){
        .name = "conformance", .source = as_kernel_conformance, .host = conformance_host, .defines = defines};
}

struct ready conformance_ready(const char *kernel)
{
    const struct as_program_desc desc =
        conformance_program(gpu.dev.info.capabilities & AS_CAP_FP64 ? "-DMORE=2 -DF64" : "-DMORE=2");
    struct as_error err = {0};
    struct ready r = {NULL, NULL};
    check_ok(gpu.dev.program->build(&gpu.dev, &desc, &r.program, &err), &err);
    check_ok(gpu.dev.program->kernel(&gpu.dev, r.program, kernel, &r.kernel, &err), &err);
    return r;
}

void conformance_done(struct ready *r)
{
    gpu.dev.program->kernel_destroy(&gpu.dev, r->kernel);
    gpu.dev.program->destroy(&gpu.dev, r->program);
}

struct as_memory *conformance_memory(const char *allocator, uint64_t bytes)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    check_ok(gpu_get(allocator, bytes, NULL, &m, &err), &err);
    return m;
}

const char *conformance_plain(void)
{
    const struct as_device_info *info = &gpu.dev.info;
    for (size_t i = 0; i < info->allocators_n; i++)
        if (info->allocators[i].role == AS_ROLE_DEVICE && !info->allocators[i].why_not[0])
            return info->allocators[i].name;
    return info->allocators[0].name;
}

const char *conformance_shared(void)
{
    const struct as_device_info *info = &gpu.dev.info;
    for (size_t i = 0; i < info->allocators_n; i++)
        if (info->allocators[i].coherent && info->allocators[i].host_access && !info->allocators[i].why_not[0])
            return info->allocators[i].name;
    return NULL;
}

void conformance_fill(unsigned char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 31 + seed);
}

void conformance_fake(const char *words)
{
    char all[160];
    snprintf(all, sizeof all, "%s %s", machine, words);
    fake(all);
}

bool conformance_machine(size_t n)
{
    static const char *const one[] = {"", NULL};
    const char *const *machines = stand_in.machines ? stand_in.machines : one;
    if (!machines[n])
        return false;
    machine = machines[n];
    fake(machine);
    open_gpu(&gpu, 0);
    return true;
}

struct as_launch conformance_launch(const struct ready *r, const struct as_arg *args, size_t n, uint64_t reps)
{
    return (struct as_launch){.kernel = r->kernel,
                              .args = args,
                              .args_n = n,
                              .workgroups = GROUPS,
                              .workgroup_size = conformance_runs_on_host() ? 1 : GROUP_SIZE,
                              .reps = reps};
}

size_t conformance_items(void)
{
    return conformance_runs_on_host() ? GROUPS : GROUPS * GROUP_SIZE;
}

static int setup(void **state)
{
    (void)state;
    return conformance_machine(0) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    conformance_fake("");
    close_gpu(&gpu);
    return 0;
}

#define WITH_DEVICE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(conformance_opens),
        cmocka_unit_test(conformance_refuses),
        cmocka_unit_test(conformance_order),
        WITH_DEVICE(conformance_topology),
        cmocka_unit_test(conformance_allocators),
        WITH_DEVICE(conformance_sizes),
        WITH_DEVICE(conformance_given_back),
        cmocka_unit_test(conformance_no_memory),
        WITH_DEVICE(conformance_alloc_times),
        WITH_DEVICE(conformance_parts),
        WITH_DEVICE(conformance_peers),
        WITH_DEVICE(conformance_managed),
        WITH_DEVICE(conformance_two_devices),
        WITH_DEVICE(conformance_builds),
        WITH_DEVICE(conformance_arguments),
        WITH_DEVICE(conformance_workgroups),
        WITH_DEVICE(conformance_code),
        WITH_DEVICE(conformance_counts),
        WITH_DEVICE(conformance_queues),
        WITH_DEVICE(conformance_beside_host),
        WITH_DEVICE(conformance_shapes),
        WITH_DEVICE(conformance_copies),
        WITH_DEVICE(conformance_team),
        cmocka_unit_test(conformance_faults),
        cmocka_unit_test(conformance_each_call_fails),
    };
    struct as_error err = {0};
    void *backend = NULL;
    setenv("ASSAY_CACHE", "off", 1);
    if (stand_in.prepare)
        stand_in.prepare();
    if (stand_in.may_be_missing) {
        if (stand_in.backend->open(&backend, &err)) {
            printf("skipped: %s\n", err.text);
            return SKIPPED;
        }
        stand_in.backend->close(backend);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
