/* The types and constants of hipBLASLt and rocBLAS in use, with the names, sizes and values of their public headers
 * (hipblaslt.h and hipblas-common.h of hipBLASLt 0.6 to 1.0, hip/library_types.h of ROCm 6, rocblas-types.h of rocBLAS
 * 2 to 5: github.com/ROCm). A test compares them with those headers where they are installed and C can read them. */
#ifndef AS_DEVICE_HIP_BLAS_TYPES_H
#define AS_DEVICE_HIP_BLAS_TYPES_H

#include "device/hip/hip_types.h"

typedef int hipblasStatus_t;
typedef int hipblasComputeType_t;
typedef int hipDataType;
typedef int hipblasLtMatmulDescAttributes_t;
typedef int hipblasLtMatmulPreferenceAttributes_t;
typedef struct as_lt_handle *hipblasLtHandle_t;
typedef struct as_lt_operation *hipblasLtMatmulDesc_t;
typedef struct as_lt_layout *hipblasLtMatrixLayout_t;
typedef struct as_lt_preference *hipblasLtMatmulPreference_t;

typedef struct _hipblasLtMatmulAlgo_t {
    uint8_t data[16];
    size_t max_workspace_bytes;
} hipblasLtMatmulAlgo_t;

typedef struct _hipblasLtMatmulHeuristicResult_t {
    hipblasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    hipblasStatus_t state;
    float wavesCount;
    int reserved[4];
} hipblasLtMatmulHeuristicResult_t;

enum {
    HIPBLAS_STATUS_SUCCESS = 0,
    HIPBLAS_STATUS_NOT_INITIALIZED = 1,
    HIPBLAS_STATUS_ALLOC_FAILED = 2,
    HIPBLAS_STATUS_INVALID_VALUE = 3,
    HIPBLAS_STATUS_MAPPING_ERROR = 4,
    HIPBLAS_STATUS_EXECUTION_FAILED = 5,
    HIPBLAS_STATUS_INTERNAL_ERROR = 6,
    HIPBLAS_STATUS_NOT_SUPPORTED = 7,
    HIPBLAS_STATUS_ARCH_MISMATCH = 8,
    HIPBLAS_STATUS_HANDLE_IS_NULLPTR = 9,
    HIPBLAS_STATUS_INVALID_ENUM = 10,
    HIPBLAS_STATUS_UNKNOWN = 11,

    HIPBLAS_OP_N = 111,
    HIPBLAS_OP_T = 112,

    HIPBLAS_COMPUTE_16F = 0,
    HIPBLAS_COMPUTE_32F = 2,
    HIPBLAS_COMPUTE_32F_FAST_TF32 = 6,
    HIPBLAS_COMPUTE_64F = 7,
    HIPBLAS_COMPUTE_32I = 9,

    HIP_R_32F = 0,
    HIP_R_64F = 1,
    HIP_R_16F = 2,
    HIP_R_8I = 3,
    HIP_R_32I = 10,
    HIP_R_16BF = 14,

    HIPBLASLT_MATMUL_DESC_TRANSA = 0,
    HIPBLASLT_MATMUL_DESC_TRANSB = 1,
    HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
};

/* Missing in some headers that the test compares with: the last two since ROCm 6.0, the first since 6.3. */
enum { HIP_R_8F_E4M3 = 28, HIP_R_8F_E5M2 = 29, HIP_R_8F_E4M3_FNUZ = 1000, HIP_R_8F_E5M2_FNUZ = 1001 };

typedef int rocblas_status;
typedef int rocblas_operation;
typedef int rocblas_datatype;
typedef int rocblas_gemm_algo;
typedef int rocblas_math_mode;
typedef int32_t rocblas_int;
typedef struct _rocblas_handle *rocblas_handle;

enum {
    rocblas_status_success = 0,
    rocblas_status_not_implemented = 2,
    rocblas_status_memory_error = 5,
    rocblas_status_excluded_from_build = 14,
    rocblas_status_arch_mismatch = 15,

    rocblas_operation_none = 111,
    rocblas_operation_transpose = 112,

    rocblas_datatype_f16_r = 150,
    rocblas_datatype_f32_r = 151,
    rocblas_datatype_f64_r = 152,
    rocblas_datatype_i8_r = 160,
    rocblas_datatype_i32_r = 162,
    rocblas_datatype_bf16_r = 168,

    rocblas_gemm_algo_standard = 0,
    rocblas_gemm_flags_none = 0,
    rocblas_default_math = 0,
    rocblas_xf32_xdl_math_op = 1,
};

#endif
