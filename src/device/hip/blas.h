/* hipBLASLt and rocBLAS, loaded at run time; hipBLASLt, the faster one, is tried first. */
#ifndef AS_DEVICE_HIP_BLAS_H
#define AS_DEVICE_HIP_BLAS_H

#include "device/gpu/blaslt.h"
#include "device/hip/blas_functions.h"
#include "device/hip/blas_types.h"

#define AS_BLAS_SLOT(result, name, parameters) result(*name) parameters;
struct as_hipblaslt_api {
    void *library; /* NULL: not loaded yet */
    AS_HIPBLASLT_FUNCTIONS(AS_BLAS_SLOT)
};
struct as_rocblas_api {
    void *library;
    AS_ROCBLAS_REQUIRED(AS_BLAS_SLOT)
    AS_ROCBLAS_OPTIONAL(AS_BLAS_SLOT)
};
#undef AS_BLAS_SLOT

struct as_hipblaslt {
    struct as_hipblaslt_api api;
    struct as_lt_library lt; /* its table for blaslt.h */
    struct as_lt_choice chosen[AS_LT_CHOICES];
};

/* ---- hipblaslt.c ---- */

/* AS_UNSUPPORTED with the dynamic linker's message if it is not found. */
enum as_status as_hipblaslt_load(struct as_hipblaslt *out, struct as_error *err);
/* See as_lt_find. */
enum as_status as_hipblaslt_find(const struct as_vendor_gemm_desc *desc, const struct as_lt_formats **out,
                                 struct as_error *err);

/* ---- rocblas.c ---- */

struct as_rocblas_gemm {
    struct as_gpu *gpu;
    const struct as_rocblas_api *api;
    const struct as_lt_formats *gemm;
    struct as_vendor_gemm_desc desc;
    rocblas_handle handle;
    uint64_t reps;
    char name[96];
};
/* See as_lt_find. */
enum as_status as_rocblas_load(struct as_rocblas_api *api, struct as_error *err);
enum as_status as_rocblas_find(const struct as_vendor_gemm_desc *desc, const struct as_lt_formats **out,
                               struct as_error *err);
/* gemm and the memory of desc must outlive it. Call as_rocblas_finish also after an error. */
enum as_status as_rocblas_prepare(struct as_rocblas_gemm *g, struct as_device *dev, const struct as_rocblas_api *api,
                                  const struct as_vendor_gemm_desc *desc, const struct as_lt_formats *gemm,
                                  struct as_error *err);
void as_rocblas_finish(struct as_rocblas_gemm *g);
enum as_status as_rocblas_run(struct as_rocblas_gemm *g, uint64_t reps, struct as_timing *out, struct as_error *err);

#endif
