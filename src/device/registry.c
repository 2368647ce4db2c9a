/* The backends of this build, the check of their records, and devices by name. */
#include "backends.h"
#include "base/text.h"
#include "device/arena.h"
#include "device/host.h"
#include "device/host_limits.h"
#include "device/memory_cache.h"
#include "device/shared_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name) extern const struct as_backend as_backend_##name;
AS_BACKENDS(DECLARE)
#define ADDRESS(name) &as_backend_##name,
const struct as_backend *const as_backends[] = {AS_BACKENDS(ADDRESS) NULL};

/* A required slot of a record; all pointers have the same representation on the systems that assay supports. */
struct slot {
    const char *name;
    size_t offset;
};
#define SLOT(type, member)                                                                                             \
    {                                                                                                                  \
#member, offsetof(struct type, member)                                                                         \
    }

static const struct slot backend_slots[] = {SLOT(as_backend, title), SLOT(as_backend, open), SLOT(as_backend, close),
                                            SLOT(as_backend, count), SLOT(as_backend, open_device)};
static const struct slot table_slots[] = {SLOT(as_device, device), SLOT(as_device, memory), SLOT(as_device, program),
                                          SLOT(as_device, queue)};
static const struct slot device_slots[] = {SLOT(as_device_ops, close), SLOT(as_device_ops, memory_free)};
static const struct slot memory_slots[] = {SLOT(as_memory_ops, alloc), SLOT(as_memory_ops, free),
                                           SLOT(as_memory_ops, map),   SLOT(as_memory_ops, unmap),
                                           SLOT(as_memory_ops, write), SLOT(as_memory_ops, read)};
static const struct slot program_slots[] = {SLOT(as_program_ops, build), SLOT(as_program_ops, destroy),
                                            SLOT(as_program_ops, kernel), SLOT(as_program_ops, kernel_destroy)};
static const struct slot queue_slots[] = {SLOT(as_queue_ops, launch)};
static const struct slot async_slots[] = {SLOT(as_queue_ops, submit), SLOT(as_queue_ops, wait)};
static const struct slot copy_slots[] = {SLOT(as_queue_ops, copy)};
static const struct slot gemm_slots[] = {SLOT(as_vendor_gemm_ops, create), SLOT(as_vendor_gemm_ops, destroy),
                                         SLOT(as_vendor_gemm_ops, run), SLOT(as_vendor_gemm_ops, name)};
static const struct slot clock_slots[] = {SLOT(as_device_ops, clock)};

/* The name of the first slot that is NULL in record; NULL if all are set. */
static const char *missing(const void *record, const struct slot *slots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *p;
        memcpy(&p, (const char *)record + slots[i].offset, sizeof p);
        if (!p)
            return slots[i].name;
    }
    return NULL;
}
#define MISSING(record, slots) missing(record, slots, sizeof(slots) / sizeof((slots)[0]))

enum as_status as_backend_check(const struct as_backend *backend, struct as_error *err)
{
    /* In a record of another version, only the ABI number is at a known place. */
    if (backend->abi != AS_DEVICE_ABI)
        return as_fail(err, AS_FAILED, "a backend has ABI %u, assay has ABI %u; build both from the same source",
                       backend->abi, AS_DEVICE_ABI);
    if (!backend->name || !backend->name[0])
        return as_fail(err, AS_FAILED, "a backend has no \"name\"");
    if (backend->unbuilt)
        return AS_OK;
    const char *slot = MISSING(backend, backend_slots);
    if (slot)
        return as_fail(err, AS_FAILED, "backend \"%s\" has no \"%s\"", backend->name, slot);
    return AS_OK;
}

void as_backend_environment(const struct as_backend *backend, struct as_buf *out)
{
    for (const char *const *name = backend->environment; name && *name; name++) {
        const char *value = getenv(*name);
        if (value)
            as_buf_printf(out, "%s%s=%.32s", out->len ? ", " : "", *name, value);
    }
}

static void describe_environment(const struct as_backend *backend, struct as_device_info *info)
{
    struct as_buf b = AS_BUF_INIT;
    as_backend_environment(backend, &b);
    const size_t n = strlen(info->caveats);
    if (b.len)
        snprintf(info->caveats + n, sizeof info->caveats - n, "%senvironment: %s", n ? "; " : "", as_buf_get(&b));
    as_buf_finish(&b);
}

/* Restrictions of this process do not affect a simulated device. */
static void describe_host(struct as_device_info *info)
{
    struct as_host_limits limits;
    if (!as_info_shares_host(info))
        return;
    as_host_caveats(info->caveats, sizeof info->caveats);
    if (info->is_host_memory && as_host_limits_now(&limits, NULL) == AS_OK)
        as_copy_text(info->memory_by, sizeof info->memory_by, limits.memory_by);
}

void as_backend_describe(const struct as_backend *backend, size_t n, struct as_device_info *info)
{
    if (info->siblings == 0)
        info->siblings = (unsigned)n;
    if (backend->words)
        info->words = *backend->words;
    as_memory_cache_describe(info);
    as_info_drop_caches(info);
    describe_host(info);
    describe_environment(backend, info);
}

enum as_status as_device_check(const struct as_device *dev, struct as_error *err)
{
    const char *table = "device", *slot = MISSING(dev, table_slots);
    if (slot)
        return as_fail(err, AS_FAILED, "device \"%s\" has no \"%s\" functions", dev->info.id, slot);
    slot = MISSING(dev->device, device_slots);
    if (!slot && dev->info.capabilities & AS_CAP_CLOCK)
        slot = MISSING(dev->device, clock_slots);
    if (!slot)
        table = "memory", slot = MISSING(dev->memory, memory_slots);
    if (!slot)
        table = "program", slot = MISSING(dev->program, program_slots);
    if (!slot)
        table = "queue", slot = MISSING(dev->queue, queue_slots);
    if (!slot && dev->info.capabilities & AS_CAP_ASYNC)
        slot = MISSING(dev->queue, async_slots);
    if (!slot && dev->info.capabilities & AS_CAP_COPY)
        slot = MISSING(dev->queue, copy_slots);
    if (!slot && dev->gemm)
        table = "gemm", slot = MISSING(dev->gemm, gemm_slots);
    if (slot)
        return as_fail(err, AS_FAILED, "device \"%s\" has no \"%s.%s\"", dev->info.id, table, slot);
    return AS_OK;
}

const struct as_backend *as_backend_find(const char *id)
{
    const size_t n = strcspn(id, ":");
    for (size_t i = 0; as_backends[i]; i++)
        if (strlen(as_backends[i]->name) == n && memcmp(as_backends[i]->name, id, n) == 0)
            return as_backends[i];
    return NULL;
}

static bool is_complete(const struct as_vocabulary *words)
{
    return words->compute_unit[0] && words->workgroup[0] && words->subgroup[0] && words->shared_memory[0] &&
           words->queue[0];
}

const struct as_vocabulary *as_info_words(const struct as_device_info *info)
{
    static const struct as_vocabulary usual = {.compute_unit = "compute unit",
                                               .workgroup = "workgroup",
                                               .subgroup = "subgroup",
                                               .shared_memory = "shared memory",
                                               .queue = "queue"};
    static const struct as_vocabulary host = {.compute_unit = "core",
                                              .workgroup = "team",
                                              .subgroup = "thread",
                                              .shared_memory = "local memory",
                                              .queue = "queue"};
    if (info && is_complete(&info->words))
        return &info->words;
    const struct as_backend *backend = info ? as_backend_find(info->backend) : NULL;
    if (backend && backend->words)
        return backend->words;
    return info && info->capabilities & AS_CAP_HOST_KERNELS ? &host : &usual;
}

enum as_role as_allocator_role(const char *id, const char *allocator)
{
    const struct as_backend *backend = as_backend_find(id);
    return as_role_in(backend ? backend->roles : NULL, allocator);
}

const char *as_role_allocator(const char *id, enum as_role role)
{
    const struct as_backend *backend = as_backend_find(id);
    for (const struct as_role_name *r = backend ? backend->roles : NULL; r && r->allocator; r++)
        if (r->role == role)
            return r->allocator;
    return "";
}

static enum as_status registry_fail_unknown(const char *id, struct as_error *err)
{
    enum { NAMES_MAX = 16 };
    const char *names[NAMES_MAX + 1] = {0};
    char name[32];
    for (size_t i = 0; as_backends[i] && i < NAMES_MAX; i++)
        names[i] = as_backends[i]->name;
    const size_t n = strcspn(id, ":");
    as_copy_text(name, n < sizeof name ? n + 1 : sizeof name, id);
    const char *near = as_nearest(name, names);
    return as_fail(err, AS_NOTFOUND, "no backend for device \"%s\"%s%s%s; assay devices lists them", id,
                   near ? ", did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

static enum as_status open_index(const struct as_backend *backend, const char *id, size_t index, struct as_opened *out,
                                 struct as_error *err)
{
    enum as_status st = as_backend_check(backend, err);
    if (st)
        return st;
    if (backend->unbuilt)
        return as_fail(err, AS_UNSUPPORTED, "device \"%s\": %s", id, backend->unbuilt);
    st = backend->open(&out->ctx, err);
    if (st)
        return st;
    size_t n = backend->count(out->ctx);
    if (index >= n)
        st = as_fail(err, AS_NOTFOUND, "there is no device \"%s\": backend \"%s\" has %zu", id, backend->name, n);
    else
        st = backend->open_device(out->ctx, index, &out->device, err);
    if (st) {
        backend->close(out->ctx);
        *out = (struct as_opened){0};
        return st;
    }
    out->backend = backend;
    as_backend_describe(backend, n, &out->device.info);
    st = as_device_check(&out->device, err);
    if (!st)
        st = as_arenas_open(&out->device, err);
    if (st)
        as_device_close(out);
    return st;
}

enum as_status as_device_open(const char *id, struct as_opened *out, struct as_error *err)
{
    *out = (struct as_opened){0};
    const char *colon = strchr(id, ':');
    const struct as_backend *backend = as_backend_find(id);
    uint64_t index = 0;
    if (!backend)
        return registry_fail_unknown(id, err);
    if (colon && as_parse_u64(colon + 1, &index, NULL))
        return as_fail(err, AS_USAGE, "device \"%s\" has no number after the colon; write for example \"opencl:0\"",
                       id);
    return open_index(backend, id, (size_t)index, out, err);
}

void as_device_close(struct as_opened *opened)
{
    if (!opened || !opened->backend)
        return;
    as_arenas_close(&opened->device);
    if (opened->device.device && opened->device.device->close)
        opened->device.device->close(&opened->device);
    opened->backend->close(opened->ctx);
    *opened = (struct as_opened){0};
}
