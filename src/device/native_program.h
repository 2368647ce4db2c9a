/* Programs of native kernels, for backends that run functions of the host. */
#ifndef AS_DEVICE_NATIVE_PROGRAM_H
#define AS_DEVICE_NATIVE_PROGRAM_H

#include "device/device.h"

struct as_program {
    const struct as_host_kernel *host;
    char name[64];
};
struct as_kernel {
    const struct as_host_kernel *host;
    char program[64];
};

/* The slots of struct as_program_ops. */
enum as_status as_native_build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                               struct as_error *err);
void as_native_destroy(struct as_device *dev, struct as_program *program);
enum as_status as_native_kernel(struct as_device *dev, struct as_program *program, const char *name,
                                struct as_kernel **out, struct as_error *err);
void as_native_kernel_destroy(struct as_device *dev, struct as_kernel *kernel);

#endif
