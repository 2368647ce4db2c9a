/* The functions of hipBLASLt and rocBLAS in use, by exported name, with their
 * parameters. */
#ifndef AS_DEVICE_HIP_BLAS_FUNCTIONS_H
#define AS_DEVICE_HIP_BLAS_FUNCTIONS_H

/* Every hipBLASLt since ROCm 6.0 has these. */
#define AS_HIPBLASLT_FUNCTIONS(X)                                                                                      \
    X(hipblasStatus_t, hipblasLtGetVersion, (hipblasLtHandle_t handle, int *version))                                  \
    X(hipblasStatus_t, hipblasLtCreate, (hipblasLtHandle_t * handle))                                                  \
    X(hipblasStatus_t, hipblasLtDestroy, (const hipblasLtHandle_t handle))                                             \
    X(hipblasStatus_t, hipblasLtMatmulDescCreate,                                                                      \
      (hipblasLtMatmulDesc_t * operation, hipblasComputeType_t compute, hipDataType scale))                            \
    X(hipblasStatus_t, hipblasLtMatmulDescDestroy, (const hipblasLtMatmulDesc_t operation))                            \
    X(hipblasStatus_t, hipblasLtMatmulDescSetAttribute,                                                                \
      (hipblasLtMatmulDesc_t operation, hipblasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes))   \
    X(hipblasStatus_t, hipblasLtMatrixLayoutCreate,                                                                    \
      (hipblasLtMatrixLayout_t * layout, hipDataType type, uint64_t rows, uint64_t columns, int64_t leading))          \
    X(hipblasStatus_t, hipblasLtMatrixLayoutDestroy, (const hipblasLtMatrixLayout_t layout))                           \
    X(hipblasStatus_t, hipblasLtMatmulPreferenceCreate, (hipblasLtMatmulPreference_t * preference))                    \
    X(hipblasStatus_t, hipblasLtMatmulPreferenceDestroy, (const hipblasLtMatmulPreference_t preference))               \
    X(hipblasStatus_t, hipblasLtMatmulPreferenceSetAttribute,                                                          \
      (hipblasLtMatmulPreference_t preference, hipblasLtMatmulPreferenceAttributes_t attribute, const void *value,     \
       size_t bytes))                                                                                                  \
    X(hipblasStatus_t, hipblasLtMatmulAlgoGetHeuristic,                                                                \
      (hipblasLtHandle_t handle, hipblasLtMatmulDesc_t operation, hipblasLtMatrixLayout_t a,                           \
       hipblasLtMatrixLayout_t b, hipblasLtMatrixLayout_t c, hipblasLtMatrixLayout_t d,                                \
       hipblasLtMatmulPreference_t preference, int wanted, hipblasLtMatmulHeuristicResult_t results[], int *found))    \
    X(hipblasStatus_t, hipblasLtMatmul,                                                                                \
      (hipblasLtHandle_t handle, hipblasLtMatmulDesc_t operation, const void *alpha, const void *a,                    \
       hipblasLtMatrixLayout_t a_layout, const void *b, hipblasLtMatrixLayout_t b_layout, const void *beta,            \
       const void *c, hipblasLtMatrixLayout_t c_layout, void *d, hipblasLtMatrixLayout_t d_layout,                     \
       const hipblasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, hipStream_t stream))

/* Every rocBLAS since ROCm 5 has these. */
#define AS_ROCBLAS_REQUIRED(X)                                                                                         \
    X(rocblas_status, rocblas_create_handle, (rocblas_handle * handle))                                                \
    X(rocblas_status, rocblas_destroy_handle, (rocblas_handle handle))                                                 \
    X(rocblas_status, rocblas_set_stream, (rocblas_handle handle, hipStream_t stream))                                 \
    X(const char *, rocblas_status_to_string, (rocblas_status status))                                                 \
    X(rocblas_status, rocblas_get_version_string, (char *text, size_t bytes))                                          \
    X(rocblas_status, rocblas_gemm_ex,                                                                                 \
      (rocblas_handle handle, rocblas_operation trans_a, rocblas_operation trans_b, rocblas_int m, rocblas_int n,      \
       rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b,       \
       rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type,             \
       rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_datatype compute_type,              \
       rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags))

/* NULL if the library is older than ROCm 5.4. */
#define AS_ROCBLAS_OPTIONAL(X) X(rocblas_status, rocblas_set_math_mode, (rocblas_handle handle, rocblas_math_mode mode))

#endif
