/* Compiles what the probes ask a device to compile, for tests of compilers that need no device. */
#ifndef AS_TESTS_DEVICE_KERNEL_TRIALS_H
#define AS_TESTS_DEVICE_KERNEL_TRIALS_H

#include "device/device.h"
#include "device/dialect/dialect.h"

/* What a language has no words for: trials of the probe with this text in their axes do not apply, or have no kernel.
 */
struct kernel_lack {
    const char *probe, *text;
};
struct kernel_compiler {
    unsigned warp, kib_local;        /* of the devices that it compiles for */
    const char *loose;               /* (optional) what stands in the axes of trials whose code is not asked for */
    bool brief;                      /* each value of an axis once, of a compiler whose code another test looks at */
    bool skips_long;                 /* what takes a compiler long */
    enum as_dialect dialect;         /* that the trials find as the device's */
    unsigned without;                /* capabilities (AS_CAP_*) that its devices lack */
    bool partial;                    /* trials that do not apply, or whose kernel is missing, are passed over */
    const struct kernel_lack *lacks; /* (optional) ends with NULL */
    /* *code is the caller's */
    enum as_status (*compile)(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                              struct as_error *err);
    /* (optional) without it there is no machine code */
    enum as_status (*count)(const unsigned char *code, size_t bytes, const char *kernel, const char *operation,
                            uint64_t *n, struct as_error *err);
    enum as_status (*code_bytes)(const unsigned char *code, size_t bytes, const char *kernel, uint64_t *n,
                                 struct as_error *err);
};
/* Fails the running test where a program does not compile, or its code is not what its probe says. */
void kernel_trials_check(const struct kernel_compiler *by, const char *for_arch);
/* A test: a new kernel is missed at once, also where nothing can be compiled. */
void kernel_trials_complete(void **state);

#endif
