/* This machine's NVRTC, for tests of its code without a device. */
#ifndef AS_TESTS_CUDA_REAL_NVRTC_H
#define AS_TESTS_CUDA_REAL_NVRTC_H

#include "device/cuda/cuda.h"

/* Loaded the first time; without it the test is skipped, with the reason. */
void need_nvrtc(void);
/* *code is owned by the caller */
enum as_status nvrtc_compile(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                             struct as_error *err);

#endif
