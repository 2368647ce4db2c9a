/* What the instruction set of this CPU offers to kernels at run time. Probes choose their vector width by it. */
#ifndef AS_DEVICE_CPU_FEATURES_H
#define AS_DEVICE_CPU_FEATURES_H

#include <stdbool.h>

struct as_cpu_features {
    bool sse2, avx2, fma, avx512f; /* x86-64: the instructions are there and the system saves their registers */
    bool neon, sve;                /* aarch64 */
    unsigned vector_bytes;         /* widest of 16, 32, 64 among sse2, avx2, avx512f, neon; SVE is not counted */
};
struct as_cpu_features as_cpu_features(void);

#endif
