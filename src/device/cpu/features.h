/* Instruction set extensions of this CPU, detected at run time; probes choose vector widths by them. */
#ifndef AS_DEVICE_CPU_FEATURES_H
#define AS_DEVICE_CPU_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_cpu_features {
    bool sse2, avx2, fma, avx512f; /* x86-64: supported by CPU and OS (register state) */
    bool neon, sve, sme;           /* aarch64 */
    unsigned vector_bytes;         /* widest of 16, 32, 64 among sse2, avx2, avx512f, neon; SVE is not counted */
    unsigned sve_bytes, sme_bytes; /* of an SVE vector in this process, and in SME's streaming mode; 0 if unsupported */
};
struct as_cpu_features as_cpu_features(void);

/* Extensions beyond the x86-64 or aarch64 baseline. Vectors and tiles count only if the OS saves their state for this
 * process. */
typedef uint64_t as_cpu_sets; /* a set of AS_CPU_ bits */
#define AS_CPU_POPCNT (UINT64_C(1) << 0)
#define AS_CPU_LZCNT (UINT64_C(1) << 1)
#define AS_CPU_BMI1 (UINT64_C(1) << 2)
#define AS_CPU_BMI2 (UINT64_C(1) << 3)
#define AS_CPU_AVX (UINT64_C(1) << 4)
#define AS_CPU_AVX2 (UINT64_C(1) << 5)
#define AS_CPU_FMA (UINT64_C(1) << 6)
#define AS_CPU_F16C (UINT64_C(1) << 7)
#define AS_CPU_AVX512F (UINT64_C(1) << 8)
#define AS_CPU_AVX512DQ (UINT64_C(1) << 9)
#define AS_CPU_AVX512CD (UINT64_C(1) << 10)
#define AS_CPU_AVX512BW (UINT64_C(1) << 11)
#define AS_CPU_AVX512VL (UINT64_C(1) << 12)
#define AS_CPU_AVX512VNNI (UINT64_C(1) << 13)
#define AS_CPU_AVX512VPOPCNTDQ (UINT64_C(1) << 14)
#define AS_CPU_AVXVNNI (UINT64_C(1) << 15)
#define AS_CPU_AVXVNNIINT8 (UINT64_C(1) << 16)
#define AS_CPU_AVX512BF16 (UINT64_C(1) << 17)
#define AS_CPU_AVX512FP16 (UINT64_C(1) << 18)
#define AS_CPU_AMXTILE (UINT64_C(1) << 19)
#define AS_CPU_AMXINT8 (UINT64_C(1) << 20)
#define AS_CPU_AMXBF16 (UINT64_C(1) << 21)
#define AS_CPU_AMXFP16 (UINT64_C(1) << 22)
/* aarch64 */
#define AS_CPU_FPHP (UINT64_C(1) << 23)
#define AS_CPU_DOTPROD (UINT64_C(1) << 24)
#define AS_CPU_I8MM (UINT64_C(1) << 25)
#define AS_CPU_BF16 (UINT64_C(1) << 26)
#define AS_CPU_LSE (UINT64_C(1) << 27)
#define AS_CPU_SVE (UINT64_C(1) << 28)
#define AS_CPU_SME (UINT64_C(1) << 29)
#define AS_CPU_SMEF64F64 (UINT64_C(1) << 30)
#define AS_CPU_SVE2 (UINT64_C(1) << 31)
#define AS_CPU_SMEI16I64 (UINT64_C(1) << 32)
/* Whether the CPU has all of these; if not, text lists the missing ones: "BMI2, AVX-512 VNNI". Requests tiles from the
 * system, so sets that work on tiles must be passed together with AS_CPU_AMXTILE. */
bool as_cpu_has(as_cpu_sets sets, char *text, size_t size);
/* The same for code written for vectors of `bits` bits: SME's in its streaming mode if SME is among the sets, else
 * SVE's. 0 bits: any. */
bool as_cpu_has_vectors(as_cpu_sets sets, unsigned bits, char *text, size_t size);

#endif
