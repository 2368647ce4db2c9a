/* What the files of the stand-in share. */
#ifndef AS_TESTS_FAKE_CUDA_INSIDE_H
#define AS_TESTS_FAKE_CUDA_INSIDE_H

#include "../../driver_base.h"

#include "device/cuda/driver_functions.h"
#include "device/cuda/driver_types.h"

#include <stdint.h>

#define DECLARE(name, parameters) API CUresult name parameters;
AS_CU_REQUIRED(DECLARE)
AS_CU_OPTIONAL(DECLARE)

enum { PAGE = 2 << 20 };
struct as_gpu_context {
    int device, retained, lost;
    unsigned peers; /* bits */
};
struct as_gpu_stream {
    CUcontext context;
};
struct as_gpu_event {
    CUcontext context;
    double seconds; /* when it was recorded */
};
struct as_gpu_function {
    CUmodule module;
    char name[32];
    unsigned dynamic_bytes; /* that it may ask for */
};
struct as_gpu_module {
    struct as_gpu_module *next; /* of all that are loaded */
    CUcontext context;
    void *bytes; /* of its static variable, NULL none */
    size_t size;
    struct as_gpu_function functions[8];
};
extern struct as_gpu_module *fake_modules;
extern __thread CUcontext fake_current;

/* The context that a call works in, or why it does not. */
CUresult fake_entered(const char *what);
/* What every wait does: all that was launched is over, or the context is lost. */
CUresult fake_waited(void);

#define MAKE(type, handle)                                                                                             \
    do {                                                                                                               \
        ENTER();                                                                                                       \
        *(handle) = calloc(1, sizeof(struct type));                                                                    \
        (*(handle))->context = fake_current;                                                                           \
        fake_count(1);                                                                                                 \
    } while (0)
#define UNMAKE(handle)                                                                                                 \
    do {                                                                                                               \
        if (!(handle) || (handle)->context != fake_current)                                                            \
            return fake_broke(__func__, CUDA_ERROR_INVALID_HANDLE);                                                    \
        fake_count(-1);                                                                                                \
        free(handle);                                                                                                  \
    } while (0)
#define ENTER()                                                                                                        \
    do {                                                                                                               \
        CUresult entered_ = fake_entered(__func__);                                                                    \
        if (entered_)                                                                                                  \
            return entered_;                                                                                           \
    } while (0)
#define IN_CONTEXT(thing)                                                                                              \
    do {                                                                                                               \
        ENTER();                                                                                                       \
        if (!(thing) || (thing)->context != fake_current)                                                              \
            return fake_broke(__func__, CUDA_ERROR_INVALID_HANDLE);                                                    \
    } while (0)

#endif
