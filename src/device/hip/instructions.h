/* Instructions of AMD machine code, as comgr prints them: "v_fma_f32 v0, v1, v2, v3". */
#ifndef AS_DEVICE_HIP_INSTRUCTIONS_H
#define AS_DEVICE_HIP_INSTRUCTIONS_H

#include "device/device.h"

/* ---- comgr.c ---- */

/* Calls `each` with every instruction of `bytes` of code for a chip ("gfx942"), which are the caller's. AS_UNSUPPORTED
 * where there is no comgr, where it does not know the chip, and where some bytes are no instruction. */
enum as_status as_amd_disassemble(const char *chip, const unsigned char *code, uint64_t bytes,
                                  void (*each)(const char *instruction, void *data), void *data, struct as_error *err);

/* ---- operations.c ---- */

/* Is it known which instructions do what a word of as_operation_words says? */
bool as_amd_counts(const char *word);
/* How often the instruction does it: 2 where a compiler puts two operations into one. */
unsigned as_amd_does(const char *instruction, const char *word);
/* Adds its name without the suffix of its encoding, and both names of an instruction that does two operations. */
void as_amd_add_names(const char *instruction, struct as_instructions *out);

#endif
