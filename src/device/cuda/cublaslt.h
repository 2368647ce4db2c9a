/* cuBLASLt as a table of functions, loaded at run time. */
#ifndef AS_DEVICE_CUDA_CUBLASLT_H
#define AS_DEVICE_CUDA_CUBLASLT_H

#include "device/cuda/cublaslt_functions.h"
#include "device/cuda/cublaslt_types.h"
#include "device/gpu/blaslt.h"

#define AS_CUBLASLT_SLOT(result, name, parameters) result(*name) parameters;
struct as_cublaslt_api {
    void *library; /* NULL: not loaded yet */
    AS_CUBLASLT_FUNCTIONS(AS_CUBLASLT_SLOT)
};
#undef AS_CUBLASLT_SLOT

struct as_cublaslt {
    struct as_cublaslt_api api;
    struct as_lt_library lt; /* its table for blaslt.h */
    struct as_lt_choice chosen[AS_LT_CHOICES];
};
/* AS_UNSUPPORTED with the dynamic linker's message if it is not found. */
enum as_status as_cublaslt_load(struct as_cublaslt *out, struct as_error *err);

#endif
