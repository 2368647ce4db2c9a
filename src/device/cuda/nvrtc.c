/* The run-time compiler: finds and loads it, and compiles cubins. */
#include "device/cuda/cuda.h"

#include "base/library.h"
#include "device/gpu/compiler.h"

#include <stdio.h>
#include <stdlib.h>

/* The newest version first, then the folders of the toolkit's installers. */
static const char *const library_names[] = {
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so.11.2",
    "libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so",
    "/usr/local/cuda/targets/sbsa-linux/lib/libnvrtc.so",
    "/opt/cuda/lib64/libnvrtc.so",
    "/usr/lib/cuda/lib64/libnvrtc.so",
};

enum { ARCHS_MAX = 128 };

enum as_status as_nvrtc_load(struct as_nvrtc_api *api, struct as_error *err)
{
    char why[400] = "";
    *api = (struct as_nvrtc_api){0};
    api->library = as_library_open(library_names, sizeof library_names / sizeof *library_names, NULL, why, sizeof why);
    if (!api->library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; kernels are compiled by NVRTC, a part of the CUDA toolkit: install it, or name its folder "
                       "in LD_LIBRARY_PATH",
                       why);
    const char *missing = NULL;
#define LOAD(result, name, parameters) as_library_function(api->library, #name, &api->name, &missing);
    AS_NVRTC_REQUIRED(LOAD)
#undef LOAD
    if (!missing && api->nvrtcVersion(&api->major, &api->minor) == NVRTC_SUCCESS)
        return AS_OK;
    *api = (struct as_nvrtc_api){0};
    return as_fail(err, AS_UNSUPPORTED, "libnvrtc has no function '%s'; it needs CUDA 11.2 or later",
                   missing ? missing : "nvrtcVersion");
}

/* The target "sm_90a" includes features of that generation only. Chips that NVRTC does not know yet have none. */
static enum as_status choose_target(const struct as_nvrtc_api *nvrtc, const char *arch, char target[24],
                                    struct as_error *err)
{
    int n = 0, archs[ARCHS_MAX] = {0}, wanted = 0, newest = 0;
    bool known = false;
    if (sscanf(arch, "sm_%d", &wanted) != 1)
        return as_fail(err, AS_USAGE, "'%s' is not a CUDA architecture", arch);
    if (nvrtc->nvrtcGetNumSupportedArchs(&n) || n < 1 || n > ARCHS_MAX || nvrtc->nvrtcGetSupportedArchs(archs))
        return as_fail(err, AS_FAILED, "nvrtc does not report its targets");
    for (int i = 0; i < n; i++) {
        known |= archs[i] == wanted;
        newest = archs[i] > newest ? archs[i] : newest;
    }
    if (!known)
        return as_fail(err, AS_UNSUPPORTED, "nvrtc %d.%d does not compile for %s (%s)", nvrtc->major, nvrtc->minor,
                       arch,
                       wanted > newest ? "it is older than the device: install a newer CUDA toolkit"
                                       : "it no longer does: install an older CUDA toolkit");
    bool own_kind = wanted >= 90;
    snprintf(target, 24, "sm_%d%s", wanted, own_kind ? "a" : "");
    return AS_OK;
}

static int nvrtc_build(const void *library, const char *source, const char *name, const char **options, int options_n,
                       struct as_gpu_compilation **out)
{
    const struct as_nvrtc_api *nvrtc = library;
    nvrtcResult code = nvrtc->nvrtcCreateProgram(out, source, name, 0, NULL, NULL);
    return code ? code : nvrtc->nvrtcCompileProgram(*out, options_n, options);
}

enum as_status as_cu_compile(const struct as_nvrtc_api *nvrtc, const struct as_program_desc *desc, const char *arch,
                             unsigned char **cubin, size_t *bytes, struct as_error *err)
{
    const struct as_gpu_compiler compiler = {
        .api = "cuda",
        .name = "nvrtc",
        .dialect = AS_DIALECT_CUDA,
        .out_of_memory = NVRTC_ERROR_OUT_OF_MEMORY,
        .library = nvrtc,
        .build = nvrtc_build,
        .destroy = nvrtc->nvrtcDestroyProgram,
        .log_bytes = nvrtc->nvrtcGetProgramLogSize,
        .log = nvrtc->nvrtcGetProgramLog,
        .code_bytes = nvrtc->nvrtcGetCUBINSize,
        .code = nvrtc->nvrtcGetCUBIN,
        .words = nvrtc->nvrtcGetErrorString,
    };
    char target[24], option[64];
    const char *const options[] = {option, "--std=c++17"};
    *cubin = NULL;
    *bytes = 0;
    enum as_status st = choose_target(nvrtc, arch, target, err);
    if (st)
        return st;
    snprintf(option, sizeof option, "--gpu-architecture=%s", target);
    return as_gpu_compile(&compiler, desc, options, 2, cubin, bytes, err);
}
