#include "device/cpu/features.h"

#include <stdio.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
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

enum { WHY_BYTES = 160 };

#if defined(__x86_64__)
enum cpuid_register { EAX, EBX, ECX, EDX };
enum saved { NO_VECTORS, SAVED_256, SAVED_512, SAVED_TILES };

static const struct {
    enum as_cpu_set set;
    const char *name;
    unsigned leaf, subleaf; /* of CPUID */
    enum cpuid_register where;
    unsigned bit;
    enum saved saved; /* what the system has to save besides */
} sets[] = {
    {AS_CPU_POPCNT, "POPCNT", 1, 0, ECX, 23, NO_VECTORS},
    {AS_CPU_LZCNT, "LZCNT", 0x80000001, 0, ECX, 5, NO_VECTORS},
    {AS_CPU_BMI1, "BMI1", 7, 0, EBX, 3, NO_VECTORS},
    {AS_CPU_BMI2, "BMI2", 7, 0, EBX, 8, NO_VECTORS},
    {AS_CPU_AVX, "AVX", 1, 0, ECX, 28, SAVED_256},
    {AS_CPU_AVX2, "AVX2", 7, 0, EBX, 5, SAVED_256},
    {AS_CPU_FMA, "FMA", 1, 0, ECX, 12, SAVED_256},
    {AS_CPU_F16C, "F16C", 1, 0, ECX, 29, SAVED_256},
    {AS_CPU_AVXVNNI, "AVX-VNNI", 7, 1, EAX, 4, SAVED_256},
    {AS_CPU_AVXVNNIINT8, "AVX-VNNI-INT8", 7, 1, EDX, 4, SAVED_256},
    {AS_CPU_AVX512F, "AVX-512 F", 7, 0, EBX, 16, SAVED_512},
    {AS_CPU_AVX512DQ, "AVX-512 DQ", 7, 0, EBX, 17, SAVED_512},
    {AS_CPU_AVX512CD, "AVX-512 CD", 7, 0, EBX, 28, SAVED_512},
    {AS_CPU_AVX512BW, "AVX-512 BW", 7, 0, EBX, 30, SAVED_512},
    {AS_CPU_AVX512VL, "AVX-512 VL", 7, 0, EBX, 31, SAVED_512},
    {AS_CPU_AVX512VNNI, "AVX-512 VNNI", 7, 0, ECX, 11, SAVED_512},
    {AS_CPU_AVX512VPOPCNTDQ, "AVX-512 VPOPCNTDQ", 7, 0, ECX, 14, SAVED_512},
    {AS_CPU_AVX512BF16, "AVX-512 BF16", 7, 1, EAX, 5, SAVED_512},
    {AS_CPU_AVX512FP16, "AVX-512 FP16", 7, 0, EDX, 23, SAVED_512},
    {AS_CPU_AMXTILE, "AMX-TILE", 7, 0, EDX, 24, SAVED_TILES},
    {AS_CPU_AMXINT8, "AMX-INT8", 7, 0, EDX, 25, NO_VECTORS},
    {AS_CPU_AMXBF16, "AMX-BF16", 7, 0, EDX, 22, NO_VECTORS},
    {AS_CPU_AMXFP16, "AMX-FP16", 7, 1, EAX, 21, NO_VECTORS},
};

/* Linux saves tiles only of processes that asked for it (arch_prctl(2), since 5.16); their threads inherit that. */
static bool has_tiles(char why[WHY_BYTES])
{
#if defined(__linux__)
    enum { ASK = 0x1023, TILE_DATA = 18 };
    if (syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0)
        return true;
    snprintf(why, WHY_BYTES, " (the system does not give the tiles' memory: %s)", strerror(errno));
#else
    snprintf(why, WHY_BYTES, " (this system has no known way to request the tile registers)");
#endif
    return false;
}

static bool has_set(size_t i, char why[WHY_BYTES])
{
    unsigned r[4] = {0};
    __builtin_cpu_init();
    bool saved = sets[i].saved == SAVED_256   ? __builtin_cpu_supports("avx") != 0
                 : sets[i].saved == SAVED_512 ? __builtin_cpu_supports("avx512f") != 0
                                              : true;
    return saved && __get_cpuid_count(sets[i].leaf, sets[i].subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) &&
           (r[sets[i].where] >> sets[i].bit & 1) && (sets[i].saved != SAVED_TILES || has_tiles(why));
}
#else
static const struct {
    enum as_cpu_set set;
    const char *name;
    unsigned long of_first, of_second; /* bits of AT_HWCAP and AT_HWCAP2 */
} sets[] = {
    {AS_CPU_FPHP, "FP16", 1ul << 10, 0}, {AS_CPU_DOTPROD, "DotProd", 1ul << 20, 0}, {AS_CPU_I8MM, "I8MM", 0, 1ul << 13},
    {AS_CPU_BF16, "BF16", 0, 1ul << 14}, {AS_CPU_LSE, "LSE", 1ul << 8, 0},
};

static bool has_set(size_t i, char why[WHY_BYTES])
{
    (void)why;
#ifdef __ARM_FEATURE_ATOMICS /* the compiler may use them anywhere */
    if (sets[i].set == AS_CPU_LSE)
        return true;
#endif
#if defined(__aarch64__) && defined(__linux__)
    return (sets[i].of_first & getauxval(AT_HWCAP)) || (sets[i].of_second & getauxval(AT_HWCAP2));
#else
    (void)i;
    return false;
#endif
}
#endif

bool as_cpu_has(unsigned wanted, char *text, size_t size)
{
    size_t at = 0;
    bool all = true;
    unsigned other = wanted;
    text[0] = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char why[WHY_BYTES] = "";
        other &= ~(unsigned)sets[i].set;
        if (!(wanted & sets[i].set) || has_set(i, why))
            continue;
        int n = snprintf(text + at, size - at, "%s%s%s", all ? "" : ", ", sets[i].name, why);
        at += n > 0 && (size_t)n < size - at ? (size_t)n : 0;
        all = false;
    }
    if (other)
        snprintf(text + at, size - at, "%sinstructions of another kind of CPU", all ? "" : ", ");
    return all && !other;
}
