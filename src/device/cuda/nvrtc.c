/* The run-time compiler: found, loaded, and asked for a cubin. */
#include "device/cuda/cuda.h"

#include "base/text.h"
#include "device/dialect/dialect.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The toolkit of the newest driver first; then where the toolkit's own installers put it. */
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

enum { OPTIONS_MAX = 48, ARCHS_MAX = 128 };

enum as_status as_nvrtc_load(struct as_nvrtc_api *api, struct as_error *err)
{
    char first[400] = "";
    *api = (struct as_nvrtc_api){0};
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names && !api->library; i++) {
        api->library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
        const char *why = api->library || i ? NULL : dlerror();
        if (why)
            as_copy_text(first, sizeof first, why);
    }
    if (!api->library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; kernels are compiled by NVRTC, a part of the CUDA toolkit: install it, or name its folder "
                       "in LD_LIBRARY_PATH",
                       first);
    const char *missing = NULL;
    /* POSIX lets an object pointer carry a function's address; C wants the detour over memory. */
#define AS_NVRTC_LOAD(result, name, parameters)                                                                        \
    {                                                                                                                  \
        void *symbol = dlsym(api->library, #name);                                                                     \
        memcpy(&api->name, &symbol, sizeof symbol);                                                                    \
        if (!symbol && !missing)                                                                                       \
            missing = #name;                                                                                           \
    }
    AS_NVRTC_REQUIRED(AS_NVRTC_LOAD)
#undef AS_NVRTC_LOAD
    if (!missing && api->nvrtcVersion(&api->major, &api->minor) == NVRTC_SUCCESS)
        return AS_OK;
    *api = (struct as_nvrtc_api){0};
    return as_fail(err, AS_UNSUPPORTED, "libnvrtc has no function '%s'; it needs CUDA 11.2 or later",
                   missing ? missing : "nvrtcVersion");
}

/* "sm_90" is a target; "sm_90a" has also what that generation alone has. A chip that NVRTC does not know yet has none.
 */
static enum as_status choose_target(const struct as_nvrtc_api *nvrtc, const char *arch, char target[24],
                                    struct as_error *err)
{
    int n = 0, archs[ARCHS_MAX], wanted = 0, newest = 0;
    bool known = false;
    if (sscanf(arch, "sm_%d", &wanted) != 1)
        return as_fail(err, AS_USAGE, "'%s' is no architecture of a CUDA device", arch);
    if (nvrtc->nvrtcGetNumSupportedArchs(&n) || n < 1 || n > ARCHS_MAX || nvrtc->nvrtcGetSupportedArchs(archs))
        return as_fail(err, AS_FAILED, "nvrtc does not tell which devices it compiles for");
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

/* The first lines of the log from the first error on, in one line. */
static enum as_status fail_compile(const struct as_nvrtc_api *nvrtc, nvrtcProgram program, nvrtcResult code,
                                   const char *name, struct as_error *err)
{
    size_t n = 0;
    char *log = NULL, clean[380] = "";
    if (program && !nvrtc->nvrtcGetProgramLogSize(program, &n) && n && n < 1u << 24)
        log = calloc(n + 1, 1);
    if (log && !nvrtc->nvrtcGetProgramLog(program, log)) {
        const char *from = strstr(log, "error");
        while (from && from > log && from[-1] != '\n')
            from--;
        as_copy_text(clean, sizeof clean, from ? from : log);
        for (char *c = clean; (c = strpbrk(c, "\n\r\t"));)
            *c = ' ';
    }
    free(log);
    const char *words = nvrtc->nvrtcGetErrorString(code);
    return as_fail(err, code == NVRTC_ERROR_OUT_OF_MEMORY ? AS_NOMEM : AS_FAILED,
                   "cuda: program '%s' does not build (%s): %s", name, words ? words : "nvrtc has no words for it",
                   clean[0] ? clean : "the compiler says nothing");
}

static enum as_status get_cubin(const struct as_nvrtc_api *nvrtc, nvrtcProgram program, const char *name,
                                unsigned char **cubin, size_t *bytes, struct as_error *err)
{
    nvrtcResult code = nvrtc->nvrtcGetCUBINSize(program, bytes);
    if (code || *bytes == 0)
        return as_fail(err, AS_FAILED, "cuda: nvrtc gave no machine code for program '%s'", name);
    *cubin = malloc(*bytes);
    if (!*cubin)
        return as_nomem(err, *bytes, "machine code");
    code = nvrtc->nvrtcGetCUBIN(program, (char *)*cubin);
    if (!code)
        return AS_OK;
    free(*cubin);
    *cubin = NULL;
    return fail_compile(nvrtc, program, code, name, err);
}

/* Splits at blanks, in place. */
static size_t split(char *text, const char **out, size_t n, size_t max)
{
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word && n < max; word = strtok_r(NULL, " ", &save))
        out[n++] = word;
    return n;
}

enum as_status as_cu_compile(struct as_nvrtc_api *nvrtc, const struct as_program_desc *desc, const char *arch,
                             unsigned char **cubin, size_t *bytes, struct as_error *err)
{
    char target[24], option[64], *words = NULL;
    const char *options[OPTIONS_MAX] = {option, "--std=c++17"};
    struct as_buf source = AS_BUF_INIT;
    nvrtcProgram program = NULL;
    *cubin = NULL;
    *bytes = 0;
    enum as_status s = choose_target(nvrtc, arch, target, err);
    if (s)
        return s;
    snprintf(option, sizeof option, "--gpu-architecture=%s", target);
    size_t n = 2;
    if (desc->defines && desc->defines[0]) {
        words = as_strdup(desc->defines);
        if (!words)
            return as_nomem(err, strlen(desc->defines), "options");
        n = split(words, options, n, OPTIONS_MAX);
    }
    as_dialect_source(AS_DIALECT_CUDA, desc->source, &source);
    if ((s = as_buf_check(&source, err)))
        goto done;
    nvrtcResult code = nvrtc->nvrtcCreateProgram(&program, as_buf_get(&source), desc->name, 0, NULL, NULL);
    if (!code)
        code = nvrtc->nvrtcCompileProgram(program, (int)n, options);
    s = code ? fail_compile(nvrtc, program, code, desc->name, err)
             : get_cubin(nvrtc, program, desc->name, cubin, bytes, err);
done:
    if (program)
        nvrtc->nvrtcDestroyProgram(&program);
    as_buf_finish(&source);
    free(words);
    return s;
}
