/* What the files of streams share. */
#ifndef AS_PROBES_COMMON_STREAM_INTERNAL_H
#define AS_PROBES_COMMON_STREAM_INTERNAL_H

#include "stream.h"

/* A launch over part of the arrays; a device always works on all of them. */
struct as_stream_part {
    uint64_t first, count, reps;
};
enum as_status as_stream_launch(struct as_stream *s, const struct as_stream_part *part, struct as_timing *t,
                                struct as_error *err);

/* The ways in which a stream could be done: widths of a CPU, grids of a device. */
size_t as_stream_grids(const struct as_stream *s, struct as_stream_grid out[AS_STREAM_GRIDS_MAX]);
/* Takes the fastest by a short trial. *ran says whether kernels have run over the arrays. */
enum as_status as_stream_choose(struct as_stream *s, bool *ran, struct as_error *err);

#endif
