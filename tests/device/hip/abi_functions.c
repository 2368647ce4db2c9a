/* Our lists of functions against the headers' declarations, parameter by parameter. */
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "abi.h"
#include "device/hip/hip_functions.h"

#include <stddef.h>

const struct abi_row abi_functions[] = {
    /* clang-format off */
    AS_HIP_REQUIRED(ABI_FUNCTION)
    AS_HIP_OPTIONAL(ABI_FUNCTION)
    AS_HIPRTC_REQUIRED(ABI_FUNCTION)
    /* clang-format on */
    {NULL, 0},
};
