/* The array between two guards. Device copies write and read it, so that it may lie in memory that the host cannot
 * access. */
#include "atomics.h"
#include "device/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 4 << 20, PATTERN = 0xA5 };

enum as_status as_atomics_array_create(struct as_atomics_array *a, struct as_device *dev, const char *allocator,
                                       enum as_atomics_type type, uint64_t elements, int node, struct as_error *err)
{
    *a = (struct as_atomics_array){
        .dev = dev, .type = type, .elements = elements, .bytes = elements * as_atomics_type_bytes(type)};
    struct as_memory_desc want = {.allocator = allocator, .bytes = a->bytes + 2 * ATOMICS_GUARD, .node = node};
    enum as_status st = as_check_room(dev, want.bytes, want.bytes, err);
    if (st)
        return st;
    a->piece = malloc(PIECE);
    return a->piece ? dev->memory->alloc(dev, &want, &a->memory, err) : as_nomem(err, PIECE, "a piece of the array");
}

void as_atomics_array_finish(struct as_atomics_array *a)
{
    if (a->dev)
        a->dev->memory->free(a->dev, a->memory);
    free(a->piece);
    *a = (struct as_atomics_array){0};
}

static enum as_status atomics_array_fill(struct as_atomics_array *a, uint64_t at, uint64_t bytes, int value,
                                         struct as_error *err)
{
    enum as_status st = AS_OK;
    memset(a->piece, value, bytes < PIECE ? bytes : PIECE);
    for (uint64_t done = 0; done < bytes && !st; done += PIECE)
        st = a->dev->memory->write(a->dev, a->memory, at + done, a->piece, bytes - done < PIECE ? bytes - done : PIECE,
                                   err);
    return st;
}

enum as_status as_atomics_array_clear(struct as_atomics_array *a, struct as_error *err)
{
    enum as_status st = atomics_array_fill(a, 0, ATOMICS_GUARD, PATTERN, err);
    if (!st)
        st = atomics_array_fill(a, ATOMICS_GUARD + a->bytes, ATOMICS_GUARD, PATTERN, err);
    return st ? st : atomics_array_fill(a, ATOMICS_GUARD, a->bytes, 0, err);
}

static bool guard_is_whole(struct as_atomics_array *a, uint64_t at, enum as_status *s, struct as_error *err)
{
    if (!*s)
        *s = a->dev->memory->read(a->dev, a->memory, at, a->piece, ATOMICS_GUARD, err);
    for (size_t i = 0; i < ATOMICS_GUARD && !*s; i++)
        if (a->piece[i] != PATTERN)
            return false;
    return true;
}

enum as_status as_atomics_array_guards(struct as_atomics_array *a, struct as_error *err)
{
    enum as_status st = AS_OK;
    bool before = guard_is_whole(a, 0, &st, err), after = guard_is_whole(a, ATOMICS_GUARD + a->bytes, &st, err);
    if (!st && !(before && after))
        return as_fail(err, AS_FAILED, "memory %s the array was written", before ? "behind" : "before");
    return st;
}

/* false: not a whole number of updates */
static bool atomics_array_value_at(const struct as_atomics_array *a, size_t i, uint64_t *out)
{
    const unsigned char *at = a->piece + i * as_atomics_type_bytes(a->type);
    uint32_t u32;
    float f32;
    double f64;
    if (a->type == ATOMICS_U64) {
        memcpy(out, at, sizeof *out);
        return true;
    }
    if (a->type == ATOMICS_U32) {
        memcpy(&u32, at, sizeof u32);
        *out = u32;
        return true;
    }
    memcpy(&f32, at, sizeof f32);
    if (a->type == ATOMICS_F64)
        memcpy(&f64, at, sizeof f64);
    else
        f64 = (double)f32;
    if (!(f64 >= 0 && f64 < 0x1p53) || f64 != floor(f64))
        return false;
    *out = (uint64_t)f64;
    return true;
}

/* Calls `see` for each element in order. */
static enum as_status for_each(struct as_atomics_array *a, void (*see)(void *user, uint64_t i, uint64_t value),
                               void *user, struct as_error *err)
{
    const size_t size = as_atomics_type_bytes(a->type);
    for (uint64_t done = 0; done < a->bytes; done += PIECE) {
        uint64_t now = a->bytes - done < PIECE ? a->bytes - done : PIECE, value;
        enum as_status st = a->dev->memory->read(a->dev, a->memory, ATOMICS_GUARD + done, a->piece, now, err);
        if (st)
            return st;
        for (size_t i = 0; i < now / size; i++) {
            if (!atomics_array_value_at(a, i, &value))
                return as_fail(err, AS_FAILED, "element %llu is not a whole number of updates",
                               (unsigned long long)(done / size + i));
            see(user, done / size + i, value);
        }
    }
    return AS_OK;
}

static void add_up(void *user, uint64_t i, uint64_t value)
{
    uint64_t *sum = user;
    (void)i;
    *sum += value;
}

enum as_status as_atomics_array_sum(struct as_atomics_array *a, uint64_t *sum, struct as_error *err)
{
    *sum = 0;
    return for_each(a, add_up, sum, err);
}

struct comparison {
    const uint32_t *bounds;
    uint64_t short_by, wrong, wrong_value; /* wrong: 1 + the first element above its bound */
};

static void atomics_array_compare_one(void *user, uint64_t i, uint64_t value)
{
    struct comparison *c = user;
    if (value <= c->bounds[i])
        c->short_by += c->bounds[i] - value;
    else if (!c->wrong) {
        c->wrong = i + 1;
        c->wrong_value = value;
    }
}

enum as_status as_atomics_array_compare(struct as_atomics_array *a, const uint32_t *bounds, uint64_t *short_by,
                                        struct as_error *err)
{
    struct comparison c = {.bounds = bounds};
    enum as_status st = for_each(a, atomics_array_compare_one, &c, err);
    *short_by = c.short_by;
    if (!st && c.wrong)
        return as_fail(err, AS_FAILED, "element %llu holds %llu, but %u updates of it were drawn",
                       (unsigned long long)(c.wrong - 1), (unsigned long long)c.wrong_value, bounds[c.wrong - 1]);
    return st;
}
