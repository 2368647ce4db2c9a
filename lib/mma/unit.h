/* What every experiment on a matrix unit sees of it: one small multiply-accumulate, many problems at a time.
 * A device's instruction and a model in software look alike through it. */
#ifndef AS_LIB_MMA_UNIT_H
#define AS_LIB_MMA_UNIT_H

#include "base/error.h"
#include "formats.h"

struct as_matrix_unit {
    const struct as_number_format *a, *b, *c; /* operands; accumulator and result */
    unsigned m, n, k;
    /* d = a x b + c of `count` problems that know nothing of each other. Row by row a[m][k], b[k][n], c[m][n] and
     * d[m][n] of one problem after the other, each number as the bits of its format. */
    enum as_status (*multiply)(void *ctx, size_t count, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                               uint64_t *d, struct as_error *err);
    void *ctx;
};

#endif
