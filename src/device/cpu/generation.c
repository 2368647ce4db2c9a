#include "device/cpu/generation.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Models from..to of a family with steppings up to most. Server parts have the product's name; of others the reported
 * name tells more. Sources: AMD, "Revision Guide" and "Processor Programming Reference" of each family, and the ranges
 * of cores in Linux 6.12, arch/x86/kernel/cpu/amd.c; Intel, Software Developer's Manual volume 4, table 2-1, and Linux
 * 6.12, arch/x86/include/asm/intel-family.h. */
static const struct x86_generation {
    const char *vendor;
    unsigned family, from, to, stepping_from, stepping_to;
    const char *core, *product,
        *brand; /* brand: the product's name holds where the reported name has this; NULL: any */
} x86[] = {
#define AMD(family, from, to, ...)                                                                                     \
    {                                                                                                                  \
        "AuthenticAMD", family, from, to, 0, 15, __VA_ARGS__                                                           \
    }
#define INTEL(model, ...)                                                                                              \
    {                                                                                                                  \
        "GenuineIntel", 6, model, model, 0, 15, __VA_ARGS__                                                            \
    }
#define STEPPINGS(model, first, last, ...)                                                                             \
    {                                                                                                                  \
        "GenuineIntel", 6, model, model, first, last, __VA_ARGS__                                                      \
    }
    AMD(0x17, 0x00, 0x07, "Zen", "AMD EPYC 7001", "EPYC"),
    AMD(0x17, 0x08, 0x0f, "Zen+", NULL, NULL),
    AMD(0x17, 0x10, 0x17, "Zen", NULL, NULL),
    AMD(0x17, 0x18, 0x1f, "Zen+", NULL, NULL),
    AMD(0x17, 0x20, 0x2f, "Zen", NULL, NULL),
    AMD(0x17, 0x30, 0x3f, "Zen 2", "AMD EPYC 7002", "EPYC"),
    AMD(0x17, 0x40, 0x4f, "Zen 2", NULL, NULL),
    AMD(0x17, 0x60, 0x7f, "Zen 2", NULL, NULL),
    AMD(0x17, 0x90, 0xaf, "Zen 2", NULL, NULL),
    AMD(0x19, 0x00, 0x0f, "Zen 3", "AMD EPYC 7003", "EPYC"),
    AMD(0x19, 0x10, 0x1f, "Zen 4", "AMD EPYC 9004", "EPYC"),
    AMD(0x19, 0x20, 0x3f, "Zen 3", NULL, NULL),
    AMD(0x19, 0x40, 0x4f, "Zen 3+", NULL, NULL),
    AMD(0x19, 0x50, 0x5f, "Zen 3", NULL, NULL),
    AMD(0x19, 0x60, 0x8f, "Zen 4", NULL, NULL),
    AMD(0x19, 0x90, 0x9f, "Zen 4", "AMD Instinct MI300A", NULL),
    AMD(0x19, 0xa0, 0xaf, "Zen 4c", "AMD EPYC 9004", "EPYC"),
    AMD(0x1a, 0x00, 0x0f, "Zen 5", "AMD EPYC 9005", "EPYC"),
    AMD(0x1a, 0x10, 0x1f, "Zen 5c", "AMD EPYC 9005", "EPYC"),
    AMD(0x1a, 0x20, 0x4f, "Zen 5", NULL, NULL),
    AMD(0x1a, 0x60, 0x7f, "Zen 5", NULL, NULL),
    INTEL(0x3f, "Haswell", "Intel Xeon E5/E7 v3", "Xeon"),
    INTEL(0x4f, "Broadwell", "Intel Xeon E5/E7 v4", "Xeon"),
    INTEL(0x56, "Broadwell", "Intel Xeon D-1500", "Xeon"),
    STEPPINGS(0x55, 0, 4, "Skylake", "Intel Xeon Scalable, 1st generation", "Xeon"),
    STEPPINGS(0x55, 5, 7, "Cascade Lake", "Intel Xeon Scalable, 2nd generation", "Xeon"),
    STEPPINGS(0x55, 10, 11, "Cooper Lake", "Intel Xeon Scalable, 3rd generation", "Xeon"),
    INTEL(0x6a, "Ice Lake", "Intel Xeon Scalable, 3rd generation", "Xeon"),
    INTEL(0x6c, "Ice Lake", "Intel Xeon D", "Xeon"),
    INTEL(0x8f, "Sapphire Rapids", "Intel Xeon Scalable, 4th generation", "Xeon"),
    INTEL(0xcf, "Emerald Rapids", "Intel Xeon Scalable, 5th generation", "Xeon"),
    INTEL(0xad, "Granite Rapids", "Intel Xeon 6 (P-cores)", "Xeon"),
    INTEL(0xae, "Granite Rapids", "Intel Xeon 6 SoC", "Xeon"),
    INTEL(0xaf, "Sierra Forest", "Intel Xeon 6 (E-cores)", "Xeon"),
    INTEL(0x5e, "Skylake", NULL, NULL),
    INTEL(0x4e, "Skylake", NULL, NULL),
    INTEL(0x7d, "Ice Lake", NULL, NULL),
    INTEL(0x7e, "Ice Lake", NULL, NULL),
    INTEL(0x8c, "Tiger Lake", NULL, NULL),
    INTEL(0x8d, "Tiger Lake", NULL, NULL),
    INTEL(0xa5, "Comet Lake", NULL, NULL),
    INTEL(0xa6, "Comet Lake", NULL, NULL),
    INTEL(0xa7, "Rocket Lake", NULL, NULL),
    INTEL(0x97, "Alder Lake", NULL, NULL),
    INTEL(0x9a, "Alder Lake", NULL, NULL),
    INTEL(0xb7, "Raptor Lake", NULL, NULL),
    INTEL(0xba, "Raptor Lake", NULL, NULL),
    INTEL(0xbf, "Raptor Lake", NULL, NULL),
    INTEL(0xaa, "Meteor Lake", NULL, NULL),
    INTEL(0xac, "Meteor Lake", NULL, NULL),
    INTEL(0xbd, "Lunar Lake", NULL, NULL),
    INTEL(0xc5, "Arrow Lake", NULL, NULL),
    INTEL(0xc6, "Arrow Lake", NULL, NULL),
};

/* Sources: MIDR_EL1 in Arm's Technical Reference Manual of each core, and Linux 6.12, arch/arm64/include/asm/cputype.h.
 */
static const struct {
    unsigned implementer, part;
    const char *core;
} arm[] = {
    {0x41, 0xd03, "Arm Cortex-A53"},   {0x41, 0xd05, "Arm Cortex-A55"},   {0x41, 0xd08, "Arm Cortex-A72"},
    {0x41, 0xd0b, "Arm Cortex-A76"},   {0x41, 0xd41, "Arm Cortex-A78"},   {0x41, 0xd44, "Arm Cortex-X1"},
    {0x41, 0xd47, "Arm Cortex-A710"},  {0x41, 0xd48, "Arm Cortex-X2"},    {0x41, 0xd4d, "Arm Cortex-A715"},
    {0x41, 0xd4e, "Arm Cortex-X3"},    {0x41, 0xd0c, "Arm Neoverse N1"},  {0x41, 0xd40, "Arm Neoverse V1"},
    {0x41, 0xd49, "Arm Neoverse N2"},  {0x41, 0xd4f, "Arm Neoverse V2"},  {0x41, 0xd84, "Arm Neoverse V3"},
    {0x41, 0xd8e, "Arm Neoverse N3"},  {0x43, 0x0af, "Cavium ThunderX2"}, {0x46, 0x001, "Fujitsu A64FX"},
    {0x48, 0xd01, "HiSilicon TSV110"}, {0x4e, 0x004, "NVIDIA Carmel"},    {0x51, 0x001, "Qualcomm Oryon"},
    {0xc0, 0xac3, "Ampere-1"},         {0xc0, 0xac4, "Ampere-1A"},
};

#if defined(__x86_64__)
static void generation_copy_word(char *out, unsigned word)
{
    memcpy(out, &word, sizeof word);
}

void as_cpu_identify(const char *implementer, const char *part, struct as_cpu_identity *out)
{
    static const unsigned in_machine = 1u << 31, signature = 0x40000000;
    unsigned a, b, c, d;
    (void)implementer;
    (void)part;
    memset(out, 0, sizeof *out);
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return;
    generation_copy_word(out->vendor, b);
    generation_copy_word(out->vendor + 4, d);
    generation_copy_word(out->vendor + 8, c);
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return;
    const unsigned family = a >> 8 & 15, model = a >> 4 & 15;
    out->stepping = a & 15;
    out->family = family + (family == 15 ? a >> 20 & 255 : 0);
    out->model = model + (family == 15 || family == 6 ? (a >> 16 & 15) << 4 : 0);
    if (!(c & in_machine))
        return;
    __cpuid(signature, a, b, c, d);
    generation_copy_word(out->hypervisor, b);
    generation_copy_word(out->hypervisor + 4, c);
    generation_copy_word(out->hypervisor + 8, d);
}
#else
void as_cpu_identify(const char *implementer, const char *part, struct as_cpu_identity *out)
{
    memset(out, 0, sizeof *out);
    out->implementer = (unsigned)strtoul(implementer, NULL, 0);
    out->part = (unsigned)strtoul(part, NULL, 0);
}
#endif

static const struct x86_generation *generation_of_x86(const struct as_cpu_identity *id)
{
    for (size_t i = 0; i < sizeof x86 / sizeof *x86; i++) {
        const struct x86_generation *g = &x86[i];
        if (strcmp(g->vendor, id->vendor) == 0 && g->family == id->family && id->model >= g->from &&
            id->model <= g->to && id->stepping >= g->stepping_from && id->stepping <= g->stepping_to)
            return g;
    }
    return NULL;
}

/* Names of models have digits: "AMD EPYC 9654 96-Core Processor"; those that hypervisors make up have none but the
 * clock's: "Intel(R) Xeon(R) CPU @ 2.20GHz". */
static bool generation_is_a_model(const char *reported)
{
    const char *digit = strpbrk(reported, "0123456789"), *clock = strstr(reported, " @ ");
    return digit && !(clock && digit > clock);
}

void as_cpu_generation(const struct as_cpu_identity *id, const char *reported, char *out, size_t size)
{
    const struct x86_generation *g = id->vendor[0] ? generation_of_x86(id) : NULL;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof arm / sizeof *arm && !id->vendor[0]; i++)
        if (arm[i].implementer == id->implementer && arm[i].part == id->part) {
            const bool has_name = reported[0] && strncmp(reported, "CPU ", 4) != 0 && !strstr(reported, arm[i].core);
            snprintf(out, size, has_name ? "%s (%s)" : "%s%s", has_name ? reported : arm[i].core,
                     has_name ? arm[i].core : "");
        }
    if (!g)
        return;
    const bool of_brand = g->product && (!g->brand || strstr(reported, g->brand));
    if (of_brand && !generation_is_a_model(reported))
        snprintf(out, size, "%s (%s)", g->product, g->core);
    else if (reported[0])
        snprintf(out, size, "%s (%s)", reported, g->core);
}

const char *as_cpu_hypervisor(const struct as_cpu_identity *id)
{
    static const char *const names[][2] = {
        {"KVMKVMKVM", "KVM"},    {"Linux KVM Hv", "KVM"},  {"Microsoft Hv", "Hyper-V"}, {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU"}, {"bhyve bhyve ", "bhyve"},   {"ACRNACRNACRN", "ACRN"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(id->hypervisor, names[i][0]) == 0)
            return names[i][1];
    return "";
}
