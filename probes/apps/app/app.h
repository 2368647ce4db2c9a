/* Applications in two versions over the same kernels and the same code of the host. Explicit: arrays of the host,
 * copied to the device's memory and back. Unified: one allocation for both. */
#ifndef PROBES_APPS_APP_APP_H
#define PROBES_APPS_APP_APP_H

#include "lib/buffers/buffers.h"
#include "lib/counters/sampled.h"

enum {
    APP_ARRAYS_MAX = 6,
    APP_STACK_BYTES = 64,
    APP_STATIC_ALIGN = 256, /* of static variables */
    APP_KERNELS_MAX = 4,
    APP_PARTS = 4096 /* partial sums of a reduction */
};

/* Porting strategies; each application has a set of them per version. */
enum app_strategy {
    APP_NONE,
    APP_DOUBLE_BUFFERING,  /* two buffers in turn: the host writes one while the device reads the other */
    APP_MEMORY_CHECK,      /* free memory is counted before anything is allocated */
    APP_PARTIAL_TRANSFERS, /* parts of an array are copied before the kernels that use them */
    APP_STACK,             /* a kernel reads a variable of the host's stack */
    APP_STATIC,            /* the arrays are static variables */
    APP_HIDDEN_ALLOCATOR,  /* an array grows as a container does */
    APP_STRATEGIES
};
#define APP_SET(strategy) (1u << (strategy))

/* What the time of a run goes to. They are disjoint, but APP_COMPUTE, which contains transfers and kernels. */
enum app_phase {
    APP_ALLOCATE,
    APP_INPUT,    /* the host's first touch and its writes; what a growing array costs */
    APP_TRANSFER, /* copies; mappings */
    APP_KERNEL,
    APP_OUTPUT,
    APP_FREE,
    APP_COMPUTE, /* transfers, kernels and the host's part between them */
    APP_PHASES
};

struct app_array {
    uint64_t bytes;           /* 0: the application has no such array */
    uint64_t first_bytes;     /* what the host has of it at first, until as_app_grow; 0: all */
    bool scratch;             /* the host does not use it: the explicit version has it in the device's memory only */
    bool on_stack;            /* at most APP_STACK_BYTES, a variable of the host's stack */
    uint64_t held;            /* what the host has of it now */
    void *at;                 /* a static variable's address, in the block of all; NULL: the array is allocated */
    void *host;               /* explicit: the host's array; unified: the address while it is mapped */
    struct as_memory *memory; /* what kernels use */
};

struct app_run {
    const struct app *app;
    struct as_device *dev;
    const char *allocator;
    bool unified;
    enum app_strategy strategy;
    uint64_t n;   /* elements, as the application counts them */
    uint32_t key; /* chooses the input */
    struct app_array arrays[APP_ARRAYS_MAX];
    struct as_kernel *kernels[APP_KERNELS_MAX];
    void *stack;               /* APP_STACK_BYTES in the frame of as_app_run */
    struct as_memory *statics; /* all static variables, as of one module; NULL: none */
    bool running;              /* a submitted kernel */
    uint64_t result;           /* digest of the output */
    enum as_status status;     /* of the first call that failed; later calls do nothing */
    struct as_error *err;
    double spent[APP_PHASES];        /* seconds */
    struct counter_samples *samples; /* (optional) of the memory in use, stepped after each call */
};

struct app {
    const char *name;
    const char *kernels[APP_KERNELS_MAX]; /* names in app.kernel; NULL: no more */
    unsigned apart, unified;              /* strategies of the explicit and the unified version, beside none */
    /* Sets n and the bytes of the arrays, which take at most `size` bytes together. */
    void (*shape)(struct app_run *r, uint64_t size);
    /* The host writes the input. */
    void (*input)(struct app_run *r);
    /* Copies, kernels, and the host's work between them. */
    void (*compute)(struct app_run *r);
    /* The host reads the output: sets result. */
    void (*output)(struct app_run *r);
    /* The result for the run's n and key by the host alone, on arrays of its own; false: no memory. */
    bool (*reference)(uint64_t n, uint32_t key, uint64_t *result);
};
extern const struct app as_app_hotspot, as_app_nn, as_app_backprop, as_app_srad, as_app_dwt2d, as_app_heartwall;

/* The device's first usable allocator of the role (kernels can access the process's own memory by the pageable one);
 * NULL: it has none. */
const char *as_app_allocator(const struct as_device_info *info, enum as_role role);

/* Allocates, runs and frees. r: all but the results is set, and app->shape was called. Returns r->status. */
enum as_status as_app_run(struct app_run *r, struct as_error *err);

/* Can so many bytes be the largest rise of the memory in use? It rises by the arrays at least; less shows that others
 * freed memory meanwhile, or that a driver had the memory before. */
bool as_app_peak_is_whole(const struct app_run *r, double rise);

/* For applications. The host's address of an array, NULL after a failure. */
void *as_app_host(struct app_run *r, size_t array);
/* Explicit: copies a part of an array to or from the device; unified: nothing. */
void as_app_upload(struct app_run *r, size_t array, uint64_t at, uint64_t bytes);
void as_app_download(struct app_run *r, size_t array, uint64_t at, uint64_t bytes);
/* Runs a kernel on all of the device. No address from as_app_host is valid afterwards in the unified version. */
void as_app_launch(struct app_run *r, size_t kernel, const struct as_arg *args, size_t n);
/* The same without waiting, where the API can and the host may use its own arrays, or its part of coherent memory,
 * meanwhile; as_app_wait follows. */
void as_app_submit(struct app_run *r, size_t kernel, const struct as_arg *args, size_t n);
void as_app_wait(struct app_run *r);
/* The host's part of an array grows to so many bytes, at most all of it: a larger block, a copy, and the old one freed.
 */
void as_app_grow(struct app_run *r, size_t array, uint64_t bytes);
static inline struct as_arg as_app_arg(const struct app_run *r, size_t array)
{
    return as_memory_arg(r->arrays[array].memory);
}

/* Rows and columns of the largest square with at most so many cells, at least 1. */
uint64_t as_app_side(uint64_t cells);
/* Random bits from a key and a position. */
static inline uint32_t as_app_random(uint32_t key, uint64_t i)
{
    uint64_t x = i * UINT64_C(0x9e3779b97f4a7c15) + key;
    x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(x >> 32);
}
/* Depends on each value and its place. */
static inline uint64_t as_app_digest(uint64_t digest, uint64_t value, uint64_t i)
{
    return digest + (value + i) * (value ^ UINT64_C(0xd1342543de82ef95)) + value;
}

#endif
