/* A librocblas for tests that multiplies on the host. FAKE_BLAS: "rocblas-cannot" no product is implemented,
 * "rocblas-speechless" an error without words, "rocblas-wordy" one with many, "skips" a step of sums is left out. */
#include "product.h"

#define DECLARE(result, name, parameters) API result name parameters;
AS_ROCBLAS_REQUIRED(DECLARE)
AS_ROCBLAS_OPTIONAL(DECLARE)

#define UMLAUTS "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
#define SIXTEEN UMLAUTS UMLAUTS UMLAUTS UMLAUTS

struct _rocblas_handle {
    hipStream_t stream;
    rocblas_math_mode mode;
};
static int live;

API int fake_rocblas_live(void)
{
    return live;
}

rocblas_status rocblas_create_handle(rocblas_handle *handle)
{
    live++;
    *handle = calloc(1, sizeof **handle);
    return rocblas_status_success;
}

rocblas_status rocblas_destroy_handle(rocblas_handle handle)
{
    live--;
    free(handle);
    return rocblas_status_success;
}

rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream)
{
    handle->stream = stream;
    return rocblas_status_success;
}

rocblas_status rocblas_set_math_mode(rocblas_handle handle, rocblas_math_mode mode)
{
    handle->mode = mode;
    return rocblas_status_success;
}

const char *rocblas_status_to_string(rocblas_status status)
{
    return status == rocblas_status_not_implemented ? "rocblas_status_not_implemented"
           : status == 78 ? "x" SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN
                          : NULL;
}

rocblas_status rocblas_get_version_string(char *text, size_t bytes)
{
    memset(text, '4', bytes); /* unterminated */
    return rocblas_status_success;
}

static const char *format_of(rocblas_datatype type)
{
    static const struct {
        rocblas_datatype type;
        const char *word;
    } types[] = {{rocblas_datatype_f64_r, "f64"},   {rocblas_datatype_f32_r, "f32"}, {rocblas_datatype_f16_r, "f16"},
                 {rocblas_datatype_bf16_r, "bf16"}, {rocblas_datatype_i8_r, "s8"},   {rocblas_datatype_i32_r, "s32"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].word;
    return NULL;
}

rocblas_status rocblas_gemm_ex(rocblas_handle handle, rocblas_operation trans_a, rocblas_operation trans_b,
                               rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a,
                               rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type,
                               rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type,
                               rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd,
                               rocblas_datatype compute_type, rocblas_gemm_algo algo, int32_t solution_index,
                               uint32_t flags)
{
    const struct fake_matrix left = {format_of(a_type), trans_a == rocblas_operation_transpose, a};
    const struct fake_matrix right = {format_of(b_type), trans_b == rocblas_operation_transpose, b};
    const struct fake_matrix one = {format_of(compute_type), false, alpha}, zero = {one.format, false, beta};
    if (fake_asked("rocblas-cannot"))
        return rocblas_status_not_implemented;
    if (fake_asked("rocblas-speechless"))
        return 77;
    if (fake_asked("rocblas-wordy"))
        return 78;
    if (!left.format || !right.format || !one.format || !format_of(d_type))
        return 11;
    if (!handle->stream || lda != (left.transposed ? k : m) || ldb != (right.transposed ? n : k) || ldc != m ||
        ldd != m || c != d || c_type != d_type || algo || solution_index || flags || fake_get(&one, 0) != 1 ||
        fake_get(&zero, 0) != 0)
        return 11;
    fake_multiply(&left, &right, d, format_of(d_type), (size_t)m, (size_t)n, (size_t)k);
    return rocblas_status_success;
}
