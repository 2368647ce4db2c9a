/* The device's work on lines: a kernel, or copies between host and device memory by its copy engines. The calling
 * thread launches and waits. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_GPU_H
#define AS_PROBES_CONTENTION_INTERFERENCE_GPU_H

#include "lib/buffers/buffers.h"
#include "lib/transfer/transfer.h"
#include "lines.h"

struct gpu_work {
    struct as_device *dev;
    enum op op;
    const struct lines *lines; /* NULL: copies */
    bool keeps;                /* keeps the content, since the other side works on the same lines */
    struct as_transfer copy;
    struct as_buffers own; /* of a kernel */
    struct as_kernel *kernel;
    struct as_memory *sums;
    size_t workgroups, workgroup_size;
    uint64_t piece;  /* items per thread; 0: threads take neighbouring items */
    uint64_t passes; /* per launch: passes over all lines, 64 loads of a chase each, or copies */
    uint64_t done;   /* passes of all launches */
    double ended;    /* end of the last launch, by as_now */
};
/* Memory for a copy of `bytes`: from allocator, and the device's own. */
struct gpu_desc {
    struct as_device *dev;
    enum op op;
    const struct lines *lines;
    bool keeps;
    const char *allocator;
    uint64_t bytes, seed;
    double launch_s; /* approximate length of a launch */
};
enum as_status as_gpu_work_make(struct gpu_work *g, const struct gpu_desc *desc, struct as_error *err);
void as_gpu_work_finish(struct gpu_work *g); /* accepts a zeroed one */
/* One launch, and waits for it. *seconds: by the device's clock if it has one. */
enum as_status as_gpu_work_run(struct gpu_work *g, double *seconds, struct as_error *err);
/* Items of one launch: lines read, written, updated or copied, or loads of a chase. */
double as_gpu_work_items(const struct gpu_work *g);
bool as_gpu_work_check(struct gpu_work *g, char *why, size_t why_size);

#endif
