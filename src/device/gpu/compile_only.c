/* A compile-only GPU: compiles the programs that a probe builds before it runs or reads anything. */
#include "device/gpu/gpu.h"

#include <stdlib.h>

enum { TABLE_MAX = 64 << 10 };

static enum as_status nothing_else(struct as_error *err)
{
    return as_fail(err, AS_UNSUPPORTED, "a device that only compiles has no memory and runs nothing");
}

/* A program that cannot be compiled ends the probe, as in a trial. */
static enum as_status gpu_compile_only_build(struct as_device *dev, const struct as_program_desc *desc,
                                             struct as_program **out, struct as_error *err)
{
    static struct as_program compiled;
    enum as_status st = as_gpu_compile_ahead(dev, desc, err);
    *out = st ? NULL : &compiled;
    return st;
}

static void destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev, (void)program;
}

static enum as_status kernel(struct as_device *dev, struct as_program *program, const char *name,
                             struct as_kernel **out, struct as_error *err)
{
    static struct as_kernel any;
    (void)dev, (void)program, (void)name, (void)err;
    *out = &any;
    return AS_OK;
}

static void gpu_compile_only_kernel_destroy(struct as_device *dev, struct as_kernel *k)
{
    (void)dev, (void)k;
}

/* A size, without memory. */
static enum as_status gpu_compile_only_alloc(struct as_device *dev, const struct as_memory_desc *desc,
                                             struct as_memory **out, struct as_error *err)
{
    (void)dev;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return as_nomem(err, sizeof **out, "a memory record");
    (*out)->bytes = desc->bytes;
    return AS_OK;
}

static void gpu_compile_only_memory_free(struct as_device *dev, struct as_memory *mem)
{
    (void)dev;
    free(mem);
}

static enum as_status gpu_compile_only_map(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    (void)dev, (void)mem;
    return nothing_else(err);
}

static enum as_status gpu_compile_only_unmap(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    (void)dev, (void)mem, (void)err;
    return AS_OK;
}

/* Accepts tables and arguments, which are written before programs are built. Larger data ends the probe, since
 * computing it takes long. */
static enum as_status gpu_compile_only_write_memory(struct as_device *dev, struct as_memory *mem, uint64_t offset,
                                                    const void *from, uint64_t bytes, struct as_error *err)
{
    (void)dev, (void)mem, (void)offset, (void)from;
    return bytes <= TABLE_MAX ? AS_OK : nothing_else(err);
}

static enum as_status gpu_compile_only_read_memory(struct as_device *dev, struct as_memory *mem, uint64_t offset,
                                                   void *to, uint64_t bytes, struct as_error *err)
{
    (void)dev, (void)mem, (void)offset, (void)to, (void)bytes;
    return nothing_else(err);
}

static enum as_status gpu_compile_only_time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes,
                                                  size_t count, double *alloc_s, double *free_s, struct as_error *err)
{
    (void)dev, (void)allocator, (void)bytes, (void)count, (void)alloc_s, (void)free_s;
    return nothing_else(err);
}

static enum as_status gpu_compile_only_launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                                              struct as_error *err)
{
    (void)dev, (void)l;
    *out = (struct as_timing){0};
    return nothing_else(err);
}

static enum as_status submit(struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    (void)dev, (void)l;
    return nothing_else(err);
}

static enum as_status gpu_compile_only_wait_all(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    (void)dev, (void)how, (void)err;
    return AS_OK;
}

static enum as_status queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    (void)dev, (void)urgent;
    return n ? nothing_else(err) : AS_OK;
}

static enum as_status wait_queue(struct as_device *dev, unsigned queue, struct as_error *err)
{
    (void)dev, (void)queue, (void)err;
    return AS_OK;
}

static enum as_status gpu_compile_only_copy(struct as_device *dev, const struct as_copy *c, struct as_timing *out,
                                            struct as_error *err)
{
    (void)dev, (void)c;
    *out = (struct as_timing){0};
    return nothing_else(err);
}

static void gpu_compile_only_device_close(struct as_device *dev)
{
    free(dev->ctx);
    dev->ctx = NULL;
}

static enum as_status free_bytes(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    (void)err;
    *bytes = dev->info.memory_bytes; /* probes choose sizes from it before they build programs */
    return AS_OK;
}

static const struct as_device_ops device_ops = {.close = gpu_compile_only_device_close, .memory_free = free_bytes};
static const struct as_memory_ops memory_ops = {.alloc = gpu_compile_only_alloc,
                                                .free = gpu_compile_only_memory_free,
                                                .map = gpu_compile_only_map,
                                                .unmap = gpu_compile_only_unmap,
                                                .write = gpu_compile_only_write_memory,
                                                .read = gpu_compile_only_read_memory,
                                                .time_alloc = gpu_compile_only_time_alloc};
static const struct as_program_ops program_ops = {.build = gpu_compile_only_build,
                                                  .destroy = destroy,
                                                  .kernel = kernel,
                                                  .kernel_destroy = gpu_compile_only_kernel_destroy};
static const struct as_queue_ops queue_ops = {.launch = gpu_compile_only_launch,
                                              .submit = submit,
                                              .wait = gpu_compile_only_wait_all,
                                              .queues = queues,
                                              .wait_queue = wait_queue,
                                              .copy = gpu_compile_only_copy};

void as_gpu_become_compiler(struct as_gpu *gpu, const struct as_device_info *info, struct as_device *out)
{
    *out = (struct as_device){.info = *info,
                              .device = &device_ops,
                              .memory = &memory_ops,
                              .program = &program_ops,
                              .queue = &queue_ops,
                              .ctx = gpu};
}
