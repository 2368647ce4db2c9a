/* The true clock of the units: cycle counter and timer, read together twice. */
#include "device/hip/hip.h"

#include "device/card.h"

#include <math.h>

enum { WINDOW_NS = 60000 };

static enum as_status prepare(struct as_device *dev, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    const struct as_program_desc desc = {.name = "clock", .source = as_card_clock_source};
    struct as_program *program = NULL;
    struct as_kernel *kernel = NULL;
    enum as_status s = dev->program->build(dev, &desc, &program, err);
    if (!s)
        s = dev->program->kernel(dev, program, "as_clock", &kernel, err);
    if (!s)
        s = as_hip_check(hip->api, hip, hip->api->hipHostMalloc(&hip->clock_out, 64, hipHostMallocMapped),
                         "hipHostMalloc", err);
    if (!s)
        hip->clock_kernel = kernel->function;
    dev->program->kernel_destroy(dev, kernel);
    dev->program->destroy(dev, program); /* what was built stays with the device */
    return s;
}

enum as_status as_hip_clock(struct as_device *dev, double *hz, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    *hz = NAN;
    enum as_status s = as_hip_alive(hip, err);
    if (!s && !hip->clock_kernel)
        s = prepare(dev, err);
    if (s)
        return s;
    void *out = NULL;
    unsigned long long window = WINDOW_NS;
    void *parameters[] = {&out, &window};
    hipError_t code = hip->api->hipHostGetDevicePointer(&out, hip->clock_out, 0);
    if (!code)
        code = hip->api->hipModuleLaunchKernel(hip->clock_kernel, 1, 1, 1, 1, 1, 1, 0, hip->stream, parameters, NULL);
    if (!code)
        code = hip->api->hipStreamSynchronize(hip->stream);
    s = as_hip_check(hip->api, hip, code, "the clock kernel", err);
    if (s)
        return s;
    const volatile unsigned long long *got = hip->clock_out;
    if (got[0] == 0 || got[1] == 0)
        return as_fail(err, AS_FAILED, "hip: the timer of the device stands still, so its clock cannot be told");
    *hz = (double)got[0] / (double)got[1] * 1e9;
    return AS_OK;
}
