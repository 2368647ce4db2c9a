/* GEMM by rocBLAS, which chooses its kernels itself. */
#include "device/hip/blas.h"

#include "base/library.h"
#include "device/gpu/memory.h"

#include <math.h>
#include <stdio.h>

/* The newest version first, then the folder of the vendor's installer. */
static const char *const library_names[] = {"librocblas.so.5", "librocblas.so.4", "librocblas.so.3",
                                            "librocblas.so.0", "librocblas.so",   "/opt/rocm/lib/librocblas.so"};

#define F16 rocblas_datatype_f16_r
#define F32 rocblas_datatype_f32_r
#define F64 rocblas_datatype_f64_r
#define BF16 rocblas_datatype_bf16_r
#define I8 rocblas_datatype_i8_r
#define I32 rocblas_datatype_i32_r
static const struct as_lt_formats gemms[] = {
    {"f64", "f64", "f64", F64, F64, F64, F64, 8, 8, {.f64 = 1}, false},
    {"f32", "f32", "f32", F32, F32, F32, F32, 4, 4, {.f32 = 1}, false},
    {"tf32", "f32", "f32", F32, F32, F32, F32, 4, 4, {.f32 = 1}, true}, /* by a mode of the handle */
    {"bf16", "f32", "bf16", F32, F32, BF16, BF16, 2, 2, {.f32 = 1}, false},
    {"bf16", "f32", "f32", F32, F32, BF16, F32, 2, 4, {.f32 = 1}, false},
    {"f16", "f32", "f16", F32, F32, F16, F16, 2, 2, {.f32 = 1}, false},
    {"f16", "f32", "f32", F32, F32, F16, F32, 2, 4, {.f32 = 1}, false},
    {"f16", "f16", "f16", F16, F16, F16, F16, 2, 2, {.f16 = 0x3c00}, false},
    {"s8", "s32", "s32", I32, I32, I8, I32, 1, 4, {.s32 = 1}, false},
};

enum as_status as_rocblas_find(const struct as_vendor_gemm_desc *desc, const struct as_lt_formats **out,
                               struct as_error *err)
{
    return as_lt_find("rocBLAS", gemms, sizeof gemms / sizeof *gemms, desc, out, err);
}

enum as_status as_rocblas_load(struct as_rocblas_api *api, struct as_error *err)
{
    char why[400] = "";
    const char *found = "", *missing = NULL;
    *api = (struct as_rocblas_api){0};
    void *library =
        as_library_open(library_names, sizeof library_names / sizeof *library_names, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; rocBLAS is a part of ROCm: install it, or name its folder in LD_LIBRARY_PATH", why);
#define LOAD(result, name, parameters) as_library_function(library, #name, &api->name, &missing);
#define LOAD_OPTIONAL(result, name, parameters) as_library_function(library, #name, &api->name, NULL);
    AS_ROCBLAS_REQUIRED(LOAD)
    AS_ROCBLAS_OPTIONAL(LOAD_OPTIONAL)
#undef LOAD
#undef LOAD_OPTIONAL
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs ROCm 5.0 or later", found, missing);
    api->library = library;
    return AS_OK;
}

static enum as_status rocblas_check(const struct as_rocblas_api *api, rocblas_status status, const char *what,
                                    struct as_error *err)
{
    if (status == rocblas_status_success)
        return AS_OK;
    bool lacks = status == rocblas_status_not_implemented || status == rocblas_status_excluded_from_build ||
                 status == rocblas_status_arch_mismatch;
    const char *words = api->rocblas_status_to_string(status);
    return as_fail(err,
                   status == rocblas_status_memory_error ? AS_NOMEM
                   : lacks                               ? AS_UNSUPPORTED
                                                         : AS_FAILED,
                   "hip: %s: %s (%d)", what, words && words[0] ? words : "no description", status);
}

/* The library is column-major: see gpu/blaslt.c. */
static enum as_status rocblas_put(void *ctx, struct as_error *err)
{
    const struct as_rocblas_gemm *g = ctx;
    const struct as_lt_formats *p = g->gemm;
    const struct as_vendor_gemm_desc *d = &g->desc;
    const rocblas_int m = (rocblas_int)d->m, n = (rocblas_int)d->n, k = (rocblas_int)d->k;
    const union as_lt_number zero = {.f64 = 0};
    void *result = as_gpu_pointer(d->d);
    rocblas_status status = rocblas_status_success;
    for (uint64_t i = 0; i < g->reps && !status; i++)
        status = g->api->rocblas_gemm_ex(
            g->handle, d->b_transposed ? rocblas_operation_transpose : rocblas_operation_none,
            d->a_transposed ? rocblas_operation_transpose : rocblas_operation_none, n, m, k, &p->one,
            as_gpu_pointer(d->b), p->in_type, d->b_transposed ? k : n, as_gpu_pointer(d->a), p->in_type,
            d->a_transposed ? m : k, &zero, result, p->out_type, n, result, p->out_type, n, p->compute,
            rocblas_gemm_algo_standard, 0, rocblas_gemm_flags_none);
    return rocblas_check(g->api, status, "rocblas_gemm_ex", err);
}

static enum as_status set_mode(struct as_rocblas_gemm *g, struct as_error *err)
{
    if (!g->gemm->fast)
        return AS_OK;
    if (!g->api->rocblas_set_math_mode)
        return as_fail(err, AS_UNSUPPORTED,
                       "rocBLAS has no function 'rocblas_set_math_mode', which selects tf32; it needs ROCm 5.4 or "
                       "later");
    return rocblas_check(g->api, g->api->rocblas_set_math_mode(g->handle, rocblas_xf32_xdl_math_op),
                         "rocblas_set_math_mode", err);
}

enum as_status as_rocblas_prepare(struct as_rocblas_gemm *g, struct as_device *dev, const struct as_rocblas_api *api,
                                  const struct as_vendor_gemm_desc *desc, const struct as_lt_formats *gemm,
                                  struct as_error *err)
{
    char version[64] = "";
    struct as_timing unused;
    *g = (struct as_rocblas_gemm){.gpu = dev->ctx, .api = api, .gemm = gemm, .desc = *desc};
    enum as_status st = rocblas_check(api, api->rocblas_create_handle(&g->handle), "rocblas_create_handle", err);
    if (!st)
        st = rocblas_check(api, api->rocblas_set_stream(g->handle, g->gpu->stream), "rocblas_set_stream", err);
    if (!st)
        st = set_mode(g, err);
    if (!st) /* the first run loads kernels and shows what is unsupported */
        st = as_rocblas_run(g, 1, &unused, err);
    if (!st && api->rocblas_get_version_string(version, sizeof version))
        version[0] = 0;
    version[sizeof version - 1] = 0;
    snprintf(g->name, sizeof g->name, "rocBLAS %s, what it chooses itself", version[0] ? version : "without a version");
    return st;
}

void as_rocblas_finish(struct as_rocblas_gemm *g)
{
    if (!g->gpu)
        return;
    as_gpu_alive(g->gpu, NULL);
    if (g->handle)
        g->api->rocblas_destroy_handle(g->handle);
    *g = (struct as_rocblas_gemm){.gpu = NULL};
}

enum as_status as_rocblas_run(struct as_rocblas_gemm *g, uint64_t reps, struct as_timing *out, struct as_error *err)
{
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = as_gpu_alive(g->gpu, err);
    g->reps = reps;
    return st ? st : as_gpu_time(g->gpu, rocblas_put, g, "rocblas_gemm_ex", out, err);
}
