/* GEMM by native CPU kernels. */
#include "tiled_sve.h"

#include "device/cpu/features.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

struct sizes {
    uint64_t m, n, k;
};
static struct sizes sizes_of(const struct as_host_call *call)
{
    return (struct sizes){*(const uint32_t *)call->args[4], *(const uint32_t *)call->args[5],
                          *(const uint32_t *)call->args[6]};
}

/* Compilers in ISO C mode do not fuse. */
#define PLAIN(a, b, c) ((c) + (a) * (b))
#define TYPE float
#define NAME(x) f32_128_##x
#define LANES 4
#define TARGET
#if defined(__aarch64__)
#define FMA(a, b, c) (f32_128_vec) vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
#else
#define FMA PLAIN
#endif
#include "native_kernels.h"
#if defined(__x86_64__)
#include <immintrin.h>
#define NAME(x) f32_256_##x
#define LANES 8
#define TARGET __attribute__((target("avx2,fma")))
#define FMA(a, b, c) (f32_256_vec) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#include "native_kernels.h"
#define NAME(x) f32_512_##x
#define LANES 16
#define TARGET __attribute__((target("avx512f")))
#define FMA(a, b, c) (f32_512_vec) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#include "native_kernels.h"
#endif
#undef TYPE

#define TYPE double
#define NAME(x) f64_128_##x
#define LANES 2
#define TARGET
#if defined(__aarch64__)
#define FMA(a, b, c) (f64_128_vec) vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b))
#else
#define FMA PLAIN
#endif
#include "native_kernels.h"
#if defined(__x86_64__)
#define NAME(x) f64_256_##x
#define LANES 4
#define TARGET __attribute__((target("avx2,fma")))
#define FMA(a, b, c) (f64_256_vec) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#include "native_kernels.h"
#define NAME(x) f64_512_##x
#define LANES 8
#define TARGET __attribute__((target("avx512f")))
#define FMA(a, b, c) (f64_512_vec) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#include "native_kernels.h"
#endif
#undef TYPE

#if defined(__aarch64__)
/* ---- SVE, vectors of any length (tiled_sve.py) ---- */
/* As NAME(tiled) of native_kernels.h. Along 128 vectors, or 8 KiB: adding up the lanes of the sums takes at most a
 * fifth of the time up to 512 bits, and 64 rows of b fit L2. */
static void tiled_sve(const struct as_host_call *call, unsigned bytes, as_tiled_sve *block)
{
    const struct sizes z = sizes_of(call);
    const unsigned char *a = call->args[0], *b = call->args[1];
    unsigned char *d = call->args[2];
    const uint64_t vectors = 128 * (uint64_t)as_cpu_features().sve_bytes;
    const uint64_t depth = (vectors < 8192 ? vectors : 8192) / bytes, strip = 64, rows = z.m / 4;
    const uint64_t from = rows * call->thread / call->threads * 4, to = rows * (call->thread + 1) / call->threads * 4;
    for (uint64_t rep = 0; rep < call->reps; rep++)
        for (uint64_t c = 0; c < z.n; c += strip)
            for (uint64_t at = 0; at < z.k; at += depth)
                for (uint64_t r = from; r < to; r += 4)
                    for (uint64_t j = c; j < c + strip && j < z.n; j += 4)
                        block(&(struct as_tiled_block){.a = a + (r * z.k + at) * bytes,
                                                       .b = b + (j * z.k + at) * bytes,
                                                       .d = d + (r * z.n + j) * bytes,
                                                       .elements = z.k - at < depth ? z.k - at : depth,
                                                       .in_row = z.k * bytes,
                                                       .out_row = z.n * bytes,
                                                       .add = at > 0});
}
#endif

/* The widest of this CPU. */
#if defined(__x86_64__)
#define TILED(type, bytes)                                                                                             \
    static void type##_tiled(const struct as_host_call *call)                                                          \
    {                                                                                                                  \
        const struct as_cpu_features has = as_cpu_features();                                                          \
        if (has.avx512f)                                                                                               \
            type##_512_tiled(call);                                                                                    \
        else if (has.avx2 && has.fma)                                                                                  \
            type##_256_tiled(call);                                                                                    \
        else                                                                                                           \
            type##_128_tiled(call);                                                                                    \
    }
#elif defined(__aarch64__)
#define TILED(type, bytes)                                                                                             \
    static void type##_tiled(const struct as_host_call *call)                                                          \
    {                                                                                                                  \
        if (as_cpu_features().sve)                                                                                     \
            tiled_sve(call, bytes, as_native_tiled_sve_##bytes);                                                       \
        else                                                                                                           \
            type##_128_tiled(call);                                                                                    \
    }
#else
#define TILED(type, bytes)                                                                                             \
    static void type##_tiled(const struct as_host_call *call)                                                          \
    {                                                                                                                  \
        type##_128_tiled(call);                                                                                        \
    }
#endif
TILED(f32, 4)
TILED(f64, 8)

#define NAIVE(name, type)                                                                                              \
    static void name(const struct as_host_call *call)                                                                  \
    {                                                                                                                  \
        const struct sizes z = sizes_of(call);                                                                         \
        const type *a = call->args[0], *b = call->args[1];                                                             \
        type *d = call->args[2];                                                                                       \
        for (uint64_t rep = 0; rep < call->reps; rep++)                                                                \
            for (uint64_t i = z.m * call->thread / call->threads; i < z.m * (call->thread + 1) / call->threads; i++)   \
                for (uint64_t j = 0; j < z.n; j++) {                                                                   \
                    type sum = 0;                                                                                      \
                    for (uint64_t at = 0; at < z.k; at++)                                                              \
                        sum += a[i * z.k + at] * b[j * z.k + at];                                                      \
                    d[i * z.n + j] = sum;                                                                              \
                }                                                                                                      \
    }
NAIVE(f32_naive, float)
NAIVE(f64_naive, double)

const struct as_host_kernel as_gemm_native_f32[] = {{"naive", f32_naive}, {"tiled", f32_tiled}, {NULL, NULL}};
const struct as_host_kernel as_gemm_native_f64[] = {{"naive", f64_naive}, {"tiled", f64_tiled}, {NULL, NULL}};
