/* Runs kernels that msl.py has translated: threads of a group take turns on one thread of the host, and barriers and
 * operations of lanes are exact. */
#ifndef AS_TESTS_DEVICE_METAL_FIBERS_H
#define AS_TESTS_DEVICE_METAL_FIBERS_H

#include "base/error.h"
#include "msl_run.h"

#include <stddef.h>

struct msl_program {
    void *library;
    struct msl_runtime *(*here)(void); /* of the host's thread that asks */
    const struct msl_kernel *kernels;
};
/* Of a shared object. */
enum as_status msl_open(const char *path, struct msl_program *out, struct as_error *err);
void msl_close(struct msl_program *p);
/* NULL: there is none of that name. */
const struct msl_kernel *msl_find(const struct msl_program *p, const char *name);
/* threads: of a group. cores: so many groups run at a time. AS_FAILED with the reason where threads wait for others
 * that do not come. */
enum as_status msl_run_on(const struct msl_program *p, const struct msl_kernel *kernel, void *const *buffers,
                          unsigned workgroups, unsigned threads, unsigned cores, struct as_error *err);
/* By its name, one group after the other. */
enum as_status msl_run(const struct msl_program *p, const char *kernel, void *const *buffers, unsigned workgroups,
                       unsigned threads, struct as_error *err);

#endif
