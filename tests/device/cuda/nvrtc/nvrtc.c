/* A libnvrtc.so.13 for tests: whatever it is given compiles to the same few bytes, which only the stand-in for the
 * driver takes. So what the backend does around its programs is tested also where there is no CUDA.
 *
 * $FAKE_NVRTC_LOG gets a line with the process for each compilation; where the file $FAKE_NVRTC_ONCE is there, the
 * process that finds it removes it and ends by abort, or where $FAKE_NVRTC_HANGS is set does not end at all. Where
 * $FAKE_NVRTC_HELPER names a file, it leaves a process of its own behind, whose number it writes there, and which after
 * HELPER_S writes "late" to the log. */
#include "device/cuda/driver_functions.h"
#include "device/cuda/driver_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) API result name parameters;
AS_NVRTC_REQUIRED(DECLARE)

static const char cubin[] = "no machine code";

API nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    *count = 1;
    return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetSupportedArchs(int *archs)
{
    archs[0] = 90;
    return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int headers_n,
                                   const char *const *headers, const char *const *header_names)
{
    (void)source, (void)name, (void)headers_n, (void)headers, (void)header_names;
    *program = NULL;
    return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    (void)program;
    return NVRTC_SUCCESS;
}

static void append(const char *path, const char *line)
{
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%s\n", line);
        fclose(f);
    }
}

static void append_number(const char *path, long number)
{
    char line[24];
    snprintf(line, sizeof line, "%ld", number);
    append(path, line);
}

/* Far longer than a busy machine takes to notice that the compiler has died, and to measure the rest. */
enum { HELPER_S = 120 };

/* It leaves the process group, so that killing the group does not reach it, and keeps all descriptors. */
static void start_helper(const char *file, const char *log)
{
    const pid_t helper = fork();
    if (helper > 0)
        append_number(file, (long)helper);
    if (helper != 0)
        return;
    setsid();
    sleep(HELPER_S);
    append(log, "late");
    for (;;)
        pause();
}

API nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int options_n, const char *const *options)
{
    (void)program, (void)options_n, (void)options;
    const char *log = getenv("FAKE_NVRTC_LOG"), *once = getenv("FAKE_NVRTC_ONCE");
    if (once && unlink(once) == 0) {
        if (getenv("FAKE_NVRTC_HELPER"))
            start_helper(getenv("FAKE_NVRTC_HELPER"), log);
        while (getenv("FAKE_NVRTC_HANGS"))
            pause();
        abort();
    }
    append_number(log, (long)getpid());
    return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    (void)program;
    *bytes = sizeof cubin;
    return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *out)
{
    (void)program;
    memcpy(out, cubin, sizeof cubin);
    return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
    (void)program;
    *bytes = 0;
    return NVRTC_SUCCESS;
}

API nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    (void)program, (void)log;
    return NVRTC_SUCCESS;
}

API const char *nvrtcGetErrorString(nvrtcResult code)
{
    (void)code;
    return "an error of the stand-in";
}
