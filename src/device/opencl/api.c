/* Loading the OpenCL library. */
#include "device/opencl/api.h"

#include "base/library.h"

static const char *const library_names[] = {
    "libOpenCL.so.1",
    "libOpenCL.so",
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
};

enum as_status as_cl_load(struct as_cl_api *api, struct as_error *err)
{
    char why[400] = "";
    *api = (struct as_cl_api){0};
    api->library = as_library_open(library_names, sizeof library_names / sizeof *library_names, NULL, why, sizeof why);
    if (!api->library)
        return as_fail(err, AS_UNSUPPORTED, "%s", why);
    const char *missing = NULL;
#define LOAD(name) as_library_function(api->library, #name, &api->name, &missing);
#define LOAD_OPTIONAL(name) as_library_function(api->library, #name, &api->name, NULL);
    AS_CL_REQUIRED(LOAD)
    AS_CL_OPTIONAL(LOAD_OPTIONAL)
#undef LOAD
#undef LOAD_OPTIONAL
    if (!missing)
        return AS_OK;
    *api = (struct as_cl_api){0};
    return as_fail(err, AS_UNSUPPORTED, "libOpenCL has no function '%s'; it needs OpenCL 1.2 or later", missing);
}
