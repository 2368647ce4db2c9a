/* The types and constants of cuBLASLt in use, with the names, sizes and values of its ABI.
 * A test compares every one with the SDK's own headers where those are installed. */
#ifndef AS_DEVICE_CUDA_CUBLASLT_TYPES_H
#define AS_DEVICE_CUDA_CUBLASLT_TYPES_H

#include "device/cuda/driver_types.h"

typedef int cublasStatus_t;
typedef int cublasComputeType_t;
typedef int cublasLtMatmulDescAttributes_t;
typedef int cublasLtMatmulPreferenceAttributes_t;
typedef int cudaDataType;
typedef struct as_gpu_stream *cudaStream_t;
typedef struct as_lt_handle *cublasLtHandle_t;
typedef struct as_lt_operation *cublasLtMatmulDesc_t;
typedef struct as_lt_layout *cublasLtMatrixLayout_t;
typedef struct as_lt_preference *cublasLtMatmulPreference_t;

typedef struct cublasLtMatmulAlgo_st {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;

typedef struct cublasLtMatmulHeuristicResult_st {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;

enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,

    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,

    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,

    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_R_16F = 2,
    CUDA_R_8I = 3,
    CUDA_R_32I = 10,
    CUDA_R_16BF = 14,
    CUDA_R_8F_E4M3 = 28,
    CUDA_R_8F_E5M2 = 29,

    CUBLASLT_MATMUL_DESC_TRANSA = 3,
    CUBLASLT_MATMUL_DESC_TRANSB = 4,
    CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,
    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
};

#endif
