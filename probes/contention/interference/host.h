/* What threads of the CPU do to lines, piece by piece. Each has a slice of them. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_HOST_H
#define AS_PROBES_CONTENTION_INTERFERENCE_HOST_H

#include "lib/stream/stream.h"
#include "lines.h"

struct host_part {
    _Alignas(128) uint64_t first, count; /* lines of the slice */
    uint64_t at, laps;                   /* next line in the slice, laps before it */
    uint64_t sum;                        /* of all that was read */
    uint64_t line, steps;                /* of a chase: the next line, loads so far */
};
struct host_work {
    enum op op;
    const struct lines *lines;
    bool keeps; /* the content: the other side works on the same lines */
    unsigned threads;
    const struct as_stream_kernels *kernels;
    struct host_part *parts;
};
enum as_status as_host_work_make(struct host_work *w, enum op op, const struct lines *lines, bool keeps,
                                 unsigned threads, struct as_error *err);
void as_host_work_finish(struct host_work *w); /* accepts one that is all zeros */
/* A piece by a thread, at most PIECE_LINES lines or loads of a chase; returns how many. For crew_desc.piece. */
uint64_t as_host_work_piece(void *work, unsigned thread);
/* Compares sums, content or the end of the chase with the reference. */
bool as_host_work_check(const struct host_work *w, char *why, size_t why_size);

#endif
