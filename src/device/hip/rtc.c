/* The run-time compiler for code objects. */
#include "device/gpu/compiler.h"
#include "device/hip/hip.h"

#include <stdio.h>

static int hip_rtc_build(const void *library, const char *source, const char *name, const char **options, int options_n,
                         struct as_gpu_compilation **out)
{
    const struct as_hiprtc_api *rtc = library;
    hiprtcResult code = rtc->hiprtcCreateProgram(out, source, name, 0, NULL, NULL);
    return code ? code : rtc->hiprtcCompileProgram(*out, options_n, options);
}

enum as_status as_hip_compile(const struct as_hiprtc_api *rtc, const struct as_program_desc *desc,
                              const struct as_hip_target *target, unsigned char **code, size_t *bytes,
                              struct as_error *err)
{
    const struct as_gpu_compiler compiler = {
        .api = "hip",
        .name = "hiprtc",
        .dialect = AS_DIALECT_HIP,
        .out_of_memory = HIPRTC_ERROR_OUT_OF_MEMORY,
        .library = rtc,
        .build = hip_rtc_build,
        .destroy = rtc->hiprtcDestroyProgram,
        .log_bytes = rtc->hiprtcGetProgramLogSize,
        .log = rtc->hiprtcGetProgramLog,
        .code_bytes = rtc->hiprtcGetCodeSize,
        .code = rtc->hiprtcGetCode,
        .words = rtc->hiprtcGetErrorString,
    };
    char chip[96], wall[32];
    const char *const options[] = {chip, wall, "-std=c++17", "-O3"};
    *code = NULL;
    *bytes = 0;
    if (!target->name[0])
        return as_fail(err, AS_UNSUPPORTED,
                       "the runtime does not tell what chip the device is, so nothing can be compiled for it");
    snprintf(chip, sizeof chip, "--offload-arch=%s", target->name);
    snprintf(wall, sizeof wall, "-DAS_WALL_KHZ=%u", target->wall_khz);
    return as_gpu_compile(&compiler, desc, options, sizeof options / sizeof *options, code, bytes, err);
}
