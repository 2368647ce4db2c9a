/* The backend contract: drives one device API for the engine and the probes.
 *
 * Ownership: whatever a create/open/alloc/build call hands out belongs to the caller until the matching
 * destroy/close/free call. Strings in const records live as long as the process.
 * Threads: a device is used by one thread at a time.
 * A backend never prints, exits or aborts; if it cannot do something, err has the reason, which is a
 * result. Slots are required unless marked "(optional)"; as_backend_check names a missing one.
 * Only worker processes and tests call any of this; the parent process knows devices from struct as_device_info. */
#ifndef AS_DEVICE_DEVICE_H
#define AS_DEVICE_DEVICE_H

#include "device/backend.h"
#include "device/machine_code.h"

struct as_memory;
struct as_program;
struct as_kernel;

/* A native kernel of a CPU: called once on each thread of the team. */
struct as_host_call {
    void *const *args; /* as as_launch.args: the address of memory, or a pointer to a scalar */
    unsigned thread;   /* 0 .. threads-1 */
    unsigned threads;
    uint64_t reps; /* number of repetitions */
};
struct as_host_kernel {
    const char *name;
    void (*run)(const struct as_host_call *call);
};

struct as_program_desc {
    const char *name;    /* for messages */
    const char *source;  /* dialect source without the prelude; NULL if the program has native kernels only */
    const char *defines; /* "-DTYPE=double -DUNROLL=4" or NULL */
    const struct as_host_kernel *host; /* native kernels, terminated by a NULL name; NULL if none */
};

/* A tensor map: memory as rows of elements, from which a tensor memory accelerator (TMA) copies a box of rows and
 * columns. */
struct as_tensor {
    struct as_memory *memory;
    unsigned element_bytes; /* 1, 2, 4 or 8 */
    uint64_t columns, rows; /* row-major */
    unsigned box_columns, box_rows;
    unsigned swizzle; /* bytes within which 16-byte pieces of a row are permuted: 32, 64, 128; 0: no swizzle */
};

enum as_arg_kind {
    AS_ARG_MEMORY,
    AS_ARG_U32,
    AS_ARG_U64,
    AS_ARG_F32,
    AS_ARG_F64,
    AS_ARG_TENSOR, /* AS_UNSUPPORTED if the API has no such unit */
};
struct as_arg {
    enum as_arg_kind kind;
    union {
        struct as_memory *memory;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        const struct as_tensor *tensor;
    } u;
};

/* The work of one repetition, for limits, reports and simulated devices. */
struct as_work {
    double bytes;     /* moved, as the probe counts them */
    double accesses;  /* dependent accesses */
    double footprint; /* bytes touched */
};

enum as_launch_flag {
    AS_LAUNCH_BARRIER = 1u << 0,  /* CPU: a barrier between repetitions (the kernel is called with reps = 1) */
    AS_LAUNCH_GRAPH = 1u << 1,    /* with AS_CAP_GRAPHS: the repetitions are the nodes of one graph, recorded before the
                                     clock starts */
    AS_LAUNCH_TOGETHER = 1u << 2, /* with AS_CAP_TOGETHER: repetitions that need not wait for one another, submitted as
                                     one: branches of a graph, recorded before the clock starts, one for each further
                                     queue (as_queue_ops.queues); commands of a concurrent encoder; an out-of-order
                                     queue */
};

struct as_launch {
    struct as_kernel *kernel;
    const struct as_arg *args;
    size_t args_n;
    size_t workgroups;     /* on a CPU the number of threads */
    size_t workgroup_size; /* work-items per workgroup; 1 on a CPU */
    uint64_t reps; /* back-to-back launches; on a CPU iterations of the kernel's own loop unless AS_LAUNCH_BARRIER */
    unsigned flags;
    unsigned queue; /* for submit: 0 the device's own, n the n-th of as_queue_ops.queues */
    const int
        *cpus; /* CPU: OS index of the logical CPU of each thread (workgroups entries); NULL: the backend's order */
    size_t shared_bytes; /* dynamic shared memory per workgroup (LOCAL_DYNAMIC); 0 on a CPU */
    struct as_work work;
};

struct as_timing {
    double host_s;   /* from just before the first to just after the last repetition on the host; on a CPU from
                        the first thread's start to the last thread's end */
    double device_s; /* the same by the device's timestamps; NAN if it has none */
    double cycles;   /* elapsed core cycles by a cycle counter; NAN if there is none */
};
/* device_s if known, else host_s. */
double as_timing_seconds(const struct as_timing *t);

enum { AS_QUEUES_MAX = 128 };

enum as_wait { AS_WAIT_BLOCK, AS_WAIT_SPIN, AS_WAIT_YIELD };

struct as_device_ops {
    void (*close)(struct as_device *dev);
    enum as_status (*memory_free)(struct as_device *dev, uint64_t *bytes, struct as_error *err);
    /* (optional) AS_OK, or why the device is unusable in this process, which must then exit */
    enum as_status (*alive)(struct as_device *dev, struct as_error *err);
    /* (optional) current true clock in Hz, measured within about 50 us */
    enum as_status (*clock)(struct as_device *dev, double *hz, struct as_error *err);
    /* (optional) involuntary context switches of the device's threads while they ran kernels, since it was opened */
    uint64_t (*preemptions)(struct as_device *dev);
    /* (optional) A time of its own, in seconds, that passes with the device's work; without it the host's, as_now(). */
    double (*now)(struct as_device *dev);
    /* (optional) A trial with this random seed begins. */
    void (*begin)(struct as_device *dev, uint64_t seed);
    /* (optional) JSON object: the machine tree of this device as reported by OS or driver (see docs/architecture.md) */
    enum as_status (*topology)(struct as_device *dev, struct as_buf *json, struct as_error *err);
};

struct as_memory_desc {
    const char *allocator; /* a name in info.allocators */
    uint64_t bytes;
    int node;    /* NUMA node, -1 local */
    bool fresh;  /* unused memory, not a block kept from an earlier trial */
    bool beyond; /* may exceed the device's memory, if the driver moves pages in and out: the user has accepted it */
    void *at; /* existing memory of this process, which the caller keeps, used in place by a CPU, or by a device through
                 an allocator of the process's own memory, or by that of a static variable as a part of one; NULL:
                 allocated */
    const char *owner; /* id of another device of the backend that holds the memory, made accessible to this one; NULL:
                          this device */
};
struct as_memory {
    uint64_t bytes;
    void *host;         /* host address; NULL while it is not mapped */
    uint64_t page_size; /* actual size, 0 unknown */
    void *ctx;
};
/* AS_USAGE for no blocks, empty ones, or so many that their bytes do not fit 63 bits. */
enum as_status as_check_blocks(const char *api, uint64_t bytes, uint64_t count, struct as_error *err);
/* For backends: AS_USAGE unless the range of bytes at offset lies within the block. */
enum as_status as_memory_check(const struct as_memory *mem, uint64_t offset, uint64_t bytes, struct as_error *err);
/* What the driver has recorded of the pages of a block, in words for people: advice and prefetches, not where pages are
 * now. "": the API has no such attribute. */
struct as_page_attributes {
    char last_prefetch[32], preferred[32]; /* "device", "host", "another device", "NUMA node 1", "none" */
    char accessed_by[32];                  /* the same: whether the device's mappings are kept up to date */
    char read_mostly[8];                   /* "yes" or "no" */
    char coherence[24];                    /* "fine-grained", "coarse-grained" or "mixed" */
};
struct as_memory_ops {
    enum as_status (*alloc)(struct as_device *dev, const struct as_memory_desc *desc, struct as_memory **out,
                            struct as_error *err);
    void (*free)(struct as_device *dev, struct as_memory *mem); /* accepts NULL */
    /* (optional) a part of a block as a separate block, to be freed before the whole; for arena.h */
    enum as_status (*part)(struct as_device *dev, struct as_memory *whole, uint64_t offset, uint64_t bytes,
                           struct as_memory **out, struct as_error *err);
    enum as_status (*map)(struct as_device *dev, struct as_memory *mem, struct as_error *err); /* sets mem->host */
    enum as_status (*unmap)(struct as_device *dev, struct as_memory *mem, struct as_error *err);
    enum as_status (*write)(struct as_device *dev, struct as_memory *mem, uint64_t offset, const void *from,
                            uint64_t bytes, struct as_error *err);
    enum as_status (*read)(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to, uint64_t bytes,
                           struct as_error *err);
    /* (optional) the address under which other libraries of this process use the memory while it is not mapped */
    void *(*address)(const struct as_memory *mem);
    /* (optional) AS_UNSUPPORTED for memory of which the driver records nothing */
    enum as_status (*attributes)(struct as_device *dev, const struct as_memory *mem, struct as_page_attributes *out,
                                 struct as_error *err);
    /* (optional) times `count` allocations of `bytes` in one tight loop, then as many frees in another, without
     * touching; total times in seconds */
    enum as_status (*time_alloc)(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                 double *alloc_s, double *free_s, struct as_error *err);
};

struct as_kernel_info {
    unsigned registers;     /* per thread */
    uint64_t shared_bytes;  /* static shared memory per workgroup */
    uint64_t private_bytes; /* per thread, outside registers (spilled) */
    uint64_t code_bytes;
    unsigned max_threads;         /* per workgroup */
    unsigned resident_workgroups; /* occupancy: resident workgroups of `workgroup_size` threads per compute unit; 0
                                     unknown */
};
struct as_program_ops {
    enum as_status (*build)(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                            struct as_error *err);
    void (*destroy)(struct as_device *dev, struct as_program *program); /* accepts NULL */
    enum as_status (*kernel)(struct as_device *dev, struct as_program *program, const char *name,
                             struct as_kernel **out, struct as_error *err);
    void (*kernel_destroy)(struct as_device *dev, struct as_kernel *kernel); /* accepts NULL */
    /* (optional, with AS_CAP_CODE) counts the instructions of the kernel's machine code for `operation`: "fma.f64",
     * "load.global", ... (as_operation_words); "convert.operand": conversions between floats before the last matrix
     * instruction. AS_USAGE for an unknown word */
    enum as_status (*count)(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                            struct as_error *err);
    /* (optional, with AS_CAP_CODE) counts all instructions by name */
    enum as_status (*instructions)(struct as_device *dev, struct as_kernel *kernel, struct as_instructions *out,
                                   struct as_error *err);
    /* (optional) resources that the compiler assigned */
    enum as_status (*kernel_info)(struct as_device *dev, struct as_kernel *kernel, size_t workgroup_size,
                                  size_t shared_bytes, struct as_kernel_info *out, struct as_error *err);
};

/* Copies by the device's copy engines. `back` is the concurrent copy in the other direction, on its own queue. */
struct as_copy {
    struct as_memory *to, *from;
    struct as_memory *back_to, *back_from; /* NULL: one direction only */
    uint64_t bytes;                        /* per copy and direction */
    uint64_t reps;
};

struct as_queue_ops {
    /* runs it and waits */
    enum as_status (*launch)(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                             struct as_error *err);
    /* (optional, with AS_CAP_ASYNC) enqueues it and returns; wait returns once all submitted work is done */
    enum as_status (*submit)(struct as_device *dev, const struct as_launch *launch, struct as_error *err);
    enum as_status (*wait)(struct as_device *dev, enum as_wait how, struct as_error *err);
    /* (optional, with AS_CAP_QUEUES) creates n further queues, numbered from 1, in place of the current ones, which
     * must be empty. The last `urgent` of them have the highest priority; AS_UNSUPPORTED without priorities. */
    enum as_status (*queues)(struct as_device *dev, size_t n, size_t urgent, struct as_error *err);
    /* (optional, with AS_CAP_QUEUES) returns once all work submitted to that queue is done */
    enum as_status (*wait_queue)(struct as_device *dev, unsigned queue, struct as_error *err);
    /* (optional, with AS_CAP_COPY) runs it and waits */
    enum as_status (*copy)(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err);
};

/* A GEMM by a vendor library: d = a x b, row-major: a is m x k, b k x n,
 * d m x n; a transposed operand is stored as k x m or n x k. */
struct as_vendor_gemm_desc {
    /* Types of a and b, of the sums, of d: "f64", "f32", "tf32" (stored as f32), "bf16", "f16", "e4m3", "e5m2",
     * "s8", "s32" */
    const char *in, *sum, *out;
    uint64_t m, n, k;
    bool a_transposed, b_transposed;
    struct as_memory *a, *b, *d;
};
/* AS_USAGE if a size is 0 or exceeds what such libraries accept, or a matrix does not fit its memory. in_bytes,
 * out_bytes: of one element of a and b, and of d. */
enum as_status as_vendor_gemm_check(const struct as_vendor_gemm_desc *desc, unsigned in_bytes, unsigned out_bytes,
                                    struct as_error *err);
struct as_vendor_gemm;
struct as_vendor_gemm_ops {
    /* Loads the library and picks its fastest algorithm for these sizes by timing, which writes d. It allocates its own
     * workspace. AS_UNSUPPORTED without a library or support for these types. */
    enum as_status (*create)(struct as_device *dev, const struct as_vendor_gemm_desc *desc, struct as_vendor_gemm **out,
                             struct as_error *err);
    void (*destroy)(struct as_device *dev, struct as_vendor_gemm *gemm); /* accepts NULL */
    /* runs it reps times back to back and waits */
    enum as_status (*run)(struct as_device *dev, struct as_vendor_gemm *gemm, uint64_t reps, struct as_timing *out,
                          struct as_error *err);
    const char *(*name)(const struct as_vendor_gemm *gemm); /* library, version and chosen algorithm */
};

/* Collectives by a vendor library on elements of f32: each device of the backend is a rank, in the backend's order. */
enum as_collective {
    AS_ALL_REDUCE, /* the sum over the ranks */
    AS_ALL_GATHER,
    AS_REDUCE_SCATTER, /* part r of the sum in rank r */
    AS_ALL_TO_ALL,     /* part r of rank s is part s of rank r */
    AS_BROADCAST,      /* from the first rank */
    AS_COLLECTIVES_N
};
struct as_ranks {
    struct as_device *const *device; /* memory of a rank is its device's */
    size_t n;
};
struct as_collective_call {
    enum as_collective what;
    uint64_t elements; /* of each buffer in all_reduce and broadcast, else of the part of one rank */
    struct as_memory *const *send, *const *receive; /* of each rank; they do not overlap */
    uint64_t reps;
};
struct as_collective_ops {
    /* Of a backend's first device: opens the others and joins all as ranks, once; *out holds until dev is closed.
     * AS_UNSUPPORTED without a library or a second device. */
    enum as_status (*join)(struct as_device *dev, struct as_ranks *out, struct as_error *err);
    /* runs it reps times back to back on all ranks and waits; after an error the ranks have to join anew */
    enum as_status (*run)(struct as_device *dev, const struct as_collective_call *call, struct as_timing *out,
                          struct as_error *err);
};

/* Several devices of one backend that work at the same time, driven by one process. */
struct as_part {
    struct as_device *dev;
    const struct as_copy *copy;     /* NULL: the launch, without flags */
    const struct as_launch *launch; /* NULL: the copy */
    double seconds; /* out: from its own start to its own end, by its device's timestamps if it has any */
};
struct as_team_ops {
    /* The device of that number of the backend: dev itself, or one that is opened once and closed with dev. */
    enum as_status (*member)(struct as_device *dev, size_t index, struct as_device **out, struct as_error *err);
    /* Starts all parts, each on a device of its own, repetition by repetition, and waits for all of them.
     * out->host_s: from the start of the first to the end of the last. */
    enum as_status (*run)(struct as_part *parts, size_t n, struct as_timing *out, struct as_error *err);
};

/* The clock of a device whose kernels have no cycle counter, found once per process. */
struct as_found_clock {
    double fma; /* f32 fused multiply-adds per compute unit and cycle; 0: not found yet */
    double off; /* the clock by it may be off by this factor; at least 1 */
    char how[160];
};

struct as_device {
    struct as_device_info info;
    const struct as_device_ops *device;
    const struct as_memory_ops *memory;
    const struct as_program_ops *program;
    const struct as_queue_ops *queue;
    const struct as_vendor_gemm_ops *gemm;      /* (optional) */
    const struct as_collective_ops *collective; /* (optional) */
    const struct as_team_ops *team;             /* (optional, with AS_CAP_TEAM) */
    struct as_arenas *arenas;                   /* memory kept between trials (arena.h); NULL if none */
    struct as_found_clock found;
    struct as_code_identity code; /* of the programs built since this was last zeroed */
    void *ctx;
};

/* Backends call it to add a program that they built; binary is 0 if its machine code is not available. */
void as_device_note_code(struct as_device *dev, uint64_t source, uint64_t binary);

/* What may be allocated: the driver's count or, of a device in the host's memory whose driver counts, what the system
 * has available, since the count leaves out what the system can reclaim. */
enum as_status as_device_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err);

/* AS_FAILED, naming the first missing required slot. */
enum as_status as_device_check(const struct as_device *dev, struct as_error *err);
/* Opens the device named "cpu", "opencl:0", "null" ("opencl" means its first), with its backend; what is
 * opened belongs to the caller and is closed with as_device_close. */
struct as_opened {
    const struct as_backend *backend;
    void *ctx;
    struct as_device device;
};
enum as_status as_device_open(const char *id, struct as_opened *out, struct as_error *err);
void as_device_close(struct as_opened *opened);

#endif
