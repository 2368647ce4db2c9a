#include "buffers.h"

#include <stdio.h>
#include <stdlib.h>

void as_buffers_open(struct as_buffers *b, struct as_device *dev, const struct as_program_desc *program,
                     struct as_error *err)
{
    *b = (struct as_buffers){.dev = dev};
    b->status = dev->program->build(dev, program, &b->program, err);
}

static bool has_space(struct as_buffers *b, size_t n, struct as_error *err)
{
    if (!b->status && n == AS_BUFFERS_MAX)
        b->status = as_fail(err, AS_FAILED, "a trial has more than %d kernels or blocks of memory", AS_BUFFERS_MAX);
    return !b->status;
}

struct as_kernel *as_buffers_kernel(struct as_buffers *b, const char *name, struct as_error *err)
{
    struct as_kernel *kernel = NULL;
    if (!has_space(b, b->kernels_n, err))
        return NULL;
    b->status = b->dev->program->kernel(b->dev, b->program, name, &kernel, err);
    if (b->status)
        return NULL;
    return b->kernels[b->kernels_n++] = kernel;
}

struct as_memory *as_buffers_alloc(struct as_buffers *b, const struct as_memory_desc *desc, struct as_error *err)
{
    struct as_memory *block = NULL;
    if (!has_space(b, b->blocks_n, err))
        return NULL;
    b->status = b->dev->memory->alloc(b->dev, desc, &block, err);
    if (b->status)
        return NULL;
    return b->blocks[b->blocks_n++] = block;
}

struct as_memory *as_buffers_memory(struct as_buffers *b, const char *allocator, uint64_t bytes, struct as_error *err)
{
    const struct as_device_info *info = &b->dev->info;
    if (!b->status && !allocator && info->allocators_n == 0)
        b->status = as_fail(err, AS_UNSUPPORTED, "the device has no usable allocator");
    const struct as_memory_desc desc = {
        .allocator = allocator ? allocator : info->allocators[0].name, .bytes = bytes, .node = -1};
    return as_buffers_alloc(b, &desc, err);
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
    if (b->dev)
        b->dev->program->destroy(b->dev, b->program);
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
