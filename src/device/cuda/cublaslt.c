/* Loading cuBLASLt, whose name carries its version. */
#include "device/cuda/cublaslt.h"

#include "device/card/library.h"

#include <dlfcn.h>
#include <string.h>

/* The toolkit of the newest driver first; then where the toolkit's own installers put it. */
static const char *const library_names[] = {
    "libcublasLt.so.13",
    "libcublasLt.so.12",
    "libcublasLt.so.11",
    "libcublasLt.so",
    "/usr/local/cuda/lib64/libcublasLt.so",
    "/usr/local/cuda/targets/x86_64-linux/lib/libcublasLt.so",
    "/usr/local/cuda/targets/sbsa-linux/lib/libcublasLt.so",
    "/opt/cuda/lib64/libcublasLt.so",
};

enum as_status as_lt_load(struct as_lt_api *api, struct as_error *err)
{
    char why[400] = "";
    const char *found = "", *missing = NULL;
    *api = (struct as_lt_api){0};
    void *library =
        as_card_open_library(library_names, sizeof library_names / sizeof *library_names, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; cuBLASLt is a part of the CUDA toolkit: install it, or name its folder in LD_LIBRARY_PATH",
                       why);
        /* POSIX lets an object pointer carry a function's address; C wants the detour over memory. */
#define AS_LT_LOAD(result, name, parameters)                                                                           \
    {                                                                                                                  \
        void *symbol = dlsym(library, #name);                                                                          \
        memcpy(&api->name, &symbol, sizeof symbol);                                                                    \
        if (!symbol && !missing)                                                                                       \
            missing = #name;                                                                                           \
    }
    AS_LT_FUNCTIONS(AS_LT_LOAD)
#undef AS_LT_LOAD
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs CUDA 11.4 or later", found, missing);
    api->library = library;
    return AS_OK;
}
