/* What the probes of matrix instructions have alike. */
#ifndef AS_LIB_MMA_TRIAL_H
#define AS_LIB_MMA_TRIAL_H

#include "peak.h"

/* Axes that they share, for the designated initialisers of their tables. */
#define AS_MATRIX_AXIS(usual)                                                                                          \
    {                                                                                                                  \
        .name = "instruction",                                                                                         \
        .help = "the matrix instruction: its shape, the formats of its factors, that of their sum",                    \
        .type = AS_AXIS_WORD, .words = as_matrix_words, .def = usual                                                   \
    }
#define AS_COLUMNS_AXIS                                                                                                \
    {                                                                                                                  \
        .name = "n", .help = "columns of the product, of instructions that leave a choice; 0: the most",               \
        .type = AS_AXIS_COUNT, .max = 256, .def = "0", .zero = "most"                                                  \
    }
#define AS_OPERANDS_WORDS_AXIS(usual)                                                                                  \
    {                                                                                                                  \
        .name = "operands", .help = "what is multiplied: random numbers, or zeros, which take less power",             \
        .type = AS_AXIS_WORD, .words = as_peak_operand_words, .def = usual                                             \
    }
extern const char *const as_peak_operand_words[]; /* as in enum as_peak_operands */

/* The instruction that the axes ask for and its columns, 0: its own or the most; NULL where none has so many. */
const struct as_matrix *as_matrix_asked(const struct as_axes *axes, unsigned *n);
/* The instruction, its columns and operands as the axes say, chains and warps where there are such axes; false where
 * there is no such instruction. */
bool as_peak_desc(const struct as_axes *axes, struct as_peak_desc *out);
/* Bound of the value: what is documented of the device's architecture. */
void as_peak_limit(struct as_trial_context *vc, double documented);
double as_peak_patience(const struct as_device_info *info, const struct as_axes *axes);

enum as_applies as_peak_trial_applies(const struct as_device_info *info, const struct as_axes *axes,
                                      struct as_error *err);

struct as_peak_trial {
    struct as_peak peak;
    struct as_peak_time last;
    double rest_s; /* before each sample */
};
enum as_status as_peak_trial_prepare(struct as_trial_context *vc, const struct as_peak_desc *desc, void **state,
                                     struct as_error *err);
enum as_status as_peak_trial_measure(struct as_peak_trial *v, uint64_t reps, struct as_error *err); /* into last */
bool as_peak_trial_check(void *state, char *why, size_t size);
void as_peak_trial_finish(void *state);

#endif
