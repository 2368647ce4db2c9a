#include "fleet/fleet_memory.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum as_role roles[AS_LINK_MEMORIES] = {
    [AS_LINK_PAGEABLE] = AS_ROLE_PAGEABLE, [AS_LINK_PINNED] = AS_ROLE_PINNED, [AS_LINK_DEVICE] = AS_ROLE_DEVICE};

/* The rank's device of a backend, or the first where it has fewer. */
static enum as_status open_local(struct as_link_memory *m, const char *backend, int local, struct as_error *err)
{
    char id[48];
    snprintf(id, sizeof id, "%s:%d", backend, local);
    enum as_status st = as_device_open(as_backend_find(backend) ? id : backend, &m->opened, err);
    if (st == AS_NOTFOUND && as_backend_find(backend))
        st = as_device_open(backend, &m->opened, err);
    m->is_open = !st;
    return st;
}

/* The first API that is not portable and has devices with memory of their own. Reasons of all, one after the other. */
static void open_any(struct as_link_memory *m, int local, struct as_buf *why)
{
    for (const struct as_backend *const *b = as_backends; *b && !m->is_open; b++) {
        struct as_error err = {0};
        if ((*b)->portable || (*b)->on_request || (*b)->unbuilt || !as_role_allocator((*b)->name, AS_ROLE_DEVICE)[0])
            continue;
        if (open_local(m, (*b)->name, local, &err))
            as_buf_printf(why, "%s%s", why->len ? "; " : "no GPU: ", err.text);
    }
}

static const char *allocator_of(const struct as_link_memory *m, enum as_link_memory_kind kind)
{
    const struct as_device_info *info = &m->opened.device.info;
    for (size_t i = 0; i < info->allocators_n; i++)
        if (info->allocators[i].role == roles[kind])
            return info->allocators[i].name;
    return "";
}

static void check_allocator(struct as_link_memory *m, enum as_link_memory_kind kind)
{
    const struct as_device_info *info = &m->opened.device.info;
    const struct as_allocator *a = as_info_allocator(info, allocator_of(m, kind));
    if (!a)
        snprintf(m->why[kind], sizeof m->why[kind], "%s has no %s memory", info->id, as_role_word(roles[kind]));
    else if (a->why_not[0])
        snprintf(m->why[kind], sizeof m->why[kind], "%s, %s: %s", info->id, a->name, a->why_not);
}

void as_link_memory_open(struct as_link_memory *m, const char *device, int local)
{
    struct as_error err = {0};
    struct as_buf why = AS_BUF_INIT;
    *m = (struct as_link_memory){.is_open = false};
    if (!device)
        open_any(m, local, &why);
    else if (strchr(device, ':'))
        m->is_open = as_device_open(device, &m->opened, &err) == AS_OK;
    else
        (void)open_local(m, device, local, &err);
    if (!m->is_open && !why.len)
        as_buf_str(&why, err.text[0] ? err.text : "no GPU");
    for (int kind = AS_LINK_PINNED; kind < AS_LINK_MEMORIES; kind++)
        if (m->is_open)
            check_allocator(m, (enum as_link_memory_kind)kind);
        else
            as_copy_text(m->why[kind], sizeof m->why[kind], as_buf_get(&why));
    as_buf_finish(&why);
}

void as_link_memory_check_gpu_aware(struct as_link_memory *m, const struct as_mpi *mpi)
{
    const char *const id = m->opened.device.info.id;
    char *why = m->why[AS_LINK_DEVICE];
    const size_t size = sizeof m->why[AS_LINK_DEVICE];
    if (!m->is_open || why[0])
        return;
    if (!m->opened.device.memory->address || !m->opened.backend->mpi_queries) {
        snprintf(why, size, "%s memory has no address to pass to MPI", id);
        return;
    }
    const char *asked = NULL;
    const int answer = as_mpi_query(mpi, m->opened.backend->mpi_queries, &asked);
    if (answer < 0)
        snprintf(why, size, "%s may not be GPU-aware for %s: it does not export %s", mpi->version, id, asked);
    else if (answer == 0)
        snprintf(why, size, "%s is not GPU-aware, or GPU support is disabled: %s() returns 0", mpi->version, asked);
}

static enum as_status alloc_pageable(struct as_link_buffer *b, uint64_t bytes, struct as_error *err)
{
    b->address = calloc(1, bytes);
    return b->address ? AS_OK : as_nomem(err, bytes, "messages");
}

static enum as_status alloc_of_device(struct as_link_memory *m, enum as_link_memory_kind kind, struct as_link_buffer *b,
                                      uint64_t bytes, struct as_error *err)
{
    struct as_device *dev = &m->opened.device;
    const struct as_memory_desc desc = {.allocator = allocator_of(m, kind), .bytes = bytes, .node = -1};
    enum as_status st = dev->memory->alloc(dev, &desc, &b->memory, err);
    if (!st && kind == AS_LINK_PINNED)
        st = dev->memory->map(dev, b->memory, err);
    if (!st)
        b->address = kind == AS_LINK_PINNED ? b->memory->host : dev->memory->address(b->memory);
    return st;
}

enum as_status as_link_memory_alloc(struct as_link_memory *m, enum as_link_memory_kind kind, uint64_t bytes,
                                    struct as_error *err)
{
    struct as_link_buffer *const both[2] = {&m->out[kind], &m->in[kind]};
    enum as_status st = AS_OK;
    for (int i = 0; i < 2 && !st; i++)
        st = kind == AS_LINK_PAGEABLE ? alloc_pageable(both[i], bytes, err)
                                      : alloc_of_device(m, kind, both[i], bytes, err);
    return st;
}

enum as_status as_link_memory_write(struct as_link_memory *m, const struct as_link_buffer *to, const void *from,
                                    uint64_t bytes, struct as_error *err)
{
    struct as_device *dev = &m->opened.device;
    if (to->memory)
        return dev->memory->write(dev, to->memory, 0, from, bytes, err);
    memcpy(to->address, from, bytes);
    return AS_OK;
}

enum as_status as_link_memory_read(struct as_link_memory *m, const struct as_link_buffer *from, void *to,
                                   uint64_t bytes, struct as_error *err)
{
    struct as_device *dev = &m->opened.device;
    if (from->memory)
        return dev->memory->read(dev, from->memory, 0, to, bytes, err);
    memcpy(to, from->address, bytes);
    return AS_OK;
}

static void link_buffer_free(struct as_link_memory *m, struct as_link_buffer *b)
{
    if (b->memory)
        m->opened.device.memory->free(&m->opened.device, b->memory);
    else
        free(b->address);
    *b = (struct as_link_buffer){0};
}

void as_link_memory_close(struct as_link_memory *m)
{
    for (int kind = 0; kind < AS_LINK_MEMORIES; kind++) {
        link_buffer_free(m, &m->out[kind]);
        link_buffer_free(m, &m->in[kind]);
    }
    if (m->is_open)
        as_device_close(&m->opened);
    m->is_open = false;
}
