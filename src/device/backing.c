#include "device/backing.h"

#include "base/host.h"
#include "base/text.h"
#include "device/host.h"
#include "os/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* PAGEMAP_SCAN of Linux 6.7, defined here, since headers may be older than the kernel. */
struct page_region {
    uint64_t start, end, categories;
};
struct scan_arg {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN_PAGES _IOWR('f', 16, struct scan_arg)
enum { CATEGORY_PRESENT = 1 << 3, CATEGORY_HUGE = 1 << 6, REGIONS = 64 };

/* Scans only the pages that lie in the range. False: not supported by the kernel. */
static bool scan_backing(const void *at, uint64_t bytes, uint64_t *resident, uint64_t *huge)
{
    struct page_region found[REGIONS];
    uintptr_t base = (uintptr_t)as_host_page(), low = (uintptr_t)at / base * base;
    struct scan_arg scan = {.size = sizeof scan,
                            .start = low,
                            .end = ((uintptr_t)at + bytes + base - 1) / base * base,
                            .vec = (uintptr_t)found,
                            .vec_len = REGIONS,
                            .category_mask = CATEGORY_PRESENT,
                            .return_mask = CATEGORY_PRESENT | CATEGORY_HUGE};
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), n = -1;
    while (fd >= 0 && scan.start < scan.end && (n = ioctl(fd, SCAN_PAGES, &scan)) >= 0) {
        for (int i = 0; i < n; i++) {
            *resident += found[i].end - found[i].start;
            *huge += found[i].categories & CATEGORY_HUGE ? found[i].end - found[i].start : 0;
        }
        scan.start = scan.walk_end;
    }
    if (fd >= 0)
        close(fd);
    return n >= 0;
}

/* Slow in large processes: the kernel scans all mappings before this one. */
static void read_backing(const void *at, uint64_t bytes, uint64_t *resident, uint64_t *huge)
{
    uintptr_t low = (uintptr_t)at, high = low + bytes;
    char line[512];
    bool inside = false;
    FILE *f = fopen("/proc/self/smaps", "re");
    while (f && fgets(line, sizeof line, f)) {
        unsigned long start, end;
        unsigned long long kib;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
            if (start >= high)
                break;
            inside = end > low;
        } else if (inside && sscanf(line, "Rss: %llu kB", &kib) == 1) {
            *resident += kib << 10;
        } else if (inside && sscanf(line, "AnonHugePages: %llu kB", &kib) == 1) {
            *huge += kib << 10;
        }
    }
    if (f)
        fclose(f);
}

uint64_t as_backing_page(const void *at, uint64_t bytes)
{
    uint64_t resident = 0, huge = 0;
    const uint64_t huge_page = as_transparent_page();
    if (!scan_backing(at, bytes, &resident, &huge)) {
        resident = huge = 0;
        read_backing(at, bytes, &resident, &huge);
    }
    if (resident == 0)
        return 0;
    return huge_page && huge >= resident - resident / 10 ? huge_page : as_host_page();
}

/* Of the whole pages in the range. */
static void advise_whole(void *at, uint64_t bytes, enum as_page_advice pages)
{
    const uint64_t page = as_host_page();
    const uintptr_t first = ((uintptr_t)at + page - 1) / page * page, end = ((uintptr_t)at + bytes) / page * page;
    if (end > first)
        (void)as_advise_pages((char *)at + (first - (uintptr_t)at), end - first, pages);
}

void as_backing_want_base_pages(void *at, uint64_t bytes)
{
    advise_whole(at, bytes, AS_PAGES_SMALL);
}

uint64_t as_backing_huge_page(void)
{
    return as_transparent_allowed() == AS_TRANSPARENT_NO ? 0 : as_transparent_page();
}

void as_backing_want_huge_pages(void *at, uint64_t bytes)
{
    advise_whole(at, bytes, AS_PAGES_HUGE);
}

/* ---- the reserved pool ---- */

static uint64_t number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    unsigned long long v;
    return at && sscanf(at + strlen(key), "%llu", &v) == 1 ? v : 0;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

uint64_t as_backing_pool_page(void)
{
    struct as_buf b = AS_BUF_INIT;
    uint64_t page = as_map_huge_page();
    if (!page && as_buf_read_file(&b, "/proc/meminfo", 1 << 16, NULL) == AS_OK)
        page = number_after(as_buf_get(&b), "Hugepagesize:") << 10;
    as_buf_finish(&b);
    return page;
}

uint64_t as_backing_pool_free(void)
{
    struct as_buf info = AS_BUF_INIT, most = AS_BUF_INIT;
    uint64_t pages = 0;
    if (as_map_huge_page())
        return UINT64_MAX;
    if (as_buf_read_file(&info, "/proc/meminfo", 1 << 16, NULL) == AS_OK) {
        const char *text = as_buf_get(&info);
        pages = minus(number_after(text, "HugePages_Free:"), number_after(text, "HugePages_Rsvd:"));
        if (as_buf_read_file(&most, "/proc/sys/vm/nr_overcommit_hugepages", 4096, NULL) == AS_OK)
            pages += minus(number_after(as_buf_get(&most), ""), number_after(text, "HugePages_Surp:"));
    }
    as_buf_finish(&info);
    as_buf_finish(&most);
    return pages * as_backing_pool_page();
}

const char *as_backing_pool_limit(void)
{
    const char *limit = as_map_huge_limit();
    return limit                         ? limit
           : as_backing_pool_page() == 0 ? "the kernel has no huge page pool"
           : as_backing_pool_free() == 0 ? "no huge page is free in the reserved pool (vm.nr_hugepages sets its size)"
                                         : NULL;
}

enum as_status as_backing_pool_check(int node, uint64_t bytes, struct as_error *err)
{
    struct as_buf b = AS_BUF_INIT;
    const uint64_t page = as_backing_pool_page();
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/hugepages/hugepages-%llukB/free_hugepages", node,
             (unsigned long long)page >> 10);
    const bool is_known = as_buf_read_file(&b, path, 4096, NULL) == AS_OK;
    const uint64_t left = number_after(as_buf_get(&b), "") * page;
    as_buf_finish(&b);
    if (!is_known || left >= bytes)
        return AS_OK;
    struct as_buf has = AS_BUF_INIT, needs = AS_BUF_INIT;
    as_format_sizes(&has, left, &needs, bytes);
    const enum as_status st = as_fail(err, AS_UNSUPPORTED, "NUMA node %d has %s of reserved huge pages free, %s needed",
                                      node, as_buf_get(&has), as_buf_get(&needs));
    as_buf_finish(&has);
    as_buf_finish(&needs);
    return st;
}

void *as_backing_pool_map(uint64_t bytes)
{
    return as_map_huge((size_t)bytes);
}

void as_backing_pool_unmap(void *at, uint64_t bytes)
{
    if (at)
        munmap(at, (size_t)bytes);
}

int as_backing_near_node(const char *near_cpus)
{
    return as_memory_has_place() ? -1 : as_host_near_node("", near_cpus);
}

void as_backing_drop_pages(void *at, uint64_t bytes)
{
    as_drop_pages(at, bytes);
}

void as_backing_want_node(void *at, uint64_t bytes, int node)
{
    (void)as_bind_memory(at, bytes, node);
}
