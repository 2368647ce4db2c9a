/* Sizes, offsets and values from one header: ours, or with AS_SDK the SDK's. Built once with each. */
#ifdef AS_SDK
#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>
#define ROWS abi_sdk
#else
#include "device/cuda/cublaslt_types.h"
#define ROWS abi_ours
#endif

#include "abi.h"
#include "abi_list.h"

#include <stddef.h>

#define FIELD(type, field)                                                                                             \
    {                                                                                                                  \
#type "." #field, (long long)offsetof(type, field)                                                             \
    }

const struct abi_row ROWS[] = {
    /* clang-format off */
    CONSTANTS(ABI_CONSTANT)
    TYPES(ABI_TYPE)
    /* clang-format on */
    FIELD(CUmemLocation, type),
    FIELD(CUmemLocation, id),
    FIELD(CUmemAllocationProp, type),
    FIELD(CUmemAllocationProp, requestedHandleTypes),
    FIELD(CUmemAllocationProp, location),
    FIELD(CUmemAllocationProp, win32HandleMetaData),
    FIELD(CUmemAllocationProp, allocFlags),
    FIELD(CUmemAllocationProp, allocFlags.usage),
    FIELD(CUmemAccessDesc, location),
    FIELD(CUmemAccessDesc, flags),
    FIELD(cublasLtMatmulHeuristicResult_t, workspaceSize),
    FIELD(cublasLtMatmulHeuristicResult_t, state),
    {NULL, 0},
};
