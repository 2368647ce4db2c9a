/* Elements of a stream: f64, or f32 on a device without f64. All values are small, so that f32 represents them
 * exactly. */
#include "stream_internal.h"

#include <string.h>

/* Signed values up to 7: products have 6 bits, of 24. */
enum { NARROW_MAX = 7 };
/* nstream adds up to 8 times a value per repetition, to one with a half. */
enum { NARROW_REPS = (1 << 23) / (8 * NARROW_MAX) - 1 };

void as_stream_data_narrow(struct as_stream_data *d)
{
    for (size_t i = 0; i < sizeof d->table / sizeof *d->table; i++) {
        const int v = (int)d->table[i];
        d->table[i] = v < 0 ? -(-v % NARROW_MAX + 1) : v % NARROW_MAX + 1;
    }
}

const char *as_stream_type(const struct as_stream *s)
{
    return s->element == 4 ? "f32" : "f64";
}

uint64_t as_stream_reps_max(const struct as_stream *s)
{
    return s->element == 4 && s->desc.op == AS_STREAM_NSTREAM ? NARROW_REPS : 1 << 24;
}

enum as_status as_stream_put(struct as_stream *s, struct as_memory *to, uint64_t at, double *values, uint64_t count,
                             struct as_error *err)
{
    for (uint64_t i = 0; i < count && s->element == 4; i++) {
        const float narrow = (float)values[i];
        memcpy((char *)values + i * sizeof narrow, &narrow, sizeof narrow);
    }
    return s->dev->memory->write(s->dev, to, at * s->element, values, count * s->element, err);
}

enum as_status as_stream_get(struct as_stream *s, uint64_t at, double *values, uint64_t count, struct as_error *err)
{
    enum as_status st = s->dev->memory->read(s->dev, s->memory, at * s->element, values, count * s->element, err);
    for (uint64_t i = count; i-- > 0 && !st && s->element == 4;) {
        float narrow;
        memcpy(&narrow, (const char *)values + i * sizeof narrow, sizeof narrow);
        values[i] = narrow;
    }
    return st;
}
