/* Loading the CUDA driver's library. */
#include "device/cuda/api.h"

#include "base/library.h"

static const char *const library_names[] = {"libcuda.so.1", "libcuda.so"};

enum as_status as_cu_load(struct as_cu_api *api, struct as_error *err)
{
    char why[400] = "";
    *api = (struct as_cu_api){0};
    api->library = as_library_open(library_names, sizeof library_names / sizeof *library_names, NULL, why, sizeof why);
    if (!api->library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; it comes with the NVIDIA driver, in a container with the NVIDIA container runtime (--gpus)",
                       why);
    const char *missing = NULL;
#define LOAD(name, parameters) as_library_function(api->library, #name, &api->name, &missing);
#define LOAD_OPTIONAL(name, parameters) as_library_function(api->library, #name, &api->name, NULL);
    AS_CU_REQUIRED(LOAD)
    AS_CU_OPTIONAL(LOAD_OPTIONAL)
#undef LOAD
#undef LOAD_OPTIONAL
    if (!missing)
        return AS_OK;
    *api = (struct as_cu_api){0};
    return as_fail(err, AS_UNSUPPORTED, "libcuda.so.1 has no function '%s'; it needs driver 470 or later", missing);
}
