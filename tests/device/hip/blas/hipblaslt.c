/* A libhipblaslt, or by other names a libcublasLt, for tests that multiplies on the host. FAKE_BLAS:
 *   old      its version is 0.3.0           empty     it proposes nothing
 *   many     it says that it proposed more than it was asked for
 *   large    its description of an algorithm is larger
 *   nameless it cannot be created, with an error that nobody knows          nomem     for lack of memory
 *   lacks    no product has an algorithm: "not supported"                   fails     products fail
 *   skips    a step of every sum is left out */
#include "product.h"

#include <stdio.h>

#define DECLARE(result, name, parameters) API result name parameters;
AS_HIPBLASLT_FUNCTIONS(DECLARE)

struct as_lt_handle {
    int live;
};
struct as_lt_operation {
    hipblasComputeType_t compute;
    hipDataType scale;
    int32_t transposed[2];
};
struct as_lt_layout {
    hipDataType type;
    uint64_t rows, columns;
};
struct as_lt_preference {
    uint64_t workspace;
};
enum { LAST = sizeof(hipblasLtMatmulAlgo_t){0}.data / sizeof *(hipblasLtMatmulAlgo_t){0}.data - 1 };
static int live, gemms;

API int fake_hipblaslt_live(void)
{
    return live;
}

/* Number of multiplications so far. */
API int fake_hipblaslt_products(void)
{
    return gemms;
}

static void *make(size_t bytes)
{
    live++;
    return calloc(1, bytes);
}

static hipblasStatus_t unmake(void *what)
{
    live--;
    free(what);
    return what ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_HANDLE_IS_NULLPTR;
}

static const char *format_of(hipDataType type)
{
    static const struct {
        hipDataType type;
        const char *word;
    } types[] = {{HIP_R_32F, "f32"},       {HIP_R_64F, "f64"},      {HIP_R_16F, "f16"},
                 {HIP_R_8I, "s8"},         {HIP_R_32I, "s32"},      {HIP_R_16BF, "bf16"},
#ifdef FAKE_CUBLASLT
                 {CUDA_R_8F_E4M3, "e4m3"}, {CUDA_R_8F_E5M2, "e5m2"}};
#else
                 {HIP_R_8F_E4M3_FNUZ, "e4m3fnuz"},
                 {HIP_R_8F_E5M2_FNUZ, "e5m2fnuz"}};
#endif
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].word;
    return NULL; /* like a chip without it */
}

#ifdef FAKE_CUBLASLT
size_t cublasLtGetVersion(void)
{
    return 13 * 10000 + 1 * 100 + 2;
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return status == 99 ? NULL : "it says why";
}
#else
hipblasStatus_t hipblasLtGetVersion(hipblasLtHandle_t handle, int *version)
{
    *version = fake_asked("old") ? 300 : 100000 + 2 * 100 + 1;
    return handle ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_HANDLE_IS_NULLPTR;
}
#endif

hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t *handle)
{
    if (fake_asked("nameless"))
        return 99;
    if (fake_asked("nomem"))
        return HIPBLAS_STATUS_ALLOC_FAILED;
    *handle = make(sizeof **handle);
    return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtDestroy(const hipblasLtHandle_t handle)
{
    return unmake(handle);
}

hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t *operation, hipblasComputeType_t compute,
                                          hipDataType scale)
{
    *operation = make(sizeof **operation);
    (*operation)->compute = compute;
    (*operation)->scale = scale;
    return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatmulDescDestroy(const hipblasLtMatmulDesc_t operation)
{
    return unmake(operation);
}

hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t operation,
                                                hipblasLtMatmulDescAttributes_t attribute, const void *value,
                                                size_t bytes)
{
#ifdef FAKE_CUBLASLT
    if (attribute == CUBLASLT_MATMUL_DESC_FAST_ACCUM && bytes == 1)
        return HIPBLAS_STATUS_SUCCESS;
#endif
    bool left = attribute == HIPBLASLT_MATMUL_DESC_TRANSA;
    if ((!left && attribute != HIPBLASLT_MATMUL_DESC_TRANSB) || bytes != sizeof(int32_t))
        return HIPBLAS_STATUS_INVALID_VALUE;
    memcpy(&operation->transposed[!left], value, bytes);
    return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t *layout, hipDataType type, uint64_t rows,
                                            uint64_t columns, int64_t leading)
{
    if (leading != (int64_t)rows)
        return HIPBLAS_STATUS_INVALID_VALUE;
    *layout = make(sizeof **layout);
    **layout = (struct as_lt_layout){type, rows, columns};
    return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatrixLayoutDestroy(const hipblasLtMatrixLayout_t layout)
{
    return unmake(layout);
}

hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t *preference)
{
    *preference = make(sizeof **preference);
    return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatmulPreferenceDestroy(const hipblasLtMatmulPreference_t preference)
{
    return unmake(preference);
}

hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(hipblasLtMatmulPreference_t preference,
                                                      hipblasLtMatmulPreferenceAttributes_t attribute,
                                                      const void *value, size_t bytes)
{
    if (attribute != HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES || bytes != sizeof preference->workspace)
        return HIPBLAS_STATUS_INVALID_VALUE;
    memcpy(&preference->workspace, value, bytes);
    return HIPBLAS_STATUS_SUCCESS;
}

/* The first of three algorithms cannot be used, the second then fails. */
hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t operation,
                                                hipblasLtMatrixLayout_t a, hipblasLtMatrixLayout_t b,
                                                hipblasLtMatrixLayout_t c, hipblasLtMatrixLayout_t d,
                                                hipblasLtMatmulPreference_t preference, int wanted,
                                                hipblasLtMatmulHeuristicResult_t results[], int *found)
{
    (void)handle, (void)operation, (void)c;
    if (fake_asked("lacks") || !format_of(a->type) || !format_of(b->type) || !format_of(d->type))
        return HIPBLAS_STATUS_NOT_SUPPORTED;
    *found = fake_asked("empty") ? 0 : fake_asked("many") ? wanted + 1 : 3;
    if (fake_asked("large"))
        memset(results, 0, (size_t)wanted * (sizeof *results + 8));
    for (int i = 0; i < *found && i < wanted; i++) {
        results[i] = (hipblasLtMatmulHeuristicResult_t){.workspaceSize = preference->workspace};
        results[i].algo.data[LAST] = (unsigned char)i;
        results[i].state = i == 0 ? HIPBLAS_STATUS_NOT_SUPPORTED : HIPBLAS_STATUS_SUCCESS;
    }
    return HIPBLAS_STATUS_SUCCESS;
}

hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t operation, const void *alpha,
                                const void *a, hipblasLtMatrixLayout_t a_layout, const void *b,
                                hipblasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                                hipblasLtMatrixLayout_t c_layout, void *d, hipblasLtMatrixLayout_t d_layout,
                                const hipblasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes,
                                hipStream_t stream)
{
    static const uint64_t nothing;
    const struct fake_matrix left = {format_of(a_layout->type), operation->transposed[0] == HIPBLAS_OP_T, a};
    const struct fake_matrix right = {format_of(b_layout->type), operation->transposed[1] == HIPBLAS_OP_T, b};
    const char *scale = format_of(operation->scale);
    const struct fake_matrix one = {scale, false, alpha};
    gemms++;
    if (!handle || !stream || c != d || c_layout != d_layout || memcmp(beta, &nothing, 4) != 0 ||
        fake_get(&one, 0) != 1)
        return HIPBLAS_STATUS_INVALID_VALUE;
    if (algo->data[LAST] == 1 || fake_asked("fails"))
        return HIPBLAS_STATUS_EXECUTION_FAILED;
    memset(workspace, 1, workspace_bytes < 4096 ? workspace_bytes : 4096);
    fake_multiply(&left, &right, d, format_of(d_layout->type), d_layout->rows, d_layout->columns,
                  left.transposed ? a_layout->rows : a_layout->columns);
    return HIPBLAS_STATUS_SUCCESS;
}
