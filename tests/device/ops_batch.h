/* Sequences of operations compiled without a device, several per source, which takes less time than separate ones.
 * Every step must contain the instructions of its operations. */
#ifndef AS_TESTS_DEVICE_OPS_BATCH_H
#define AS_TESTS_DEVICE_OPS_BATCH_H

#include "device/device.h"
#include "lib/ops/code.h"

enum {
    OPS_BATCH_MOST = 24,
    OPS_BATCH_STEPS = 24 /* of the long body */,
    OPS_BATCH_BRIEF = 4 /* a sample of one in this many */,
    OPS_BATCH_BARRIERS = 5 /* around the readings of the clock */
};
struct ops_batch_part {
    struct as_op_sequence sequence;
    const char *name;
    unsigned ilp, steps; /* of the long body; 0: OPS_BATCH_STEPS */
    bool fails;          /* expected to lack them */
    const char *without; /* an instruction that steps must not have; NULL: any may be there */
};
struct ops_batch {
    const char *arch;
    enum as_dialect dialect;
    const char *defines;
    size_t together; /* number in one source, at most OPS_BATCH_MOST */
    /* *code is owned by the caller */
    enum as_status (*compile)(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                              struct as_error *err);
    enum as_status (*count)(const unsigned char *code, size_t bytes, const char *kernel, struct as_instructions *out,
                            struct as_error *err);
    const char *barrier;   /* the instruction of which kernels have OPS_BATCH_BARRIERS: none was merged; NULL: any */
    size_t seen, wrong, n; /* of all so far; and of those pending */
    struct ops_batch_part part[OPS_BATCH_MOST];
};

/* One program of them, in which kernels of the i-th part are "walk_i", "half_body_i", "whole_body_i" and "once_i". The
 * walk has the text of the half body here; it may be left out where nobody runs it. */
void ops_batch_source(const struct ops_batch_part *part, size_t n, bool walk, struct as_buf *out);
/* Does the dialect have each of its operations? */
bool ops_batch_has_all(const struct ops_batch *b, const struct as_op_sequence *sequence);
void ops_batch_add(struct ops_batch *b, const struct ops_batch_part *part);
/* Compiles the pending ones. The test fails if one was not as expected, or if there were at most `least`. */
void ops_batch_finish(struct ops_batch *b, size_t least);

#endif
