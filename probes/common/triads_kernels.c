/* The widths. A width that this instruction set has not is a table of NULLs. */
#include "triads.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Scalar: volatile, so that no compiler makes vectors of it. Non-temporal stores of 8 bytes exist on x86-64 only. */
#if defined(__x86_64__)
#define SCALAR_STREAM(p, v) _mm_stream_si64((long long *)(p), _mm_cvtsi128_si64(_mm_castpd_si128(_mm_set_sd(v))))
#define FENCE() _mm_sfence()
#else
#define SCALAR_STREAM(p, v) (*(volatile double *)(p) = (v))
#define FENCE() ((void)0)
#endif
#define NAME(x) scalar_##x
#define TARGET
#define VEC double
#define LANES 1
#define LOAD(p) (*(const volatile double *)(p))
#define STORE(p, v) (*(volatile double *)(p) = (v))
#define STREAM(p, v) SCALAR_STREAM(p, v)
#define SET(x) (x)
#define ADD(x, y) ((x) + (y))
#define MUL(x, y) ((x) * (y))
#define FMA(x, y, z) ((x) * (y) + (z))
#define TABLE as_stream_scalar
#include "triads_body.h"

#if defined(__x86_64__)

#define NAME(x) w128_##x
#define TARGET
#define VEC __m128d
#define LANES 2
#define LOAD(p) _mm_loadu_pd(p)
#define STORE(p, v) _mm_storeu_pd(p, v)
#define STREAM(p, v) _mm_stream_pd(p, v)
#define SET(x) _mm_set1_pd(x)
#define ADD(x, y) _mm_add_pd(x, y)
#define MUL(x, y) _mm_mul_pd(x, y)
#define FMA(x, y, z) _mm_add_pd(_mm_mul_pd(x, y), z)
#define FENCE() _mm_sfence()
#define TABLE as_stream_128
#include "triads_body.h"

#define NAME(x) w256_##x
#define TARGET __attribute__((target("avx2,fma")))
#define VEC __m256d
#define LANES 4
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define STREAM(p, v) _mm256_stream_pd(p, v)
#define SET(x) _mm256_set1_pd(x)
#define ADD(x, y) _mm256_add_pd(x, y)
#define MUL(x, y) _mm256_mul_pd(x, y)
#define FMA(x, y, z) _mm256_fmadd_pd(x, y, z)
#define FENCE() _mm_sfence()
#define TABLE as_stream_256
#include "triads_body.h"

#define NAME(x) w512_##x
#define TARGET __attribute__((target("avx512f,fma")))
#define VEC __m512d
#define LANES 8
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, v) _mm512_storeu_pd(p, v)
#define STREAM(p, v) _mm512_stream_pd(p, v)
#define SET(x) _mm512_set1_pd(x)
#define ADD(x, y) _mm512_add_pd(x, y)
#define MUL(x, y) _mm512_mul_pd(x, y)
#define FMA(x, y, z) _mm512_fmadd_pd(x, y, z)
#define FENCE() _mm_sfence()
#define TABLE as_stream_512
#include "triads_body.h"

#elif defined(__aarch64__)

/* A pair store without allocation is the nearest thing that the instruction set has to a non-temporal store. */
static inline void stream_neon(double *p, float64x2_t v)
{
    __asm__ volatile("stnp %d1, %d2, [%0]" : : "r"(p), "w"(v), "w"(vdupq_laneq_f64(v, 1)) : "memory");
}
#define NAME(x) w128_##x
#define TARGET
#define VEC float64x2_t
#define LANES 2
#define LOAD(p) vld1q_f64(p)
#define STORE(p, v) vst1q_f64(p, v)
#define STREAM(p, v) stream_neon(p, v)
#define SET(x) vdupq_n_f64(x)
#define ADD(x, y) vaddq_f64(x, y)
#define MUL(x, y) vmulq_f64(x, y)
#define FMA(x, y, z) vfmaq_f64(z, x, y)
#define FENCE() __asm__ volatile("dmb ish" ::: "memory")
#define TABLE as_stream_128
#include "triads_body.h"
const as_stream_fn as_stream_256[AS_STREAM_OPS][2] = {{NULL}};
const as_stream_fn as_stream_512[AS_STREAM_OPS][2] = {{NULL}};

#else

const as_stream_fn as_stream_128[AS_STREAM_OPS][2] = {{NULL}};
const as_stream_fn as_stream_256[AS_STREAM_OPS][2] = {{NULL}};
const as_stream_fn as_stream_512[AS_STREAM_OPS][2] = {{NULL}};

#endif
