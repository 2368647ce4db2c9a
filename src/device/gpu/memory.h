/* GPU memory: a table of allocators per API, and common code. */
#ifndef AS_DEVICE_GPU_MEMORY_H
#define AS_DEVICE_GPU_MEMORY_H

#include "device/gpu/gpu.h"

/* What as_memory.ctx points to. */
struct as_gpu_block {
    const struct as_gpu_allocator *how;
    struct as_gpu_place home;
    unsigned long long address;   /* where kernels see it */
    void *host;                   /* where the host sees it; NULL: only through a copy */
    void *staging;                /* that copy while it is mapped */
    uint64_t bytes;               /* as asked for */
    uint64_t taken;               /* bytes that release gives back: reserved or registered, in whole pages */
    uint64_t page_size;           /* 0 unknown */
    struct as_gpu_module *module; /* of a static variable */
};

/* Bytes for as_gpu_allocator.most: managed memory pushes others' pages out instead of failing; of a static variable a
 * module has to be loaded whole. */
#define AS_GPU_MANAGED_MOST (UINT64_C(1) << 30)
#define AS_GPU_STATIC_MOST (UINT64_C(256) << 20)

enum as_gpu_source { AS_GPU_FROM_DEVICE = 1, AS_GPU_FROM_HOST = 2 };

struct as_gpu_allocator {
    const char *name;
    /* The bare allocation, as it is timed, by a thread that is at home; what it leaves behind when it fails is given
     * back by release. */
    enum as_status (*get)(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err);
    int (*release)(const struct as_gpu *card, struct as_gpu_block *b);
    /* (optional) puts managed memory where it is wanted: a part of get, and done again when the host had it */
    enum as_status (*settle)(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err);
    int needs; /* device attribute that must not be 0, and what it means; 0: none */
    const char *needs_name, *why_not;
    unsigned flags; /* of the API's function */
    int option;     /* what else the backend has to know of it */
    enum as_gpu_source sources;
    uint64_t most;     /* bytes, 0: what is free */
    bool on_demand;    /* pages come at first touch, where the device can fault */
    bool anywhere;     /* also on another device */
    bool granted;      /* another device reaches it only if it was granted access when it was mapped */
    bool coherent;     /* the host and a running kernel use it in place */
    bool in_order;     /* of the stream: done only when that is */
    bool plain;        /* memory of the process that the library does not know */
    bool is_static;    /* not allocated at run time */
    bool settle_again; /* after the host had it */
};

extern const struct as_memory_ops as_gpu_memory_ops;
/* Its address in kernels. */
unsigned long long as_gpu_address(const struct as_memory *mem);
/* The same for libraries that take it as a pointer. */
void *as_gpu_pointer(const struct as_memory *mem);

/* ---- allocators.c: pairs of get and release that APIs have alike ---- */

/* The host's memory, allocated by the driver; flags: on top of host_mapped. */
enum as_status as_gpu_get_pinned(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err);
int as_gpu_release_pinned(const struct as_gpu *card, struct as_gpu_block *b);
/* Of the process, in whole pages, so that nothing else lies in them. */
enum as_status as_gpu_get_malloc(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err);
int as_gpu_release_malloc(const struct as_gpu *card, struct as_gpu_block *b);
/* The same, made known to the driver. */
enum as_status as_gpu_get_registered(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err);
int as_gpu_release_registered(const struct as_gpu *card, struct as_gpu_block *b);
/* Loads the module in which the API's source declares a static of AS_STATIC_BYTES bytes; where it lies is left to the
 * backend. */
enum as_status as_gpu_load_static(struct as_gpu *card, struct as_gpu_block *b, const char *source,
                                  struct as_error *err);
int as_gpu_release_static(const struct as_gpu *card, struct as_gpu_block *b);

/* ---- limits.c ---- */

/* AS_USAGE for an unknown name, AS_UNSUPPORTED for one that cannot be used on this device. */
enum as_status as_gpu_find_allocator(const struct as_device *dev, const char *name, const struct as_gpu_allocator **out,
                                     struct as_error *err);
/* Whether count blocks of so many bytes may be asked for at home: AS_UNSUPPORTED for what never fits, AS_NOMEM for what
 * does not fit now. */
enum as_status as_gpu_check_size(struct as_gpu *card, const struct as_gpu_allocator *how,
                                 const struct as_gpu_place *home, uint64_t bytes, uint64_t count, struct as_error *err);
/* What is free of the device, and how much each of its allocators, which are listed already, gives at most. */
enum as_status as_gpu_fill_limits(struct as_device *dev, struct as_error *err);
/* AS_NOMEM where so much memory of the host would be more than half of what is left. */
enum as_status as_gpu_check_host(const char *api, uint64_t bytes, struct as_error *err);
/* In bytes; unit must not be 0. */
uint64_t as_gpu_round_up(uint64_t bytes, uint64_t unit);

#endif
