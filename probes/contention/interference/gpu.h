/* What a device does to lines by a kernel, or by its copy engines between host memory and its own. The calling thread
 * launches it and waits. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_GPU_H
#define AS_PROBES_CONTENTION_INTERFERENCE_GPU_H

#include "lib/buffers/buffers.h"
#include "lib/transfer/transfer.h"
#include "lines.h"

struct gpu_work {
    struct as_device *dev;
    enum op op;
    const struct lines *lines; /* NULL: copies */
    bool keeps;                /* the content: the other side works on the same lines */
    struct as_transfer copy;
    struct as_buffers own; /* of a kernel */
    struct as_kernel *kernel;
    struct as_memory *sums;
    size_t workgroups, workgroup_size;
    uint64_t piece;  /* items of a thread; 0: threads take neighbouring ones */
    uint64_t passes; /* of a launch: over all lines, or 64 loads of a chase, or copies */
    uint64_t done;   /* passes of all launches */
    double ended;    /* the last launch, by as_now */
};
/* For a copy of `bytes`: between memory from allocator and the device's own. */
struct gpu_desc {
    struct as_device *dev;
    enum op op;
    const struct lines *lines;
    bool keeps;
    const char *allocator;
    uint64_t bytes, seed;
    double launch_s; /* a launch takes about so long */
};
enum as_status as_gpu_work_make(struct gpu_work *g, const struct gpu_desc *desc, struct as_error *err);
void as_gpu_work_finish(struct gpu_work *g); /* accepts one that is all zeros */
/* One launch, until it ends. *seconds: by the device's clock where it has one. */
enum as_status as_gpu_work_run(struct gpu_work *g, double *seconds, struct as_error *err);
/* Lines read, written or updated, loads of a chase, or lines copied, of one launch. */
double as_gpu_work_items(const struct gpu_work *g);
bool as_gpu_work_check(struct gpu_work *g, char *why, size_t why_size);

#endif
