/* Products of matrices by cuBLASLt. */
#include "device/cuda/cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that an algorithm may use besides, and how many of those that the library proposes are timed. */
enum { WORKSPACE = 64 << 20, PROPOSED = 8, TRIES = 3 };

/* What of the library does which product. Without the fast sums of 8-bit numbers its own are rounded anew to f32 every
 * few steps, which no instruction of the matrix unit does by itself. */
struct product {
    const char *in, *sum, *out;
    cublasComputeType_t compute;
    cudaDataType scale, in_type, out_type;
    bool fast;
};
static const struct product products[] = {
    {"f64", "f64", "f64", CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, false},
    {"f32", "f32", "f32", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, false},
    {"tf32", "f32", "f32", CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, false},
    {"bf16", "f32", "bf16", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, false},
    {"bf16", "f32", "f32", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, false},
    {"f16", "f32", "f16", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, false},
    {"f16", "f32", "f32", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, false},
    {"f16", "f16", "f16", CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, false},
    {"e4m3", "f32", "f16", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_16F, true},
    {"e5m2", "f32", "f16", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E5M2, CUDA_R_16F, true},
    {"s8", "s32", "s32", CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, false},
};

/* 1 and 0 as the library wants them. */
union number {
    float f32;
    double f64;
    int32_t s32;
    uint16_t f16;
};

struct as_gemm {
    struct as_card *card;
    const struct as_lt_api *lt;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t left, right, result;
    cublasLtMatmulHeuristicResult_t way; /* that was chosen */
    CUdeviceptr workspace, a, b, d;
    union number one, zero;
    uint64_t reps;
    char name[96];
};

static enum as_status check(const struct as_lt_api *lt, cublasStatus_t status, const char *what, struct as_error *err)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return AS_OK;
    bool lacks = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH;
    const char *words = lt->cublasLtGetStatusString(status);
    return as_fail(err,
                   status == CUBLAS_STATUS_ALLOC_FAILED ? AS_NOMEM
                   : lacks                              ? AS_UNSUPPORTED
                                                        : AS_FAILED,
                   "cuda: %s: %s (%d)", what, words && words[0] ? words : "an error without words", status);
}

static const struct product *find_product(const struct as_gemm_desc *d)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (strcmp(products[i].in, d->in) == 0 && strcmp(products[i].sum, d->sum) == 0 &&
            strcmp(products[i].out, d->out) == 0)
            return &products[i];
    return NULL;
}

static unsigned bytes_of(cudaDataType type)
{
    static const unsigned char bytes[] = {
        [CUDA_R_32F] = 4, [CUDA_R_64F] = 8,  [CUDA_R_16F] = 2,     [CUDA_R_8I] = 1,
        [CUDA_R_32I] = 4, [CUDA_R_16BF] = 2, [CUDA_R_8F_E4M3] = 1, [CUDA_R_8F_E5M2] = 1};
    return bytes[type];
}

/* The library's columns lie one after the other, so that what it takes for a matrix is the transposed one of ours: it
 * computes d' = b' x a'. Operands that are transposed already are as it has them. */
static enum as_status describe(struct as_gemm *g, const struct as_gemm_desc *d, const struct product *p,
                               struct as_error *err)
{
    const struct as_lt_api *lt = g->lt;
    const int left = d->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, right = d->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const signed char fast = 1;
    enum as_status s =
        check(lt, lt->cublasLtMatmulDescCreate(&g->operation, p->compute, p->scale), "cublasLtMatmulDescCreate", err);
    const struct {
        cublasLtMatmulDescAttributes_t attribute;
        const void *value;
        size_t bytes;
    } wanted[] = {{CUBLASLT_MATMUL_DESC_TRANSA, &left, sizeof left},
                  {CUBLASLT_MATMUL_DESC_TRANSB, &right, sizeof right},
                  {CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast}};
    for (size_t i = 0; i < 2 + (size_t)p->fast && !s; i++)
        s = check(
            lt, lt->cublasLtMatmulDescSetAttribute(g->operation, wanted[i].attribute, wanted[i].value, wanted[i].bytes),
            "cublasLtMatmulDescSetAttribute", err);
    const uint64_t b[] = {d->b_transposed ? d->k : d->n, d->b_transposed ? d->n : d->k};
    const uint64_t a[] = {d->a_transposed ? d->m : d->k, d->a_transposed ? d->k : d->m};
    const struct {
        cublasLtMatrixLayout_t *layout;
        cudaDataType type;
        uint64_t rows, columns;
    } layouts[] = {
        {&g->left, p->in_type, b[0], b[1]}, {&g->right, p->in_type, a[0], a[1]}, {&g->result, p->out_type, d->n, d->m}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts && !s; i++)
        s = check(lt,
                  lt->cublasLtMatrixLayoutCreate(layouts[i].layout, layouts[i].type, layouts[i].rows,
                                                 layouts[i].columns, (int64_t)layouts[i].rows),
                  "cublasLtMatrixLayoutCreate", err);
    return s;
}

static enum as_status put(void *ctx, struct as_error *err)
{
    const struct as_gemm *g = ctx;
    /* the library takes the device's addresses as pointers */
    const void *left = (const void *)(uintptr_t)g->b, *right = (const void *)(uintptr_t)g->a;
    void *d = (void *)(uintptr_t)g->d, *workspace = (void *)(uintptr_t)g->workspace;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (uint64_t i = 0; i < g->reps && !status; i++)
        status = g->lt->cublasLtMatmul(g->handle, g->operation, &g->one, left, g->left, right, g->right, &g->zero, d,
                                       g->result, d, g->result, &g->way.algo, workspace, WORKSPACE, g->card->stream);
    return check(g->lt, status, "cublasLtMatmul", err);
}

static enum as_status time_way(struct as_gemm *g, double *seconds, struct as_error *err)
{
    struct as_timing t;
    g->reps = 1; /* a way's first run loads its code */
    enum as_status s = as_card_time(g->card, put, g, "cublasLtMatmul", &t, err);
    g->reps = TRIES;
    if (!s)
        s = as_card_time(g->card, put, g, "cublasLtMatmul", &t, err);
    *seconds = s ? NAN : as_timing_seconds(&t);
    return s;
}

/* What the library thinks best is not always; ways that it proposes and then cannot do are passed over. */
static enum as_status choose(struct as_gemm *g, const cublasLtMatmulHeuristicResult_t *ways, int n,
                             struct as_error *err)
{
    double best = INFINITY;
    int chosen = -1;
    enum as_status s = AS_OK;
    for (int i = 0; i < n; i++) {
        double seconds;
        if (ways[i].state != CUBLAS_STATUS_SUCCESS)
            continue;
        g->way = ways[i];
        s = time_way(g, &seconds, err);
        if (s && as_card_alive(g->card, NULL))
            return s;
        if (!s && seconds < best) {
            best = seconds;
            chosen = i;
        }
    }
    if (chosen < 0)
        return s ? s : as_fail(err, AS_UNSUPPORTED, "cuBLASLt has no algorithm for this product on this device");
    g->way = ways[chosen];
    size_t version = g->lt->cublasLtGetVersion();
    snprintf(g->name, sizeof g->name, "cuBLASLt %zu.%zu.%zu, the %d. of %d algorithms that it proposed",
             version / 10000, version / 100 % 100, version % 100, chosen + 1, n);
    return AS_OK;
}

static enum as_status propose(struct as_gemm *g, struct as_error *err)
{
    const struct as_lt_api *lt = g->lt;
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t ways[PROPOSED] = {{.state = CUBLAS_STATUS_NOT_SUPPORTED}};
    const uint64_t workspace = WORKSPACE;
    int n = 0;
    enum as_status s =
        check(lt, lt->cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate", err);
    if (!s)
        s = check(lt,
                  lt->cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                           &workspace, sizeof workspace),
                  "cublasLtMatmulPreferenceSetAttribute", err);
    if (!s)
        s = check(lt,
                  lt->cublasLtMatmulAlgoGetHeuristic(g->handle, g->operation, g->left, g->right, g->result, g->result,
                                                     preference, PROPOSED, ways, &n),
                  "cublasLtMatmulAlgoGetHeuristic", err);
    if (preference)
        lt->cublasLtMatmulPreferenceDestroy(preference);
    return s ? s : choose(g, ways, n < PROPOSED ? n : PROPOSED, err);
}

static void gemm_destroy(struct as_device *dev, struct as_gemm *g)
{
    if (!g)
        return;
    const struct as_lt_api *lt = g->lt;
    as_card_alive(dev->ctx, NULL);
    if (g->left)
        lt->cublasLtMatrixLayoutDestroy(g->left);
    if (g->right)
        lt->cublasLtMatrixLayoutDestroy(g->right);
    if (g->result)
        lt->cublasLtMatrixLayoutDestroy(g->result);
    if (g->operation)
        lt->cublasLtMatmulDescDestroy(g->operation);
    if (g->handle)
        lt->cublasLtDestroy(g->handle);
    if (g->workspace)
        as_card_check(g->card, as_cu_of(g->card)->cuMemFree_v2(g->workspace), "cuMemFree", NULL);
    free(g);
}

static enum as_status prepare(struct as_gemm *g, const struct as_gemm_desc *desc, const struct product *p,
                              struct as_error *err)
{
    static const union number ones[] = {[CUDA_R_32F] = {.f32 = 1},
                                        [CUDA_R_64F] = {.f64 = 1},
                                        [CUDA_R_16F] = {.f16 = 0x3c00},
                                        [CUDA_R_32I] = {.s32 = 1}};
    g->one = ones[p->scale];
    g->a = as_card_address(desc->a);
    g->b = as_card_address(desc->b);
    g->d = as_card_address(desc->d);
    enum as_status s = check(g->lt, g->lt->cublasLtCreate(&g->handle), "cublasLtCreate", err);
    if (!s)
        s = as_card_check(g->card, as_cu_of(g->card)->cuMemAlloc_v2(&g->workspace, WORKSPACE), "cuMemAlloc", err);
    if (!s)
        s = describe(g, desc, p, err);
    return s ? s : propose(g, err);
}

static enum as_status gemm_create(struct as_device *dev, const struct as_gemm_desc *desc, struct as_gemm **out,
                                  struct as_error *err)
{
    struct as_card *card = dev->ctx;
    struct as_lt_api *lt = &((struct as_cu_backend *)card->backend)->lt;
    const struct product *p = find_product(desc);
    *out = NULL;
    enum as_status s = as_card_alive(card, err);
    if (!s && !p)
        s = as_fail(err, AS_UNSUPPORTED, "cuBLASLt has no product of %s with sums of %s that gives %s", desc->in,
                    desc->sum, desc->out);
    if (!s)
        s = as_gemm_check(desc, bytes_of(p->in_type), bytes_of(p->out_type), err);
    if (!s && !lt->library)
        s = as_lt_load(lt, err);
    if (s)
        return s;
    struct as_gemm *g = calloc(1, sizeof *g);
    if (!g)
        return as_nomem(err, sizeof *g, "a product");
    g->card = card;
    g->lt = lt;
    s = prepare(g, desc, p, err);
    if (s)
        gemm_destroy(dev, g);
    else
        *out = g;
    return s;
}

static enum as_status gemm_run(struct as_device *dev, struct as_gemm *g, uint64_t reps, struct as_timing *out,
                               struct as_error *err)
{
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status s = as_card_alive(dev->ctx, err);
    g->reps = reps;
    return s ? s : as_card_time(g->card, put, g, "cublasLtMatmul", out, err);
}

static const char *gemm_name(const struct as_gemm *g)
{
    return g->name;
}

const struct as_gemm_ops as_cu_gemm_ops = {
    .create = gemm_create,
    .destroy = gemm_destroy,
    .run = gemm_run,
    .name = gemm_name,
};
