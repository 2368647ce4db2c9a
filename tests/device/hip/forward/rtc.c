/* The compiler: the source behind the dialect's words for AMD GPUs, behind those for CUDA instead, is given to NVRTC,
 * with the options that say the same. */
#include "forward.h"

#include "device/dialect/dialect.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64, PROGRAM_CREATION_FAILURE = 2, INVALID_INPUT = 3, INVALID_OPTION = 5 };

static struct as_nvrtc_api nvrtc;
static bool has_nvrtc;

static void load(void)
{
    has_nvrtc = as_nvrtc_load(&nvrtc, NULL) == AS_OK;
}

/* The first that is asked of the compiler; without NVRTC there is none. */
API hiprtcResult hiprtcVersion(int *major, int *minor)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return has_nvrtc ? nvrtc.nvrtcVersion(major, minor) : PROGRAM_CREATION_FAILURE;
}

API const char *hiprtcGetErrorString(hiprtcResult code)
{
    return nvrtc.nvrtcGetErrorString(code);
}

API hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name, int headers_n,
                                     const char **headers, const char **header_names)
{
    const char *prelude = as_dialect_prelude(AS_DIALECT_HIP);
    size_t n = strlen(prelude);
    struct as_buf text = AS_BUF_INIT;
    if (strncmp(source, prelude, n) != 0 || headers_n)
        return INVALID_INPUT;
    as_buf_str(&text, as_dialect_prelude(AS_DIALECT_CUDA));
    as_buf_str(&text, source + n);
    hiprtcResult code = text.failed
                            ? HIPRTC_ERROR_OUT_OF_MEMORY
                            : nvrtc.nvrtcCreateProgram(program, as_buf_get(&text), name, headers_n,
                                                       (const char *const *)headers, (const char *const *)header_names);
    as_buf_finish(&text);
    return code;
}

/* "--offload-arch=gfx9c90:xnack+" is sm_90a: from there on, with what that generation alone has. */
static bool translate_chip(const char *option, char *out, size_t size)
{
    static const char word[] = "--offload-arch=" FORWARD_CHIP;
    if (strncmp(option, word, sizeof word - 1) != 0)
        return false;
    long chip = strtol(option + sizeof word - 1, NULL, 10);
    snprintf(out, size, "--gpu-architecture=sm_%ld%s", chip, chip >= 90 ? "a" : "");
    return true;
}

/* How much it optimises is not to be told to NVRTC. */
API hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int options_n, const char **options)
{
    const char *all[OPTIONS_MAX];
    char chip[64];
    int n = 0;
    if (options_n < 1 || options_n > OPTIONS_MAX || !translate_chip(options[0], chip, sizeof chip))
        return INVALID_OPTION;
    all[n++] = chip;
    for (int i = 1; i < options_n; i++)
        if (strcmp(options[i], "-O3") != 0)
            all[n++] = options[i];
    return nvrtc.nvrtcCompileProgram(program, n, all);
}

API hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program)
{
    return nvrtc.nvrtcDestroyProgram(program);
}

API hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t *bytes)
{
    return nvrtc.nvrtcGetCUBINSize(program, bytes);
}

API hiprtcResult hiprtcGetCode(hiprtcProgram program, char *code)
{
    return nvrtc.nvrtcGetCUBIN(program, code);
}

API hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t *bytes)
{
    return nvrtc.nvrtcGetProgramLogSize(program, bytes);
}

API hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char *log)
{
    return nvrtc.nvrtcGetProgramLog(program, log);
}
