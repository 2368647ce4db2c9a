/* Shared by the files of lib/stream. */
#ifndef AS_LIB_STREAM_STREAM_INTERNAL_H
#define AS_LIB_STREAM_STREAM_INTERNAL_H

#include "stream.h"

/* In f64. Each thread's results have their own cache line, two apart because of adjacent-line prefetch. */
enum { AS_STREAM_LINE = 8, AS_STREAM_PAGE = 512, AS_STREAM_STRIDE = 16 };

static inline const struct as_stream_shape *as_stream_shape_of(const struct as_stream *s)
{
    return &as_stream_shapes[s->desc.op];
}

/* Elements of a device: of a cache line, and per thread at once. */
static inline unsigned as_stream_line(const struct as_stream *s)
{
    return AS_STREAM_LINE * 8 / s->element;
}
static inline unsigned as_stream_per_item(const struct as_stream *s)
{
    return 8 / s->element << s->desc.width;
}
/* Puts or gets `count` elements of an array, from element `at` of the block on; put overwrites `values`. */
enum as_status as_stream_put(struct as_stream *s, struct as_memory *to, uint64_t at, double *values, uint64_t count,
                             struct as_error *err);
enum as_status as_stream_get(struct as_stream *s, uint64_t at, double *values, uint64_t count, struct as_error *err);

extern const struct as_host_kernel as_stream_host_kernels[];

/* A launch over part of the arrays; a device always uses all of them. */
struct as_stream_part {
    uint64_t first, count, reps;
};
enum as_status as_stream_launch(struct as_stream *s, const struct as_stream_part *part, struct as_timing *t,
                                struct as_error *err);
/* Fills the first `arrays` arrays, except what a CPU's kept memory already holds (NULL: nothing). */
enum as_status as_stream_launch_fill(struct as_stream *s, unsigned arrays, const struct as_arena_content *there,
                                     struct as_error *err);

/* Compares the sums of the last launch; stores a difference in wrong_sum. */
enum as_status as_stream_check_sum(struct as_stream *s, struct as_error *err);

/* The candidate ways of a stream on a device; before its kernels are built, with the maximum number of workgroups. */
size_t as_stream_grids(const struct as_stream *s, struct as_stream_grid out[AS_STREAM_GRIDS_MAX]);
/* Chooses the fastest by a short test. *ran: kernels have run over the arrays. */
enum as_status as_stream_choose(struct as_stream *s, bool *ran, struct as_error *err);

#endif
