#include "device/cpu/features.h"

#include <stdio.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
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

/* ---- sets of instructions ---- */

enum cpuid_register { EAX, EBX, ECX, EDX };
enum saved { NO_VECTORS, SAVED_256, SAVED_512 };

static const struct {
    enum as_cpu_set set;
    const char *name;
    unsigned leaf; /* of CPUID, its subleaf 0 */
    enum cpuid_register where;
    unsigned bit;
    enum saved saved; /* what the system has to save besides */
} sets[] = {
    {AS_CPU_POPCNT, "POPCNT", 1, ECX, 23, NO_VECTORS},
    {AS_CPU_LZCNT, "LZCNT", 0x80000001, ECX, 5, NO_VECTORS},
    {AS_CPU_BMI1, "BMI1", 7, EBX, 3, NO_VECTORS},
    {AS_CPU_BMI2, "BMI2", 7, EBX, 8, NO_VECTORS},
    {AS_CPU_AVX, "AVX", 1, ECX, 28, SAVED_256},
    {AS_CPU_AVX2, "AVX2", 7, EBX, 5, SAVED_256},
    {AS_CPU_FMA, "FMA", 1, ECX, 12, SAVED_256},
    {AS_CPU_F16C, "F16C", 1, ECX, 29, SAVED_256},
    {AS_CPU_AVX512F, "AVX-512 F", 7, EBX, 16, SAVED_512},
    {AS_CPU_AVX512DQ, "AVX-512 DQ", 7, EBX, 17, SAVED_512},
    {AS_CPU_AVX512CD, "AVX-512 CD", 7, EBX, 28, SAVED_512},
    {AS_CPU_AVX512BW, "AVX-512 BW", 7, EBX, 30, SAVED_512},
    {AS_CPU_AVX512VL, "AVX-512 VL", 7, EBX, 31, SAVED_512},
    {AS_CPU_AVX512VNNI, "AVX-512 VNNI", 7, ECX, 11, SAVED_512},
    {AS_CPU_AVX512VPOPCNTDQ, "AVX-512 VPOPCNTDQ", 7, ECX, 14, SAVED_512},
};

static bool has_set(size_t i)
{
#if defined(__x86_64__)
    unsigned r[4] = {0};
    __builtin_cpu_init();
    bool saved = sets[i].saved == NO_VECTORS || (sets[i].saved == SAVED_256 ? __builtin_cpu_supports("avx") != 0
                                                                            : __builtin_cpu_supports("avx512f") != 0);
    return saved && __get_cpuid_count(sets[i].leaf, 0, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) &&
           (r[sets[i].where] >> sets[i].bit & 1);
#else
    (void)i;
    return false;
#endif
}

bool as_cpu_has(unsigned wanted, char *text, size_t size)
{
    size_t at = 0;
    bool all = true;
    text[0] = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!(wanted & sets[i].set) || has_set(i))
            continue;
        int n = snprintf(text + at, size - at, "%s%s", all ? "" : ", ", sets[i].name);
        at += n > 0 && (size_t)n < size - at ? (size_t)n : 0;
        all = false;
    }
    return all;
}
