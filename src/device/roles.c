/* Roles of allocators: words and help. Each backend's table assigns roles to its allocators. */
#include "device/info.h"

#include <string.h>

static const struct {
    const char *word, *help;
} roles[AS_ROLES_N] = {
    [AS_ROLE_UNKNOWN] = {"", "unknown"},
    [AS_ROLE_DEVICE] = {"device", "device memory from the API's basic allocation call"},
    [AS_ROLE_DEVICE_POOL] = {"device_pool", "device memory from a pool, allocated in stream order"},
    [AS_ROLE_DEVICE_MAPPED] = {"device_mapped", "memory of the device, mapped to a reserved address range"},
    [AS_ROLE_DEVICE_FINE] = {"device_fine", "fine-grained memory of the device, coherent while a kernel runs"},
    [AS_ROLE_MANAGED] = {"managed", "one address for host and device; the driver moves or maps its pages"},
    [AS_ROLE_MANAGED_DEVICE] = {"managed_device", "managed, with the device as the preferred location"},
    [AS_ROLE_MANAGED_HOST] = {"managed_host", "managed, with the host as the preferred location"},
    [AS_ROLE_MANAGED_READ_MOSTLY] = {"managed_read_mostly", "managed, advised as mostly read: pages are duplicated"},
    [AS_ROLE_MANAGED_ACCESSED] = {"managed_accessed", "managed, advised as accessed by the device: pages are mapped"},
    [AS_ROLE_MANAGED_COARSE] = {"managed_coarse", "managed, advised as coarse-grained: coherent between kernels only"},
    [AS_ROLE_MANAGED_PREFETCH] = {"managed_prefetch", "managed, prefetched to the device"},
    [AS_ROLE_MANAGED_PREFETCH_HOST] = {"managed_prefetch_host", "managed, prefetched to the host before it uses it"},
    [AS_ROLE_MANAGED_STATIC] = {"managed_static", "a managed static variable of a module"},
    [AS_ROLE_SHARED_COARSE] = {"shared_coarse", "coarse-grained shared virtual memory, which the host must map"},
    [AS_ROLE_SHARED_FINE] = {"shared_fine", "fine-grained shared virtual memory, used in place by host and device"},
    [AS_ROLE_PINNED] = {"pinned", "page-locked host memory, allocated by the driver"},
    [AS_ROLE_PINNED_WC] = {"pinned_wc", "page-locked host memory, write-combined for the host"},
    [AS_ROLE_PINNED_COHERENT] = {"pinned_coherent", "page-locked host memory, explicitly coherent"},
    [AS_ROLE_PINNED_NONCOHERENT] = {"pinned_noncoherent", "page-locked host memory that the device may cache"},
    [AS_ROLE_PINNED_PORTABLE] = {"pinned_portable",
                                 "page-locked host memory for all devices; the environment decides its coherence"},
    [AS_ROLE_REGISTERED] = {"registered", "host memory of the process, registered with the driver"},
    [AS_ROLE_PAGEABLE] = {"pageable", "pageable host memory"},
    [AS_ROLE_PAGEABLE_HUGE] = {"pageable_huge", "the same with transparent huge pages requested"},
    [AS_ROLE_PAGEABLE_HUGETLB] = {"pageable_hugetlb", "the same on huge pages of the reserved pool (hugetlb)"},
    [AS_ROLE_BASE_PAGES] = {"base_pages", "memory of the process on pages of the base size"},
    [AS_ROLE_HUGE_PAGES] = {"huge_pages", "memory of the process with transparent huge pages requested"},
    [AS_ROLE_RESERVED_HUGE_PAGES] = {"reserved_huge_pages", "memory of the process from the pool of huge pages"},
};

const char *as_role_word(enum as_role role)
{
    return role < AS_ROLES_N ? roles[role].word : "";
}

const char *as_role_help(enum as_role role)
{
    return role < AS_ROLES_N ? roles[role].help : "";
}

static bool is_among(enum as_role role, const enum as_role *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == role)
            return true;
    return false;
}

bool as_role_is_managed(enum as_role role)
{
    return role >= AS_ROLE_MANAGED && role <= AS_ROLE_MANAGED_STATIC;
}

bool as_role_is_pinned(enum as_role role)
{
    static const enum as_role pinned[] = {AS_ROLE_PINNED,          AS_ROLE_PINNED_WC,
                                          AS_ROLE_PINNED_COHERENT, AS_ROLE_PINNED_NONCOHERENT,
                                          AS_ROLE_PINNED_PORTABLE, AS_ROLE_REGISTERED};
    return is_among(role, pinned, sizeof pinned / sizeof *pinned);
}

bool as_role_is_pageable(enum as_role role)
{
    static const enum as_role pageable[] = {AS_ROLE_PAGEABLE,   AS_ROLE_PAGEABLE_HUGE, AS_ROLE_PAGEABLE_HUGETLB,
                                            AS_ROLE_BASE_PAGES, AS_ROLE_HUGE_PAGES,    AS_ROLE_RESERVED_HUGE_PAGES};
    return is_among(role, pageable, sizeof pageable / sizeof *pageable);
}

enum as_role as_role_find(const char *word)
{
    for (int role = AS_ROLE_UNKNOWN + 1; role < AS_ROLES_N; role++)
        if (strcmp(roles[role].word, word) == 0)
            return (enum as_role)role;
    return AS_ROLE_UNKNOWN;
}

enum as_role as_role_in(const struct as_role_name *table, const char *allocator)
{
    for (; table && table->allocator; table++)
        if (strcmp(table->allocator, allocator) == 0)
            return table->role;
    return AS_ROLE_UNKNOWN;
}
