/* Common parts of the operation probes: axes and trials. */
#ifndef AS_LIB_OPS_TRIAL_H
#define AS_LIB_OPS_TRIAL_H

#include "native.h"

/* Common axes, for the designated initialisers of their tables. */
#define AS_OP_AXIS(usual) AS_WORD_AXIS("op", as_op_words, usual, "the operation, with its type as suffix")
#define AS_WARPS_AXIS                                                                                                  \
    AS_COUNT_AXIS("warps", 0, 128, "0",                                                                                \
                  "warps (waves) per compute unit, up to what it holds; 0: as many as one workgroup can have",         \
                  .zero = "full")
#define AS_OPERANDS_AXIS                                                                                               \
    AS_COUNT_AXIS("operands", 0, 3, "0",                                                                               \
                  "registers that an operation reads: 3 all operands differ, 2 the third is the second (x*y+y), 1 "    \
                  "the second is the first (x*x+z); 0: 2 if the operation has that form, else 3",                      \
                  .zero = "usual")
#define AS_STEPS_AXIS                                                                                                  \
    AS_COUNT_AXIS(                                                                                                     \
        "steps", 0, 6144, "0",                                                                                         \
        "operations per chain in the loop body, a multiple of 24, with loop overhead; 0: as many as make about 768 "   \
        "instructions, without loop overhead",                                                                         \
        .zero = "fitting")
#define AS_WIDTH_AXIS                                                                                                  \
    AS_WORD_AXIS("width", as_native_width_words, "scalar",                                                             \
                 "CPU: scalar, vector width in bits, or sve: the CPU's SVE vector length; devices: scalar")
/* Operation, operands, steps and threads of the axes, if present; the caller sets the rest. No sequence for an unknown
 * operation. */
struct as_chains_desc as_ops_desc(const struct as_device_info *info, const struct as_axes *axes);
/* ilp 0: the default number of chains for throughput. */
enum as_applies as_ops_apply(const struct as_device_info *info, const struct as_axes *axes,
                             const struct as_chains_desc *desc, struct as_error *err);

struct as_ops_trial {
    bool is_native; /* by native CPU instructions */
    bool with_loop; /* with the axis 'steps': the time of the whole loop */
    struct as_chains chains;
    struct as_native_trial native;
    struct as_chains_time last;
    bool per_sequence; /* times are of a sequence of a warp, not of a step */
};
/* Further metrics of the operation probes, of samples whose clock is known; ends with a NULL name. */
extern const struct as_metric as_ops_time[], as_ops_rate[];
enum as_status as_ops_prepare(struct as_trial_context *tc, const struct as_chains_desc *desc, struct as_ops_trial *v,
                              struct as_error *err);
/* One measurement into last, and its sample except the value. */
/* Bounds a dependent chain at one cycle per step for OpenCL on a CPU, where no machine code is counted. Not for
 * conversions: they may be free moves. */
void as_ops_limit_chain(struct as_trial_context *tc, const struct as_chains_desc *desc);
enum as_status as_ops_sample(struct as_ops_trial *v, uint64_t reps, struct as_sample *out, struct as_error *err);
bool as_ops_check(void *state, char *why, size_t size);
void as_ops_finish(void *state);

#endif
