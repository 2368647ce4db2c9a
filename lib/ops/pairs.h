/* Chains of CPU instructions from one input operand to one output, their throughput, and mixtures of two: the table
 * that pairs.py makes of pairs.ini. */
#ifndef AS_LIB_OPS_PAIRS_H
#define AS_LIB_OPS_PAIRS_H

#include "native.h"

struct as_pair_kernel {
    const char *form; /* "imul_r64_r64" */
    const char *what; /* "2to1" from operand to operand, "throughput", or the form that it is mixed with */
    const char *text; /* one step */
    as_cpu_sets needs;
    unsigned count;     /* of the instruction per step; of a mixture 1 */
    unsigned less;      /* cycles of the link in a step */
    const char *link;   /* its instruction, "" none */
    bool at_most;       /* the link takes at least so many cycles, so the latency is at most the rest */
    unsigned counts[2]; /* of a mixture: instructions of both forms per step */
    struct as_native_body body;
};
extern const struct as_pair_kernel as_pair_kernels[];             /* ends with a NULL form */
extern const char *const as_pair_forms[], *const as_pair_whats[]; /* all words, NULL-terminated */

/* NULL: none. */
const struct as_pair_kernel *as_pair_find(const char *form, const char *what);
/* Is it a mixture of two forms? */
bool as_pair_is_mixture(const struct as_pair_kernel *k);
/* Cycles per instruction, without the link, of a step's; of a mixture per step. */
double as_pair_value(const struct as_pair_kernel *k, double cycles);
/* Has a step the instructions of the table, as counted in the object file? The assembler may not add or drop any. */
enum as_gate_state as_pair_code_gate(const struct as_pair_kernel *k, char *text, size_t size);

#endif
