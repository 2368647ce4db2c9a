/* GEMM by cuBLASLt. */
#include "device/cuda/cuda.h"

#include <stdlib.h>

/* Without fast accumulation of 8-bit types the library promotes partial sums to f32 every few steps, which matrix
 * instructions do not. */
static const struct as_lt_formats gemms[] = {
    {"f64", "f64", "f64", CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 8, 8, {.f64 = 1}, false},
    {"f32", "f32", "f32", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 4, 4, {.f32 = 1}, false},
    {"tf32", "f32", "f32", CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 4, 4, {.f32 = 1}, false},
    {"bf16", "f32", "bf16", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, 2, 2, {.f32 = 1}, false},
    {"bf16", "f32", "f32", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, 2, 4, {.f32 = 1}, false},
    {"f16", "f32", "f16", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, 2, 2, {.f32 = 1}, false},
    {"f16", "f32", "f32", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, 2, 4, {.f32 = 1}, false},
    {"f16", "f16", "f16", CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, 2, 2, {.f16 = 0x3c00}, false},
    {"e4m3", "f32", "f16", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_16F, 1, 2, {.f32 = 1}, true},
    {"e5m2", "f32", "f16", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E5M2, CUDA_R_16F, 1, 2, {.f32 = 1}, true},
    {"s8", "s32", "s32", CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, 1, 4, {.s32 = 1}, false},
};
enum { GEMMS = sizeof gemms / sizeof *gemms };

struct as_vendor_gemm {
    struct as_lt_gemm lt;
};

static void cuda_gemm_destroy(struct as_device *dev, struct as_vendor_gemm *g)
{
    (void)dev;
    if (g)
        as_lt_finish(&g->lt);
    free(g);
}

static enum as_status cuda_gemm_create(struct as_device *dev, const struct as_vendor_gemm_desc *desc,
                                       struct as_vendor_gemm **out, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct as_cublaslt *lt = &((struct as_cu_backend *)gpu->backend)->lt;
    const struct as_lt_formats *p;
    *out = NULL;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = as_lt_find("cuBLASLt", gemms, GEMMS, desc, &p, err);
    if (!st && !lt->api.library)
        st = as_cublaslt_load(lt, err);
    if (st)
        return st;
    struct as_vendor_gemm *g = calloc(1, sizeof *g);
    if (!g)
        return as_nomem(err, sizeof *g, "a GEMM");
    st = as_lt_prepare(&g->lt, dev, &lt->lt, desc, p, err);
    if (st)
        cuda_gemm_destroy(dev, g);
    else
        *out = g;
    return st;
}

static enum as_status cuda_gemm_run(struct as_device *dev, struct as_vendor_gemm *g, uint64_t reps,
                                    struct as_timing *out, struct as_error *err)
{
    (void)dev;
    return as_lt_run(&g->lt, reps, out, err);
}

static const char *cuda_gemm_name(const struct as_vendor_gemm *g)
{
    return g->lt.name;
}

const struct as_vendor_gemm_ops as_cu_gemm_ops = {
    .create = cuda_gemm_create,
    .destroy = cuda_gemm_destroy,
    .run = cuda_gemm_run,
    .name = cuda_gemm_name,
};
