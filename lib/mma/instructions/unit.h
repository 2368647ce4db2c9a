/* The interface of all experiments on a matrix unit: batches of one small multiply-accumulate, by a device's
 * instruction or a software model. */
#ifndef AS_LIB_MMA_INSTRUCTIONS_UNIT_H
#define AS_LIB_MMA_INSTRUCTIONS_UNIT_H

#include "base/error.h"
#include "formats.h"

struct as_matrix_unit {
    const struct as_number_format *a, *b, *c; /* formats of operands, of accumulator and result */
    unsigned m, n, k;
    /* d = a x b + c for `count` independent problems. Row-major a[m][k], b[k][n], c[m][n] and d[m][n], problem by
     * problem, each element as a code of its format. */
    enum as_status (*multiply)(void *ctx, size_t count, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                               uint64_t *d, struct as_error *err);
    void *ctx;
};

#endif
