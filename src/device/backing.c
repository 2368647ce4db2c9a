#include "device/backing.h"

#include "base/host.h"
#include "device/host.h"
#include "os/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
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
