/* Compiles the kernels that the probes build, for tests of compilers that need no device. */
#ifndef AS_TESTS_DEVICE_KERNEL_TRIALS_H
#define AS_TESTS_DEVICE_KERNEL_TRIALS_H

#include "device/device.h"
#include "device/dialect/dialect.h"

/* What a language lacks: trials of the probe with this text in their axes do not apply, or have no kernel. */
struct kernel_lack {
    const char *probe, *text;
};
struct kernel_compiler {
    unsigned warp, kib_local;        /* of the devices that it compiles for */
    const char *loose;               /* (optional) text in the axes of trials whose code is not checked */
    bool brief;                      /* each value of an axis once, if another test checks this compiler's code */
    bool skips_long;                 /* what takes the compiler long */
    enum as_dialect dialect;         /* the device's, as seen by the trials */
    unsigned without;                /* capabilities (AS_CAP_*) that its devices lack */
    bool partial;                    /* trials that do not apply, or whose kernel is missing, are skipped */
    const struct kernel_lack *lacks; /* (optional) ends with NULL */
    /* *code is owned by the caller */
    enum as_status (*compile)(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                              struct as_error *err);
    /* (optional) without it there is no machine code */
    enum as_status (*count)(const unsigned char *code, size_t bytes, const char *kernel, const char *operation,
                            uint64_t *n, struct as_error *err);
    enum as_status (*code_bytes)(const unsigned char *code, size_t bytes, const char *kernel, uint64_t *n,
                                 struct as_error *err);
};
/* What AMD's chip of that architecture lacks. */
const struct kernel_lack *hip_kernel_lacks(const char *arch);
/* Fails the running test if a program does not compile, or its code does not meet the probe's expectation. */
void kernel_trials_check(const struct kernel_compiler *by, const char *for_arch);
/* A test: detects a new kernel without a trial, even if nothing can be compiled. */
void kernel_trials_complete(void **state);

#endif
