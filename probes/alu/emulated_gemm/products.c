#include "products.h"

/* Best first, each with square tiles that fit; the fragments of unspecified layout are the same unit as mma. */
static const enum as_gemm_path paths[] = {AS_GEMM_LIBRARY, AS_GEMM_WGMMA, AS_GEMM_TENSOR,
                                          AS_GEMM_MMA,     AS_GEMM_DOT,   AS_GEMM_TILED};
enum { PATHS = sizeof paths / sizeof *paths };

static struct as_gemm_desc products_desc(enum as_gemm_path path, uint64_t size, unsigned slices, unsigned t)
{
    return (struct as_gemm_desc){.path = path,
                                 .type = slices ? AS_GEMM_S8 : AS_GEMM_F64,
                                 .m = size,
                                 .n = size,
                                 .k = size * (slices ? t + 1 : 1)};
}

static bool products_has(const struct as_device_info *info, enum as_gemm_path path, uint64_t size, unsigned slices,
                         struct as_error *err)
{
    bool has = true;
    for (unsigned t = 0; t < (slices ? slices : 1) && has; t++) {
        const struct as_gemm_desc d = products_desc(path, size, slices, t);
        has = as_gemm_applies(info, &d, err) == AS_APPLIES;
    }
    return has;
}

enum as_applies as_products_apply(const struct as_device_info *info, uint64_t size, unsigned slices,
                                  struct as_error *err)
{
    for (size_t i = 0; i < PATHS; i++)
        if (products_has(info, paths[i], size, slices, err))
            return AS_APPLIES;
    return AS_INAPPLICABLE;
}

static enum as_status products_by(struct as_products *p, struct as_device *dev, enum as_gemm_path path, uint64_t size,
                                  unsigned slices, struct as_memory *const *a, struct as_memory *const *b,
                                  struct as_memory *const *d, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (unsigned t = 0; t < (slices ? slices : 1) && !st; t++) {
        struct as_gemm_desc desc = products_desc(path, size, slices, t);
        desc.a = a[t];
        desc.b = b[t];
        desc.d = d[t];
        st = as_gemm_prepare(&p->gemm[t], dev, &desc, err);
        p->n = t + 1;
    }
    return st;
}

enum as_status as_products_prepare(struct as_products *p, struct as_device *dev, uint64_t size, unsigned slices,
                                   struct as_memory *const *a, struct as_memory *const *b, struct as_memory *const *d,
                                   struct as_error *err)
{
    enum as_status st = as_fail(err, AS_UNSUPPORTED, "the device has no GEMM path for the slices");
    for (size_t i = 0; i < PATHS && st == AS_UNSUPPORTED; i++) {
        struct as_error unused;
        if (!products_has(&dev->info, paths[i], size, slices, &unused))
            continue;
        as_products_finish(p);
        st = products_by(p, dev, paths[i], size, slices, a, b, d, err);
    }
    return st;
}

enum as_status as_products_run(struct as_products *p, double *seconds, struct as_error *err)
{
    enum as_status st = AS_OK;
    *seconds = 0;
    for (unsigned t = 0; t < p->n && !st; t++) {
        struct as_timing timing;
        st = as_gemm_run(&p->gemm[t], 1, &timing, err);
        *seconds += st ? 0 : as_timing_seconds(&timing);
    }
    return st;
}

void as_products_finish(struct as_products *p)
{
    for (unsigned t = 0; t < p->n; t++)
        as_gemm_finish(&p->gemm[t]);
    p->n = 0;
}
