/* Memory kept between trials: large blocks come from an arena whose pages are already backed.
 *
 * An arena serves one allocator, node, owner, use and first touch, and lends one part at a time. It is as large as the
 * largest block that was asked for so far and an eighth more, and a part lies at a random place of it, so that a trial
 * has other pages than the one before. An arena of up to AS_ARENA_RENEWED bytes is also got anew when a cell comes back
 * that had a part of it before. Faulting in a larger one would take longer than sampling does; it has so many
 * pages that placements differ little. Blocks smaller than AS_ARENA_FROM are fresh each time: faulting them in takes a
 * few milliseconds, and placement matters most there. */
#ifndef AS_DEVICE_ARENA_H
#define AS_DEVICE_ARENA_H

#include "device/device.h"

#define AS_ARENA_FROM (UINT64_C(8) << 20)
#define AS_ARENA_RENEWED (UINT64_C(64) << 20)
#define AS_ARENA_PIECE (UINT64_C(64) << 10)

/* Who touches the pages of a part first, where that decides on which memory node they lie. */
enum {
    AS_TOUCH_ANY,    /* irrelevant: one node */
    AS_TOUCH_THREAD, /* the first thread all of them */
    AS_TOUCH_OTHER   /* this or more: hash of the assignment of pages to threads; parts start where arenas do */
};
struct as_arena_desc {
    struct as_memory_desc memory; /* fresh: of no arena */
    const char *use;              /* uses do not share arenas, so none reads what another left */
    uint64_t touch;
};

/* Contents markers set by users: a byte per AS_ARENA_PIECE bytes. */
enum as_piece { AS_PIECE_NEW, AS_PIECE_BACKED, AS_PIECE_FILLED };
struct as_arena_content {
    uint64_t seed;   /* of this arena, for those who fill it */
    uint64_t offset; /* of the part, in bytes */
    uint8_t *pieces; /* enum as_piece */
};

/* *device_arenas of as_device, made and ended with it. close takes a device that has none. */
enum as_status as_arenas_open(struct as_device *dev, struct as_error *err);
void as_arenas_close(struct as_device *dev);
/* Starts a trial: its cell and random seed. */
void as_arenas_begin(struct as_device *dev, uint64_t cell_key, uint64_t seed);

/* Replace memory->alloc and memory->free for any size. Without arenas or parts, or while the arena's part is in use,
 * they give an ordinary block. */
enum as_status as_arena_take(struct as_device *dev, const struct as_arena_desc *desc, struct as_memory **out,
                             struct as_error *err);
void as_arena_give(struct as_device *dev, struct as_memory *mem); /* takes NULL */
/* False where the block is no part of an arena. */
bool as_arena_content(const struct as_device *dev, const struct as_memory *part, struct as_arena_content *out);

/* For backends short of memory: bytes of idle arenas, and freeing them. */
uint64_t as_arenas_idle(const struct as_device *dev);
void as_arenas_drop_idle(struct as_device *dev);

#endif
