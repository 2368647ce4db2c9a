#include "trial.h"

#include "lib/checks/checks.h"

#include <stdio.h>

const char *const as_peak_operand_words[] = {"random", "zero", NULL};

const struct as_matrix *as_matrix_asked(const struct as_axes *axes, unsigned *n)
{
    const struct as_matrix *m = as_matrix_find(as_axes_text(axes, "instruction"));
    *n = (unsigned)as_axes_u64(axes, "n");
    return m && as_matrix_columns(m, *n) ? m : NULL;
}

bool as_peak_desc(const struct as_axes *axes, struct as_peak_desc *out)
{
    *out = (struct as_peak_desc){.matrix = as_matrix_find(as_axes_text(axes, "instruction")),
                                 .n = (unsigned)as_axes_u64(axes, "n"),
                                 .chains = (unsigned)as_axes_u64(axes, "chains"),
                                 .warps = (unsigned)as_axes_u64(axes, "warps"),
                                 .operands =
                                     (enum as_peak_operands)as_word_index(axes, "operands", as_peak_operand_words)};
    return out->matrix && out->operands <= AS_PEAK_ZERO;
}

void as_peak_limit(struct as_trial_context *tc, double documented)
{
    tc->limit = documented;
    snprintf(tc->limit_why, sizeof tc->limit_why, "documented rate per compute unit of %s", tc->dev->info.arch);
}

double as_peak_patience(const struct as_device_info *info, const struct as_axes *axes)
{
    (void)info, (void)axes;
    return 30; /* the driver compiles the kernels first */
}

enum as_applies as_peak_trial_applies(const struct as_device_info *info, const struct as_axes *axes,
                                      struct as_error *err)
{
    struct as_peak_desc d;
    return as_peak_desc(axes, &d) ? as_peak_applies(info, &d, err) : AS_PRUNED;
}

enum as_status as_peak_trial_prepare(struct as_trial_context *tc, const struct as_peak_desc *desc,
                                     struct as_peak_trial *v, struct as_error *err)
{
    return as_peak_prepare(&v->peak, tc, desc, err);
}

enum as_status as_peak_trial_measure(struct as_peak_trial *v, uint64_t reps, struct as_error *err)
{
    if (v->rest_s > 0)
        as_sleep(v->rest_s);
    return as_peak_measure(&v->peak, (uint32_t)reps, &v->last, err);
}

bool as_peak_trial_check(void *state, char *why, size_t size)
{
    struct as_peak_trial *v = state;
    return as_peak_check(&v->peak, why, size);
}

void as_peak_trial_finish(void *state)
{
    struct as_peak_trial *v = state;
    as_peak_finish(&v->peak);
}
