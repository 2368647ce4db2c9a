/* Sizes and values of comgr from its header or, without AS_SDK, from our declarations. Built once with each. */
#ifdef AS_SDK
#include <amd_comgr.h>
#define ROWS abi_sdk
#else
#define ROWS abi_ours
#endif

#include "abi.h"
#include "device/hip/comgr_functions.h"

#include "comgr_abi_list.h"
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
    AS_COMGR_FUNCTIONS(ABI_FUNCTION)
    /* clang-format on */
    {NULL, 0},
};
#endif
