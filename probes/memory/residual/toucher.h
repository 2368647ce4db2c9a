/* A device, or another core of the CPU, that touches memory of its own and is waited for. */
#ifndef AS_PROBES_MEMORY_RESIDUAL_TOUCHER_H
#define AS_PROBES_MEMORY_RESIDUAL_TOUCHER_H

#include "device/device.h"

struct toucher {
    struct as_device *dev;
    struct as_program *program;
    struct as_kernel *kernel;
    struct as_memory *memory, *sums;
    uint64_t lines, touched; /* of the memory, and by a run: 0 or all */
    bool write, native;
    uint64_t mark; /* of the last touch that stored */
};
/* Allocates bytes and stores to all of them once. After a failure the caller still finishes t. */
enum as_status toucher_prepare(struct toucher *t, struct as_device *dev, const char *allocator, uint64_t bytes,
                               bool write, struct as_error *err);
/* Touches every line; *seconds: by the host's clock, around launch and wait. */
enum as_status toucher_run(struct toucher *t, double *seconds, struct as_error *err);
/* The same launch and wait without touching a line: threads and driver are left as after a touch. */
enum as_status toucher_run_empty(struct toucher *t, struct as_error *err);
/* Checks the last touch: its sum (read), or the last line (write). */
bool toucher_check(struct toucher *t, char *why, size_t why_size);
void toucher_finish(struct toucher *t);

#endif
