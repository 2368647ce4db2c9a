/* Sequences of operations in one program: "imul32+3*ffma32". Each occurrence of an operation has its own chains. */
#ifndef AS_LIB_OPS_SEQUENCE_H
#define AS_LIB_OPS_SEQUENCE_H

#include "ops.h"

enum { AS_OP_PARTS = 6, AS_OP_CHAINS = 16 }; /* operations of a sequence; chains per thread */

struct as_op_part {
    const struct as_op *op;
    unsigned count;
    bool passes;       /* without its link: as_op_sequence_pass */
    unsigned operands; /* 3 all differ, 2 the third is the second, 1 the second is the first: see part.kernel */
};
struct as_op_sequence {
    struct as_op_part part[AS_OP_PARTS];
    size_t n;
};

/* One operation alone; its usual form with operands 0. */
struct as_op_sequence as_op_alone(const struct as_op *op, unsigned operands);
/* For throughput, where values do not matter: leaves out links that would share a pipe with their operation. */
void as_op_sequence_pass(struct as_op_sequence *s);
/* The operation that turns a result into an operand, NULL: none. */
const char *as_op_part_link(const struct as_op_part *part);
/* Parses text, each in its usual form. AS_UNSUPPORTED with the word for an unknown operation. */
enum as_status as_op_sequence_parse(const char *text, struct as_op_sequence *out, struct as_error *err);
/* Operations per pass, and their approximate instruction count. */
unsigned as_op_sequence_count(const struct as_op_sequence *s);
unsigned as_op_sequence_weight(const struct as_op_sequence *s);
/* Steps per chain in a long body of about this many instructions. */
enum {
    AS_OP_STEPS_LEAST = 24 /* the short one has half, and steps come in twelves */,
    AS_OP_BODY = 768 /* on a GPU */
};
unsigned as_op_sequence_steps(const struct as_op_sequence *s, unsigned ilp, unsigned body);
/* 64-bit results per thread. */
unsigned as_op_sequence_slots(const struct as_op_sequence *s, unsigned ilp);

/* The program, after record.kernel: chains, and each operation once. ilp: chains per operation of the sequence. whole:
 * steps per chain in the long body, a multiple of 24. one_kernel: a single kernel "chains", else "walk", "half_body",
 * "whole_body" and "once". */
void as_op_source(const struct as_op_sequence *s, unsigned ilp, unsigned whole, bool one_kernel, struct as_buf *out);

#endif
