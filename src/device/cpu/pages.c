/* Blocks with a requested page size, and detection of the actual one. */
#include "base/host.h"
#include "base/text.h"
#include "device/backing.h"
#include "device/cpu/cpu.h"
#include "device/cpu/roles.h"
#include "os/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAP_ALIGNMENT = 64 }; /* a cache line, and the widest vectors */

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"

void as_cpu_pages_read(struct as_cpu_pages *out)
{
    struct as_buf b = AS_BUF_INIT;
    *out = (struct as_cpu_pages){.base = as_host_page(), .hugetlb = as_backing_pool_page()};
    if (as_buf_read_file(&b, THP_DIR "enabled", 4096, NULL) == AS_OK) {
        out->huge = as_transparent_page();
        out->thp_always = strstr(as_buf_get(&b), "[always]") && as_transparent_allowed() == AS_TRANSPARENT_YES;
        out->thp_denied = as_transparent_allowed() == AS_TRANSPARENT_NO;
        out->thp_never = strstr(as_buf_get(&b), "[never]") != NULL;
    }
    as_buf_finish(&b);
}

static const char *const allocator_names[AS_CPU_ALLOCATORS_N] = {
    [AS_CPU_MALLOC] = "malloc", [AS_CPU_MMAP] = "mmap", [AS_CPU_THP] = "thp", [AS_CPU_HUGETLB] = "hugetlb"};

void as_cpu_list_allocators(const struct as_cpu_pages *pages, struct as_device_info *info)
{
    info->allocators_n = AS_CPU_ALLOCATORS_N;
    for (size_t i = 0; i < AS_CPU_ALLOCATORS_N; i++) {
        info->allocators[i] = (struct as_allocator){.host_access = true, .on_demand = true, .coherent = true};
        as_copy_text(info->allocators[i].name, sizeof info->allocators[i].name, allocator_names[i]);
        info->allocators[i].role = as_role_in(as_cpu_roles, allocator_names[i]);
    }
    const char *thp = !pages->huge        ? "the kernel has no transparent huge pages"
                      : pages->thp_never  ? "transparent huge pages are switched off (" THP_DIR "enabled is \"never\")"
                      : pages->thp_denied ? AS_NO_TRANSPARENT
                                          : "";
    const char *tlb = as_backing_pool_limit();
    as_copy_text(info->allocators[AS_CPU_THP].why_not, sizeof info->allocators[0].why_not, thp);
    as_copy_text(info->allocators[AS_CPU_HUGETLB].why_not, sizeof info->allocators[0].why_not, tlb ? tlb : "");
    if (!tlb && as_backing_pool_free() != UINT64_MAX)
        info->allocators[AS_CPU_HUGETLB].most = as_backing_pool_free();
}

bool as_cpu_allocator_find(const char *name, enum as_cpu_allocator *out)
{
    for (size_t i = 0; i < AS_CPU_ALLOCATORS_N; i++)
        if (strcmp(allocator_names[i], name) == 0) {
            *out = (enum as_cpu_allocator)i;
            return true;
        }
    return false;
}

static uint64_t granule(const struct as_cpu_pages *pages, enum as_cpu_allocator allocator)
{
    const uint64_t granules[AS_CPU_ALLOCATORS_N] = {HEAP_ALIGNMENT, pages->base, pages->huge, pages->hugetlb};
    return granules[allocator] ? granules[allocator] : pages->base;
}

uint64_t as_cpu_block_size(const struct as_cpu_pages *pages, enum as_cpu_allocator allocator, uint64_t bytes)
{
    uint64_t g = granule(pages, allocator);
    /* Half of the address space: leaves room for alignment and guard pages without overflow. */
    return bytes > (uint64_t)PTRDIFF_MAX / 2 ? 0 : (bytes + g - 1) / g * g;
}

/* Anonymous memory between two guard pages: an overrun faults, and the kernel never merges the mapping, so /proc
 * describes exactly this block. */
static bool map_guarded(const struct as_cpu_pages *pages, uint64_t bytes, uint64_t align, struct as_cpu_block *out)
{
    uint64_t total = bytes + align + 2 * pages->base;
    char *start = as_map_reserve(total);
    if (!start)
        return false;
    char *end = start + total;
    uintptr_t first = (uintptr_t)start + pages->base;
    char *block = start + pages->base + (align - first % align) % align;
    if (mprotect(block, bytes, PROT_READ | PROT_WRITE)) {
        int e = errno;
        munmap(start, total);
        errno = e;
        return false;
    }
    char *low = block - pages->base, *high = block + bytes + pages->base;
    if (low > start)
        munmap(start, (size_t)(low - start));
    if (end > high)
        munmap(high, (size_t)(end - high));
    out->address = block;
    out->mapping = low;
    out->mapped = (uint64_t)(high - low);
    return true;
}

static bool map_hugetlb(uint64_t bytes, struct as_cpu_block *out)
{
    void *p = as_map_huge(bytes);
    if (!p)
        return false;
    out->address = out->mapping = p;
    out->mapped = bytes;
    return true;
}

static bool cpu_pages_get_memory(const struct as_cpu_pages *pages, struct as_cpu_block *b)
{
    if (b->allocator == AS_CPU_MALLOC) {
        b->address = aligned_alloc(HEAP_ALIGNMENT, b->bytes);
        return b->address != NULL;
    }
    if (b->allocator == AS_CPU_HUGETLB)
        return map_hugetlb(b->bytes, b);
    if (!map_guarded(pages, b->bytes, granule(pages, b->allocator), b))
        return false;
    /* A kernel without huge pages rejects the advice, which is then not needed. */
    if (b->allocator == AS_CPU_MMAP)
        (void)as_advise_pages(b->address, b->bytes, AS_PAGES_SMALL);
    else if (as_advise_pages(b->address, b->bytes, AS_PAGES_HUGE))
        return false;
    return true;
}

enum as_status as_cpu_block_get(const struct as_cpu_pages *pages, enum as_cpu_allocator allocator, uint64_t bytes,
                                int node, struct as_cpu_block *out, struct as_error *err)
{
    *out = (struct as_cpu_block){.bytes = bytes, .allocator = allocator, .node = node};
    enum as_status st = AS_OK;
    errno = 0;
    if (!cpu_pages_get_memory(pages, out))
        st = as_fail(err, errno == ENOMEM || errno == 0 ? AS_NOMEM : AS_FAILED, "%s of %llu bytes failed: %s",
                     allocator_names[allocator], (unsigned long long)bytes, strerror(errno ? errno : ENOMEM));
    if (!st && node >= 0 && allocator == AS_CPU_MALLOC)
        st = as_fail(err, AS_UNSUPPORTED, "malloc cannot place memory on NUMA node %d; use the allocator \"mmap\"",
                     node);
    if (!st && node >= 0 && allocator == AS_CPU_HUGETLB)
        st = as_backing_pool_check(node, bytes, err);
    if (!st && node >= 0)
        st = as_cpu_machine_place(out->address, out->bytes, node, err);
    if (st)
        as_cpu_block_release(out);
    return st;
}

void as_cpu_block_release(struct as_cpu_block *block)
{
    if (block->mapping)
        munmap(block->mapping, block->mapped);
    else
        free(block->address);
    *block = (struct as_cpu_block){0};
}

/* The whole pages inside the block. */
static bool inner_pages(const struct as_cpu_pages *pages, const struct as_cpu_block *block, char **start, size_t *bytes)
{
    uintptr_t low = (uintptr_t)block->address, page = pages->base;
    uintptr_t first = (low + page - 1) / page * page, end = (low + block->bytes) / page * page;
    *start = (char *)block->address + (first - low);
    *bytes = end > first ? end - first : 0;
    return *bytes > 0;
}

void as_cpu_block_forget(const struct as_cpu_pages *pages, struct as_cpu_block *block)
{
    char *start;
    size_t bytes;
    if (inner_pages(pages, block, &start, &bytes))
        as_drop_pages(start, bytes);
}

bool as_cpu_block_back(const struct as_cpu_pages *pages, struct as_cpu_block *block)
{
    char *start;
    size_t bytes;
    if (!inner_pages(pages, block, &start, &bytes) || as_back_pages(start, bytes) == 0)
        return true;
    if (errno != EINVAL)
        return false;
    for (size_t at = 0; at < bytes; at += pages->base) {
        volatile char *p = start + at;
        *p = *p;
    }
    return true;
}

uint64_t as_cpu_block_page_size(const struct as_cpu_pages *pages, const struct as_cpu_block *block)
{
    if (block->allocator == AS_CPU_HUGETLB)
        return pages->hugetlb;
    bool certain = block->allocator == AS_CPU_MMAP ||
                   (block->allocator == AS_CPU_MALLOC && !pages->thp_always && block->bytes < pages->huge);
    if (certain || pages->huge == 0)
        return pages->base;
    return as_backing_page(block->address, block->bytes);
}
