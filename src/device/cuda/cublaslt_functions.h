/* The functions of cuBLASLt in use, by exported name, with their parameters. */
#ifndef AS_DEVICE_CUDA_CUBLASLT_FUNCTIONS_H
#define AS_DEVICE_CUDA_CUBLASLT_FUNCTIONS_H

/* Every cuBLASLt since CUDA 11.4 has these. */
#define AS_CUBLASLT_FUNCTIONS(X)                                                                                       \
    X(size_t, cublasLtGetVersion, (void))                                                                              \
    X(cublasStatus_t, cublasLtCreate, (cublasLtHandle_t * handle))                                                     \
    X(cublasStatus_t, cublasLtDestroy, (cublasLtHandle_t handle))                                                      \
    X(const char *, cublasLtGetStatusString, (cublasStatus_t status))                                                  \
    X(cublasStatus_t, cublasLtMatmulDescCreate,                                                                        \
      (cublasLtMatmulDesc_t * operation, cublasComputeType_t compute, cudaDataType scale))                             \
    X(cublasStatus_t, cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t operation))                                     \
    X(cublasStatus_t, cublasLtMatmulDescSetAttribute,                                                                  \
      (cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes))     \
    X(cublasStatus_t, cublasLtMatrixLayoutCreate,                                                                      \
      (cublasLtMatrixLayout_t * layout, cudaDataType type, uint64_t rows, uint64_t columns, int64_t leading))          \
    X(cublasStatus_t, cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                                    \
    X(cublasStatus_t, cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t * preference))                       \
    X(cublasStatus_t, cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t preference))                        \
    X(cublasStatus_t, cublasLtMatmulPreferenceSetAttribute,                                                            \
      (cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute, const void *value,       \
       size_t bytes))                                                                                                  \
    X(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic,                                                                  \
      (cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,    \
       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int wanted,          \
       cublasLtMatmulHeuristicResult_t results[], int *found))                                                         \
    X(cublasStatus_t, cublasLtMatmul,                                                                                  \
      (cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha, const void *a,                      \
       cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,              \
       const void *c, cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,                       \
       const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, cudaStream_t stream))

#endif
