/* What CPU threads do to lines, piece by piece. Each thread has a slice of them. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_HOST_H
#define AS_PROBES_CONTENTION_INTERFERENCE_HOST_H

#include "lib/stream/stream.h"
#include "lines.h"

struct host_part {
    _Alignas(128) uint64_t first, count; /* lines of the slice */
    uint64_t at, laps;                   /* next line in the slice; laps before it */
    uint64_t sum;                        /* of all words read */
    uint64_t line, steps;                /* of a chase: the next line, and loads until now */
};
struct host_work {
    enum op op;
    const struct lines *lines;
    bool keeps; /* keeps the content, since the other side works on the same lines */
    unsigned threads;
    const struct as_stream_kernels *kernels;
    struct host_part *parts;
};
enum as_status as_host_work_make(struct host_work *w, enum op op, const struct lines *lines, bool keeps,
                                 unsigned threads, struct as_error *err);
void as_host_work_finish(struct host_work *w); /* accepts a zeroed one */
/* A thread's piece: at most PIECE_LINES lines or loads of a chase; returns how many. For crew_desc.piece. */
uint64_t as_host_work_piece(void *work, unsigned thread);
/* Compares sums, content or the end of the chase with the reference. */
bool as_host_work_check(const struct host_work *w, char *why, size_t why_size);

#endif
