/* What the machine code of chains holds: instructions of a step, from a body and one twice as long. */
#ifndef AS_PROBES_OPS_CODE_H
#define AS_PROBES_OPS_CODE_H

#include "device/device.h"
#include "ops.h"

/* Into text what a step consists of: "1 MUFU, 1 FMUL". steps: in all chains of a thread together, by which the bodies
 * differ. False where the instruction that the operation is about is not in every step, or the code became shorter than
 * the text: text says what is missing. wanted: names of which one has to be there, divided by blanks; NULL any. */
bool as_op_code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                       const char *wanted, char *text, size_t size);

#endif
