/* What the stand-in for the CUDA driver has no meaning for: it is there, and refuses. The real ones of fake.c win. */
#include "device/cuda/driver_functions.h"
#include "device/cuda/driver_types.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define ABSENT(name, parameters)                                                                                       \
    __attribute__((weak, visibility("default"))) CUresult name parameters;                                             \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        return CUDA_ERROR_NOT_SUPPORTED;                                                                               \
    }
AS_CU_REQUIRED(ABSENT)
