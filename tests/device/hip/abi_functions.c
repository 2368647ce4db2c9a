/* Our lists of functions against the headers' declarations, parameter by parameter. */
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "abi.h"
#include "device/hip/hip_functions.h"

#include <stddef.h>

#define FUNCTION(result, name, parameters) {#name, __builtin_types_compatible_p(__typeof__(name), result parameters)},

const struct abi_row abi_functions[] = {
    /* clang-format off */
    AS_HIP_REQUIRED(FUNCTION)
    AS_HIP_OPTIONAL(FUNCTION)
    AS_HIPRTC_REQUIRED(FUNCTION)
    /* clang-format on */
    {NULL, 0},
};
