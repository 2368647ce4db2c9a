/* What the machine code of chains holds: instructions of a step, from a body and one twice as long. */
#ifndef AS_LIB_OPS_CODE_H
#define AS_LIB_OPS_CODE_H

#include "probe/probe.h"
#include "sequence.h"

/* The names of a kernel's instructions; false where its device does not tell them. */
bool as_code_named(struct as_device *dev, struct as_kernel *kernel, struct as_instructions *out);
/* So many of them have one of the names, which blanks divide. */
uint64_t as_code_count(const struct as_instructions *list, const char *names);

/* What a step must have: so many instructions, each by one of these names; NULL any. */
struct as_code_want {
    const char *names;
    unsigned count;
};
/* Into text what a step consists of: "1 HMMA, 0.1 BRA", and how many instructions it has. steps: by which the bodies
 * differ. False where a step has not what is wanted of it, but for `stray` of all steps: text says what is missing. */
bool as_code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                    const struct as_code_want *wants, size_t wants_n, unsigned stray, double *each, char *text,
                    size_t size);
/* Into text what a step of the sequence consists of: "1 MUFU, 1 FMUL", and how many instructions it has. steps: in all
 * chains of a thread together, by which the bodies differ. False where a step has not the instruction that each
 * operation is about in the dialect (and each link) as often as the sequence has it, or the code became shorter than
 * the text: text says what is missing. */
bool as_op_code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                       const struct as_op_sequence *sequence, enum as_dialect dialect, double *each, char *text,
                       size_t size);

#endif
