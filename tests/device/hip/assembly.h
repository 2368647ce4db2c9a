/* clang's code for dialect source on AMD chips, as assembly and as machine code: without a device or vendor library. */
#ifndef AS_TESTS_DEVICE_HIP_ASSEMBLY_H
#define AS_TESTS_DEVICE_HIP_ASSEMBLY_H

#include "device/device.h"

/* With the compiler named by ASSAY_HIP_CLANG. *text is owned by the caller: the assembly, a 0, and the ELF file
 * assembled from it (assembly_object). */
enum as_status assembly_of(const struct as_program_desc *desc, const char *arch, unsigned char **text, size_t *bytes,
                           struct as_error *err);
const unsigned char *assembly_object(const unsigned char *text, size_t bytes, size_t *object_bytes);
/* Number of the kernel's instructions that start with one of the blank-separated names. AS_FAILED if the text lacks the
 * kernel. */
enum as_status assembly_count(const unsigned char *text, const char *kernel, const char *names, uint64_t *n,
                              struct as_error *err);
/* The same by operation (as_operation_words); AS_UNSUPPORTED if it has no known name. */
enum as_status assembly_operations(const unsigned char *text, const char *kernel, const char *operation, uint64_t *n,
                                   struct as_error *err);
/* All of them by name, as as_program_ops.instructions gives them. */
enum as_status assembly_instructions(const unsigned char *text, const char *kernel, struct as_instructions *out,
                                     struct as_error *err);
/* AS_FAILED if comgr finds other instructions in the machine code. AS_OK also if it cannot decode it. */
enum as_status assembly_compare(const unsigned char *text, size_t bytes, const char *kernel, struct as_error *err);

#endif
