/* cuBLASLt as a table of functions, loaded at run time. */
#ifndef AS_DEVICE_CUDA_CUBLASLT_H
#define AS_DEVICE_CUDA_CUBLASLT_H

#include "base/error.h"
#include "device/cuda/cublaslt_types.h"

#define AS_LT_SLOT(result, name, parameters) result(*name) parameters;
struct as_lt_api {
    void *library; /* NULL: not loaded yet */
    AS_LT_FUNCTIONS(AS_LT_SLOT)
};
#undef AS_LT_SLOT

/* AS_UNSUPPORTED with the dynamic linker's words where there is none. */
enum as_status as_lt_load(struct as_lt_api *api, struct as_error *err);

#endif
