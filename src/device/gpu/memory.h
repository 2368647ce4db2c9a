/* GPU memory: a table of allocators per API, and common code. */
#ifndef AS_DEVICE_GPU_MEMORY_H
#define AS_DEVICE_GPU_MEMORY_H

#include "device/gpu/gpu.h"

/* The target of as_memory.ctx. */
struct as_gpu_block {
    const struct as_gpu_allocator *how;
    struct as_gpu_place home;
    unsigned long long address; /* device address */
    void *physical;             /* handle of memory that is mapped to the address; NULL: none */
    void *host;                 /* host address; NULL: only through a copy */
    void *staging;              /* the copy while it is mapped */
    uint64_t bytes;             /* as requested */
    uint64_t taken;             /* bytes that release frees: reserved, mapped or registered, in whole pages */
    uint64_t page_size;         /* 0 unknown */
    int host_node;              /* 1 + the node of pages that a CPU touches first, of a device with another; 0: none */
    struct as_gpu_module *module; /* holds a static variable */
    bool is_borrowed;             /* the caller's memory, which is not released */
    bool is_placed;               /* before get: memory that get pins has base pages, on this node (-1: any) */
    int node;
};

/* Values of as_gpu_allocator.most: managed memory that migrates evicts other pages instead of failing; the module of a
 * static variable must be loaded whole, and its cap has room for the distance between the arrays of a stream of 512
 * MiB. */
#define AS_GPU_MANAGED_MAX (UINT64_C(1) << 30)
#define AS_GPU_STATIC_MAX (UINT64_C(513) << 20)
/* Of a static variable on a device in the host's memory: below what 32-bit relocations reach. */
#define AS_GPU_STATIC_IN_HOST (UINT64_C(1536) << 20)

/* When settle is repeated. */
enum as_gpu_again { AS_GPU_ONCE, AS_GPU_AFTER_HOST, AS_GPU_BEFORE_HOST };

/* Base pages, transparent huge ones, or those of the reserved pool. */
enum as_gpu_pages { AS_GPU_BASE_PAGES, AS_GPU_HUGE_PAGES, AS_GPU_POOL_PAGES };

enum as_gpu_source { AS_GPU_FROM_DEVICE = 1, AS_GPU_FROM_HOST = 2 };

struct as_gpu_allocator {
    const char *name;
    /* The bare allocation, as it is timed, with the place current; after an error release frees what it left
     * behind. */
    enum as_status (*get)(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err);
    int (*release)(const struct as_gpu *gpu, struct as_gpu_block *b);
    /* (optional) advises on managed memory or moves it to its intended location: part of get, and repeated */
    enum as_status (*settle)(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err);
    int needs; /* device attribute that must not be 0, and its meaning; 0: none */
    const char *needs_name, *why_not;
    unsigned flags; /* of the API's function */
    int option;     /* for the backend */
    enum as_gpu_source sources;
    enum as_gpu_again again;
    uint64_t most;           /* bytes, 0: all free memory */
    bool on_demand;          /* backed at first touch, if the device can fault */
    bool anywhere;           /* may also lie on another device */
    bool granted;            /* another device can access it only if granted when it was mapped */
    bool coherent;           /* the host and a running kernel use it in place */
    bool in_order;           /* in stream order: done only when the stream is */
    bool plain;              /* process memory unknown to the library */
    enum as_gpu_pages pages; /* of process memory */
    bool is_static;          /* not allocated at run time */
};

extern const struct as_memory_ops as_gpu_memory_ops;
/* Its address in kernels. */
unsigned long long as_gpu_address(const struct as_memory *mem);
/* The same for libraries that take it as a pointer. */
void *as_gpu_pointer(const struct as_memory *mem);

/* ---- shared.c ---- */

/* Does the host find what the driver wrote to a block of the first allocator, at the device's address? */
bool as_gpu_host_reads(struct as_gpu *gpu);

/* ---- allocators.c: pairs of get and release common to the APIs ---- */

/* Host memory allocated by the driver, mapped for the device; the allocator's flags are added. */
enum as_status as_gpu_get_pinned(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err);
int as_gpu_release_pinned(const struct as_gpu *gpu, struct as_gpu_block *b);
/* Process memory in whole pages, not shared with other data. */
enum as_status as_gpu_get_malloc(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err);
int as_gpu_release_malloc(const struct as_gpu *gpu, struct as_gpu_block *b);
/* The same in huge pages of the reserved pool. */
enum as_status as_gpu_get_pool(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err);
int as_gpu_release_pool(const struct as_gpu *gpu, struct as_gpu_block *b);
/* The same, registered with the driver, which pins its pages: a block that is placed gets its pages before. */
enum as_status as_gpu_get_registered(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err);
int as_gpu_release_registered(const struct as_gpu *gpu, struct as_gpu_block *b);
/* Loads the module whose source declares a static of AS_STATIC_BYTES bytes; the backend finds its
 * address. A program's module is compiled before it runs: another variable of the same size only loads it again. */
enum as_status as_gpu_load_static(struct as_gpu *gpu, struct as_gpu_block *b, const char *source, struct as_error *err);
int as_gpu_release_static(const struct as_gpu *gpu, struct as_gpu_block *b);

/* ---- limits.c ---- */

/* AS_USAGE for an unknown name, AS_UNSUPPORTED for one that cannot be used on this device. */
enum as_status as_gpu_find_allocator(const struct as_device *dev, const char *name, const struct as_gpu_allocator **out,
                                     struct as_error *err);
/* Checks whether count blocks of this size fit on this device: AS_UNSUPPORTED if they never fit, AS_NOMEM if they
 * do not fit now. */
enum as_status as_gpu_check_size(struct as_gpu *gpu, const struct as_gpu_allocator *how,
                                 const struct as_gpu_place *home, uint64_t bytes, uint64_t count, struct as_error *err);
/* The same of one block that may exceed the device's memory: AS_UNSUPPORTED unless the driver moves pages on demand,
 * AS_NOMEM unless the host has room for all of it. */
enum as_status as_gpu_check_beyond(const struct as_device *dev, const struct as_gpu_allocator *how, uint64_t bytes,
                                   struct as_error *err);
/* Sets the device's free memory and the largest allocation of each listed allocator. */
enum as_status as_gpu_fill_limits(struct as_device *dev, struct as_error *err);
/* AS_NOMEM if bytes exceed half of the available host memory. */
enum as_status as_gpu_check_host(const char *api, uint64_t bytes, struct as_error *err);
/* Writes why this process has no memory of the allocator, where that is known of its pages; else leaves it. */
void as_gpu_say_no_pages(const struct as_gpu_allocator *how, struct as_allocator *out);
/* In bytes; unit must not be 0. */
uint64_t as_gpu_round_up(uint64_t bytes, uint64_t unit);

#endif
