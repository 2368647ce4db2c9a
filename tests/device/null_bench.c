#include "null_bench.h"

#include "check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void add(const struct as_host_call *call)
{
    uint64_t *out = call->args[0];
    for (uint64_t i = 0; i < call->reps; i++)
        out[call->thread] += *(const uint32_t *)call->args[1];
}

/* Two threads that wait for each other. */
static void meet(const struct as_host_call *call)
{
    _Atomic uint32_t *word = call->args[0];
    for (uint32_t i = 0; i < 100; i++)
        if (call->thread == 0) {
            atomic_store(word, 2 * i + 1);
            while (atomic_load(word) != 2 * i + 2)
                ;
        } else {
            while (atomic_load(word) != 2 * i + 1)
                ;
            atomic_store(word, 2 * i + 2);
        }
}

static const struct as_host_kernel kernels[] = {{"add", add}, {"meet", meet}, {NULL, NULL}};

char *null_script(const char *json)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/assay-null-%d.json", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(json, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

void null_build(struct null_bench *b)
{
    struct as_error err = {0};
    check_ok(
        b->d->program->build(b->d, &(struct as_program_desc){.name = "adding", .host = kernels}, &b->program, &err),
        &err);
    check_ok(b->d->program->kernel(b->d, b->program, "add", &b->add, &err), &err);
    check_ok(b->d->program->kernel(b->d, b->program, "meet", &b->meet, &err), &err);
}

void null_unbuild(struct null_bench *b)
{
    b->d->program->kernel_destroy(b->d, b->add);
    b->d->program->kernel_destroy(b->d, b->meet);
    b->d->program->destroy(b->d, b->program);
}

struct null_bench *null_start(const char *json)
{
    static struct null_bench b;
    struct as_error err = {0};
    char *path = null_script(json);
    setenv("ASSAY_NULL", path, 1);
    check_ok(as_device_open("null", &b.opened, &err), &err);
    unlink(path);
    b.d = &b.opened.device;
    check_ok(b.d->memory->alloc(b.d, &(struct as_memory_desc){.allocator = "malloc", .bytes = 4096, .node = -1},
                                &b.memory, &err),
             &err);
    check_ok(b.d->memory->map(b.d, b.memory, &err), &err);
    memset(b.memory->host, 0, 4096);
    null_build(&b);
    return &b;
}

void null_stop(struct null_bench *b)
{
    null_unbuild(b);
    b->d->memory->free(b->d, b->memory);
    as_device_close(&b->opened);
}

enum as_status null_launch(struct null_bench *b, struct as_work work, uint64_t reps, struct as_timing *t,
                           struct as_error *err)
{
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = b->memory}}, {AS_ARG_U32, {.u32 = 3}}};
    struct as_launch l = {
        .kernel = b->add, .args = args, .args_n = 2, .workgroups = 2, .workgroup_size = 1, .reps = reps, .work = work};
    return b->d->queue->launch(b->d, &l, t, err);
}

double null_seconds(struct null_bench *b, struct as_work work, uint64_t reps)
{
    struct as_timing t = {0};
    struct as_error err = {0};
    check_ok(null_launch(b, work, reps, &t, &err), &err);
    return t.host_s;
}

double null_clock(struct null_bench *b)
{
    double hz = 0;
    struct as_error err = {0};
    check_ok(b->d->device->clock(b->d, &hz, &err), &err);
    return hz;
}

bool null_near(double a, double b, double within)
{
    return fabs(a / b - 1) <= within;
}
