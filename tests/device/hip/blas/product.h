/* Shared by the stand-ins for GEMM libraries. FAKE_BLAS in the environment is a list of words that select faults. */
#ifndef AS_TESTS_FAKE_BLAS_PRODUCT_H
#define AS_TESTS_FAKE_BLAS_PRODUCT_H

#include "device/gpu/blaslt.h"
#include "device/hip/blas_functions.h"
#include "device/hip/blas_types.h"
#include "lib/mma/instructions/formats.h"

#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

/* Objects created and not released. */
API int fake_hipblaslt_live(void);
API int fake_hipblaslt_products(void);
API int fake_rocblas_live(void);

static inline bool fake_asked(const char *word)
{
    const char *list = getenv("FAKE_BLAS");
    return list && strstr(list, word);
}

struct fake_matrix { /* column-major */
    const char *format;
    bool transposed;
    const void *at;
};

static inline double fake_get(const struct fake_matrix *m, size_t i)
{
    const struct as_number_format *f = as_number_format(m->format);
    const size_t bytes = f->bits < 8 ? 1 : f->bits / 8;
    uint64_t code = 0;
    memcpy(&code, (const char *)m->at + i * bytes, bytes);
    return as_number_decode(f, code);
}

/* d = a x b with m x n numbers, in f64, rounded once. */
static inline void fake_multiply(const struct fake_matrix *a, const struct fake_matrix *b, void *d, const char *out,
                                 size_t m, size_t n, size_t k)
{
    const struct as_number_format *f = as_number_format(out);
    const size_t bytes = f->bits / 8;
    double *left = calloc(m * k, sizeof *left), *right = calloc(n * k, sizeof *right);
    for (size_t i = 0; i < m; i++)
        for (size_t s = 0; s < k; s++)
            left[i * k + s] = fake_get(a, a->transposed ? i * k + s : s * m + i);
    for (size_t j = 0; j < n; j++)
        for (size_t s = 0; s < k; s++)
            right[j * k + s] = fake_get(b, b->transposed ? s * n + j : j * k + s);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t s = fake_asked("skips"); s < k; s++)
                sum += left[i * k + s] * right[j * k + s];
            uint64_t code = as_number_nearest(f, sum);
            memcpy((char *)d + (j * m + i) * bytes, &code, bytes);
        }
    free(left);
    free(right);
}

#endif
