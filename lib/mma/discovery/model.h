/* Software models of matrix units, with a parameter for each known difference. Tests run the experiments on them; and a
 * model built from a device's findings must reproduce its results bit for bit. */
#ifndef AS_LIB_MMA_DISCOVERY_MODEL_H
#define AS_LIB_MMA_DISCOVERY_MODEL_H

#include "lib/mma/instructions/unit.h"

enum { AS_MATRIX_K_MOST = 256 };

/* How the products of a step are summed. */
enum as_sum_inside {
    AS_SUM_AT_ONCE, /* aligned to the largest, truncated, then added */
    AS_SUM_PAIRS,   /* pairwise, each sum rounded */
};
/* When the input accumulator is added; last with partial sums. */
enum as_sum_start {
    AS_START_TOGETHER, /* a summand of the first step; later steps take the previous sum */
    AS_START_EACH,     /* each step's products are summed and rounded, then added to the previous sum */
    AS_START_LAST,     /* after all products; steps include the previous sum */
};
enum { AS_KEPT_ALL = 0 };

struct as_arithmetic {
    unsigned step; /* products per step, 1: one after another */
    enum as_sum_inside inside;
    enum as_sum_start start;
    unsigned sums; /* partial sums, each from 0, that take the products in turn and are then added pairwise; 0: one */
    unsigned product; /* fraction bits of a product, truncated, 0: all */
    unsigned kept;    /* fraction bits of each summand below the leading bit of the largest, AS_KEPT_ALL: any number */
    bool by_factors;  /* a product is aligned by the sum of its factors' exponents, even if its leading bit is one place
                         higher (1.5 x 1.5) or lower (subnormals) */
    enum as_rounding cut;    /* rounding of a summand's bits below those */
    unsigned digits;         /* fraction bits of the result, 0: its format's */
    enum as_rounding result; /* rounding of a step's sum */
    enum as_overflow overflow;
    bool flush_a, flush_b, flush_c, flush_d; /* subnormals are flushed to 0 */
    bool zero_plus;                          /* a zero sum is +0, even if all summands are -0 */
    uint64_t nan;                            /* the NaN result's code */
    bool payload;                            /* the accumulator's NaN propagates */
    uint8_t of_step[AS_MATRIX_K_MOST];       /* the step of each k; all 0: in order */
};

struct as_matrix_model {
    struct as_matrix_unit unit; /* its ctx is the model */
    struct as_arithmetic how;
    /* planted faults */
    unsigned skipped_k; /* 1 + the omitted k, 0: none */
};
/* AS_UNSUPPORTED if k is too large. */
enum as_status as_matrix_model_start(struct as_matrix_model *model, const char *a, const char *b, const char *c,
                                     unsigned m, unsigned n, unsigned k, const struct as_arithmetic *how,
                                     struct as_error *err);
/* Sequential IEEE 754 fused multiply-adds, nothing flushed, in the accumulator's format. */
struct as_arithmetic as_arithmetic_of_fma(const struct as_number_format *c);

#endif
