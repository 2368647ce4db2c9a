/* Path tiled on CPUs with SVE: the kernels that tiled_sve.py generates, for vectors of any length. */
#ifndef AS_LIB_GEMM_TILED_SVE_H
#define AS_LIB_GEMM_TILED_SVE_H

#include "gemm.h"

struct as_tiled_block {
    const void *a, *b; /* four rows each, starting at an element of K */
    void *d;
    uint64_t elements;        /* of K */
    uint64_t in_row, out_row; /* bytes from one row to the next, of a and b, and of d */
    uint64_t add;             /* not 0: adds to d */
};
typedef void as_tiled_sve(const struct as_tiled_block *block);
as_tiled_sve as_native_tiled_sve_4, as_native_tiled_sve_8;

#endif
