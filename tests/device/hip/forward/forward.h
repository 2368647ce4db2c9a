/* What the files of the forwarding library share: a libamdhip64 for tests on machines whose card is NVIDIA's. Each
 * function asks the CUDA driver for the same, so that the backend, its kernels and all that is measured by them run on
 * a real card. What the driver has no counterpart for is refused as not supported. */
#ifndef AS_TESTS_HIP_FORWARD_H
#define AS_TESTS_HIP_FORWARD_H

#include "device/cuda/api.h"
#include "device/hip/hip_functions.h"
#include "device/hip/hip_types.h"

#define API __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) API result name parameters;
AS_HIP_REQUIRED(DECLARE)
AS_HIP_NEWER(DECLARE)
AS_HIPRTC_REQUIRED(DECLARE)

/* Between this and the digits of what the driver compiles for; the first digit is the generation whose counters the
 * dialect reads, as all of these chips have them too. */
#define FORWARD_CHIP "gfx9c"

/* The driver's functions; all NULL before hipInit. */
extern struct as_cu_api forward_cu;

/* A number that means the same on both sides is passed on as it is. */
#define SAME(hip, cuda) _Static_assert((int)(hip) == (int)(cuda), #hip " and " #cuda " differ")

/* An error of the driver as the runtime's: the numbers are the same but for a few. */
hipError_t forward_told(CUresult code);

/* The API's addresses are pointers here, and numbers there. */
static inline CUdeviceptr forward_address(const void *at)
{
    return (CUdeviceptr)(size_t)at;
}

#endif
