/* A compile-only GPU: ends at the first program that a probe builds. */
#include "device/gpu/gpu.h"

#include <stdlib.h>

static enum as_status nothing_else(struct as_error *err)
{
    return as_fail(err, AS_UNSUPPORTED, "a device that only compiles has no memory and runs nothing");
}

static enum as_status build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                            struct as_error *err)
{
    *out = NULL;
    enum as_status s = as_gpu_compile_ahead(dev, desc, err);
    return s ? s : nothing_else(err);
}

static void destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev, (void)program;
}

static enum as_status kernel(struct as_device *dev, struct as_program *program, const char *name,
                             struct as_kernel **out, struct as_error *err)
{
    (void)dev, (void)program, (void)name;
    *out = NULL;
    return nothing_else(err);
}

static void kernel_destroy(struct as_device *dev, struct as_kernel *k)
{
    (void)dev, (void)k;
}

static enum as_status alloc(struct as_device *dev, const struct as_memory_desc *desc, struct as_memory **out,
                            struct as_error *err)
{
    (void)dev, (void)desc;
    *out = NULL;
    return nothing_else(err);
}

static void memory_free(struct as_device *dev, struct as_memory *mem)
{
    (void)dev, (void)mem;
}

static enum as_status map(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    (void)dev, (void)mem;
    return nothing_else(err);
}

static enum as_status write_memory(struct as_device *dev, struct as_memory *mem, uint64_t offset, const void *from,
                                   uint64_t bytes, struct as_error *err)
{
    (void)dev, (void)mem, (void)offset, (void)from, (void)bytes;
    return nothing_else(err);
}

static enum as_status read_memory(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                  uint64_t bytes, struct as_error *err)
{
    (void)dev, (void)mem, (void)offset, (void)to, (void)bytes;
    return nothing_else(err);
}

static enum as_status launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                             struct as_error *err)
{
    (void)dev, (void)l;
    *out = (struct as_timing){0};
    return nothing_else(err);
}

static void device_close(struct as_device *dev)
{
    free(dev->ctx);
    dev->ctx = NULL;
}

static enum as_status free_bytes(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    (void)err;
    *bytes = dev->info.memory_bytes; /* allocations before the program succeed */
    return AS_OK;
}

static const struct as_device_ops device_ops = {.close = device_close, .memory_free = free_bytes};
static const struct as_memory_ops memory_ops = {
    .alloc = alloc, .free = memory_free, .map = map, .unmap = map, .write = write_memory, .read = read_memory};
static const struct as_program_ops program_ops = {
    .build = build, .destroy = destroy, .kernel = kernel, .kernel_destroy = kernel_destroy};
static const struct as_queue_ops queue_ops = {.launch = launch};

void as_gpu_become_compiler(struct as_gpu *card, const struct as_device_info *info, struct as_device *out)
{
    *out = (struct as_device){.info = *info,
                              .device = &device_ops,
                              .memory = &memory_ops,
                              .program = &program_ops,
                              .queue = &queue_ops,
                              .ctx = card};
}
