/* The true clock of the compute units, from two joint readings of cycle counter and timer. */
#include "device/gpu/gpu.h"

#include <math.h>

enum { WINDOW_NS = 60000, OUT_BYTES = 64 };

/* The timer may advance in steps of a microsecond, so each reading waits for a step; the interval between readings is
 * long compared with the remaining error. If the timer does not advance, the kernel gives up and reports 0. */
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

static enum as_status gpu_clock_prepare(struct as_device *dev, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    const struct as_program_desc desc = {.name = "clock", .source = source};
    struct as_program *program = NULL;
    struct as_kernel *kernel = NULL;
    enum as_status st = dev->program->build(dev, &desc, &program, err);
    if (!st)
        st = dev->program->kernel(dev, program, "as_clock", &kernel, err);
    if (!st)
        st = AS_GPU_DO(gpu, err, host_alloc, &gpu->clock_out, OUT_BYTES, gpu->api->host_mapped);
    if (!st)
        gpu->clock_kernel = kernel->function;
    dev->program->kernel_destroy(dev, kernel);
    dev->program->destroy(dev, program); /* the built program stays cached in the device */
    return st;
}

enum as_status as_gpu_clock(struct as_device *dev, double *hz, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    const struct as_gpu_functions *f = gpu->f;
    *hz = NAN;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st && !gpu->clock_kernel)
        st = gpu_clock_prepare(dev, err);
    if (st)
        return st;
    unsigned long long out = 0, window = WINDOW_NS;
    void *parameters[] = {&out, &window};
    int code = gpu->api->host_address(gpu, gpu->clock_out, &out);
    if (!code)
        code = f->launch.call(gpu->clock_kernel, 1, 1, 1, 1, 1, 1, 0, gpu->stream, parameters, NULL);
    if (!code)
        code = f->stream_synchronize.call(gpu->stream);
    st = as_gpu_check(gpu, code, "the clock kernel", err);
    if (st)
        return st;
    const volatile unsigned long long *got = gpu->clock_out;
    if (got[0] == 0 || got[1] == 0)
        return as_fail(err, AS_FAILED, "%s: the device's timer does not advance, so its clock is unknown",
                       gpu->api->name);
    *hz = (double)got[0] / (double)got[1] * 1e9;
    return AS_OK;
}
