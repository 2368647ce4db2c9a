/* Common code of run-time compilers. */
#ifndef AS_DEVICE_GPU_COMPILER_H
#define AS_DEVICE_GPU_COMPILER_H

#include "device/device.h"
#include "device/dialect/dialect.h"
#include "device/gpu/handles.h"

/* A run-time compiler. The functions return 0 or an error code. */
struct as_gpu_compiler {
    const char *api, *name; /* "cuda", "nvrtc" */
    enum as_dialect dialect;
    int out_of_memory;   /* the error code */
    const void *library; /* for build */
    /* Compiles. *out, unless NULL, must be destroyed even after an error. */
    int (*build)(const void *library, const char *source, const char *name, const char **options, int options_n,
                 struct as_gpu_compilation **out);
    int (*destroy)(struct as_gpu_compilation **source);
    int (*log_bytes)(struct as_gpu_compilation *source, size_t *bytes);
    int (*log)(struct as_gpu_compilation *source, char *text);
    int (*code_bytes)(struct as_gpu_compilation *source, size_t *bytes);
    int (*code)(struct as_gpu_compilation *source, char *code);
    const char *(*words)(int error);
};

/* Compiles dialect source with n options and those of desc. *code is the caller's (free); NULL after an error, whose
 * text has the compiler's log from the first error on, joined into one line. */
enum as_status as_gpu_compile(const struct as_gpu_compiler *compiler, const struct as_program_desc *desc,
                              const char *const *options, size_t n, unsigned char **code, size_t *bytes,
                              struct as_error *err);

#endif
