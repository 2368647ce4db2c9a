/* Sizes and values from one header: ours, or with AS_SDK the library's. Built once with each. */
#ifdef AS_SDK
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#define ROWS abi_sdk
#else
#include "device/hip/hip_types.h"
#define ROWS abi_ours
#endif

#include "abi.h"
#include "abi_list.h"

#include <stddef.h>

/* Facts about a struct that is not declared. */
#ifdef AS_SDK
#define TARGET_AT offsetof(hipDeviceProp_t, gcnArchName)
#else
#define TARGET_AT AS_HIP_TARGET_AT
#endif

const struct abi_row ROWS[] = {
    /* clang-format off */
    CONSTANTS(ABI_CONSTANT)
    TYPES(ABI_TYPE)
    /* clang-format on */
    {"hipDeviceProp_t.gcnArchName", (long long)(TARGET_AT)},
    {NULL, 0},
};
