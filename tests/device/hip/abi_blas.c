/* Sizes and values of a GEMM library from one header: ours, or with AS_SDK the library's, whose functions are also
 * compared with our list parameter by parameter. Built once with each. */
#ifdef AS_SDK
#include AS_SDK
#define ROWS abi_sdk
#else
#include "device/gpu/blaslt.h"
#include "device/hip/blas_types.h"
#define ROWS abi_ours
#endif

#include "abi.h"
#include "device/hip/blas_functions.h"

#include ABI_LIST
#include <stddef.h>

const struct abi_row ROWS[] = {
    /* clang-format off */
    CONSTANTS(ABI_CONSTANT)
    TYPES(ABI_TYPE)
    /* clang-format on */
    {NULL, 0},
};
#ifdef AS_SDK
const struct abi_row abi_functions[] = {
    /* clang-format off */
    FUNCTIONS(ABI_FUNCTION)
    /* clang-format on */
    {NULL, 0},
};
#endif
