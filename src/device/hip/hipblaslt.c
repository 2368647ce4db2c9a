/* GEMM by hipBLASLt. */
#include "device/hip/blas.h"

#include "base/library.h"

#include <stdio.h>
#include <string.h>

/* The newest version first, then the folder of the vendor's installer. */
static const char *const library_names[] = {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so",
                                            "/opt/rocm/lib/libhipblaslt.so"};
/* Older versions number types differently; a version is 100000 x major + 100 x minor + patch. */
enum { VERSION_MIN = 600 };
_Static_assert(sizeof(hipblasLtMatmulAlgo_t) <= sizeof((struct as_lt_way){.usable = false}.algorithm),
               "an algorithm has room");

static const struct as_lt_formats gemms[] = {
    {"f64", "f64", "f64", HIPBLAS_COMPUTE_64F, HIP_R_64F, HIP_R_64F, HIP_R_64F, 8, 8, {.f64 = 1}, false},
    {"f32", "f32", "f32", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_32F, HIP_R_32F, 4, 4, {.f32 = 1}, false},
    {"tf32", "f32", "f32", HIPBLAS_COMPUTE_32F_FAST_TF32, HIP_R_32F, HIP_R_32F, HIP_R_32F, 4, 4, {.f32 = 1}, false},
    {"bf16", "f32", "bf16", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_16BF, HIP_R_16BF, 2, 2, {.f32 = 1}, false},
    {"bf16", "f32", "f32", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_16BF, HIP_R_32F, 2, 4, {.f32 = 1}, false},
    {"f16", "f32", "f16", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_16F, HIP_R_16F, 2, 2, {.f32 = 1}, false},
    {"f16", "f32", "f32", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_16F, HIP_R_32F, 2, 4, {.f32 = 1}, false},
    {"f16", "f16", "f16", HIPBLAS_COMPUTE_16F, HIP_R_16F, HIP_R_16F, HIP_R_16F, 2, 2, {.f16 = 0x3c00}, false},
    {"e4m3", "f32", "f16", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_8F_E4M3, HIP_R_16F, 1, 2, {.f32 = 1}, false},
    {"e5m2", "f32", "f16", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_8F_E5M2, HIP_R_16F, 1, 2, {.f32 = 1}, false},
    {"e4m3fnuz", "f32", "f16", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_8F_E4M3_FNUZ, HIP_R_16F, 1, 2, {.f32 = 1}, false},
    {"e5m2fnuz", "f32", "f16", HIPBLAS_COMPUTE_32F, HIP_R_32F, HIP_R_8F_E5M2_FNUZ, HIP_R_16F, 1, 2, {.f32 = 1}, false},
    {"s8", "s32", "s32", HIPBLAS_COMPUTE_32I, HIP_R_32I, HIP_R_8I, HIP_R_32I, 1, 4, {.s32 = 1}, false},
};

enum as_status as_hipblaslt_find(const struct as_vendor_gemm_desc *desc, const struct as_lt_formats **out,
                                 struct as_error *err)
{
    return as_lt_find("hipBLASLt", gemms, sizeof gemms / sizeof *gemms, desc, out, err);
}

static enum as_status hipblaslt_load(struct as_hipblaslt_api *api, struct as_error *err)
{
    char why[400] = "";
    const char *found = "", *missing = NULL;
    *api = (struct as_hipblaslt_api){0};
    void *library =
        as_library_open(library_names, sizeof library_names / sizeof *library_names, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; hipBLASLt is a part of ROCm: install it, or name its folder in LD_LIBRARY_PATH", why);
#define LOAD(result, name, parameters) as_library_function(library, #name, &api->name, &missing);
    AS_HIPBLASLT_FUNCTIONS(LOAD)
#undef LOAD
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs ROCm 6.0 or later", found, missing);
    api->library = library;
    return AS_OK;
}

/* The library has no function for error texts. */
static enum as_status hipblaslt_check(const struct as_lt_library *lib, int status, const char *what,
                                      struct as_error *err)
{
    static const char *const words[] = {
        [HIPBLAS_STATUS_NOT_INITIALIZED] = "not initialized",
        [HIPBLAS_STATUS_ALLOC_FAILED] = "out of memory",
        [HIPBLAS_STATUS_INVALID_VALUE] = "invalid value",
        [HIPBLAS_STATUS_MAPPING_ERROR] = "memory mapping failed",
        [HIPBLAS_STATUS_EXECUTION_FAILED] = "a kernel failed",
        [HIPBLAS_STATUS_INTERNAL_ERROR] = "internal error",
        [HIPBLAS_STATUS_NOT_SUPPORTED] = "not supported",
        [HIPBLAS_STATUS_ARCH_MISMATCH] = "not built for this chip",
        [HIPBLAS_STATUS_HANDLE_IS_NULLPTR] = "handle is NULL",
        [HIPBLAS_STATUS_INVALID_ENUM] = "invalid enum",
        [HIPBLAS_STATUS_UNKNOWN] = "unknown error",
    };
    (void)lib;
    if (status == HIPBLAS_STATUS_SUCCESS)
        return AS_OK;
    bool lacks = status == HIPBLAS_STATUS_NOT_SUPPORTED || status == HIPBLAS_STATUS_ARCH_MISMATCH ||
                 status == HIPBLAS_STATUS_INVALID_ENUM;
    bool known = status > 0 && (size_t)status < sizeof words / sizeof *words;
    return as_fail(err,
                   status == HIPBLAS_STATUS_ALLOC_FAILED ? AS_NOMEM
                   : lacks                               ? AS_UNSUPPORTED
                                                         : AS_FAILED,
                   "hip: %s: %s (%d)", what, known ? words[status] : "no description", status);
}

static const struct as_hipblaslt_api *hipblaslt_api_of(const struct as_lt_library *lib)
{
    return lib->api;
}

static enum as_status hipblaslt_version_of(const struct as_lt_library *lib, struct as_lt_handle *handle, char *out,
                                           size_t size, struct as_error *err)
{
    int v = 0;
    enum as_status st =
        hipblaslt_check(lib, hipblaslt_api_of(lib)->hipblasLtGetVersion(handle, &v), "hipblasLtGetVersion", err);
    if (st)
        return st;
    v = v < 0 ? 0 : v;
    snprintf(out, size, "%d.%d.%d", v / 100000, v / 100 % 1000, v % 100);
    if (v >= VERSION_MIN)
        return AS_OK;
    return as_fail(err, AS_UNSUPPORTED,
                   "hipBLASLt %s numbers types differently; install 0.6.0 (of "
                   "ROCm 6.0) or later",
                   out);
}

/* The library writes as many descriptions as requested, marking unused ones invalid. If it writes
 * beyond them, it is a later version with larger descriptions. */
static enum as_status hipblaslt_propose(const struct as_lt_library *lib, const struct as_lt_call *c,
                                        struct as_lt_preference *preference, struct as_lt_way ways[AS_LT_WAYS], int *n,
                                        struct as_error *err)
{
    enum { MARK = 0xa5, LARGER = 192 };
    struct {
        hipblasLtMatmulHeuristicResult_t list[AS_LT_WAYS];
        unsigned char beyond[AS_LT_WAYS * LARGER];
    } found;
    memset(&found, MARK, sizeof found);
    enum as_status st = hipblaslt_check(
        lib,
        hipblaslt_api_of(lib)->hipblasLtMatmulAlgoGetHeuristic(c->handle, c->operation, c->left, c->right, c->result,
                                                               c->result, preference, AS_LT_WAYS, found.list, n),
        "hipblasLtMatmulAlgoGetHeuristic", err);
    if (st)
        return st;
    for (size_t i = 0; i < sizeof found.beyond; i++)
        if (found.beyond[i] != MARK)
            return as_fail(err, AS_UNSUPPORTED,
                           "hipBLASLt's description of an algorithm exceeds the %zu bytes of "
                           "versions up to 1.0; install one of those",
                           sizeof *found.list);
    for (int i = 0; i < *n && i < AS_LT_WAYS; i++) {
        ways[i].usable = found.list[i].state == HIPBLAS_STATUS_SUCCESS;
        memcpy(ways[i].algorithm, &found.list[i].algo, sizeof found.list[i].algo);
    }
    return AS_OK;
}

static int hipblaslt_multiply(const struct as_lt_library *lib, const struct as_lt_call *c)
{
    hipblasLtMatmulAlgo_t way;
    memcpy(&way, c->way.algorithm, sizeof way);
    return hipblaslt_api_of(lib)->hipblasLtMatmul(c->handle, c->operation, &c->one, c->left_at, c->left, c->right_at,
                                                  c->right, &c->zero, c->result_at, c->result, c->result_at, c->result,
                                                  &way, c->workspace, c->workspace_bytes, c->stream);
}

enum as_status as_hipblaslt_load(struct as_hipblaslt *out, struct as_error *err)
{
    const struct as_hipblaslt_api *api = &out->api;
    enum as_status st = hipblaslt_load(&out->api, err);
    out->lt = (struct as_lt_library){
        .name = "hipBLASLt",
        .prefix = "hipblasLt",
        .api = api,
        .chosen = out->chosen,
        .transposed = HIPBLAS_OP_T,
        .plain = HIPBLAS_OP_N,
        .left_attribute = HIPBLASLT_MATMUL_DESC_TRANSA,
        .right_attribute = HIPBLASLT_MATMUL_DESC_TRANSB,
        .workspace_attribute = HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
        .create = api->hipblasLtCreate,
        .destroy = api->hipblasLtDestroy,
        .operation_create = api->hipblasLtMatmulDescCreate,
        .operation_destroy = api->hipblasLtMatmulDescDestroy,
        .operation_set = api->hipblasLtMatmulDescSetAttribute,
        .layout_create = api->hipblasLtMatrixLayoutCreate,
        .layout_destroy = api->hipblasLtMatrixLayoutDestroy,
        .preference_create = api->hipblasLtMatmulPreferenceCreate,
        .preference_destroy = api->hipblasLtMatmulPreferenceDestroy,
        .preference_set = api->hipblasLtMatmulPreferenceSetAttribute,
        .multiply = hipblaslt_multiply,
        .propose = hipblaslt_propose,
        .check = hipblaslt_check,
        .version = hipblaslt_version_of,
    };
    return st;
}
