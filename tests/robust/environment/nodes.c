/* A host with memory nodes of its own, preloaded into assay. What files say of nodes and of devices' CPUs is found
 * below ASSAY_HOST_ROOT. Memory is where it was bound to when it was touched first, new memory where the thread's
 * policy has it, and everything else on the node ASSAY_HOST_NODE: a driver that places its memory there. With
 * ASSAY_HOST_POOL the host has a pool of huge pages, as its /proc/meminfo says, and binds whole ones only, as mbind(2)
 * does. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- files ---- */

static const char *place_of(const char *path, char *out, size_t size)
{
    static const char *const moved[] = {"/sys/devices/system/node", "/sys/bus/pci/devices/", "/proc/meminfo"};
    const char *root = getenv("ASSAY_HOST_ROOT");
    const size_t n = sizeof moved / sizeof *moved - !getenv("ASSAY_HOST_POOL");
    for (size_t i = 0; root && path && i < n; i++)
        if (strncmp(path, moved[i], strlen(moved[i])) == 0) {
            snprintf(out, size, "%s%s", root, path);
            return out;
        }
    return path;
}

/* With offsets of 64 bits, as assay is built, it is open64 for the linker, and mmap below is mmap64. */
EXPORT int open(const char *path, int flags, ...)
{
    char place[4096];
    va_list rest;
    va_start(rest, flags);
    const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    return openat(AT_FDCWD, place_of(path, place, sizeof place), flags, mode);
}

EXPORT DIR *opendir(const char *path)
{
    char place[4096];
    const int fd = openat(AT_FDCWD, place_of(path, place, sizeof place), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? NULL : fdopendir(fd);
}

/* ---- memory ---- */

enum { BOUND_MAX = 256, WORD_BITS = 8 * sizeof(unsigned long) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bound {
    uintptr_t from, to;
    int node; /* -1: to none */
} bound[BOUND_MAX];
static size_t bound_n;
static _Thread_local int policy = -1;

static int node_in(const unsigned long *mask)
{
    return mask && mask[0] ? __builtin_ctzl(mask[0]) : -1;
}

/* By its first page. */
static bool is_touched(uintptr_t from)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char there = 0;
    return mincore((void *)(from / page * page), (size_t)page, &there) == 0 && there & 1;
}

/* The latest wins. */
static long bind_range(uintptr_t from, size_t bytes, int node)
{
    if (is_touched(from))
        return 0;
    pthread_mutex_lock(&lock);
    bound[bound_n++ % BOUND_MAX] = (struct bound){from, from + bytes, node};
    pthread_mutex_unlock(&lock);
    return 0;
}

static int node_of(uintptr_t at)
{
    const char *other = getenv("ASSAY_HOST_NODE");
    int node = other ? atoi(other) : 0;
    pthread_mutex_lock(&lock);
    const size_t n = bound_n < BOUND_MAX ? bound_n : BOUND_MAX;
    for (size_t i = 1; i <= n; i++) {
        const struct bound *b = &bound[(bound_n - i) % BOUND_MAX];
        if (at >= b->from && at < b->to) {
            node = b->node >= 0 ? b->node : node;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return node;
}

/* ---- the pool of huge pages, played by ordinary memory ---- */

enum { POOL_PAGE = 2 << 20, POOLED_MAX = 256 };

static struct pooled {
    uintptr_t from, to;
} pooled[POOLED_MAX];
static size_t pooled_n;

static void *map_of_pool(size_t bytes, int access, int flags)
{
    const long got = syscall(SYS_mmap, NULL, bytes + POOL_PAGE, access, flags & ~MAP_HUGETLB, -1, 0l);
    if (got == -1 || bytes % POOL_PAGE)
        return MAP_FAILED;
    const uintptr_t start = (uintptr_t)got, at = (start + POOL_PAGE - 1) / POOL_PAGE * POOL_PAGE;
    if (at > start)
        munmap((void *)start, at - start);
    if (at < start + POOL_PAGE)
        munmap((void *)(at + bytes), start + POOL_PAGE - at);
    pthread_mutex_lock(&lock);
    pooled[pooled_n++ % POOLED_MAX] = (struct pooled){at, at + bytes};
    pthread_mutex_unlock(&lock);
    return (void *)at;
}

static bool splits_page_of_pool(uintptr_t from, size_t bytes)
{
    const size_t n = pooled_n < POOLED_MAX ? pooled_n : POOLED_MAX;
    for (size_t i = 0; i < n; i++)
        if (from >= pooled[i].from && from < pooled[i].to)
            return from % POOL_PAGE || bytes % POOL_PAGE;
    return false;
}

/* What a thread with a policy maps is bound by it. */
EXPORT void *mmap(void *wanted, size_t bytes, int access, int flags, int fd, off_t offset)
{
    if (flags & MAP_HUGETLB && getenv("ASSAY_HOST_POOL"))
        return map_of_pool(bytes, access, flags);
    const long at = syscall(SYS_mmap, wanted, bytes, access, flags, fd, offset);
    if (at != -1 && policy >= 0)
        bind_range((uintptr_t)at, bytes, policy);
    return (void *)(uintptr_t)at;
}

EXPORT long syscall(long number, ...)
{
    static long (*next)(long, ...);
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_mbind) {
        const int node = node_in((const unsigned long *)a[3]);
        if (splits_page_of_pool((uintptr_t)a[0], (size_t)a[1])) {
            errno = EINVAL;
            return -1;
        }
        return bind_range((uintptr_t)a[0], (size_t)a[1], node >= 0 ? node : policy);
    }
    if (number == SYS_set_mempolicy) {
        policy = node_in((const unsigned long *)a[1]);
        return 0;
    }
    if (number == SYS_get_mempolicy) {
        *(int *)a[0] = policy >= 0;
        return 0;
    }
    if (number == SYS_move_pages && a[3] == 0) {
        for (long i = 0; i < a[1]; i++)
            ((int *)a[4])[i] = node_of(((uintptr_t *)a[2])[i]);
        return 0;
    }
    if (!next) {
        void *found = dlsym(RTLD_NEXT, "syscall");
        memcpy(&next, &found, sizeof next);
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
