/* Between the table of allocators and the memory functions. */
#ifndef AS_DEVICE_HIP_MEMORY_H
#define AS_DEVICE_HIP_MEMORY_H

#include "device/hip/hip.h"

/* What as_memory.ctx points to. */
struct as_hip_block {
    const struct as_hip_allocator *how;
    int home;       /* the device on which it lies: this one or another that it reaches */
    void *address;  /* where kernels see it */
    void *host;     /* where the host sees it; NULL: only through a copy */
    void *staging;  /* that copy while it is mapped */
    uint64_t bytes; /* as asked for */
    bool registered;
    hipModule_t module; /* of a static variable */
};

enum as_hip_source { AS_HIP_FROM_DEVICE = 1, AS_HIP_FROM_HOST = 2 };

struct as_hip_allocator {
    const char *name;
    /* The bare allocation, as it is timed, with its home as the thread's device; what it leaves behind when it fails is
     * given back by release. */
    enum as_status (*get)(struct as_hip_device *hip, struct as_hip_block *b, struct as_error *err);
    hipError_t (*release)(const struct as_hip_device *hip, struct as_hip_block *b);
    int needs; /* device attribute that must not be 0, and what it means; 0: none */
    const char *needs_name, *why_not;
    enum as_hip_xnack never; /* not where page faults are replayed so; AS_HIP_XNACK_NONE: always */
    unsigned flags;          /* of hipHostMalloc and hipExtMallocWithFlags */
    enum as_hip_source sources;
    uint64_t most;  /* bytes, 0: what is free */
    bool on_demand; /* pages come at first touch */
    bool anywhere;  /* also on another device */
    bool coherent;  /* the host and a running kernel use it in place */
    bool plain;     /* memory of the process that the runtime does not know */
    bool is_static; /* not allocated at run time */
};

/* AS_USAGE for an unknown name, AS_UNSUPPORTED for one that cannot be used on this device. */
enum as_status as_hip_find_allocator(const struct as_device *dev, const char *name, const struct as_hip_allocator **out,
                                     struct as_error *err);
/* Whether count blocks of so many bytes may be asked for on a device: AS_UNSUPPORTED for what never fits, AS_NOMEM for
 * what does not fit now. */
enum as_status as_hip_check_size(struct as_hip_device *hip, const struct as_hip_allocator *how, int home,
                                 uint64_t bytes, uint64_t count, struct as_error *err);

#endif
