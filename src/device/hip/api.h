/* The HIP runtime and its run-time compiler as tables of functions, loaded at run time. */
#ifndef AS_DEVICE_HIP_API_H
#define AS_DEVICE_HIP_API_H

#include "base/error.h"
#include "device/hip/hip_functions.h"
#include "device/hip/hip_types.h"

#define AS_HIP_SLOT(result, name, parameters) result(*name) parameters;
struct as_hip_api {
    void *library;
    char name[64]; /* name by which it was found */
    AS_HIP_REQUIRED(AS_HIP_SLOT)
    AS_HIP_OPTIONAL(AS_HIP_SLOT)
    AS_HIP_NEWER(AS_HIP_SLOT)
};

struct as_hiprtc_api {
    void *library;
    int major, minor; /* its version */
    AS_HIPRTC_REQUIRED(AS_HIP_SLOT)
};
#undef AS_HIP_SLOT

/* Tries the runtime's usual names; if none opens, err has the dynamic linker's message for the first. The library is
 * never unloaded, since it leaves threads and exit handlers that would run in unmapped code. */
enum as_status as_hip_load(struct as_hip_api *api, struct as_error *err);

/* The compiler was part of the runtime's library before it got its own: `runtime`, which may be NULL, is searched
 * first, since its compiler has the same version. */
enum as_status as_hiprtc_load(struct as_hiprtc_api *api, void *runtime, struct as_error *err);

#endif
