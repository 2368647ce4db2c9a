/* The native kernels by vector width: see stream_kernels.h. */
#include "device/cpu/features.h"
#include "stream.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define PORTABLE_FENCE _mm_sfence()
#define FLOAT_REGISTER "+x"
#elif defined(__aarch64__)
#define PORTABLE_FENCE __asm__ volatile("dmb ishst" ::: "memory")
#define FLOAT_REGISTER "+w"
#endif

#if defined(__x86_64__) || defined(__aarch64__)

/* ---- scalar ---- */
typedef double vec_scalar;
typedef uint64_t ivec_scalar __attribute__((may_alias));
#define NAME(op) scalar_##op
#define TARGET
#define vec vec_scalar
#define ivec ivec_scalar
#define LANES 1
#define UNROLL 8
#define SPLAT(s) (s)
#define FMA(x, s, y) ((y) + (s) * (x))
#define OPAQUE(v) __asm__("" : FLOAT_REGISTER(v))
#define OPAQUE_INT(v) __asm__("" : "+r"(v))
#define FENCE PORTABLE_FENCE
#if defined(__x86_64__)
static inline void stream_scalar(double *p, double v)
{
    long long bits;
    memcpy(&bits, &v, sizeof bits);
    _mm_stream_si64((long long *)(void *)p, bits);
}
#define STREAM_PAIR(p, a, b) (stream_scalar(p, a), stream_scalar((p) + 1, b))
#else
#define STREAM_PAIR(p, a, b) __asm__ volatile("stnp %d0, %d1, [%2]" : : "w"(a), "w"(b), "r"(p) : "memory")
#endif
#include "stream_kernels.h"

/* ---- 128 bits ---- */
typedef double vec_128 __attribute__((vector_size(16), may_alias));
typedef uint64_t ivec_128 __attribute__((vector_size(16), may_alias));
#define NAME(op) w128_##op
#define TARGET
#define vec vec_128
#define ivec ivec_128
#define LANES 2
#define UNROLL 8
#define SPLAT(s) ((vec_128){s, s})
#define OPAQUE(v) __asm__("" : FLOAT_REGISTER(v))
#define OPAQUE_INT(v) __asm__("" : FLOAT_REGISTER(v))
#define FENCE PORTABLE_FENCE
#if defined(__x86_64__)
#define FMA(x, s, y) ((y) + (s) * (x))
#define STREAM_PAIR(p, a, b) (_mm_stream_pd(p, (__m128d)(a)), _mm_stream_pd((p) + 2, (__m128d)(b)))
#else
static inline vec_128 fma_128(vec_128 x, vec_128 s, vec_128 y)
{
    __asm__("fmla %0.2d, %1.2d, %2.2d" : "+w"(y) : "w"(x), "w"(s));
    return y;
}
#define FMA(x, s, y) fma_128(x, s, y)
#define STREAM_PAIR(p, a, b) __asm__ volatile("stnp %q0, %q1, [%2]" : : "w"(a), "w"(b), "r"(p) : "memory")
#endif
#include "stream_kernels.h"
#endif

#if defined(__x86_64__)
/* ---- 256 bits: AVX2 and FMA ---- */
typedef double vec_256 __attribute__((vector_size(32), may_alias));
typedef uint64_t ivec_256 __attribute__((vector_size(32), may_alias));
#define NAME(op) w256_##op
#define TARGET __attribute__((target("avx2,fma")))
#define vec vec_256
#define ivec ivec_256
#define LANES 4
#define UNROLL 8
#define SPLAT(s) ((vec_256){s, s, s, s})
#define FMA(x, s, y) ((vec_256)_mm256_fmadd_pd((__m256d)(x), (__m256d)(s), (__m256d)(y)))
#define OPAQUE(v) __asm__("" : "+x"(v))
#define OPAQUE_INT(v) __asm__("" : "+x"(v))
#define FENCE PORTABLE_FENCE
#define STREAM_PAIR(p, a, b) (_mm256_stream_pd(p, (__m256d)(a)), _mm256_stream_pd((p) + 4, (__m256d)(b)))
#include "stream_kernels.h"

/* ---- 512 bits: AVX-512F ---- */
typedef double vec_512 __attribute__((vector_size(64), may_alias));
typedef uint64_t ivec_512 __attribute__((vector_size(64), may_alias));
#define NAME(op) w512_##op
#define TARGET __attribute__((target("avx512f")))
#define vec vec_512
#define ivec ivec_512
#define LANES 8
#define UNROLL 8
#define SPLAT(s) ((vec_512){s, s, s, s, s, s, s, s})
#define FMA(x, s, y) ((vec_512)_mm512_fmadd_pd((__m512d)(x), (__m512d)(s), (__m512d)(y)))
#define OPAQUE(v) __asm__("" : "+v"(v))
#define OPAQUE_INT(v) __asm__("" : "+v"(v))
#define FENCE PORTABLE_FENCE
#define STREAM_PAIR(p, a, b) (_mm512_stream_pd(p, (__m512d)(a)), _mm512_stream_pd((p) + 8, (__m512d)(b)))
#include "stream_kernels.h"
#endif

#if defined(__aarch64__)
/* ---- SVE, vectors of any length (stream_sve.py) ---- */
typedef union as_stream_sum sve_fn(double *out, const double *x, const double *y, uint64_t n, double s, uint64_t reps);
sve_fn as_stream_sve_copy_regular, as_stream_sve_copy_nt, as_stream_sve_mul_regular, as_stream_sve_mul_nt,
    as_stream_sve_add_regular, as_stream_sve_add_nt, as_stream_sve_triad_regular, as_stream_sve_triad_nt,
    as_stream_sve_nstream_regular, as_stream_sve_nstream_nt, as_stream_sve_dot, as_stream_sve_read,
    as_stream_sve_write_regular, as_stream_sve_write_nt;
static const struct as_stream_kernels sve_kernels = {{
    [AS_STREAM_COPY] = {as_stream_sve_copy_regular, as_stream_sve_copy_nt},
    [AS_STREAM_MUL] = {as_stream_sve_mul_regular, as_stream_sve_mul_nt},
    [AS_STREAM_ADD] = {as_stream_sve_add_regular, as_stream_sve_add_nt},
    [AS_STREAM_TRIAD] = {as_stream_sve_triad_regular, as_stream_sve_triad_nt},
    [AS_STREAM_NSTREAM] = {as_stream_sve_nstream_regular, as_stream_sve_nstream_nt},
    [AS_STREAM_DOT] = {as_stream_sve_dot, NULL},
    [AS_STREAM_READ] = {as_stream_sve_read, NULL},
    [AS_STREAM_WRITE] = {as_stream_sve_write_regular, as_stream_sve_write_nt},
}};
#endif

const struct as_stream_kernels *as_stream_kernels(enum as_stream_width width)
{
    struct as_cpu_features f = as_cpu_features();
    switch (width) {
#if defined(__x86_64__) || defined(__aarch64__)
    case AS_WIDTH_SCALAR:
        return &scalar_kernels;
    case AS_WIDTH_128:
        return f.sse2 || f.neon ? &w128_kernels : NULL;
#endif
#if defined(__x86_64__)
    case AS_WIDTH_256:
        return f.avx2 && f.fma ? &w256_kernels : NULL;
    case AS_WIDTH_512:
        return f.avx512f ? &w512_kernels : NULL;
#endif
#if defined(__aarch64__)
    case AS_WIDTH_SVE:
        return f.sve ? &sve_kernels : NULL;
#endif
    default:
        (void)f;
        return NULL;
    }
}
