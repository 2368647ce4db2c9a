/* Sizes and values of a library for products as one header has them: ours, or with AS_SDK the library's, which then
 * also has our list of functions compared parameter by parameter. Built once with each. */
#ifdef AS_SDK
#include AS_SDK
#define ROWS abi_sdk
#else
#include "device/card/lt.h"
#include "device/hip/blas_types.h"
#define ROWS abi_ours
#endif

#include "abi.h"
#include "device/hip/blas_functions.h"

#include ABI_LIST
#include <stddef.h>

#define CONSTANT(name) {#name, (long long)(name)},
#define TYPE(name) {"sizeof " #name, (long long)sizeof(name)},
#define FUNCTION(result, name, parameters) {#name, __builtin_types_compatible_p(__typeof__(name), result parameters)},

const struct abi_row ROWS[] = {
    /* clang-format off */
    CONSTANTS(CONSTANT)
    TYPES(TYPE)
    /* clang-format on */
    {NULL, 0},
};
#ifdef AS_SDK
const struct abi_row abi_functions[] = {
    /* clang-format off */
    FUNCTIONS(FUNCTION)
    /* clang-format on */
    {NULL, 0},
};
#endif
