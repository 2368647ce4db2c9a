/* Between the table of allocators and the memory functions. */
#ifndef AS_DEVICE_CUDA_MEMORY_H
#define AS_DEVICE_CUDA_MEMORY_H

#include "device/cuda/cuda.h"

/* Where memory lies: on this device or on another one that it reaches. */
struct as_cu_home {
    CUcontext context;
    CUdevice device;
};

/* What as_memory.ctx points to. */
struct as_cu_block {
    const struct as_cu_allocator *how;
    struct as_cu_home home;
    CUdeviceptr address; /* where kernels see it */
    void *host;          /* where the host sees it; NULL: only through a copy */
    void *staging;       /* that copy while it is mapped */
    uint64_t bytes;      /* as asked for */
    uint64_t taken;      /* by the device's pages */
    uint64_t page_size;  /* 0 unknown */
    CUmodule module;     /* of a static variable */
};

enum as_cu_source { AS_CU_FROM_DEVICE = 1, AS_CU_FROM_HOST = 2 };

struct as_cu_allocator {
    const char *name;
    /* The bare allocation, as it is timed, with home's context current; what it leaves behind when it fails is given
     * back by release. */
    enum as_status (*get)(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err);
    CUresult (*release)(const struct as_cu_device *cu, struct as_cu_block *b);
    /* (optional) puts managed memory where it is wanted: a part of get, and done again when the host had it */
    enum as_status (*settle)(struct as_cu_device *cu, struct as_cu_block *b, struct as_error *err);
    int needs; /* device attribute that must not be 0, and what it means; 0: none */
    const char *needs_name, *why_not;
    unsigned flags;      /* of cuMemHostAlloc */
    CUmem_advise advice; /* 0: none */
    bool advise_host;    /* the advice names the host, not the device */
    enum as_cu_source sources;
    uint64_t most;     /* bytes, 0: what is free */
    bool on_demand;    /* where the device can fault */
    bool anywhere;     /* also on another device */
    bool granted;      /* another device reaches it only if it was granted access when it was mapped */
    bool coherent;     /* the host and a running kernel use it in place */
    bool in_order;     /* of the stream: done only when that is */
    bool plain;        /* memory of the process that the driver does not know */
    bool is_static;    /* not allocated at run time */
    bool settle_again; /* after the host had it */
};

/* AS_USAGE for an unknown name, AS_UNSUPPORTED for one that cannot be used on this device. */
enum as_status as_cu_find_allocator(const struct as_device *dev, const char *name, const struct as_cu_allocator **out,
                                    struct as_error *err);
/* Whether count blocks of so many bytes may be asked for at home: AS_UNSUPPORTED for what never fits, AS_NOMEM for what
 * does not fit now. */
enum as_status as_cu_check_size(struct as_cu_device *cu, const struct as_cu_allocator *how,
                                const struct as_cu_home *home, uint64_t bytes, uint64_t count, struct as_error *err);
/* AS_NOMEM where so much memory of the host would be more than half of what is left. */
enum as_status as_cu_check_host(uint64_t bytes, struct as_error *err);

#endif
