#include "buffers.h"

#include <stdio.h>
#include <stdlib.h>

static enum as_status check_space(size_t n, struct as_error *err)
{
    return n < AS_BUFFERS_MAX
               ? AS_OK
               : as_fail(err, AS_FAILED, "a trial has more than %d programs, kernels or blocks of memory",
                         AS_BUFFERS_MAX);
}

enum as_status as_buffers_keep_program(struct as_buffers *b, const struct as_program_desc *desc,
                                       struct as_program **out, struct as_error *err)
{
    enum as_status st = check_space(b->programs_n, err);
    *out = NULL;
    if (!st)
        st = b->dev->program->build(b->dev, desc, out, err);
    if (!st)
        b->program = b->programs[b->programs_n++] = *out;
    return st;
}

void as_buffers_open(struct as_buffers *b, struct as_device *dev, const struct as_program_desc *program,
                     struct as_error *err)
{
    *b = (struct as_buffers){.dev = dev};
    b->status = as_buffers_keep_program(b, program, &b->program, err);
}

enum as_status as_buffers_keep_kernel(struct as_buffers *b, struct as_program *of, const char *name,
                                      struct as_kernel **out, struct as_error *err)
{
    enum as_status st = check_space(b->kernels_n, err);
    *out = NULL;
    if (!st)
        st = b->dev->program->kernel(b->dev, of, name, out, err);
    if (!st)
        b->kernels[b->kernels_n++] = *out;
    return st;
}

static enum as_status keep_block(struct as_buffers *b, const struct as_memory_desc *desc, struct as_memory **out,
                                 struct as_error *err)
{
    enum as_status st = check_space(b->blocks_n, err);
    *out = NULL;
    if (!st)
        st = b->dev->memory->alloc(b->dev, desc, out, err);
    if (!st)
        b->blocks[b->blocks_n++] = *out;
    return st;
}

/* allocator: NULL for the device's first */
static enum as_status describe_block(const struct as_device *dev, const char *allocator, uint64_t bytes,
                                     struct as_memory_desc *out, struct as_error *err)
{
    if (!allocator && dev->info.allocators_n == 0)
        return as_fail(err, AS_UNSUPPORTED, "the device has no usable allocator");
    *out = (struct as_memory_desc){
        .allocator = allocator ? allocator : dev->info.allocators[0].name, .bytes = bytes, .node = -1};
    return AS_OK;
}

enum as_status as_buffers_keep_memory(struct as_buffers *b, const char *allocator, uint64_t bytes,
                                      struct as_memory **out, struct as_error *err)
{
    struct as_memory_desc desc;
    enum as_status st = describe_block(b->dev, allocator, bytes, &desc, err);
    *out = NULL;
    return st ? st : keep_block(b, &desc, out, err);
}

enum as_status as_cpu_beside(struct as_device *dev, struct as_opened *opened, struct as_device **out,
                             struct as_error *err)
{
    *out = dev;
    if (as_info_has_host_kernels(&dev->info))
        return AS_OK;
    const enum as_status st = as_device_open("cpu", opened, err);
    *out = st ? NULL : &opened->device;
    return st;
}

enum as_status as_device_memory(struct as_device *dev, uint64_t bytes, struct as_memory **out, struct as_error *err)
{
    struct as_memory_desc desc;
    enum as_status st = describe_block(dev, NULL, bytes, &desc, err);
    return st ? st : dev->memory->alloc(dev, &desc, out, err);
}

struct as_kernel *as_buffers_kernel(struct as_buffers *b, const char *name, struct as_error *err)
{
    struct as_kernel *kernel = NULL;
    if (!b->status)
        b->status = as_buffers_keep_kernel(b, b->program, name, &kernel, err);
    return kernel;
}

struct as_memory *as_buffers_alloc(struct as_buffers *b, const struct as_memory_desc *desc, struct as_error *err)
{
    struct as_memory *block = NULL;
    if (!b->status)
        b->status = keep_block(b, desc, &block, err);
    return block;
}

struct as_memory *as_buffers_memory(struct as_buffers *b, const char *allocator, uint64_t bytes, struct as_error *err)
{
    struct as_memory *block = NULL;
    if (!b->status)
        b->status = as_buffers_keep_memory(b, allocator, bytes, &block, err);
    return block;
}

void as_buffers_write(struct as_buffers *b, struct as_memory *to, const void *from, uint64_t bytes,
                      struct as_error *err)
{
    if (!b->status)
        b->status = b->dev->memory->write(b->dev, to, 0, from, bytes, err);
}

void as_buffers_finish(void *state)
{
    struct as_buffers *b = state;
    for (size_t i = 0; i < b->kernels_n; i++)
        b->dev->program->kernel_destroy(b->dev, b->kernels[i]);
    for (size_t i = 0; i < b->blocks_n; i++)
        b->dev->memory->free(b->dev, b->blocks[i]);
    for (size_t i = 0; i < b->programs_n; i++)
        b->dev->program->destroy(b->dev, b->programs[i]);
    *b = (struct as_buffers){0};
}

void *as_check_copy(struct as_device *dev, struct as_memory *from, uint64_t bytes, char *why, size_t why_size)
{
    struct as_error err = {0};
    void *copy = malloc((size_t)bytes);
    if (!copy)
        as_check_no_memory(why, why_size);
    else if (dev->memory->read(dev, from, 0, copy, bytes, &err)) {
        snprintf(why, why_size, "%s", err.text);
        free(copy);
        return NULL;
    }
    return copy;
}
