/* Loading the HIP runtime's library and that of its compiler. */
#include "device/hip/api.h"

#include "base/library.h"
#include "base/text.h"

#include <dlfcn.h>

/* The newest version first, then the folder of the vendor's installer. */
static const char *const runtime_names[] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so",
};
static const char *const compiler_names[] = {
    "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so",
};
enum { RUNTIME_NAMES = sizeof runtime_names / sizeof *runtime_names };
enum { COMPILER_NAMES = sizeof compiler_names / sizeof *compiler_names };

#define LOAD(result, name, parameters) as_library_function(library, #name, &api->name, &missing);
#define LOAD_OPTIONAL(result, name, parameters) as_library_function(library, #name, &api->name, NULL);

enum as_status as_hip_load(struct as_hip_api *api, struct as_error *err)
{
    char why[400] = "";
    const char *found = "", *missing = NULL;
    *api = (struct as_hip_api){0};
    void *library = as_library_open(runtime_names, RUNTIME_NAMES, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED, "%s", why);
    AS_HIP_REQUIRED(LOAD)
    AS_HIP_OPTIONAL(LOAD_OPTIONAL)
    AS_HIP_NEWER(LOAD_OPTIONAL)
    if (missing) {
        *api = (struct as_hip_api){0};
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs ROCm 5.2 or later", found, missing);
    }
    api->library = library;
    as_copy_text(api->name, sizeof api->name, found);
    return AS_OK;
}

enum as_status as_hiprtc_load(struct as_hiprtc_api *api, void *runtime, struct as_error *err)
{
    char why[400] = "";
    const char *found = "the runtime's library", *missing = NULL;
    *api = (struct as_hiprtc_api){0};
    void *library = runtime && dlsym(runtime, "hiprtcCompileProgram")
                        ? runtime
                        : as_library_open(compiler_names, COMPILER_NAMES, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; kernels are compiled by hiprtc, a part of ROCm: install it, or name its folder in "
                       "LD_LIBRARY_PATH",
                       why);
    AS_HIPRTC_REQUIRED(LOAD)
    if (missing || api->hiprtcVersion(&api->major, &api->minor) != HIPRTC_SUCCESS) {
        *api = (struct as_hiprtc_api){0};
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs ROCm 5.2 or later", found,
                       missing ? missing : "hiprtcVersion");
    }
    api->library = library;
    return AS_OK;
}
