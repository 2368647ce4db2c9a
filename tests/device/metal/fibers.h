/* Runs kernels that msl.py has translated: threads of a group take turns on one thread of the host, and barriers and
 * operations of lanes are exact. */
#ifndef AS_TESTS_DEVICE_METAL_FIBERS_H
#define AS_TESTS_DEVICE_METAL_FIBERS_H

#include "base/error.h"
#include "msl_run.h"

#include <stddef.h>

struct msl_program {
    void *library;
    struct msl_runtime *runtime;
    const struct msl_kernel *kernels;
};
/* Of a shared object. */
enum as_status msl_open(const char *path, struct msl_program *out, struct as_error *err);
void msl_close(struct msl_program *p);
/* threads: of a group, a multiple of 32. AS_FAILED with the reason where threads wait for others that do not come. */
enum as_status msl_run(const struct msl_program *p, const char *kernel, void *const *buffers, unsigned workgroups,
                       unsigned threads, struct as_error *err);

#endif
