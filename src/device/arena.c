#include "device/arena.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* A huge page: parts that start at a multiple of it have the same page layout as a separate block. */
static const uint64_t GRAIN = UINT64_C(2) << 20;

enum { ARENAS_MAX = 16, SERVED_MAX = 256, SLACK = 8, KEPT = 4 /* parts: of a block, of what is free */ };

struct arena {
    char allocator[40], owner[32], use[16];
    int node;
    uint64_t touch;
    bool renewed; /* small enough to be reallocated */
    struct as_memory *whole, *part;
    uint64_t offset; /* of the part */
    uint64_t used;   /* last use: the oldest is evicted first */
    uint64_t served[SERVED_MAX];
    size_t served_n;
    uint64_t seed;
    uint8_t *pieces;
};
struct as_arenas {
    struct arena list[ARENAS_MAX];
    size_t n;
    uint64_t takes, cell;
    struct as_rng rng;
};

enum as_status as_arenas_open(struct as_device *dev, struct as_error *err)
{
    dev->arenas = calloc(1, sizeof *dev->arenas);
    if (!dev->arenas)
        return as_nomem(err, sizeof *dev->arenas, "the list of arenas");
    as_rng_seed(&dev->arenas->rng, 0);
    return AS_OK;
}

static void arena_drop(struct as_device *dev, size_t i)
{
    struct as_arenas *all = dev->arenas;
    dev->memory->free(dev, all->list[i].whole);
    free(all->list[i].pieces);
    all->n--;
    memmove(&all->list[i], &all->list[i + 1], (all->n - i) * sizeof all->list[0]);
}

/* Found by its memory, since an allocation may have dropped idle arenas. */
static void drop_whole(struct as_device *dev, const struct as_memory *whole)
{
    for (size_t i = dev->arenas->n; whole && i-- > 0;)
        if (dev->arenas->list[i].whole == whole)
            arena_drop(dev, i);
}

void as_arenas_drop_idle(struct as_device *dev)
{
    for (size_t i = dev->arenas ? dev->arenas->n : 0; i-- > 0;)
        if (!dev->arenas->list[i].part)
            arena_drop(dev, i);
}

void as_arenas_close(struct as_device *dev)
{
    as_arenas_drop_idle(dev);
    free(dev->arenas);
    dev->arenas = NULL;
}

void as_arenas_begin(struct as_device *dev, uint64_t cell_key, uint64_t seed)
{
    if (!dev->arenas)
        return;
    dev->arenas->cell = cell_key;
    as_rng_seed(&dev->arenas->rng, seed);
}

uint64_t as_arenas_idle(const struct as_device *dev)
{
    uint64_t bytes = 0;
    for (size_t i = 0; dev->arenas && i < dev->arenas->n; i++)
        bytes += dev->arenas->list[i].part ? 0 : dev->arenas->list[i].whole->bytes;
    return bytes;
}

static const char *owner_of(const struct as_arena_desc *d)
{
    return d->memory.owner ? d->memory.owner : "";
}

static bool arena_serves(const struct arena *a, const struct as_arena_desc *d)
{
    return strcmp(a->allocator, d->memory.allocator) == 0 && strcmp(a->owner, owner_of(d)) == 0 &&
           strcmp(a->use, d->use) == 0 && a->node == d->memory.node && a->touch == d->touch &&
           a->renewed == (d->memory.bytes <= AS_ARENA_RENEWED);
}

static bool has_served(const struct as_arenas *all, const struct arena *a)
{
    for (size_t i = 0; i < a->served_n; i++)
        if (a->served[i] == all->cell)
            return true;
    return a->served_n == SERVED_MAX;
}

static uint64_t slack_of(const struct as_arena_desc *d)
{
    const uint64_t slack = (d->memory.bytes / SLACK + GRAIN - 1) / GRAIN * GRAIN;
    return d->touch >= AS_TOUCH_OTHER ? 0 : slack;
}

static enum as_status get_whole(struct as_device *dev, const struct as_arena_desc *d, uint64_t bytes,
                                struct as_memory **out, struct as_error *err)
{
    struct as_memory_desc whole = d->memory;
    whole.bytes = bytes;
    whole.fresh = true;
    return dev->memory->alloc(dev, &whole, out, err);
}

/* Allocates the new arena before freeing the old one, so that its pages differ. If memory is short, idle arenas are
 * freed first, then the slack for random offsets is given up. */
static enum as_status replace(struct as_device *dev, const struct as_arena_desc *d, size_t *at, uint64_t bytes,
                              struct as_error *err)
{
    struct as_arenas *all = dev->arenas;
    struct as_memory *whole = NULL;
    const struct as_memory *old = *at < all->n ? all->list[*at].whole : NULL;
    const uint64_t exact = (d->memory.bytes + GRAIN - 1) / GRAIN * GRAIN;
    enum as_status st = get_whole(dev, d, bytes, &whole, err);
    if (!st)
        drop_whole(dev, old);
    else if (st == AS_NOMEM) {
        as_arenas_drop_idle(dev);
        st = get_whole(dev, d, bytes, &whole, err);
        if (st && exact < bytes)
            st = get_whole(dev, d, exact, &whole, err);
    }
    if (st)
        return st;
    uint8_t *pieces = calloc(whole->bytes / AS_ARENA_PIECE + 1, 1);
    if (!pieces) {
        dev->memory->free(dev, whole);
        return as_nomem(err, whole->bytes / AS_ARENA_PIECE + 1, "an arena's content");
    }
    *at = all->n++;
    struct arena *a = &all->list[*at];
    *a = (struct arena){.node = d->memory.node,
                        .touch = d->touch,
                        .renewed = d->memory.bytes <= AS_ARENA_RENEWED,
                        .whole = whole,
                        .seed = as_rng_u64(&all->rng),
                        .pieces = pieces};
    as_copy_text(a->allocator, sizeof a->allocator, d->memory.allocator);
    as_copy_text(a->owner, sizeof a->owner, owner_of(d));
    as_copy_text(a->use, sizeof a->use, d->use);
    return AS_OK;
}

/* all->n if every arena has lent its part. */
static size_t oldest_idle(const struct as_arenas *all)
{
    size_t oldest = all->n;
    for (size_t i = 0; i < all->n; i++)
        if (!all->list[i].part && (oldest == all->n || all->list[i].used < all->list[oldest].used))
            oldest = i;
    return oldest;
}

/* Finds a free entry, evicting the least recently used idle arena if needed. */
static bool make_entry(struct as_device *dev)
{
    struct as_arenas *all = dev->arenas;
    const size_t oldest = oldest_idle(all);
    if (all->n == ARENAS_MAX && oldest < all->n)
        arena_drop(dev, oldest);
    return all->n < ARENAS_MAX;
}

/* Bytes of the largest block; 0 unknown. */
static uint64_t most_of(const struct as_device_info *info, const char *allocator)
{
    const struct as_allocator *a = as_info_allocator(info, allocator);
    const uint64_t cap = a ? a->most : 0;
    return cap && (!info->max_alloc || cap < info->max_alloc) ? cap : info->max_alloc;
}

/* The arena for the block, found or created; all->n if there is none. */
static enum as_status arena_find(struct as_device *dev, const struct as_arena_desc *d, size_t *at, struct as_error *err)
{
    struct as_arenas *all = dev->arenas;
    const uint64_t most = most_of(&dev->info, d->memory.allocator);
    uint64_t bytes = (d->memory.bytes + GRAIN - 1) / GRAIN * GRAIN + slack_of(d);
    if (most && bytes > most)
        bytes = most > d->memory.bytes ? most : d->memory.bytes;
    for (*at = 0; *at < all->n && !arena_serves(&all->list[*at], d);)
        ++*at;
    if (*at == all->n) {
        if (!make_entry(dev)) {
            *at = ARENAS_MAX;
            return AS_OK;
        }
        *at = all->n;
        return replace(dev, d, at, bytes, err);
    }
    const struct arena *a = &all->list[*at];
    if (a->part) {
        *at = ARENAS_MAX;
        return AS_OK;
    }
    if (a->whole->bytes >= d->memory.bytes && !(a->renewed && has_served(all, a)))
        return AS_OK;
    return replace(dev, d, at, bytes > a->whole->bytes ? bytes : a->whole->bytes, err);
}

static enum as_status arena_lend(struct as_device *dev, struct arena *a, const struct as_arena_desc *d,
                                 struct as_memory **out, struct as_error *err)
{
    struct as_arenas *all = dev->arenas;
    const uint64_t places = (a->whole->bytes - d->memory.bytes) / GRAIN + 1;
    a->offset = d->touch >= AS_TOUCH_OTHER ? 0 : as_rng_below(&all->rng, places) * GRAIN;
    enum as_status st = dev->memory->part(dev, a->whole, a->offset, d->memory.bytes, &a->part, err);
    if (st) {
        a->part = NULL;
        return st;
    }
    a->used = ++all->takes;
    if (!has_served(all, a))
        a->served[a->served_n++] = all->cell;
    *out = a->part;
    return AS_OK;
}

enum as_status as_arena_take(struct as_device *dev, const struct as_arena_desc *desc, struct as_memory **out,
                             struct as_error *err)
{
    struct as_memory_desc own = desc->memory;
    size_t at = ARENAS_MAX;
    own.fresh |= own.bytes <= AS_ARENA_FROM || own.at;
    if (dev->arenas && dev->memory->part && !own.fresh) {
        enum as_status st = arena_find(dev, desc, &at, err);
        if (st)
            return st;
    }
    return at < ARENAS_MAX ? arena_lend(dev, &dev->arenas->list[at], desc, out, err)
                           : dev->memory->alloc(dev, &own, out, err);
}

static struct arena *arena_of(const struct as_device *dev, const struct as_memory *part)
{
    for (size_t i = 0; part && dev->arenas && i < dev->arenas->n; i++)
        if (dev->arenas->list[i].part == part)
            return &dev->arenas->list[i];
    return NULL;
}

/* Idle arenas keep at most a fraction of the memory that would be free without them. */
static void bound_idle(struct as_device *dev)
{
    uint64_t free_bytes = 0;
    if (as_device_memory_free(dev, &free_bytes, NULL))
        return;
    while (as_arenas_idle(dev) > free_bytes / KEPT)
        arena_drop(dev, oldest_idle(dev->arenas));
}

void as_arena_give(struct as_device *dev, struct as_memory *mem)
{
    struct arena *a = arena_of(dev, mem);
    dev->memory->free(dev, mem);
    if (a) {
        a->part = NULL;
        bound_idle(dev);
    }
}

bool as_arena_content(const struct as_device *dev, const struct as_memory *part, struct as_arena_content *out)
{
    const struct arena *a = arena_of(dev, part);
    if (a)
        *out = (struct as_arena_content){.seed = a->seed, .offset = a->offset, .pieces = a->pieces};
    return a != NULL;
}
