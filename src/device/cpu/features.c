#include "device/cpu/features.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#if defined(__x86_64__)
struct as_cpu_features as_cpu_features(void)
{
    __builtin_cpu_init();
    struct as_cpu_features f = {
        .sse2 = true,
        .avx2 = __builtin_cpu_supports("avx2") != 0,
        .fma = __builtin_cpu_supports("fma") != 0,
        .avx512f = __builtin_cpu_supports("avx512f") != 0,
    };
    f.vector_bytes = f.avx512f ? 64 : f.avx2 ? 32 : 16;
    return f;
}
#elif defined(__aarch64__)
struct as_cpu_features as_cpu_features(void)
{
    struct as_cpu_features f = {.neon = true, .vector_bytes = 16};
#if defined(__linux__) && defined(HWCAP_SVE)
    f.sve = (getauxval(AT_HWCAP) & HWCAP_SVE) != 0;
#endif
    return f;
}
#else
struct as_cpu_features as_cpu_features(void)
{
    return (struct as_cpu_features){0};
}
#endif
