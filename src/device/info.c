/* Look-ups in device descriptions, and capability words. */
#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"
#include "device/backend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;   /* used in stores: must not change */
    const char *phrase; /* shown to users */
} capabilities[] = {
    {"host kernels", "native functions as kernels"},
    {"source", "run-time compiler for kernels"},
    {"pin", "thread pinning to chosen cores"},
    {"clock", "readable clock"},
    {"fp64", "64-bit floating point"},
    {"fp16", "16-bit floating point"},
    {"svm atomics", "atomics shared by host and device"},
    {"async", "asynchronous execution"},
    {"events", "time stamps on the device"},
    {"simulated", "simulated times"},
    {"copy", "copy engines"},
    {"graphs", "graph launches"},
    {"code", "readable machine code"},
    {"cycles", "cycle counter in kernels"},
    {"free count", "count of free memory by the driver"},
    {"queues", "concurrent queues"},
    {"dot 4x8", "dot product of four packed bytes"},
    {"peers", "access to the memory of other devices"},
    {"bf16", "bf16 in kernels"},
    {"matrix", "subgroup matrices in kernels"},
    {"tensor ops", "tensor operations in kernels"},
    {"tensor fp8", "tensor operations on 8-bit floats"},
    {"tensor fragments", "tensor operations with all operands in cooperative tensors"},
    {"subgroups", "subgroups in kernels"},
    {"subgroup ballot", "subgroup ballots"},
    {"subgroup shuffle", "subgroup shuffles"},
    {"subgroup arithmetic", "non-uniform subgroup arithmetic"},
    {"subgroup clustered", "clustered subgroup reductions"},
    {"concurrent commands", "concurrent commands in one submission"},
    {"recommended memory", "recommended maximum working set"},
    {"team", "concurrent work with the backend's other devices"},
};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

const char *const as_operation_words[] = {
    "load.global",
    "load.global.128",
    "store.global",
    "store.global.128",
    "load.local",
    "store.local",
    "load.const",
    "load.async",
    "atomic.global",
    "atomic.generic",
    "atomic.local",
    "fma.f16",
    "fma.f32",
    "fma.f64",
    "add.f32",
    "add.f64",
    "mul.f32",
    "mul.f64",
    "mad.i32",
    "add.i32",
    "logic.i32",
    "shift.i32",
    "matrix",
    "clock",
    "branch",
    "shuffle",
    "barrier",
    "convert",
    "convert.operand",
    "special",
    "swap.global",
    "swap.local",
    "any",
    NULL,
};

static size_t capability_index(unsigned bit)
{
    size_t i = 0;
    while (i < CAPABILITIES && bit != 1u << i)
        i++;
    return i;
}

const char *as_capability_word(unsigned bit)
{
    const size_t i = capability_index(bit);
    return i < CAPABILITIES ? capabilities[i].word : NULL;
}

void as_capability_phrases(unsigned bits, const char *between, struct as_buf *out)
{
    bool first = true;
    for (size_t i = 0; i < CAPABILITIES; i++)
        if (bits & 1u << i) {
            as_buf_printf(out, "%s%s", first ? "" : between, capabilities[i].phrase);
            first = false;
        }
}

static bool holds_data(const struct as_cache *c)
{
    return c->kind != 'i';
}

uint64_t as_info_last_cache(const struct as_device_info *info)
{
    const struct as_cache *last = NULL;
    for (size_t i = 0; i < info->caches_n; i++) {
        const struct as_cache *c = &info->caches[i];
        if (holds_data(c) && !c->memory_side && (!last || c->level > last->level))
            last = c;
    }
    return last ? last->size : 0;
}

const struct as_cache *as_info_memory_side(const struct as_device_info *info)
{
    for (size_t i = 0; i < info->caches_n; i++)
        if (info->caches[i].memory_side && info->caches[i].size)
            return &info->caches[i];
    return NULL;
}

/* Upper bound for an unreported last-level cache of a GPU. */
static const uint64_t CARD_CACHE = UINT64_C(64) << 20;
enum { GPU_PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* A GPU with its own memory. */
static bool is_card(const struct as_device_info *info)
{
    return !as_info_has_host_kernels(info) && !info->is_host_memory;
}

uint64_t as_info_huge_page(const struct as_device_info *info)
{
    return as_info_has_host_kernels(info) && info->huge_page ? info->huge_page : HUGE_PAGE;
}

uint64_t as_info_page(const struct as_device_info *info)
{
    if (is_card(info))
        return GPU_PAGE;
    /* For a GPU that uses host memory, page_size may be the driver's allocation granularity. */
    return as_info_has_host_kernels(info) && info->page_size ? info->page_size : as_host_page();
}

const char as_used_by_cpu[] = "";

/* Whether the host's caches are on the way: CPU threads use the memory, or the allocator always gives host memory. */
static bool is_hosts(const struct as_device_info *info, const char *allocator)
{
    if (allocator == as_used_by_cpu)
        return true;
    const struct as_allocator *a = allocator ? as_info_allocator(info, allocator) : NULL;
    const enum as_role role = a ? a->role : AS_ROLE_UNKNOWN;
    return role == AS_ROLE_MANAGED_HOST || as_role_is_pinned(role) || as_role_is_pageable(role) || info->is_host_memory;
}

/* Total size of the instances of one level that a CPU's threads reach; other devices' cores share one. */
static uint64_t reached(const struct as_device_info *info, const struct as_cache *c, double threads)
{
    if (!as_info_has_host_kernels(info) || !(threads > 1) || c->shared == 0 || info->threads <= c->shared)
        return c->size;
    const uint64_t n = (uint64_t)fmin(ceil((double)info->threads / c->shared), threads);
    return c->size > UINT64_MAX / n ? UINT64_MAX : c->size * n;
}

struct largest {
    uint64_t size;
    const char *name;
};

static void info_take(struct largest *l, uint64_t size, const char *name)
{
    if (size > l->size)
        *l = (struct largest){size, name};
}

static struct largest largest_cache(const struct as_device_info *info, const char *allocator, double threads)
{
    struct largest l = {.name = "last-level cache"};
    for (size_t i = 0; i < info->caches_n; i++) {
        const struct as_cache *c = &info->caches[i];
        if (holds_data(c))
            info_take(&l, reached(info, c, threads), c->memory_side && c->name[0] ? c->name : "last-level cache");
    }
    /* GPU drivers report only a part of the last-level cache, or none. */
    if (is_card(info))
        info_take(&l, CARD_CACHE, "last-level cache");
    if (!as_info_has_host_kernels(info) && is_hosts(info, allocator))
        info_take(&l, info->host_cache, info->is_host_cpu ? "last-level cache" : "last-level cache of the CPU");
    return l;
}

uint64_t as_info_largest_cache(const struct as_device_info *info, const char *allocator, double threads)
{
    return largest_cache(info, allocator, threads).size;
}

const char *as_info_largest_cache_name(const struct as_device_info *info, const char *allocator, double threads)
{
    return largest_cache(info, allocator, threads).name;
}

/* Saturating product. */
static uint64_t info_times(uint64_t n, uint64_t size)
{
    return size > UINT64_MAX / n ? UINT64_MAX : n * size;
}

uint64_t as_info_memory_least(const struct as_device_info *info, const char *allocator, double threads)
{
    static const uint64_t unsure = UINT64_C(256) << 20, most = UINT64_C(1) << 30;
    static const uint64_t share = UINT64_C(128) << 20; /* a guest of a few CPUs gets no larger share of a cache */
    const uint64_t cache = as_info_largest_cache(info, allocator, threads), least = info_times(4, cache);
    if (cache == 0)
        return unsure;
    if (!info->virtual_machine || (is_card(info) && !is_hosts(info, allocator)))
        return least;
    const struct as_cache *side = as_info_memory_side(info); /* whoever knows of it is not the hypervisor */
    const uint64_t one = as_info_largest_cache(info, allocator, 1);
    if (one > share && !(side && side->size == one))
        return info_times(4, share);
    const uint64_t limit = most > info_times(2, cache) ? most : info_times(2, cache);
    return least < unsure ? unsure : least < limit ? least : limit;
}

bool as_info_is_memory(const struct as_device_info *info, const char *allocator, double threads, double bytes)
{
    static const double rounding = 0.999; /* sizes are whole cache lines */
    return bytes >= rounding * (double)as_info_memory_least(info, allocator, threads);
}

uint64_t as_info_memory_set(const struct as_device_info *info)
{
    static const double beyond = 4.5, launch = 0x1p31, most = 0x1p62; /* a GPU reads 2 GiB in half a millisecond */
    uint64_t cache = as_info_largest_cache(info, NULL, as_info_has_host_kernels(info) ? info->threads : 1);
    if (!as_info_has_host_kernels(info) && info->host_cache > cache) /* some allocators give host memory */
        cache = info->host_cache;
    const double bytes = beyond * (double)(cache ? cache : CARD_CACHE);
    if (is_card(info))
        return (uint64_t)fmin(fmax(bytes, launch), most);
    const uint64_t least = as_info_memory_least(info, NULL, as_info_has_host_kernels(info) ? info->threads : 1);
    return info->virtual_machine ? least : (uint64_t)fmin(fmax(bytes, (double)least), most);
}

bool as_cache_is_possible(uint64_t bytes)
{
    return bytes > 0 && bytes <= UINT64_C(1) << 40;
}

void as_info_drop_caches(struct as_device_info *info)
{
    size_t n = 0;
    for (size_t i = 0; i < info->caches_n; i++)
        if (as_cache_is_possible(info->caches[i].size))
            info->caches[n++] = info->caches[i];
    info->caches_n = n;
    if (!as_cache_is_possible(info->host_cache))
        info->host_cache = 0;
}

const struct as_cache *as_info_cache_at(const struct as_device_info *info, unsigned level)
{
    for (size_t i = 0; i < info->caches_n; i++)
        if (holds_data(&info->caches[i]) && info->caches[i].level == level)
            return &info->caches[i];
    return NULL;
}

uint64_t as_info_cache(const struct as_device_info *info, unsigned level)
{
    const struct as_cache *c = as_info_cache_at(info, level);
    return c ? c->size : 0;
}

void as_cache_label(const struct as_cache *cache, char out[static 24])
{
    if (cache->memory_side)
        as_copy_text(out, 24, cache->name[0] ? cache->name : "memory-side cache");
    else
        snprintf(out, 24, "L%u", cache->level);
}

const char *as_cache_source_text(const struct as_cache *cache)
{
    static const char *const texts[][2] = {
        {"kfd", "the KFD topology"}, {"sysfs", "the kernel's memory nodes"}, {"table", "a table of chips"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(cache->source, texts[i][0]) == 0)
            return texts[i][1];
    return cache->source;
}

void as_cache_key(const struct as_cache *cache, char out[static 16])
{
    if (cache->memory_side)
        as_copy_text(out, 16, "memory_side");
    else
        snprintf(out, 16, "L%u", cache->level);
}

const struct as_allocator *as_info_allocator(const struct as_device_info *info, const char *name)
{
    for (size_t i = 0; i < info->allocators_n; i++)
        if (strcmp(info->allocators[i].name, name) == 0)
            return &info->allocators[i];
    return NULL;
}

bool as_info_ignores(const struct as_device_info *info, const char *state)
{
    const size_t n = strlen(info->ignored);
    const char *at = n ? strstr(state, info->ignored) : NULL;
    while (at && ((at != state && at[-1] != '+') || at[n] != '='))
        at = strstr(at + 1, info->ignored);
    return at != NULL;
}

enum as_status as_info_no_allocator(const struct as_device_info *info, const char *name, struct as_error *err)
{
    struct as_buf there = AS_BUF_INIT;
    for (size_t i = 0; i < info->allocators_n; i++)
        as_buf_printf(&there, "%s%s", i ? ", " : "", info->allocators[i].name);
    enum as_status st =
        as_fail(err, AS_USAGE, "'%s' has no allocator '%s'; it has %s", info->id, name, as_buf_get(&there));
    as_buf_finish(&there);
    return st;
}

const char *as_info_title(const struct as_device_info *info)
{
    return info->generation[0] ? info->generation : info->name;
}

const struct as_peer *as_info_peer(const struct as_device_info *info, unsigned device)
{
    for (size_t i = 0; i < info->peers_n; i++)
        if (info->peers[i].device == device)
            return &info->peers[i];
    return NULL;
}

static bool are_alike(const struct as_peer *a, const struct as_peer *b)
{
    return a->access == b->access && strcmp(a->why_not, b->why_not) == 0 &&
           (!a->access || (a->atomics == b->atomics && a->arrays == b->arrays && a->rank == b->rank));
}

/* The other devices of which the same is reported as of peer i; false: an earlier one has named them. */
static bool name_alike(const struct as_device_info *info, size_t i, struct as_buf *out)
{
    for (size_t k = 0; k < i; k++)
        if (are_alike(&info->peers[k], &info->peers[i]))
            return false;
    if (i)
        as_buf_str(out, "; ");
    for (size_t k = i; k < info->peers_n; k++)
        if (are_alike(&info->peers[k], &info->peers[i]))
            as_buf_printf(out, "%s%s:%u", k > i ? ", " : "", info->backend, info->peers[k].device);
    return true;
}

void as_info_peers(const struct as_device_info *info, struct as_buf *out)
{
    for (size_t i = 0; i < info->peers_n; i++) {
        const struct as_peer *p = &info->peers[i];
        if (!name_alike(info, i, out))
            continue;
        if (p->access)
            as_buf_printf(out, ": peer access, %s atomics, %s, performance rank %u (0 is best)",
                          p->atomics ? "native" : "no native", p->arrays ? "array access" : "no array access", p->rank);
        else
            as_buf_printf(out, ": no access: %s", p->why_not);
    }
}
