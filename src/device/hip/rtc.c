/* The run-time compiler: asked for a code object. */
#include "device/hip/hip.h"

#include "base/text.h"
#include "device/dialect/dialect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 48 };

/* The first lines of the log from the first error on, in one line. */
static enum as_status fail_compile(const struct as_hiprtc_api *rtc, hiprtcProgram program, hiprtcResult code,
                                   const char *name, struct as_error *err)
{
    size_t n = 0;
    char *log = NULL, clean[380] = "";
    if (program && !rtc->hiprtcGetProgramLogSize(program, &n) && n && n < 1u << 24)
        log = calloc(n + 1, 1);
    if (log && !rtc->hiprtcGetProgramLog(program, log)) {
        const char *from = strstr(log, "error");
        while (from && from > log && from[-1] != '\n')
            from--;
        as_copy_text(clean, sizeof clean, from ? from : log);
        for (char *c = clean; (c = strpbrk(c, "\n\r\t"));)
            *c = ' ';
    }
    free(log);
    const char *words = rtc->hiprtcGetErrorString(code);
    return as_fail(err, code == HIPRTC_ERROR_OUT_OF_MEMORY ? AS_NOMEM : AS_FAILED,
                   "hip: program '%s' does not build (%s): %s", name, words ? words : "hiprtc has no words for it",
                   clean[0] ? clean : "the compiler says nothing");
}

static enum as_status get_code(const struct as_hiprtc_api *rtc, hiprtcProgram program, const char *name,
                               unsigned char **code, size_t *bytes, struct as_error *err)
{
    hiprtcResult result = rtc->hiprtcGetCodeSize(program, bytes);
    if (result || *bytes == 0)
        return as_fail(err, AS_FAILED, "hip: hiprtc gave no machine code for program '%s'", name);
    *code = malloc(*bytes);
    if (!*code)
        return as_nomem(err, *bytes, "machine code");
    result = rtc->hiprtcGetCode(program, (char *)*code);
    if (!result)
        return AS_OK;
    free(*code);
    *code = NULL;
    return fail_compile(rtc, program, result, name, err);
}

/* Splits at blanks, in place. */
static size_t split(char *text, const char **out, size_t n, size_t max)
{
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word && n < max; word = strtok_r(NULL, " ", &save))
        out[n++] = word;
    return n;
}

enum as_status as_hip_compile(const struct as_hiprtc_api *rtc, const struct as_program_desc *desc,
                              const struct as_hip_target *target, unsigned char **code, size_t *bytes,
                              struct as_error *err)
{
    char chip[96], wall[32], *words = NULL;
    const char *options[OPTIONS_MAX] = {chip, wall, "-std=c++17", "-O3"};
    struct as_buf source = AS_BUF_INIT;
    hiprtcProgram program = NULL;
    enum as_status s = AS_OK;
    *code = NULL;
    *bytes = 0;
    if (!target->name[0])
        return as_fail(err, AS_UNSUPPORTED,
                       "the runtime does not tell what chip the device is, so nothing can be compiled for it");
    snprintf(chip, sizeof chip, "--offload-arch=%s", target->name);
    snprintf(wall, sizeof wall, "-DAS_WALL_KHZ=%u", target->wall_khz);
    size_t n = 4;
    if (desc->defines && desc->defines[0]) {
        words = as_strdup(desc->defines);
        if (!words)
            return as_nomem(err, strlen(desc->defines), "options");
        n = split(words, options, n, OPTIONS_MAX);
    }
    as_dialect_source(AS_DIALECT_HIP, desc->source, &source);
    if ((s = as_buf_check(&source, err)))
        goto done;
    hiprtcResult result = rtc->hiprtcCreateProgram(&program, as_buf_get(&source), desc->name, 0, NULL, NULL);
    if (!result)
        result = rtc->hiprtcCompileProgram(program, (int)n, options);
    s = result ? fail_compile(rtc, program, result, desc->name, err)
               : get_code(rtc, program, desc->name, code, bytes, err);
done:
    if (program)
        rtc->hiprtcDestroyProgram(&program);
    as_buf_finish(&source);
    free(words);
    return s;
}
