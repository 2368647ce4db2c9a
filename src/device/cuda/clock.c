/* The true clock of the units: cycle counter and global timer, read together twice. */
#include "device/cuda/cuda.h"

#include "device/card.h"

#include <math.h>

enum { WINDOW_NS = 60000 };

static enum as_status prepare(struct as_device *dev, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    const struct as_program_desc desc = {.name = "clock", .source = as_card_clock_source};
    struct as_program *program = NULL;
    struct as_kernel *kernel = NULL;
    enum as_status s = dev->program->build(dev, &desc, &program, err);
    if (!s)
        s = dev->program->kernel(dev, program, "as_clock", &kernel, err);
    if (!s)
        s = as_cu_check(cu->api, cu, cu->api->cuMemHostAlloc(&cu->clock_out, 64, CU_MEMHOSTALLOC_DEVICEMAP),
                        "cuMemHostAlloc", err);
    if (!s)
        cu->clock_kernel = kernel->function;
    dev->program->kernel_destroy(dev, kernel);
    dev->program->destroy(dev, program); /* what was built stays with the device */
    return s;
}

enum as_status as_cu_clock(struct as_device *dev, double *hz, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    *hz = NAN;
    enum as_status s = as_cu_alive(cu, err);
    if (!s && !cu->clock_kernel)
        s = prepare(dev, err);
    if (s)
        return s;
    CUdeviceptr out = 0;
    unsigned long long window = WINDOW_NS;
    void *parameters[] = {&out, &window};
    CUresult code = cu->api->cuMemHostGetDevicePointer_v2(&out, cu->clock_out, 0);
    if (!code)
        code = cu->api->cuLaunchKernel(cu->clock_kernel, 1, 1, 1, 1, 1, 1, 0, cu->stream, parameters, NULL);
    if (!code)
        code = cu->api->cuStreamSynchronize(cu->stream);
    s = as_cu_check(cu->api, cu, code, "the clock kernel", err);
    if (s)
        return s;
    const volatile unsigned long long *got = cu->clock_out;
    if (got[0] == 0 || got[1] == 0)
        return as_fail(err, AS_FAILED,
                       "cuda: the global timer of the device stands still, so its clock cannot be told");
    *hz = (double)got[0] / (double)got[1] * 1e9;
    return AS_OK;
}
