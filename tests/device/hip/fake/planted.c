/* What the word "planted" adds to the stand-in: the behaviour of memory that the study of the MI300A found, in times
 * that no host comes near, so that facts can be compared with it. chases     a step takes as long as that level of
 * memory does; the levels are told apart by the block's size streams    take several times as long in memory that is
 * not hipMalloc's faults     each page that a kernel is the first to touch costs, and less so each that the CPU touched
 * before sweeps     only warm caches, of which these know nothing: they are left out atomics    of u64 in pinned memory
 * lose one addition in 1024; on_host.h */
#include "inside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

static const struct level {
    uint64_t size;
    double ns;
} levels[] = {{32 * KIB, 57}, {4 * MIB, 104}, {256 * MIB, 210}, {UINT64_MAX, 340}};

static const double MAJOR_S = 20e-6, MINOR_S = 5e-6; /* per page */
static const double LONGEST_S = 3;                   /* of a launch: below the time-out of a run */

/* Streams, by the kind of memory: how many times as long. */
static const struct {
    enum kind kind;
    double factor;
} uneven[] = {{MANAGED, 3}, {PINNED, 3}, {REGISTERED, 3}};
static const double PROCESS_FACTOR = 5, STATIC_FACTOR = 20;

/* The size of the mapping at an address that is of no block. */
static uint64_t mapping_of(uintptr_t at)
{
    char line[512];
    uint64_t size = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && !size && fgets(line, sizeof line, f)) {
        char *rest;
        const uintptr_t from = strtoull(line, &rest, 16), to = *rest == '-' ? strtoull(rest + 1, NULL, 16) : 0;
        size = at >= from && at < to ? to - from : 0;
    }
    if (f)
        fclose(f);
    return size;
}

/* Is it a variable of a module, which has a file behind it or follows one? */
static bool is_static(const void *at)
{
    Dl_info unused;
    return dladdr(at, &unused) != 0;
}

static void *pointer_of(const struct launch *l, unsigned argument)
{
    void *at;
    memcpy(&at, l->values[argument], sizeof at);
    return at;
}

static bool is_named(const struct launch *l, const char *name)
{
    return strcmp(l->kernel->entry->name, name) == 0;
}

static double step_of(const struct launch *l)
{
    if (!is_named(l, "walk") && !is_named(l, "persist"))
        return 0;
    const void *chain = pointer_of(l, 2);
    const struct block *b = fake_find(chain, 1);
    const uint64_t size = b ? b->size : mapping_of((uintptr_t)chain);
    const struct level *at = levels;
    while (at->size < size)
        at++;
    return at->ns;
}

static double factor_of(const struct launch *l)
{
    if (!is_named(l, "stream") && !is_named(l, "stream_tiled"))
        return 1;
    const void *memory = pointer_of(l, 1);
    const struct block *b = fake_find(memory, 1);
    if (!b)
        return is_static(memory) ? STATIC_FACTOR : PROCESS_FACTOR;
    for (size_t i = 0; i < sizeof uneven / sizeof *uneven; i++)
        if (uneven[i].kind == b->kind)
            return uneven[i].factor;
    return 1;
}

static long faults_now(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? 0 : u.ru_minflt;
}

/* Pages of managed memory that the device has not mapped yet, though they are there. */
static double minor_pages(const struct launch *l, double major)
{
    uint64_t pages;
    struct block *b = fake_find(pointer_of(l, 1), 1);
    if (!b || b->kind != MANAGED || b->device_maps)
        return 0;
    b->device_maps = true;
    memcpy(&pages, l->values[4], sizeof pages);
    return (double)pages > major ? (double)pages - major : 0;
}

void fake_plant(const struct launch *l, struct fake_planted *p)
{
    const struct block *b;
    *p = (struct fake_planted){0};
    if (!fake_asked("planted"))
        return;
    p->skipped = is_named(l, "sweep");
    p->step_ns = step_of(l);
    p->factor = factor_of(l);
    p->touches = is_named(l, "touch");
    b = is_named(l, "histogram") ? fake_find(pointer_of(l, 0), 1) : NULL;
    p->loses = b && b->kind == PINNED;
    p->faults = faults_now();
    p->began = fake_now();
}

void fake_planted_ends(const struct launch *l, const struct fake_planted *p)
{
    if (p->began == 0)
        return;
    const double now = fake_now();
    double more = (p->factor - 1) * (now - p->began);
    if (p->touches) {
        const double major = (double)(faults_now() - p->faults);
        more += MAJOR_S * major + MINOR_S * minor_pages(l, major);
    }
    more = more < LONGEST_S ? more : LONGEST_S;
    while (fake_now() < now + more)
        ;
}
