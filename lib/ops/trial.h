/* What the probes of operations have alike: their axes and their trials. */
#ifndef AS_LIB_OPS_TRIAL_H
#define AS_LIB_OPS_TRIAL_H

#include "native.h"

/* Axes that they share, for the designated initialisers of their tables. */
#define AS_OP_AXIS(usual)                                                                                              \
    {                                                                                                                  \
        .name = "op", .help = "the operation, its type behind its name", .type = AS_AXIS_WORD, .words = as_op_words,   \
        .def = (usual)                                                                                                 \
    }
#define AS_WARPS_AXIS                                                                                                  \
    {                                                                                                                  \
        .name = "warps",                                                                                               \
        .help = "groups of lanes that go together (warps, waves) on a unit at a time; 0: as many as one group can "    \
                "have",                                                                                                \
        .type = AS_AXIS_COUNT, .max = 64, .def = "0", .zero = "full"                                                   \
    }
#define AS_OPERANDS_AXIS                                                                                               \
    {                                                                                                                  \
        .name = "operands",                                                                                            \
        .help = "registers that an operation reads: 3 all its operands differ, 2 the third is the second (x*y+y), 1 "  \
                "the second is the first (x*x+z); 0: 2 where the operation has that form, else 3",                     \
        .type = AS_AXIS_COUNT, .max = 3, .def = "0", .zero = "usual"                                                   \
    }
#define AS_STEPS_AXIS                                                                                                  \
    {                                                                                                                  \
        .name = "steps",                                                                                               \
        .help =                                                                                                        \
            "operations of a chain in the body of its loop, a multiple of 24, and then the loop counts too; 0: as "    \
            "many as make about 768 instructions, without the loop",                                                   \
        .type = AS_AXIS_COUNT, .max = 6144, .def = "0", .zero = "fitting"                                              \
    }
#define AS_WIDTH_AXIS                                                                                                  \
    {                                                                                                                  \
        .name = "width", .help = "CPU: one number in a register, or a vector of so many bits; devices: scalar",        \
        .type = AS_AXIS_WORD, .words = as_native_width_words, .def = "scalar"                                          \
    }
/* The operation, its operands, steps and threads as the axes say, as far as there are such; the rest is the caller's.
 * No sequence where there is no such operation. */
struct as_chains_desc as_ops_desc(const struct as_device_info *info, const struct as_axes *axes);
/* ilp 0: as many chains as are usual for throughput. */
enum as_applies as_ops_apply(const struct as_device_info *info, const struct as_axes *axes,
                             const struct as_chains_desc *desc, struct as_error *err);

struct as_ops_trial {
    bool is_native; /* by a CPU's own instructions */
    bool with_loop; /* the axis says how many steps: what a loop of so many takes */
    struct as_chains chains;
    struct as_native_trial native;
    struct as_chains_time last;
};
enum as_status as_ops_prepare(struct as_trial_context *vc, const struct as_chains_desc *desc, void **state,
                              struct as_error *err);
/* One measurement into last, and the sample of it but for its value. */
enum as_status as_ops_sample(struct as_ops_trial *v, uint64_t reps, struct as_sample *out, struct as_error *err);
bool as_ops_check(void *state, char *why, size_t size);
void as_ops_finish(void *state);
double as_ops_patience(const struct as_device_info *info, const struct as_axes *a);

#endif
