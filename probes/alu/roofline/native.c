#include "native.h"

#include "device/cpu/features.h"

#include <string.h>

unsigned as_peak_start(uint32_t key, uint32_t i)
{
    uint32_t h = (i + key) * UINT32_C(0x9e3779b1);
    return (h ^ h >> 15) & 63;
}

unsigned as_peak_lanes(unsigned bits, enum as_peak_width width)
{
    const unsigned bytes[AS_PEAK_WIDTHS] = {bits / 8, 16, 32, 64, as_cpu_features().sve_bytes};
    return bytes[width] * 8 / bits;
}

unsigned as_peak_chains(enum as_peak_width width)
{
    return width == AS_PEAK_SVE ? AS_PEAK_SVE_CHAINS : AS_PEAK_CHAINS;
}

/* Scalar variables: some compilers keep an array of vectors in memory. */
#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define TIMES4(x) x x x x
#define TIMES16(x) TIMES4(x) TIMES4(x) TIMES4(x) TIMES4(x)

#define START(k)                                                                                                       \
    for (unsigned l = 0; l < lanes; l++)                                                                               \
        start[l] = (__typeof__(start[0]))as_peak_start(key, first + (k)*lanes + l);                                    \
    memcpy(&x##k, start, sizeof x##k);
#define DECLARE(k) vec_t x##k;
#define STEP_B(k) STEP(x##k, a, b)
#define STEP_C(k) STEP(x##k, a, c)
#define STORE(k) memcpy(out + (k)*lanes, &x##k, sizeof x##k);
#define PAIR TWELVE(STEP_B) TWELVE(STEP_C)

/* STEP is one instruction, x = a x + y with a = -1 (see roofline.kernel), so that no compiler changes its width or
 * splits it. Where the only form adds to x, C is -c, which makes x - b and x + c equivalent. */
#define KERNEL(name, TARGET, vec, real, C)                                                                             \
    TARGET static void name(const struct as_host_call *call)                                                           \
    {                                                                                                                  \
        typedef vec vec_t;                                                                                             \
        enum { lanes = sizeof(vec) / sizeof(real) };                                                                   \
        uint32_t key = *(const uint32_t *)call->args[3], first = call->thread * AS_PEAK_CHAINS * lanes;                \
        real *out = (real *)call->args[0] + first, start[lanes];                                                       \
        const vec_t zero = {0}, a = zero + (real)-1;                                                                   \
        const vec_t b = zero + (real) * (const double *)call->args[1];                                                 \
        const vec_t c = zero + (real)(C * *(const double *)call->args[2]);                                             \
        TWELVE(DECLARE)                                                                                                \
        TWELVE(START)                                                                                                  \
        for (uint64_t r = call->reps; r; r--) {                                                                        \
            TIMES16(TIMES4(PAIR))                                                                                      \
        }                                                                                                              \
        TWELVE(STORE)                                                                                                  \
    }

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));
typedef float f32x8 __attribute__((vector_size(32)));
typedef double f64x4 __attribute__((vector_size(32)));
typedef float f32x16 __attribute__((vector_size(64)));
typedef double f64x8 __attribute__((vector_size(64)));

#if defined(__x86_64__)
/* FMA came with 256-bit vectors and includes narrower ones. */
#define FMA3 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
#define STEP(x, a, y) __asm__("vfmadd213ss %2, %1, %0" : "+x"(x) : "x"(a), "x"(y));
KERNEL(f32_scalar, FMA3, float, float, 1)
#undef STEP
#define STEP(x, a, y) __asm__("vfmadd213sd %2, %1, %0" : "+x"(x) : "x"(a), "x"(y));
KERNEL(f64_scalar, FMA3, double, double, 1)
#undef STEP
#define STEP(x, a, y) __asm__("vfmadd213ps %2, %1, %0" : "+x"(x) : "x"(a), "x"(y));
KERNEL(f32_128, FMA3, f32x4, float, 1)
KERNEL(f32_256, FMA3, f32x8, float, 1)
#undef STEP
#define STEP(x, a, y) __asm__("vfmadd213pd %2, %1, %0" : "+x"(x) : "x"(a), "x"(y));
KERNEL(f64_128, FMA3, f64x2, double, 1)
KERNEL(f64_256, FMA3, f64x4, double, 1)
#undef STEP
#define STEP(x, a, y) __asm__("vfmadd213ps %2, %1, %0" : "+v"(x) : "v"(a), "v"(y));
KERNEL(f32_512, AVX512, f32x16, float, 1)
#undef STEP
#define STEP(x, a, y) __asm__("vfmadd213pd %2, %1, %0" : "+v"(x) : "v"(a), "v"(y));
KERNEL(f64_512, AVX512, f64x8, double, 1)
#undef STEP
#elif defined(__aarch64__)
#define STEP(x, a, y) __asm__("fmadd %s0, %s0, %s1, %s2" : "+w"(x) : "w"(a), "w"(y));
KERNEL(f32_scalar, , float, float, 1)
#undef STEP
#define STEP(x, a, y) __asm__("fmadd %d0, %d0, %d1, %d2" : "+w"(x) : "w"(a), "w"(y));
KERNEL(f64_scalar, , double, double, 1)
#undef STEP
#define STEP(x, a, y) __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(x) : "w"(a), "w"(y));
KERNEL(f32_128, , f32x4, float, -1)
#undef STEP
#define STEP(x, a, y) __asm__("fmla %0.2d, %1.2d, %2.2d" : "+w"(x) : "w"(a), "w"(y));
KERNEL(f64_128, , f64x2, double, -1)
#undef STEP

/* SVE vectors have no size for a compiler without SVE, so the whole loop is assembly: chains in z0 to z7 and z16 to
 * z25, the operands in z26 to z28. The callee-saved z8 to z15 stay untouched. */
#define LOW(X) X("0", "0") X("1", "1") X("2", "2") X("3", "3") X("4", "4") X("5", "5") X("6", "6") X("7", "7")
#define MIDDLE(X) X("16", "8") X("17", "9") X("18", "10") X("19", "11") X("20", "12")
#define HIGH(X) X("21", "13") X("22", "14") X("23", "15") X("24", "16") X("25", "17")
#define EIGHTEEN(X) LOW(X) MIDDLE(X) HIGH(X)
#define LOAD_SVE(z, k) "ldr z" z ", [%[out], #" k ", mul vl]\n"
#define STORE_SVE(z, k) "str z" z ", [%[out], #" k ", mul vl]\n"
#define STEP_SVE(z, with, lane) "fmla z" z "." lane ", p0/m, z26." lane ", z" with "." lane "\n"
#define OPERANDS(lane)                                                                                                 \
    ".arch_extension sve\n"                                                                                            \
    "ptrue p0.b\n"                                                                                                     \
    "fmov z26." lane ", #-1.0\n"                                                                                       \
    "mov z27." lane ", %" lane "[b]\n"                                                                                 \
    "mov z28." lane ", %" lane "[c]\n"
#define LOOP "1:\n.rept 64\n"
#define AGAIN ".endr\nsubs %[turns], %[turns], #1\nb.ne 1b\n"
#define B_S(z, k) STEP_SVE(z, "27", "s")
#define C_S(z, k) STEP_SVE(z, "28", "s")
#define B_D(z, k) STEP_SVE(z, "27", "d")
#define C_D(z, k) STEP_SVE(z, "28", "d")
#ifdef __ARM_FEATURE_SVE
#define PREDICATE , "p0"
#else /* a compiler without SVE may not know the register's name, and does not use it */
#define PREDICATE
#endif
#define KERNEL_SVE(name, lane, B, C, real)                                                                             \
    static void name(const struct as_host_call *call)                                                                  \
    {                                                                                                                  \
        const uint32_t n = AS_PEAK_SVE_CHAINS * as_peak_lanes(8 * sizeof(real), AS_PEAK_SVE),                          \
                       first = call->thread * n;                                                                       \
        const real b = (real) * (const double *)call->args[1], c = (real) - *(const double *)call->args[2];            \
        real *out = (real *)call->args[0] + first;                                                                     \
        uint64_t turns = call->reps;                                                                                   \
        for (uint32_t i = 0; i < n; i++)                                                                               \
            out[i] = (real)as_peak_start(*(const uint32_t *)call->args[3], first + i);                                 \
        if (turns == 0)                                                                                                \
            return;                                                                                                    \
        __asm__ volatile(OPERANDS(lane) EIGHTEEN(LOAD_SVE) LOOP EIGHTEEN(B) EIGHTEEN(C) AGAIN EIGHTEEN(STORE_SVE)      \
                         : [turns] "+r"(turns)                                                                         \
                         : [out] "r"(out), [b] "w"(b), [c] "w"(c)                                                      \
                         : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21",   \
                           "v22", "v23", "v24", "v25", "v26", "v27", "v28", "cc", "memory" PREDICATE);                 \
    }
_Static_assert(AS_PEAK_SVE_CHAINS == 18 && AS_PEAK_PAIRS == 64, "as the assembly has them");
KERNEL_SVE(f32_sve, "s", B_S, C_S, float)
KERNEL_SVE(f64_sve, "d", B_D, C_D, double)
#endif

const struct as_host_kernel as_peak_kernels[] = {
#if defined(__x86_64__) || defined(__aarch64__)
    {"f32-scalar", f32_scalar},
    {"f64-scalar", f64_scalar},
    {"f32-128", f32_128},
    {"f64-128", f64_128},
#endif
#if defined(__x86_64__)
    {"f32-256", f32_256},
    {"f64-256", f64_256},
    {"f32-512", f32_512},
    {"f64-512", f64_512},
#endif
#if defined(__aarch64__)
    {"f32-sve", f32_sve},
    {"f64-sve", f64_sve},
#endif
    {NULL, NULL}};

const char *as_peak_kernel(unsigned bits, enum as_peak_width width)
{
    static const char *const names[2][AS_PEAK_WIDTHS] = {{"f32-scalar", "f32-128", "f32-256", "f32-512", "f32-sve"},
                                                         {"f64-scalar", "f64-128", "f64-256", "f64-512", "f64-sve"}};
    struct as_cpu_features f = as_cpu_features();
    bool narrow = f.neon || (f.avx2 && f.fma);
    bool has = width == AS_PEAK_SVE   ? f.sve
               : width == AS_PEAK_512 ? f.avx512f
               : width == AS_PEAK_256 ? f.avx2 && f.fma
                                      : narrow;
    return has ? names[bits == 64][width] : NULL;
}
