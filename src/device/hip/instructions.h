/* Decodes AMD machine code far enough to find and count the instructions of a kernel. */
#ifndef AS_DEVICE_HIP_INSTRUCTIONS_H
#define AS_DEVICE_HIP_INSTRUCTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Chips whose instructions are known, as bits. */
enum as_amd_chip { AS_GFX90A = 1, AS_GFX942 = 2, AS_GFX11 = 4, AS_GFX9 = AS_GFX90A | AS_GFX942, AS_GFX_ALL = 7 };

/* Encodings by their names in AMD's manuals. What VOP3 can also say of VOP1, VOP2 and VOPC comes as those. */
enum as_amd_format {
    AS_SOP1,
    AS_SOP2,
    AS_SOPC,
    AS_SOPK,
    AS_SOPP,
    AS_SMEM,
    AS_VOP1,
    AS_VOP2,
    AS_VOPC,
    AS_VOP3,
    AS_VOP3P,
    AS_VOPD, /* two operations in one instruction */
    AS_DS,
    AS_FLAT, /* any address; SCRATCH and GLOBAL are its other two segments */
    AS_SCRATCH,
    AS_GLOBAL,
    AS_MUBUF,
};
enum { AS_AMD_WORD = 4, AS_AMD_NO_OPERATION = 0xffff };

struct as_amd_instruction {
    enum as_amd_format format;
    unsigned operation, second; /* second: of VOPD, else AS_AMD_NO_OPERATION */
    size_t bytes;
    long target; /* of a branch: so many bytes from its own begin; else 0 */
};

/* What an ELF file's flags call a chip; AS_UNSUPPORTED for those that are not known. */
enum as_status as_amd_find_chip(unsigned flags, enum as_amd_chip *out, struct as_error *err);
/* Decodes the instruction at the start of n bytes; false if unknown or truncated. */
bool as_amd_decode(enum as_amd_chip chip, const unsigned char *at, size_t n, struct as_amd_instruction *out);

/* ---- names.c ---- */

/* The assembler's mnemonic without encoding suffix: "v_fma_f32"; NULL if unknown. */
const char *as_amd_name(enum as_amd_chip chip, enum as_amd_format format, unsigned operation);
/* The encoding's: "VOP3". */
const char *as_amd_format_name(enum as_amd_format format);

/* ---- operations.c: what of it does what a word of as_operation_words says ---- */

/* Whether that is known for the chip. */
bool as_amd_counts(enum as_amd_chip chip, const char *word);
/* How often the instruction does it. */
unsigned as_amd_does(enum as_amd_chip chip, const struct as_amd_instruction *in, const char *word);

#endif
