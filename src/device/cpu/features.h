/* What the instruction set of this CPU offers to kernels at run time. Probes choose their vector width by it. */
#ifndef AS_DEVICE_CPU_FEATURES_H
#define AS_DEVICE_CPU_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

struct as_cpu_features {
    bool sse2, avx2, fma, avx512f; /* x86-64: the instructions are there and the system saves their registers */
    bool neon, sve;                /* aarch64 */
    unsigned vector_bytes;         /* widest of 16, 32, 64 among sse2, avx2, avx512f, neon; SVE is not counted */
};
struct as_cpu_features as_cpu_features(void);

/* Sets of instructions of an x86-64 beside what all have. Those of vectors count only where the system saves them. */
enum as_cpu_set {
    AS_CPU_POPCNT = 1u << 0,
    AS_CPU_LZCNT = 1u << 1,
    AS_CPU_BMI1 = 1u << 2,
    AS_CPU_BMI2 = 1u << 3,
    AS_CPU_AVX = 1u << 4,
    AS_CPU_AVX2 = 1u << 5,
    AS_CPU_FMA = 1u << 6,
    AS_CPU_F16C = 1u << 7,
    AS_CPU_AVX512F = 1u << 8,
    AS_CPU_AVX512DQ = 1u << 9,
    AS_CPU_AVX512CD = 1u << 10,
    AS_CPU_AVX512BW = 1u << 11,
    AS_CPU_AVX512VL = 1u << 12,
    AS_CPU_AVX512VNNI = 1u << 13,
    AS_CPU_AVX512VPOPCNTDQ = 1u << 14,
};
/* Has it all of these? Else what is missing, into text: "BMI2, AVX-512 VNNI". */
bool as_cpu_has(unsigned sets, char *text, size_t size);

#endif
