/* What the stand-in for the CUDA driver has no meaning for: it is there, and refuses whatever it is given. The real
 * ones of fake.c win. */
#include "device/cuda/driver_functions.h"

enum { NOT_SUPPORTED = 801 };

#define ABSENT(name, parameters)                                                                                       \
    __attribute__((weak, visibility("default"))) int name(void);                                                       \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        return NOT_SUPPORTED;                                                                                          \
    }
AS_CU_REQUIRED(ABSENT)
