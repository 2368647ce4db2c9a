#include "device/cpu/features.h"

#include "os/facts.h"

#include <stdatomic.h>
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
enum saved { NO_VECTORS, SAVED_256, SAVED_512, SAVED_TILES };

/* Whether the system saves these registers (XCR0). macOS reports those of AVX-512 only for a thread that has used them,
 * and saves them from then on. Compiler built-ins are avoided, since some compilers lack the functions they call. */
static bool is_saved(enum saved what)
{
    enum { OSXSAVE = 1 << 27, OF_256 = 0x6, OF_512 = 0xe6 };
    unsigned a = 0, b = 0, c = 0, d = 0, low, high;
    if (what == NO_VECTORS || what == SAVED_TILES) /* has_tiles asks for these */
        return true;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
        return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
#if defined(__APPLE__)
    what = SAVED_256;
#endif
    const unsigned want = what == SAVED_512 ? OF_512 : OF_256;
    return (low & want) == want;
}

/* Cached, since kernels ask at each launch, and CPUID takes microseconds in a virtual machine. */
struct as_cpu_features as_cpu_features(void)
{
    enum { KNOWN = 1, AVX2 = 2, FMA = 4, AVX512F = 8 };
    static _Atomic unsigned kept;
    unsigned has = atomic_load_explicit(&kept, memory_order_relaxed);
    if (!has) {
        char why[80];
        has = KNOWN | (as_cpu_has(AS_CPU_AVX2, why, sizeof why) ? AVX2 : 0) |
              (as_cpu_has(AS_CPU_FMA, why, sizeof why) ? FMA : 0) |
              (as_cpu_has(AS_CPU_AVX512F, why, sizeof why) ? AVX512F : 0);
        atomic_store_explicit(&kept, has, memory_order_relaxed);
    }
    struct as_cpu_features f = {.sse2 = true, .avx2 = has & AVX2, .fma = has & FMA, .avx512f = has & AVX512F};
    f.vector_bytes = f.avx512f ? 64 : f.avx2 ? 32 : 16;
    return f;
}
#elif defined(__aarch64__)
/* Encoded as words, since not every assembler knows them. Both are valid outside streaming mode. */
static unsigned sve_bytes(void)
{
    register uint64_t bytes __asm__("x0");
    __asm__(".inst 0x04bf5020 // rdvl x0, #1" : "=r"(bytes));
    return (unsigned)bytes;
}

static unsigned sme_bytes(void)
{
    register uint64_t bytes __asm__("x0");
    __asm__(".inst 0x04bf5820 // rdsvl x0, #1" : "=r"(bytes));
    return (unsigned)bytes;
}

/* Cached, since kernels ask at each launch. */
struct as_cpu_features as_cpu_features(void)
{
    enum { KNOWN = 1, SVE = 2, SME = 4 };
    static _Atomic unsigned kept;
    unsigned has = atomic_load_explicit(&kept, memory_order_relaxed);
    if (!has) {
        char why[80];
        has = KNOWN | (as_cpu_has(AS_CPU_SVE, why, sizeof why) ? SVE : 0) |
              (as_cpu_has(AS_CPU_SME, why, sizeof why) ? SME : 0);
        atomic_store_explicit(&kept, has, memory_order_relaxed);
    }
    struct as_cpu_features f = {.neon = true, .sve = has & SVE, .sme = has & SME, .vector_bytes = 16};
    f.sve_bytes = f.sve ? sve_bytes() : 0;
    f.sme_bytes = f.sme ? sme_bytes() : 0;
    return f;
}
#else
struct as_cpu_features as_cpu_features(void)
{
    return (struct as_cpu_features){0};
}
#endif

/* ---- instruction sets ---- */

enum { WHY_BYTES = 160 };

#if defined(__x86_64__)
enum cpuid_register { EAX, EBX, ECX, EDX };

static const struct {
    as_cpu_sets set;
    const char *name;
    unsigned leaf, subleaf; /* of CPUID */
    enum cpuid_register where;
    unsigned bit;
    enum saved saved; /* state that the system must save */
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

/* Linux saves tiles only for processes that request it (arch_prctl(2), since 5.16); threads inherit the permission. */
static bool has_tiles(char why[WHY_BYTES])
{
#if defined(__linux__)
    enum { ASK = 0x1023, TILE_DATA = 18 };
    if (syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0)
        return true;
    snprintf(why, WHY_BYTES, " (the system denies the tile registers: %s)", strerror(errno));
#else
    snprintf(why, WHY_BYTES, " (no way to request the tile registers is known for this system)");
#endif
    return false;
}

static bool has_set(size_t i, char why[WHY_BYTES])
{
    unsigned r[4] = {0};
    return is_saved(sets[i].saved) &&
           __get_cpuid_count(sets[i].leaf, sets[i].subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) &&
           (r[sets[i].where] >> sets[i].bit & 1) && (sets[i].saved != SAVED_TILES || has_tiles(why));
}
#else
static const struct {
    as_cpu_sets set;
    const char *name;
    unsigned long of_first, of_second; /* bits of AT_HWCAP and AT_HWCAP2 */
    const char *feature;               /* Arm's name */
} sets[] = {
    {AS_CPU_FPHP, "FP16", 1ul << 10, 0, "FEAT_FP16"},
    {AS_CPU_DOTPROD, "DotProd", 1ul << 20, 0, "FEAT_DotProd"},
    {AS_CPU_I8MM, "I8MM", 0, 1ul << 13, "FEAT_I8MM"},
    {AS_CPU_BF16, "BF16", 0, 1ul << 14, "FEAT_BF16"},
    {AS_CPU_LSE, "LSE", 1ul << 8, 0, "FEAT_LSE"},
    {AS_CPU_SVE, "SVE", 1ul << 22, 0, "FEAT_SVE"},
    {AS_CPU_SVE2, "SVE2", 0, 1ul << 1, "FEAT_SVE2"},
    {AS_CPU_SME, "SME", 0, 1ul << 23, "FEAT_SME"},
    {AS_CPU_SMEF64F64, "SME F64F64", 0, 1ul << 25, "FEAT_SME_F64F64"},
    {AS_CPU_SMEI16I64, "SME I16I64", 0, 1ul << 24, "FEAT_SME_I16I64"},
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
    return as_system_has(sets[i].feature);
#endif
}
#endif

bool as_cpu_has(as_cpu_sets wanted, char *text, size_t size)
{
    size_t at = 0;
    bool all = true;
    as_cpu_sets other = wanted;
    text[0] = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char why[WHY_BYTES] = "";
        other &= ~sets[i].set;
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

bool as_cpu_has_vectors(as_cpu_sets wanted, unsigned bits, char *text, size_t size)
{
    if (!as_cpu_has(wanted, text, size))
        return false;
    const struct as_cpu_features f = bits ? as_cpu_features() : (struct as_cpu_features){0};
    const unsigned has = 8 * (wanted & AS_CPU_SME ? f.sme_bytes : f.sve_bytes);
    if (has != bits)
        snprintf(text, size, "%s vectors of %u bits (its vectors have %u bits)", wanted & AS_CPU_SME ? "SME" : "SVE",
                 bits, has);
    return has == bits;
}
