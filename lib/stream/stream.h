/* Streams: the STREAM operations and pure read and write over f64 arrays, on CPU threads or on a device; over f32
 * arrays where a device has no f64.
 *
 * Operands are small integers, so that every result and every sum is exact in any order, and a function of array and
 * index, so that the reference needs no copy. Outputs start with impossible values.
 *
 * In memory kept between trials (arena.h) operands are a function of the position in it, so that later trials reuse
 * them whatever their arrays; of an output only the checked parts are reset. */
#ifndef AS_LIB_STREAM_STREAM_H
#define AS_LIB_STREAM_STREAM_H

#include "device/arena.h"
#include "lib/buffers/buffers.h"
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
    unsigned reads, writes; /* words per element by STREAM's rules: write-allocate is not counted */
    unsigned out, x, y;     /* index of each array; equal if it has none of its own */
    unsigned arrays;
};
extern const struct as_stream_shape as_stream_shapes[AS_STREAM_OPS];

enum as_stream_width { AS_WIDTH_SCALAR, AS_WIDTH_128, AS_WIDTH_256, AS_WIDTH_512, AS_WIDTH_SVE, AS_WIDTHS };

/* ---- native kernels ---- */

union as_stream_sum {
    double f;   /* dot */
    uint64_t u; /* read: of the bit patterns, modulo 2^64; others: elements done */
};
typedef union as_stream_sum (*as_stream_fn)(double *out, const double *x, const double *y, uint64_t n, double s,
                                            uint64_t reps);
struct as_stream_kernels {
    as_stream_fn of[AS_STREAM_OPS][2]; /* [1]: non-temporal stores; NULL if there are no stores */
};
/* NULL if this CPU cannot run them. out, x and y are aligned to 64 bytes. */
const struct as_stream_kernels *as_stream_kernels(enum as_stream_width width);

/* Elements of thread t: [first, first + count), cut at cache lines, and at pages in large arrays. */
void as_stream_slice(uint64_t n, unsigned threads, unsigned t, uint64_t *first, uint64_t *count);

/* ---- operands and reference ---- */

enum { AS_STREAM_TABLE = 4096, AS_STREAM_BLOCK = 512, AS_STREAM_ARRAYS = 3 };
struct as_stream_data {
    uint32_t key;
    double table[AS_STREAM_TABLE + AS_STREAM_BLOCK]; /* the end repeats the start: a block never wraps around */
    struct {
        unsigned array;
        uint64_t first;
    } at[AS_STREAM_ARRAYS]; /* offset: element i of an array equals element first + i of the pattern; device kernels
                               always use 0 */
};
void as_stream_data_init(struct as_stream_data *d, uint64_t seed);
/* Fewer and smaller values, so that f32 sums of a few hundred thousand products are exact. */
void as_stream_data_narrow(struct as_stream_data *d);
/* Initial content of an array. Outputs are fractional. */
double as_stream_value(const struct as_stream_data *d, unsigned array, bool output, uint64_t i);
/* Writes elements [first, first + count) of an array to p. */
void as_stream_fill(const struct as_stream_data *d, unsigned array, bool output, uint64_t first, uint64_t count,
                    double *p);
/* Expected elements [first, first + count) of the output after `reps` repetitions whose scalars sum to `scalars`; s is
 * the last scalar. */
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
    uint64_t size;    /* total bytes of all arrays */
    unsigned threads; /* CPU; 0 on a device, which chooses its grid */
    const int *cpus;  /* CPU: the logical CPU of each thread, the caller's until the end; NULL: the backend's order */
    void *at;         /* CPU: the arrays lie in this memory of the caller's, of as_stream_room bytes; NULL: their own */
    bool nontemporal; /* CPU */
    bool choose_width; /* by a short test; else width */
    enum as_stream_width width;
    bool barrier;      /* barrier between repetitions; on a device each is a launch */
    unsigned way;      /* of a GPU (as_stream_way_words), 0: the fastest in a short test */
    bool host_timed;   /* the time includes transferring the sum to the host: few sums on a GPU, in pinned memory */
    bool device_first; /* the device touches the memory first, else the host */
    bool whole_check;
    uint64_t seed;
};
enum { AS_STREAM_GRIDS_MAX = 8, AS_STREAM_PLACES = 16, AS_STREAM_DRAWN = 64 };
struct as_stream_grid { /* of a device */
    size_t workgroups, workgroup_size;
    bool interleaved; /* neighbouring threads take neighbouring elements; else each thread its own piece */
    const char *way;  /* on a GPU: its name */
    unsigned unroll;  /* on a GPU: pairs of f64 in flight per thread; else 0 */
    unsigned cache;   /* likewise, CACHE of the kernel */
};
/* The ways of a GPU by name, "best" first; NULL-terminated. */
extern const char *const as_stream_way_words[];
/* True for a GPU with f64, whatever its memory: the ways are kernels for pairs of f64. */
bool as_stream_has_ways(const struct as_device_info *info);
struct as_stream {
    struct as_device *dev;
    struct as_buffers own;
    struct as_stream_desc desc;
    struct as_stream_data *data;
    /* Bandwidth of a partitioned L2 depends on placement: a repetition covers several blocks. */
    struct as_memory *places[AS_STREAM_PLACES];
    size_t places_n;
    struct as_memory *memory, *result, *table; /* memory: the current block */
    struct as_kernel *kernel, *fill;
    unsigned element;  /* bytes: 8, or 4 where a device has no f64 */
    uint64_t n, pitch; /* elements of an array; from array to array */
    size_t results;    /* words of results */
    bool native, gpu;
    struct as_kernel *ways[AS_STREAM_GRIDS_MAX]; /* on a GPU, by candidate; `kernel` is one of them */
    struct as_stream_grid grid;
    const char *way; /* on a GPU: its name */
    unsigned samples;
    double scalar, reps, scalars; /* of the last launch; sums over all */
    uint64_t last_reps;
    double sum;        /* expected sum of a repetition */
    uint64_t sum_bits; /* likewise, for `read` on a CPU */
    bool wrong_sum;
    bool whole_check;
    uint64_t footprint;
    uint64_t drawn[AS_STREAM_DRAWN]; /* checked blocks of the output, if not all */
    struct as_arena_content content; /* in kept memory; pieces NULL: in its own block */
};
/* Bytes of the block that holds a CPU's arrays of `size` bytes in total. */
uint64_t as_stream_room(enum as_stream_op op, uint64_t size);
/* Counted bytes per repetition and block. */
double as_stream_bytes(const struct as_stream *s);
/* Name of the choice: "256", "1024 workgroups of 64", ... */
void as_stream_variant(const struct as_stream *s, char *out, size_t size);
enum as_status as_stream_prepare(struct as_stream *s, struct as_device *dev, const struct as_stream_desc *desc,
                                 struct as_error *err);
const char *as_stream_type(const struct as_stream *s); /* "f64" */
/* Maximum number of repetitions per sample: the results of more would not be exact. */
uint64_t as_stream_reps_max(const struct as_stream *s);
/* For the code gate: loads, stores and arithmetic of the operation. */
void as_stream_expect(struct as_trial_context *tc, const struct as_stream *s);
enum as_status as_stream_run(struct as_stream *s, uint64_t reps, double *gbs, double *seconds, struct as_error *err);
/* Are arrays and sums correct? Checks every element if whole_check is set, else blocks drawn from the seed, including
 * the first and the last. */
bool as_stream_check(struct as_stream *s, char *why, size_t size);
void as_stream_finish(void *stream); /* accepts one that prepare left incomplete */

#endif
