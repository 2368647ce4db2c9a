/* Our lists of functions against the SDK's declarations, parameter by parameter, including older versions. */
#define __CUDA_API_VERSION_INTERNAL
#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>

#include "abi.h"
#include "device/cuda/cublaslt_functions.h"
#include "device/cuda/driver_functions.h"

#include <stddef.h>

#define DRIVER(name, parameters) ABI_FUNCTION(CUresult, name, parameters)

const struct abi_row abi_functions[] = {
    /* clang-format off */
    AS_CU_REQUIRED(DRIVER)
    AS_CU_OPTIONAL(DRIVER)
    AS_NVRTC_REQUIRED(ABI_FUNCTION)
    AS_CUBLASLT_FUNCTIONS(ABI_FUNCTION)
    /* clang-format on */
    {NULL, 0},
};
