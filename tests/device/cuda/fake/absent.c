/* CUDA functions that the stand-in does not implement: they exist and refuse all arguments. Those of fake.c take
 * precedence. */
#include "device/cuda/driver_functions.h"

enum { NOT_SUPPORTED = 801 };

#define ABSENT(name, parameters)                                                                                       \
    __attribute__((weak, visibility("default"))) int name(void);                                                       \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        return NOT_SUPPORTED;                                                                                          \
    }
AS_CU_REQUIRED(ABSENT)
