/* Operations by a CPU's own instructions: the chains that native.py writes, checked against the host's references and
 * timed on one pinned thread. */
#ifndef AS_LIB_OPS_NATIVE_H
#define AS_LIB_OPS_NATIVE_H

#include "chains.h"
#include "probe/probe.h"

/* What a step computes at once: one number, or a vector of so many bits. */
enum as_native_width { AS_NATIVE_SCALAR, AS_NATIVE_128, AS_NATIVE_256, AS_NATIVE_512, AS_NATIVE_WIDTHS };
extern const char *const as_native_width_words[]; /* ends with NULL */

/* So far apart lie states, and operands; each holds one vector or number. */
enum { AS_NATIVE_SLOT = 64, AS_NATIVE_CHAINS = 12, AS_NATIVE_BODIES = 6 };
/* So many turns of a body on as many states as it has chains. operands: the second one of even steps, of odd steps, the
 * third one. */
typedef void as_native_run(void *states, const void *operands, uint64_t turns);

struct as_native_body {
    const char *name; /* of its two functions, less "_half" and "_whole" */
    unsigned chains;
    unsigned steps;        /* of a chain in the long body; the short one has half of them */
    unsigned instructions; /* of a step, with its link */
    bool apart;            /* no chains but as many results: each is the operation on the first state */
    as_native_run *half, *whole;
};
struct as_native {
    const char *op;
    enum as_native_width width;
    unsigned lanes;
    unsigned needs;     /* bits of enum as_cpu_set */
    const char *text;   /* the instructions, with $d, $a, ... for registers */
    const char *link;   /* what comes between the steps of a chain, NULL nothing */
    const char *wanted; /* the instruction that the operation is about */
    enum as_op_domain a, b, c;
    as_native_run *once;                            /* turns: 1; the operation, without the link */
    as_native_run *step;                            /* with it */
    struct as_native_body bodies[AS_NATIVE_BODIES]; /* the last may be apart; ends with a NULL name */
};
extern const struct as_native as_natives[]; /* ends with a NULL op */

/* What a body works on. */
struct as_native_operands {
    _Alignas(64) unsigned char states[AS_NATIVE_CHAINS][AS_NATIVE_SLOT], others[3][AS_NATIVE_SLOT];
};
void as_native_draw(const struct as_native *n, const struct as_op *op, struct as_rng *rng,
                    struct as_native_operands *out);

/* Instructions of a kernel by name, counted in the object file when assay was built. */
struct as_native_count {
    uint16_t name, n; /* name: index in as_native_names */
};
struct as_native_code {
    const char *symbol;
    uint32_t first, n; /* in as_native_counts */
};
extern const char *const as_native_names[];
extern const struct as_native_count as_native_counts[];
extern const struct as_native_code as_native_codes[]; /* sorted by symbol */
extern const size_t as_native_codes_n;
extern const char as_native_codes_why[]; /* why none are counted; "" where they are */

const struct as_native *as_native_find(const char *op, enum as_native_width width);
/* Of so many chains; 0: the usual body for throughput. NULL: there is none. */
const struct as_native_body *as_native_body(const struct as_native *n, unsigned chains);

/* What an operation in one width, in one body is; width and body as axes say (chains: the axis 'ilp'). */
struct as_native_desc {
    const struct as_op *op;
    enum as_native_width width;
    unsigned chains;
};
enum as_applies as_native_apply(const struct as_device_info *info, const struct as_native_desc *desc,
                                struct as_error *err);

struct as_native_trial {
    const struct as_op *op;
    const struct as_native *native;
    const struct as_native_body *body, *tick;
    struct as_device *dev;
    struct as_program *program;
    struct as_kernel *kernel;
    struct as_memory *ticks;
    struct as_native_operands start;
    uint64_t seed;
};
enum as_status as_native_prepare(struct as_native_trial *v, struct as_trial_context *vc,
                                 const struct as_native_desc *desc, struct as_error *err);
/* operations: results of a step of all chains. */
enum as_status as_native_measure(struct as_native_trial *v, uint64_t turns, struct as_chains_time *out,
                                 struct as_error *err);
/* The operation on drawn operands against the reference, and the ends of both bodies against single steps. */
bool as_native_check(const struct as_native *native, const struct as_op *op, const struct as_native_body *body,
                     uint64_t seed, char *why, size_t size);
/* The instructions of the function `name` and `which` behind it; false where none were counted. */
bool as_native_counted(const char *name, const char *which, struct as_instructions *out);
/* What the machine code says of a body, for the code gate. */
enum as_gate_state as_native_code_gate(const struct as_native *native, const struct as_native_body *body, char *text,
                                       size_t size);
void as_native_finish(struct as_native_trial *v);

#endif
