/* The CUDA driver and its run-time compiler as tables of functions, loaded at run time. */
#ifndef AS_DEVICE_CUDA_API_H
#define AS_DEVICE_CUDA_API_H

#include "base/error.h"
#include "device/cuda/driver_functions.h"
#include "device/cuda/driver_types.h"

#define AS_CU_SLOT(name, parameters) CUresult(*name) parameters;
struct as_cu_api {
    void *library;
    AS_CU_REQUIRED(AS_CU_SLOT)
    AS_CU_OPTIONAL(AS_CU_SLOT)
};
#undef AS_CU_SLOT

#define AS_NVRTC_SLOT(result, name, parameters) result(*name) parameters;
struct as_nvrtc_api {
    void *library;
    int major, minor; /* its version */
    AS_NVRTC_REQUIRED(AS_NVRTC_SLOT)
};
#undef AS_NVRTC_SLOT

/* Tries the driver's usual names; if none opens, err has the dynamic linker's message for the first. The library is
 * never unloaded, since it leaves threads and exit handlers that would run in unmapped code. */
enum as_status as_cu_load(struct as_cu_api *api, struct as_error *err);

/* The same for NVRTC, whose name carries its version; see nvrtc.c. */
enum as_status as_nvrtc_load(struct as_nvrtc_api *api, struct as_error *err);

#endif
