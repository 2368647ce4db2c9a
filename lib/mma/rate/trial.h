/* Common parts of the matrix instruction probes. */
#ifndef AS_LIB_MMA_RATE_TRIAL_H
#define AS_LIB_MMA_RATE_TRIAL_H

#include "peak.h"

/* Common axes, for the designated initialisers of their tables. */
#define AS_MATRIX_AXIS(usual)                                                                                          \
    AS_WORD_AXIS("instruction", as_matrix_words, usual,                                                                \
                 "the matrix instruction: shape, operand formats, accumulator format")
#define AS_COLUMNS_AXIS                                                                                                \
    AS_COUNT_AXIS("n", 0, 256, "0", "columns, if the instruction has a choice; 0: the maximum", .zero = "most")
#define AS_OPERANDS_WORDS_AXIS(usual)                                                                                  \
    AS_WORD_AXIS("operands", as_peak_operand_words, usual, "random operands, or zeros, which take less power")
extern const char *const as_peak_operand_words[]; /* as in enum as_peak_operands */

/* The instruction and columns of the axes, 0: its own or the maximum; NULL if it cannot have that number. */
const struct as_matrix *as_matrix_asked(const struct as_axes *axes, unsigned *n);
/* Instruction, columns and operands of the axes, chains and warps if they are axes; false without such an instruction.
 */
bool as_peak_desc(const struct as_axes *axes, struct as_peak_desc *out);
/* Bound of the value: the architecture's documented rate. */
void as_peak_limit(struct as_trial_context *tc, double documented);
double as_peak_patience(const struct as_device_info *info, const struct as_axes *axes);

enum as_applies as_peak_trial_applies(const struct as_device_info *info, const struct as_axes *axes,
                                      struct as_error *err);

struct as_peak_trial {
    struct as_peak peak;
    struct as_peak_time last;
    double rest_s; /* before each sample */
};
enum as_status as_peak_trial_prepare(struct as_trial_context *tc, const struct as_peak_desc *desc,
                                     struct as_peak_trial *v, struct as_error *err);
enum as_status as_peak_trial_measure(struct as_peak_trial *v, uint64_t reps, struct as_error *err); /* into last */
bool as_peak_trial_check(void *state, char *why, size_t size);
void as_peak_trial_finish(void *state);

#endif
