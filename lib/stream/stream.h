/* Streams: the STREAM operations and pure reading and writing, over arrays of f64, on a CPU's threads or on a device.
 *
 * Operands are whole numbers of few bits, so that every result and every sum is exact in whatever order it is computed,
 * and they are a function of array and index, so that the reference needs no second copy. Outputs start with values
 * that no result can have.
 *
 * In memory that is kept between trials (arena.h) the operands are a function of the place in it, so that what one
 * trial filled serves the next, whatever its arrays; of an output only what the check will look at is set again. */
#ifndef AS_LIB_STREAM_STREAM_H
#define AS_LIB_STREAM_STREAM_H

#include "device/arena.h"
#include "probe/probe.h"

enum as_stream_op {
    AS_STREAM_COPY,    /* out = x */
    AS_STREAM_MUL,     /* out = s x */
    AS_STREAM_ADD,     /* out = x + y */
    AS_STREAM_TRIAD,   /* out = x + s y */
    AS_STREAM_NSTREAM, /* out = out + x + s y */
    AS_STREAM_DOT,     /* sum of x y */
    AS_STREAM_READ,    /* sum of x */
    AS_STREAM_WRITE,   /* out = s */
    AS_STREAM_OPS,
};
struct as_stream_shape {
    const char *name;
    unsigned reads, writes; /* words of each element, as the field counts them: a line's fetch before a write is not */
    unsigned out, x, y;     /* which array is which; the same number where there is none of its own */
    unsigned arrays;
};
extern const struct as_stream_shape as_stream_shapes[AS_STREAM_OPS];

enum as_stream_width { AS_WIDTH_SCALAR, AS_WIDTH_128, AS_WIDTH_256, AS_WIDTH_512, AS_WIDTHS };

/* ---- native kernels ---- */

union as_stream_sum {
    double f;   /* dot */
    uint64_t u; /* read: of the bit patterns, modulo 2^64; others: elements done */
};
typedef union as_stream_sum (*as_stream_fn)(double *out, const double *x, const double *y, uint64_t n, double s,
                                            uint64_t reps);
struct as_stream_kernels {
    as_stream_fn of[AS_STREAM_OPS][2]; /* [1]: non-temporal stores; NULL where nothing is stored */
};
/* NULL where this CPU cannot run them. out, x and y lie at multiples of 64 bytes. */
const struct as_stream_kernels *as_stream_kernels(enum as_stream_width width);

/* Elements of thread t: [first, first + count), cut at cache lines, and at pages where there are many. */
void as_stream_slice(uint64_t n, unsigned threads, unsigned t, uint64_t *first, uint64_t *count);

/* ---- operands and reference ---- */

enum { AS_STREAM_TABLE = 4096, AS_STREAM_BLOCK = 512, AS_STREAM_ARRAYS = 3 };
struct as_stream_data {
    uint32_t key;
    double table[AS_STREAM_TABLE + AS_STREAM_BLOCK]; /* the end repeats the start: a block never wraps around */
    struct {
        unsigned array;
        uint64_t first;
    } at[AS_STREAM_ARRAYS]; /* element i of an array holds what element first + i of that one does; kernels of devices
                               know of arrays themselves only */
};
void as_stream_data_init(struct as_stream_data *d, uint64_t seed);
/* Where in the table block b of an array starts. */
uint32_t as_stream_shift(uint32_t key, unsigned array, uint64_t block);
/* What an array holds before anything ran. Outputs lie between whole numbers. */
double as_stream_value(const struct as_stream_data *d, unsigned array, bool output, uint64_t i);
/* Writes elements [first, first + count) of an array to p. */
void as_stream_fill(const struct as_stream_data *d, unsigned array, bool output, uint64_t first, uint64_t count,
                    double *p);
/* What elements [first, first + count) of the output must be after `reps` repetitions whose scalars sum to `scalars`;
 * s is the scalar of the last. */
struct as_stream_done {
    double s, reps, scalars;
};
void as_stream_expected(const struct as_stream_data *d, enum as_stream_op op, const struct as_stream_done *done,
                        uint64_t first, uint64_t count, double *out);
/* Sum of one repetition over n elements. */
double as_stream_expected_sum(const struct as_stream_data *d, enum as_stream_op op, uint64_t n);
uint64_t as_stream_expected_bits(const struct as_stream_data *d, enum as_stream_op op, uint64_t n);

/* ---- streams on a device ---- */

struct as_stream_desc {
    enum as_stream_op op;
    const char *allocator;
    uint64_t size;     /* bytes of all arrays together */
    unsigned threads;  /* CPU; 0 on a device, which chooses its grid */
    bool nontemporal;  /* CPU */
    bool choose_width; /* by a short trial; else width */
    enum as_stream_width width;
    bool barrier;      /* repetitions one after the other: threads meet; on a device each is a launch */
    unsigned way;      /* of a card (as_stream_way_words), 0: the fastest in a short trial */
    bool device_first; /* the device touches the memory first, else the host */
    bool whole_check;
    uint64_t seed;
};
enum { AS_STREAM_GRIDS_MAX = 8, AS_STREAM_PLACES = 16, AS_STREAM_DRAWN = 64 };
struct as_stream_grid { /* of a device */
    size_t workgroups, workgroup_size;
    bool interleaved; /* neighbouring threads take neighbouring elements; else each thread a piece of its own */
    const char *way;  /* of a card: its name */
    unsigned unroll;  /* of a card with memory of its own: pairs of f64 that a thread has under way; else 0 */
    unsigned cache;   /* likewise, CACHE of the kernel */
};
/* The ways of a card by name, "best" first; ends with NULL. */
extern const char *const as_stream_way_words[];
struct as_stream {
    struct as_device *dev;
    struct as_stream_desc desc;
    struct as_stream_data *data;
    /* What a card's cache in parts delivers hangs on where the arrays lie: a repetition goes over several blocks. */
    struct as_memory *places[AS_STREAM_PLACES];
    size_t places_n;
    struct as_memory *memory, *result, *table; /* memory: the place at hand */
    struct as_program *program;
    struct as_kernel *kernel, *fill;
    uint64_t n, pitch; /* elements of an array; from array to array */
    size_t results;    /* words of results */
    bool native, card;
    struct as_kernel *ways[AS_STREAM_GRIDS_MAX]; /* of a card, by candidate; kernel is one of them */
    struct as_program *way_programs[AS_STREAM_GRIDS_MAX];
    struct as_stream_grid grid;
    const char *way; /* of a card: its name */
    unsigned samples;
    double scalar, reps, scalars; /* of the last launch; sums over all */
    uint64_t last_reps;
    double sum;        /* what a repetition must sum up to */
    uint64_t sum_bits; /* likewise, for reading by a CPU */
    bool wrong_sum;
    bool whole_check;
    uint64_t footprint;
    uint64_t drawn[AS_STREAM_DRAWN]; /* blocks of the output that are checked where not all are */
    struct as_arena_content content; /* of memory that is kept; pieces NULL: of a block of its own */
};
/* Bytes that a repetition moves in one place, as counted. */
double as_stream_bytes(const struct as_stream *s);
/* Name of what was chosen: "256", "1024 groups of 64", ... */
void as_stream_variant(const struct as_stream *s, char *out, size_t size);
enum as_status as_stream_prepare(struct as_stream *s, struct as_device *dev, const struct as_stream_desc *desc,
                                 struct as_error *err);
/* For the code gate: loads, stores and arithmetic of the operation. */
void as_stream_expect(struct as_trial_context *vc, const struct as_stream *s);
enum as_status as_stream_run(struct as_stream *s, uint64_t reps, double *gbs, double *seconds, struct as_error *err);
/* Is what the arrays and sums hold right? Looks at every element when whole_check is set, else at blocks drawn from the
 * seed, and always at the first and the last. */
bool as_stream_check(struct as_stream *s, char *why, size_t size);
void as_stream_finish(struct as_stream *s); /* takes one that prepare left half done */

#endif
