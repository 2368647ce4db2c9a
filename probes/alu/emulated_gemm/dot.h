/* Exact dot products of f64, and how far a computed one is from them. */
#ifndef AS_PROBES_ALU_EMULATED_GEMM_DOT_H
#define AS_PROBES_ALU_EMULATED_GEMM_DOT_H

#include <stddef.h>

struct as_dot {
    double error;   /* |computed - exact|, rounded */
    double size;    /* sum of the products' magnitudes, rounded */
    double largest; /* the product of both rows' largest magnitudes, rounded up to a power of two each */
};
/* a and b: n finite numbers each, of magnitude 0 or 2^-200 to 2^200. */
struct as_dot as_dot_error(const double *a, const double *b, size_t n, double computed);
/* Bound of the error by `slices` slices of 7 bits; 0: by n fused multiply-adds in f64. */
double as_dot_bound(const struct as_dot *d, size_t n, unsigned slices);

#endif
