/* STREAM-like kernels on one to three arrays of doubles: written by hand for every vector width of a CPU, once in the
 * dialect for devices, with their outcome checked element by element.
 *
 * Values are a hash of the index in [1, 2), so no input is zero or alike; outputs are NaN before. */
#ifndef AS_PROBES_COMMON_TRIADS_H
#define AS_PROBES_COMMON_TRIADS_H

#include "core/probe.h"

enum as_stream_op {
    AS_STREAM_COPY,    /* c = a */
    AS_STREAM_MUL,     /* b = s c */
    AS_STREAM_ADD,     /* c = a + b */
    AS_STREAM_TRIAD,   /* a = b + s c */
    AS_STREAM_DOT,     /* sum of a b */
    AS_STREAM_READ,    /* sum of a */
    AS_STREAM_WRITE,   /* a = s */
    AS_STREAM_NSTREAM, /* a = a + b + s c */
    AS_STREAM_OPS,
};
enum as_stream_width { AS_WIDTH_BEST, AS_WIDTH_SCALAR, AS_WIDTH_128, AS_WIDTH_256, AS_WIDTH_512, AS_WIDTHS };

extern const char *const as_stream_op_words[AS_STREAM_OPS + 1]; /* ends with NULL */
extern const char *const as_stream_width_words[AS_WIDTHS + 1];
unsigned as_stream_arrays(enum as_stream_op op); /* how many arrays it touches: 1, 2 or 3 */
double as_stream_moved(enum as_stream_op op);    /* arrays read plus arrays written, write-allocate not counted */
bool as_stream_writes(enum as_stream_op op);
/* Has this CPU registers of that width? BEST is always there. */
bool as_stream_width_usable(enum as_stream_width width);

/* What a native kernel gets: its slice of the arrays (whole lines but for the last thread's) and where its sum goes. */
struct as_stream_slice {
    double *a, *b, *c;
    size_t n;
    double s;
    double *sum; /* added to by read and dot, a line of its own */
    uint64_t reps;
};
typedef void (*as_stream_fn)(const struct as_stream_slice *slice);
/* [op][non-temporal]; NULL where it makes no sense (a non-temporal read) or the build has no such width */
extern const as_stream_fn as_stream_scalar[AS_STREAM_OPS][2], as_stream_128[AS_STREAM_OPS][2],
    as_stream_256[AS_STREAM_OPS][2], as_stream_512[AS_STREAM_OPS][2];

struct as_stream {
    struct as_device *dev;
    enum as_stream_op op;
    uint64_t n;                /* elements of an array */
    unsigned threads;          /* CPU: of the team */
    unsigned flags;            /* of the launch */
    size_t groups, group_size; /* device */
    int native;
    const char *variant; /* "512", "device": what was chosen */
    struct as_memory *memory, *sums;
    struct as_program *program;
    struct as_kernel *kernel, *fill;
    uint64_t offset[3]; /* of the arrays in memory, elements */
    uint64_t reps_done; /* since the arrays were filled */
    as_stream_fn run;   /* CPU: the kernel that was chosen */
    double expected;    /* sum of one repetition */
    int wrong_sum;
    uint64_t footprint; /* bytes of all arrays */
};
struct as_stream_desc {
    enum as_stream_op op;
    const char *allocator;
    uint64_t bytes; /* of all arrays together */
    unsigned threads;
    bool nontemporal;
    bool barrier; /* threads meet after each repetition, as in STREAM */
    bool fresh;
    bool host_first; /* the host touches the memory first, not who uses it */
    enum as_stream_width width;
};
enum as_status as_stream_prepare(struct as_stream *s, struct as_device *dev, const struct as_stream_desc *desc,
                                 struct as_error *err);
/* *gbs: bytes moved a second in 1e9. */
enum as_status as_stream_run(struct as_stream *s, uint64_t reps, double *gbs, double *seconds, struct as_error *err);
bool as_stream_check(struct as_stream *s, char *why, size_t size);
void as_stream_finish(struct as_stream *s);

#endif
