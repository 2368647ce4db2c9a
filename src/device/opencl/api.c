/* Loading the OpenCL library. */
#include "device/opencl/api.h"

#include "base/buf.h"

#include <dlfcn.h>
#include <string.h>

static const char *const library_names[] = {
    "libOpenCL.so.1",
    "libOpenCL.so",
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
};

static enum as_status open_library(struct as_cl_api *api, struct as_error *err)
{
    char first[400] = "";
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names; i++) {
        api->library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
        if (api->library)
            return AS_OK;
        const char *why = dlerror();
        /* The first name is the one that a person can install. */
        if (i == 0)
            strncpy(first, why ? why : library_names[0], sizeof first - 1);
    }
    return as_fail(err, AS_UNSUPPORTED, "%s", first);
}

enum as_status as_cl_load(struct as_cl_api *api, struct as_error *err)
{
    *api = (struct as_cl_api){0};
    enum as_status s = open_library(api, err);
    if (s)
        return s;
    const char *missing = NULL;
    /* POSIX lets an object pointer carry a function's address; C wants the detour over memory. */
#define AS_CL_LOAD(f)                                                                                                  \
    {                                                                                                                  \
        void *symbol = dlsym(api->library, #f);                                                                        \
        memcpy(&api->f, &symbol, sizeof symbol);                                                                       \
    }
#define AS_CL_LOAD_REQUIRED(f) AS_CL_LOAD(f) if (!api->f && !missing) missing = #f;
    AS_CL_REQUIRED(AS_CL_LOAD_REQUIRED)
    AS_CL_OPTIONAL(AS_CL_LOAD)
#undef AS_CL_LOAD_REQUIRED
#undef AS_CL_LOAD
    if (!missing)
        return AS_OK;
    *api = (struct as_cl_api){0};
    return as_fail(err, AS_UNSUPPORTED, "libOpenCL has no function '%s'; it needs OpenCL 1.2 or later", missing);
}
