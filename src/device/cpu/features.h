/* Instruction set extensions of this CPU at run time, by which probes choose vector widths. */
#ifndef AS_DEVICE_CPU_FEATURES_H
#define AS_DEVICE_CPU_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

struct as_cpu_features {
    bool sse2, avx2, fma, avx512f; /* x86-64: supported by CPU and OS (register state) */
    bool neon, sve, sme;           /* aarch64 */
    unsigned vector_bytes;         /* widest of 16, 32, 64 among sse2, avx2, avx512f, neon; SVE is not counted */
    unsigned sve_bytes, sme_bytes; /* of an SVE vector in this process, of one in SME's streaming mode; 0 without */
};
struct as_cpu_features as_cpu_features(void);

/* Extensions beyond the x86-64 or aarch64 baseline. Vectors and tiles count only if the OS saves their state for this
 * process. */
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
    AS_CPU_AVXVNNI = 1u << 15,
    AS_CPU_AVXVNNIINT8 = 1u << 16,
    AS_CPU_AVX512BF16 = 1u << 17,
    AS_CPU_AVX512FP16 = 1u << 18,
    AS_CPU_AMXTILE = 1u << 19,
    AS_CPU_AMXINT8 = 1u << 20,
    AS_CPU_AMXBF16 = 1u << 21,
    AS_CPU_AMXFP16 = 1u << 22,
    AS_CPU_FPHP = 1u << 23, /* aarch64 from here on */
    AS_CPU_DOTPROD = 1u << 24,
    AS_CPU_I8MM = 1u << 25,
    AS_CPU_BF16 = 1u << 26,
    AS_CPU_LSE = 1u << 27,
    AS_CPU_SVE = 1u << 28,
    AS_CPU_SME = 1u << 29,
    AS_CPU_SMEF64F64 = 1u << 30,
    AS_CPU_SMEI16I64 = AS_CPU_AMXFP16, /* bits of x86-64 stand for other sets here */
};
/* Has it all of these? Else what is missing, into text: "BMI2, AVX-512 VNNI". Tiles are asked of the system here, so
 * what works on them is asked for together with AS_CPU_AMXTILE. */
bool as_cpu_has(unsigned sets, char *text, size_t size);
/* The same for code written for vectors of so many bits: SME's in its streaming mode if it is among the sets, else
 * SVE's. 0 bits: any. */
bool as_cpu_has_vectors(unsigned sets, unsigned bits, char *text, size_t size);

#endif
