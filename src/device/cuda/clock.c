/* The true clock of the units: cycle counter and global timer, read together twice. */
#include "device/cuda/cuda.h"

#include <math.h>

/* The timer steps by up to a microsecond, so that a step is waited for before each reading; the window between is long
 * against what is left of it. A timer that stands still is given up: then nothing was counted. */
static const char source[] = "KERNEL(as_clock)(ARG_GLOBAL(0, u64, out), ARG_VALUE(1, u64, ns) ARG_INDICES)\n"
                             "{\n"
                             "    u64 before = NANOS(), t0 = before, t1, c0, c1;\n"
                             "    u32 patience = 1u << 20;\n"
                             "    while (t0 == before && --patience)\n"
                             "        t0 = NANOS();\n"
                             "    c0 = CYCLES();\n"
                             "    do\n"
                             "        before = NANOS();\n"
                             "    while (before - t0 < ns && --patience);\n"
                             "    t1 = before;\n"
                             "    while (t1 == before && --patience)\n"
                             "        t1 = NANOS();\n"
                             "    c1 = CYCLES();\n"
                             "    out[0] = patience ? c1 - c0 : 0;\n"
                             "    out[1] = patience ? t1 - t0 : 0;\n"
                             "}\n";
enum { WINDOW_NS = 60000 };

static enum as_status prepare(struct as_device *dev, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    const struct as_program_desc desc = {.name = "clock", .source = source};
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
