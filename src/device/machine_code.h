/* What is known of the machine code of kernels: counts of instructions, and hashes for provenance. */
#ifndef AS_DEVICE_MACHINE_CODE_H
#define AS_DEVICE_MACHINE_CODE_H

#include "device/info.h"

struct as_device;
struct as_kernel;

/* Instructions of one name in a kernel's machine code, as the vendor's disassembler names them without modifiers;
 * "unknown instruction 0x01f" if its name is unknown. */
struct as_instruction {
    char name[32]; /* "FFMA" */
    uint64_t n;
};
enum { AS_INSTRUCTIONS_MAX = 64 };
struct as_instructions {
    size_t n;
    struct as_instruction list[AS_INSTRUCTIONS_MAX]; /* without no-ops */
};
/* For backends: counts one instruction; once the list is full, under "others". */
void as_instructions_add(struct as_instructions *list, const char *name);
uint64_t as_instructions_of(const struct as_instructions *list, const char *name);
/* Counts the kernel's instructions for `operation` (as_operation_words); on failure err is a sentence about it. */
#define AS_CODE_NOT_COUNTED "this backend does not give the machine code to count in"
enum as_status as_kernel_count(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                               struct as_error *err);

/* Provenance of the kernels: hashes over the programs that a device built, in order. */
struct as_code_identity {
    uint64_t source; /* of dialect text and options; 0: no program was built */
    uint64_t binary; /* of machine code; 0: unknown for at least one */
    unsigned programs;
};

#endif
