/* Memory kept between trials: large blocks come from an arena whose pages are already backed.
 *
 * An arena serves one allocator, node, owner, use and first touch, and lends one part at a time. It is an eighth larger
 * than the largest block requested so far, and the part starts at a random offset, so that each trial
 * gets different pages. An arena of up to AS_ARENA_RENEWED bytes is also reallocated when a cell returns
 * that has used it before. Faulting in a larger one would take longer than sampling; it has so many
 * pages that placements differ little. Blocks smaller than AS_ARENA_FROM are allocated anew each time: faulting them in
 * takes a few milliseconds, and placement matters most there. */
#ifndef AS_DEVICE_ARENA_H
#define AS_DEVICE_ARENA_H

#include "device/device.h"

#define AS_ARENA_FROM (UINT64_C(8) << 20)
#define AS_ARENA_RENEWED (UINT64_C(64) << 20)
#define AS_ARENA_PIECE (UINT64_C(64) << 10)

/* Which threads touch the pages of a part first, which decides their memory node. */
enum {
    AS_TOUCH_ANY,    /* irrelevant: one node */
    AS_TOUCH_THREAD, /* the first thread touches all */
    AS_TOUCH_OTHER   /* this or more: hash of the assignment of pages to threads; parts start at offset 0 */
};
struct as_arena_desc {
    struct as_memory_desc memory; /* fresh: not from an arena */
    const char *use;              /* uses do not share arenas, so none reads another's data */
    uint64_t touch;
};

/* Contents markers set by users: a byte per AS_ARENA_PIECE bytes. */
enum as_piece { AS_PIECE_NEW, AS_PIECE_BACKED, AS_PIECE_FILLED };
struct as_arena_content {
    uint64_t seed;   /* of this arena, for filling it */
    uint64_t offset; /* of the part, in bytes */
    uint8_t *pieces; /* enum as_piece */
};

/* as_device.arenas, created and closed with the device. close accepts a device without arenas. */
enum as_status as_arenas_open(struct as_device *dev, struct as_error *err);
void as_arenas_close(struct as_device *dev);
/* Starts a trial: its cell and random seed. */
void as_arenas_begin(struct as_device *dev, uint64_t cell_key, uint64_t seed);

/* Replace memory->alloc and memory->free for any size. Without arenas or parts, or while the arena's part is lent,
 * they allocate an ordinary block. */
enum as_status as_arena_take(struct as_device *dev, const struct as_arena_desc *desc, struct as_memory **out,
                             struct as_error *err);
void as_arena_give(struct as_device *dev, struct as_memory *mem); /* accepts NULL */
/* False if the block is not part of an arena. */
bool as_arena_content(const struct as_device *dev, const struct as_memory *part, struct as_arena_content *out);

/* For backends short of memory: bytes of idle arenas, and freeing them. */
uint64_t as_arenas_idle(const struct as_device *dev);
void as_arenas_drop_idle(struct as_device *dev);

#endif
