/* Machine code of chains: instructions per step, from a body and one twice as long. */
#ifndef AS_LIB_OPS_CODE_H
#define AS_LIB_OPS_CODE_H

#include "device/machine_code.h"
#include "probe/probe.h"
#include "sequence.h"

/* Names of a kernel's instructions; false if the device does not report them. */
bool as_code_named(struct as_device *dev, struct as_kernel *kernel, struct as_instructions *out);
/* Number of instructions with one of the space-separated names. */
uint64_t as_code_count(const struct as_instructions *list, const char *names);

/* Requirement of a step: this many instructions with one of these names each; NULL: any. */
struct as_code_want {
    const char *names;
    unsigned count;
};
/* Describes a step: "1 HMMA, 0.1 BRA", and counts its instructions. steps: the difference of the bodies. False if a
 * step lacks its requirement, except for `stray` of all steps: text says what is missing. */
bool as_code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                    const struct as_code_want *wants, size_t wants_n, unsigned stray, double *each, char *text,
                    size_t size);
/* Describes a step of the sequence: "1 MUFU, 1 FMUL", and counts its instructions. steps: the difference of the bodies,
 * over all chains of a thread. False if a step lacks the instruction of an operation (or link) as often as the sequence
 * has it, or the code is shorter than the source: text says what is missing. */
bool as_op_code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                       const struct as_op_sequence *sequence, enum as_dialect dialect, double *each, char *text,
                       size_t size);

#endif
