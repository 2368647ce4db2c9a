/* GEMM by AMD's libraries: hipBLASLt, and rocBLAS for what it lacks. */
#include "device/hip/hip.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct as_vendor_gemm {
    bool by_rocblas;
    struct as_lt_gemm lt;
    struct as_rocblas_gemm rocblas;
};

static void hip_gemm_destroy(struct as_device *dev, struct as_vendor_gemm *g)
{
    (void)dev;
    if (!g)
        return;
    as_lt_finish(&g->lt);
    as_rocblas_finish(&g->rocblas);
    free(g);
}

static enum as_status try_hipblaslt(struct as_vendor_gemm *g, struct as_device *dev, struct as_hip_backend *b,
                                    const struct as_vendor_gemm_desc *desc, struct as_error *err)
{
    const struct as_lt_formats *p;
    enum as_status st = as_hipblaslt_find(desc, &p, err);
    if (!st && !b->hipblaslt.api.library)
        st = as_hipblaslt_load(&b->hipblaslt, err);
    if (st)
        return st;
    st = as_lt_prepare(&g->lt, dev, &b->hipblaslt.lt, desc, p, err);
    if (st)
        as_lt_finish(&g->lt);
    return st;
}

static enum as_status try_rocblas(struct as_vendor_gemm *g, struct as_device *dev, struct as_hip_backend *b,
                                  const struct as_vendor_gemm_desc *desc, struct as_error *err)
{
    const struct as_lt_formats *p;
    g->by_rocblas = true;
    enum as_status st = as_rocblas_find(desc, &p, err);
    if (!st && !b->rocblas.library)
        st = as_rocblas_load(&b->rocblas, err);
    return st ? st : as_rocblas_prepare(&g->rocblas, dev, &b->rocblas, desc, p, err);
}

/* Libraries treat tf32 as a permission, and use f32 on a chip without it. */
static enum as_status check_tf32(const struct as_hip_device *hip, const struct as_vendor_gemm_desc *desc,
                                 struct as_error *err)
{
    static const char *const chips[] = {"gfx940", "gfx941", "gfx942"};
    if (strcmp(desc->in, "tf32") != 0)
        return AS_OK;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (strcmp(hip->target.arch, chips[i]) == 0)
            return AS_OK;
    return as_fail(err, AS_UNSUPPORTED, "%s has no tf32; libraries would compute in f32",
                   hip->target.arch[0] ? hip->target.arch : "this chip");
}

/* Half of the buffer for each. */
static void fail_both(const struct as_error *first, const struct as_error *second, struct as_error *err)
{
    char words[2][250];
    as_fail(err, second->code, "%s; and %s", as_copy_text(words[0], sizeof words[0], first->text),
            as_copy_text(words[1], sizeof words[1], second->text));
}

static enum as_status hip_gemm_create(struct as_device *dev, const struct as_vendor_gemm_desc *desc,
                                      struct as_vendor_gemm **out, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct as_hip_backend *b = (struct as_hip_backend *)gpu->backend;
    struct as_error first = {0}, second = {0};
    *out = NULL;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = check_tf32((const struct as_hip_device *)gpu, desc, err);
    if (st)
        return st;
    struct as_vendor_gemm *g = calloc(1, sizeof *g);
    if (!g)
        return as_nomem(err, sizeof *g, "a GEMM");
    st = try_hipblaslt(g, dev, b, desc, &first);
    if (st == AS_UNSUPPORTED && as_gpu_alive(gpu, NULL) == AS_OK) {
        st = try_rocblas(g, dev, b, desc, &second);
        if (st)
            fail_both(&first, &second, err);
    } else if (st)
        as_fail(err, st, "%s", first.text);
    if (st)
        hip_gemm_destroy(dev, g);
    else
        *out = g;
    return st;
}

static enum as_status hip_gemm_run(struct as_device *dev, struct as_vendor_gemm *g, uint64_t reps,
                                   struct as_timing *out, struct as_error *err)
{
    (void)dev;
    return g->by_rocblas ? as_rocblas_run(&g->rocblas, reps, out, err) : as_lt_run(&g->lt, reps, out, err);
}

static const char *hip_gemm_name(const struct as_vendor_gemm *g)
{
    return g->by_rocblas ? g->rocblas.name : g->lt.name;
}

const struct as_vendor_gemm_ops as_hip_gemm_ops = {
    .create = hip_gemm_create,
    .destroy = hip_gemm_destroy,
    .run = hip_gemm_run,
    .name = hip_gemm_name,
};
