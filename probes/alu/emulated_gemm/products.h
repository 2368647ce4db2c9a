/* GEMMs of slices, or of f64, by the device's best path for them. */
#ifndef AS_PROBES_EMULATED_GEMM_PRODUCTS_H
#define AS_PROBES_EMULATED_GEMM_PRODUCTS_H

#include "lib/gemm/gemm.h"

enum { AS_SLICES_MAX = 9 };

/* GEMM t multiplies t + 1 slice pairs of equal significance, concatenated along K, so their sums need no scaling; f64
 * (slices 0) has one GEMM. The memory is the owner's. */
struct as_products {
    struct as_gemm gemm[AS_SLICES_MAX];
    unsigned n;
};

/* AS_INAPPLICABLE with the reason where the device has no path for them. */
enum as_applies as_products_apply(const struct as_device_info *info, uint64_t size, unsigned slices,
                                  struct as_error *err);
/* a, b and d: of each product, n x (t + 1) n bytes for slices, n x n f64 else; d in i32 for slices. */
enum as_status as_products_prepare(struct as_products *p, struct as_device *dev, uint64_t size, unsigned slices,
                                   struct as_memory *const *a, struct as_memory *const *b, struct as_memory *const *d,
                                   struct as_error *err);
/* All products, one after another. */
enum as_status as_products_run(struct as_products *p, double *seconds, struct as_error *err);
void as_products_finish(struct as_products *p);

#endif
