/* Matrix units in software: what is known of how matrix units add, with a knob for each way in which they differ. An
 * experiment that tells of a unit how it adds is tried on these first; and what it tells of a device is put into one,
 * which then has to give the device's results bit for bit. */
#ifndef AS_LIB_MMA_MODEL_H
#define AS_LIB_MMA_MODEL_H

#include "unit.h"

enum { AS_MATRIX_K_MOST = 256 };

/* How the products of a step become one number. */
enum as_sum_inside {
    AS_SUM_AT_ONCE, /* aligned to the largest of them, what lies too low is cut off, then added */
    AS_SUM_PAIRS,   /* neighbours, then neighbouring sums, each sum rounded */
};
/* When the accumulator that goes in is added; to partial sums it is last. */
enum as_sum_start {
    AS_START_TOGETHER, /* it is one of those that the first step adds; the later steps have what came before */
    AS_START_EACH,     /* each step's products are added among themselves and rounded, then to what came before */
    AS_START_LAST,     /* after all products; the steps before it have what came before among them */
};
enum { AS_KEPT_ALL = 0 };

struct as_arithmetic {
    unsigned step; /* products of one step, 1: one after another */
    enum as_sum_inside inside;
    enum as_sum_start start;
    unsigned sums; /* partial sums, each from 0, that take the products by turns and are then added in pairs; 0: one */
    unsigned product; /* fraction bits of a product, cut off toward zero, 0: all of them */
    unsigned kept;    /* fraction bits of each summand below the first digit of the largest, AS_KEPT_ALL: any number */
    bool by_factors;  /* a product's first digit counts as where its factors' exponents add up to, also when it is one
                         place higher, as of 1.5 x 1.5, or their first digits are lower, as of subnormal numbers */
    enum as_rounding cut;    /* what becomes of a summand's digits below those */
    unsigned digits;         /* fraction bits of the result, 0: as many as its format has */
    enum as_rounding result; /* how a step's sum is rounded to them */
    enum as_overflow overflow;
    bool flush_a, flush_b, flush_c, flush_d; /* subnormal numbers count as 0 */
    bool zero_plus;                          /* a sum that is 0 is +0, also where all summands are -0 */
    uint64_t nan;                            /* the code of a NaN that comes out */
    bool payload;                            /* the accumulator's NaN comes out as it went in */
    uint8_t of_step[AS_MATRIX_K_MOST];       /* the step of each k; all 0: step after step as they lie */
};

struct as_matrix_model {
    struct as_matrix_unit unit; /* its ctx is the model */
    struct as_arithmetic how;
    /* planted faults */
    unsigned skipped_k; /* 1 + the k that is left out, 0: none */
};
/* AS_UNSUPPORTED where k is too large. */
enum as_status as_matrix_model_start(struct as_matrix_model *model, const char *a, const char *b, const char *c,
                                     unsigned m, unsigned n, unsigned k, const struct as_arithmetic *how,
                                     struct as_error *err);
/* IEEE 754's fused multiply-add of one product after another, nothing flushed, in the format of the accumulator. */
struct as_arithmetic as_arithmetic_of_fma(const struct as_number_format *c);

#endif
