/* Operations that follow each other in one program: "imul32+3*ffma32". Each of them, as often as it stands there, is in
 * chains of its own. */
#ifndef AS_LIB_OPS_SEQUENCE_H
#define AS_LIB_OPS_SEQUENCE_H

#include "ops.h"

enum { AS_OP_PARTS = 6, AS_OP_CHAINS = 16 }; /* operations of a sequence; chains of a thread */

struct as_op_part {
    const struct as_op *op;
    unsigned count;
    unsigned operands; /* 3 all differ, 2 the third is the second, 1 the second is the first: see part.kernel */
};
struct as_op_sequence {
    struct as_op_part part[AS_OP_PARTS];
    size_t n;
};

/* One operation alone; its usual form with operands 0. */
struct as_op_sequence as_op_alone(const struct as_op *op, unsigned operands);
/* Of text, each in its usual form. AS_UNSUPPORTED with the word where there is no such operation. */
enum as_status as_op_sequence_parse(const char *text, struct as_op_sequence *out, struct as_error *err);
/* Operations of one turn through it, and about how many instructions those are. */
unsigned as_op_sequence_count(const struct as_op_sequence *s);
unsigned as_op_sequence_weight(const struct as_op_sequence *s);
/* Numbers of 64 bits that a thread ends with. */
unsigned as_op_sequence_slots(const struct as_op_sequence *s, unsigned ilp);

/* The program, behind timed.kernel: chains, and each operation once. ilp: chains for each operation that stands in the
 * sequence. whole: steps of a chain in the long body, a multiple of 24. one_kernel: all of it is a kernel "chains",
 * else there are "walk", "half_body", "whole_body" and "once". */
void as_op_source(const struct as_op_sequence *s, unsigned ilp, unsigned whole, bool one_kernel, struct as_buf *out);

#endif
