/* Instructions of AMD machine code, as comgr prints them: "v_fma_f32 v0, v1, v2, v3". */
#ifndef AS_DEVICE_HIP_INSTRUCTIONS_H
#define AS_DEVICE_HIP_INSTRUCTIONS_H

#include "device/device.h"

/* ---- comgr.c ---- */

/* Calls `each` with every instruction of `bytes` of code for a chip ("gfx942"). AS_UNSUPPORTED
 * without comgr, for an unknown chip, and if some bytes are not an instruction. */
enum as_status as_amd_disassemble(const char *chip, const unsigned char *code, uint64_t bytes,
                                  void (*each)(const char *instruction, void *data), void *data, struct as_error *err);

/* ---- operations.c ---- */

/* Whether the instructions for a word of as_operation_words are known. */
bool as_amd_counts(const char *word);
/* How many times the instruction performs it: 2 if one instruction combines two operations. */
unsigned as_amd_does(const char *instruction, const char *word);
/* Adds the instruction's name without the suffix of its encoding, and both names of a dual-issue instruction. */
void as_amd_add_names(const char *instruction, struct as_instructions *out);

#endif
