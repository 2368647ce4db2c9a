/* Loading the CUDA driver's library. */
#include "device/cuda/api.h"

#include "base/text.h"

#include <dlfcn.h>
#include <string.h>

static const char *const library_names[] = {"libcuda.so.1", "libcuda.so"};

static enum as_status open_library(struct as_cu_api *api, struct as_error *err)
{
    char first[400] = "";
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names; i++) {
        api->library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
        if (api->library)
            return AS_OK;
        const char *why = dlerror();
        /* The first name is the one that a driver installs. */
        if (i == 0)
            as_copy_text(first, sizeof first, why ? why : library_names[0]);
    }
    return as_fail(err, AS_UNSUPPORTED, "%s", first);
}

enum as_status as_cu_load(struct as_cu_api *api, struct as_error *err)
{
    *api = (struct as_cu_api){0};
    enum as_status s = open_library(api, err);
    if (s)
        return s;
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
