/* GEMM by a BLAS library that is found at run time. */
#include "device/cpu/cpu.h"

#include "base/clock.h"
#include "base/library.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Libraries with their own threads and kernels come first. */
static const char *const library_names[] = {
    "libopenblas.so.0",  "libopenblas.so",
    "libblis.so.4",      "libblis.so",
    "libmkl_rt.so.2",    "libmkl_rt.so",
    "libcblas.so.3",     "libblas.so.3",
    "libopenblas.dylib", "/System/Library/Frameworks/Accelerate.framework/Accelerate"};

/* The common CBLAS interface. */
enum { ROWS_FIRST = 101, AS_IT_IS = 111, TRANSPOSED = 112 };
typedef void f32_gemm(int order, int a_how, int b_how, int m, int n, int k, float alpha, const float *a, int a_row,
                      const float *b, int b_row, float beta, float *d, int d_row);
typedef void f64_gemm(int order, int a_how, int b_how, int m, int n, int k, double alpha, const double *a, int a_row,
                      const double *b, int b_row, double beta, double *d, int d_row);
struct blas {
    void *library; /* NULL: not searched yet, or not found */
    const char *found;
    f32_gemm *f32;
    f64_gemm *f64;
};

struct as_vendor_gemm {
    struct blas blas;
    struct as_vendor_gemm_desc desc;
    bool is_f64;
    char name[160];
};

static enum as_status cpu_blas_load(struct blas *blas, struct as_error *err)
{
    char why[300] = "";
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names; i++) {
        void *library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
        const char *words = library ? NULL : dlerror();
        if (words && i == 0)
            snprintf(why, sizeof why, "%s", words);
        if (!library)
            continue;
        const char *missing = NULL;
        *blas = (struct blas){.library = library, .found = library_names[i]};
        as_library_function(library, "cblas_sgemm", &blas->f32, &missing);
        as_library_function(library, "cblas_dgemm", &blas->f64, &missing);
        if (!missing)
            return AS_OK;
        if (!why[0])
            snprintf(why, sizeof why, "%s has no function '%s'", library_names[i], missing);
    }
    return as_fail(err, AS_UNSUPPORTED, "%s; install OpenBLAS or BLIS, or add its folder to LD_LIBRARY_PATH", why);
}

/* "OpenBLAS 0.3.21 ..." if the library reports it. */
static void find_name(struct as_vendor_gemm *g)
{
    typedef char *config(void);
    config *tell = NULL;
    as_library_function(g->blas.library, "openblas_get_config", &tell, NULL);
    const char *words = tell ? tell() : NULL;
    snprintf(g->name, sizeof g->name, "%s", words && words[0] ? words : g->blas.found);
}

static enum as_status cpu_blas_gemm_create(struct as_device *dev, const struct as_vendor_gemm_desc *d,
                                           struct as_vendor_gemm **out, struct as_error *err)
{
    struct blas blas = {0};
    bool f64 = strcmp(d->in, "f64") == 0, same = strcmp(d->in, d->sum) == 0 && strcmp(d->in, d->out) == 0;
    const unsigned bytes = f64 ? sizeof(double) : sizeof(float);
    *out = NULL;
    if (!same || (!f64 && strcmp(d->in, "f32") != 0))
        return as_fail(err, AS_UNSUPPORTED, "BLAS libraries multiply f32 and f64 matrices, not %s", d->in);
    enum as_status st = as_vendor_gemm_check(d, bytes, bytes, err);
    if (st)
        return st;
    as_cpu_machine_release(as_cpu(dev)->machine); /* the library starts threads, which inherit the affinity */
    if ((st = cpu_blas_load(&blas, err)))
        return st;
    struct as_vendor_gemm *g = calloc(1, sizeof *g);
    if (!g)
        return as_nomem(err, sizeof *g, "a GEMM");
    *g = (struct as_vendor_gemm){.blas = blas, .desc = *d, .is_f64 = f64};
    find_name(g);
    *out = g;
    return AS_OK;
}

/* The library stays loaded, since its threads may still run. */
static void cpu_blas_gemm_destroy(struct as_device *dev, struct as_vendor_gemm *g)
{
    (void)dev;
    free(g);
}

static enum as_status cpu_blas_gemm_run(struct as_device *dev, struct as_vendor_gemm *g, uint64_t reps,
                                        struct as_timing *out, struct as_error *err)
{
    const struct as_vendor_gemm_desc *d = &g->desc;
    const void *a = as_cpu_memory_address(d->a), *b = as_cpu_memory_address(d->b);
    void *to = as_cpu_memory_address(d->d);
    const int m = (int)d->m, n = (int)d->n, k = (int)d->k, a_row = d->a_transposed ? m : k,
              b_row = d->b_transposed ? k : n;
    const int a_how = d->a_transposed ? TRANSPOSED : AS_IT_IS, b_how = d->b_transposed ? TRANSPOSED : AS_IT_IS;
    (void)err;
    as_cpu_machine_release(as_cpu(dev)->machine);
    double start = as_now();
    for (uint64_t i = 0; i < reps; i++)
        if (g->is_f64)
            g->blas.f64(ROWS_FIRST, a_how, b_how, m, n, k, 1, a, a_row, b, b_row, 0, to, n);
        else
            g->blas.f32(ROWS_FIRST, a_how, b_how, m, n, k, 1, a, a_row, b, b_row, 0, to, n);
    *out = (struct as_timing){.host_s = as_now() - start, .device_s = NAN, .cycles = NAN};
    return AS_OK;
}

static const char *cpu_blas_gemm_name(const struct as_vendor_gemm *g)
{
    return g->name;
}

const struct as_vendor_gemm_ops as_cpu_gemm_ops = {
    .create = cpu_blas_gemm_create,
    .destroy = cpu_blas_gemm_destroy,
    .run = cpu_blas_gemm_run,
    .name = cpu_blas_gemm_name,
};
