/* Loading cuBLASLt, whose name carries its version. */
#include "device/cuda/cublaslt.h"

#include "base/library.h"

#include <stdio.h>
#include <string.h>

/* The newest version first, then the folders of the toolkit's installers. */
static const char *const library_names[] = {
    "libcublasLt.so.13",
    "libcublasLt.so.12",
    "libcublasLt.so.11",
    "libcublasLt.so",
    "/usr/local/cuda/lib64/libcublasLt.so",
    "/usr/local/cuda/targets/x86_64-linux/lib/libcublasLt.so",
    "/usr/local/cuda/targets/sbsa-linux/lib/libcublasLt.so",
    "/opt/cuda/lib64/libcublasLt.so",
};

_Static_assert(sizeof(cublasLtMatmulAlgo_t) <= sizeof((struct as_lt_way){.usable = false}.algorithm),
               "an algorithm has room");

static enum as_status cublaslt_load(struct as_cublaslt_api *api, struct as_error *err)
{
    char why[400] = "";
    const char *found = "", *missing = NULL;
    *api = (struct as_cublaslt_api){0};
    void *library =
        as_library_open(library_names, sizeof library_names / sizeof *library_names, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; cuBLASLt is a part of the CUDA toolkit: install it, or name its folder in LD_LIBRARY_PATH",
                       why);
#define LOAD(result, name, parameters) as_library_function(library, #name, &api->name, &missing);
    AS_CUBLASLT_FUNCTIONS(LOAD)
#undef LOAD
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs CUDA 11.4 or later", found, missing);
    api->library = library;
    return AS_OK;
}

/* ---- the library's table for blaslt.h ---- */

static const struct as_cublaslt_api *cublaslt_api_of(const struct as_lt_library *lib)
{
    return lib->api;
}

static enum as_status cublaslt_check(const struct as_lt_library *lib, int status, const char *what,
                                     struct as_error *err)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return AS_OK;
    bool lacks = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH;
    const char *words = cublaslt_api_of(lib)->cublasLtGetStatusString(status);
    return as_fail(err,
                   status == CUBLAS_STATUS_ALLOC_FAILED ? AS_NOMEM
                   : lacks                              ? AS_UNSUPPORTED
                                                        : AS_FAILED,
                   "cuda: %s: %s (%d)", what, words && words[0] ? words : "no description", status);
}

static enum as_status cublaslt_version_of(const struct as_lt_library *lib, struct as_lt_handle *handle, char *out,
                                          size_t size, struct as_error *err)
{
    (void)handle, (void)err;
    size_t version = cublaslt_api_of(lib)->cublasLtGetVersion();
    snprintf(out, size, "%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
    return AS_OK;
}

static enum as_status cublaslt_propose(const struct as_lt_library *lib, const struct as_lt_call *c,
                                       struct as_lt_preference *preference, struct as_lt_way ways[AS_LT_WAYS], int *n,
                                       struct as_error *err)
{
    cublasLtMatmulHeuristicResult_t found[AS_LT_WAYS] = {{.state = CUBLAS_STATUS_NOT_SUPPORTED}};
    enum as_status st = cublaslt_check(
        lib,
        cublaslt_api_of(lib)->cublasLtMatmulAlgoGetHeuristic(c->handle, c->operation, c->left, c->right, c->result,
                                                             c->result, preference, AS_LT_WAYS, found, n),
        "cublasLtMatmulAlgoGetHeuristic", err);
    for (int i = 0; i < *n && i < AS_LT_WAYS && !st; i++) {
        ways[i].usable = found[i].state == CUBLAS_STATUS_SUCCESS;
        memcpy(ways[i].algorithm, &found[i].algo, sizeof found[i].algo);
    }
    return st;
}

static int cublaslt_multiply(const struct as_lt_library *lib, const struct as_lt_call *c)
{
    cublasLtMatmulAlgo_t way;
    memcpy(&way, c->way.algorithm, sizeof way);
    return cublaslt_api_of(lib)->cublasLtMatmul(c->handle, c->operation, &c->one, c->left_at, c->left, c->right_at,
                                                c->right, &c->zero, c->result_at, c->result, c->result_at, c->result,
                                                &way, c->workspace, c->workspace_bytes, c->stream);
}

enum as_status as_cublaslt_load(struct as_cublaslt *out, struct as_error *err)
{
    const struct as_cublaslt_api *api = &out->api;
    enum as_status st = cublaslt_load(&out->api, err);
    out->lt = (struct as_lt_library){
        .name = "cuBLASLt",
        .prefix = "cublasLt",
        .api = api,
        .chosen = out->chosen,
        .transposed = CUBLAS_OP_T,
        .plain = CUBLAS_OP_N,
        .left_attribute = CUBLASLT_MATMUL_DESC_TRANSA,
        .right_attribute = CUBLASLT_MATMUL_DESC_TRANSB,
        .fast_attribute = CUBLASLT_MATMUL_DESC_FAST_ACCUM,
        .workspace_attribute = CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
        .create = api->cublasLtCreate,
        .destroy = api->cublasLtDestroy,
        .operation_create = api->cublasLtMatmulDescCreate,
        .operation_destroy = api->cublasLtMatmulDescDestroy,
        .operation_set = api->cublasLtMatmulDescSetAttribute,
        .layout_create = api->cublasLtMatrixLayoutCreate,
        .layout_destroy = api->cublasLtMatrixLayoutDestroy,
        .preference_create = api->cublasLtMatmulPreferenceCreate,
        .preference_destroy = api->cublasLtMatmulPreferenceDestroy,
        .preference_set = api->cublasLtMatmulPreferenceSetAttribute,
        .multiply = cublaslt_multiply,
        .propose = cublaslt_propose,
        .check = cublaslt_check,
        .version = cublaslt_version_of,
    };
    return st;
}
