/* Runs kernels translated by msl.py: threads of a workgroup take turns on one host thread, and barriers and lane
 * operations are exact. */
#ifndef AS_TESTS_DEVICE_METAL_FIBERS_H
#define AS_TESTS_DEVICE_METAL_FIBERS_H

#include "base/error.h"
#include "msl_run.h"

#include <stddef.h>

struct msl_program {
    void *library;
    struct msl_runtime *(*here)(void); /* of the calling host thread */
    const struct msl_kernel *kernels;
};
/* Loads a shared object. */
enum as_status msl_open(const char *path, struct msl_program *out, struct as_error *err);
void msl_close(struct msl_program *p);
/* NULL: it has no kernel of that name. */
const struct msl_kernel *msl_find(const struct msl_program *p, const char *name);
/* threads: per workgroup. cores: number of concurrent workgroups. AS_FAILED with the reason if threads wait for others
 * that do not arrive. */
enum as_status msl_run_on(const struct msl_program *p, const struct msl_kernel *kernel, void *const *buffers,
                          unsigned workgroups, unsigned threads, unsigned cores, struct as_error *err);
/* By name, one workgroup after the other. */
enum as_status msl_run(const struct msl_program *p, const char *kernel, void *const *buffers, unsigned workgroups,
                       unsigned threads, struct as_error *err);

#endif
