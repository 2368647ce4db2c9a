/* What clang makes of dialect source for AMD chips, as assembly text and as machine code: no device, no library of the
 * vendor's. */
#ifndef AS_TESTS_DEVICE_HIP_ASSEMBLY_H
#define AS_TESTS_DEVICE_HIP_ASSEMBLY_H

#include "device/device.h"

/* With the compiler that ASSAY_HIP_CLANG names. *text is the caller's: the assembly, a 0, and the ELF file that it is
 * assembled to (assembly_object). */
enum as_status assembly_of(const struct as_program_desc *desc, const char *arch, unsigned char **text, size_t *bytes,
                           struct as_error *err);
const unsigned char *assembly_object(const unsigned char *text, size_t bytes, size_t *object_bytes);
/* How many of the kernel's instructions start with one of the names; names are divided by blanks. AS_FAILED where the
 * text has no such kernel. */
enum as_status assembly_count(const unsigned char *text, const char *kernel, const char *names, uint64_t *n,
                              struct as_error *err);
/* The same by operation (as_operation_words); AS_UNSUPPORTED where no name is known for it. */
enum as_status assembly_operations(const unsigned char *text, const char *kernel, const char *operation, uint64_t *n,
                                   struct as_error *err);
/* All of them by name, as as_program_ops.instructions gives them. */
enum as_status assembly_instructions(const unsigned char *text, const char *kernel, struct as_instructions *out,
                                     struct as_error *err);
/* AS_FAILED where comgr finds other instructions in the machine code. AS_OK also where it cannot tell. */
enum as_status assembly_compare(const unsigned char *text, size_t bytes, const char *kernel, struct as_error *err);

#endif
