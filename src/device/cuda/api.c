/* Loading the CUDA driver's library. */
#include "device/cuda/api.h"

#include "device/card/library.h"

#include <dlfcn.h>
#include <string.h>

static const char *const library_names[] = {"libcuda.so.1", "libcuda.so"};

enum as_status as_cu_load(struct as_cu_api *api, struct as_error *err)
{
    char why[400] = "";
    const char *found = "";
    *api = (struct as_cu_api){0};
    api->library =
        as_card_open_library(library_names, sizeof library_names / sizeof *library_names, &found, why, sizeof why);
    if (!api->library)
        return as_fail(err, AS_UNSUPPORTED, "%s", why);
    const char *missing = NULL;
    /* POSIX lets an object pointer carry a function's address; C wants the detour over memory. */
#define AS_CU_LOAD(name, parameters)                                                                                   \
    {                                                                                                                  \
        void *symbol = dlsym(api->library, #name);                                                                     \
        memcpy(&api->name, &symbol, sizeof symbol);                                                                    \
    }
#define AS_CU_LOAD_REQUIRED(name, parameters)                                                                          \
    AS_CU_LOAD(name, parameters)                                                                                       \
    if (!api->name && !missing)                                                                                        \
        missing = #name;
    AS_CU_REQUIRED(AS_CU_LOAD_REQUIRED)
    AS_CU_OPTIONAL(AS_CU_LOAD)
#undef AS_CU_LOAD_REQUIRED
#undef AS_CU_LOAD
    if (!missing)
        return AS_OK;
    *api = (struct as_cu_api){0};
    return as_fail(err, AS_UNSUPPORTED, "libcuda.so.1 has no function '%s'; it needs driver 470 or later", missing);
}
