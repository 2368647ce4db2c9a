/* What a CPU is called by people: virtual machines report names such as "AMD EPYC Processor". */
#ifndef AS_DEVICE_CPU_GENERATION_H
#define AS_DEVICE_CPU_GENERATION_H

#include <stddef.h>

/* As the processor identifies itself. */
struct as_cpu_identity {
    char vendor[16];                  /* of CPUID leaf 0: "AuthenticAMD"; "" on Arm */
    unsigned family, model, stepping; /* of CPUID leaf 1, with the extended fields */
    unsigned implementer, part;       /* of Arm's MIDR_EL1 */
    char hypervisor[16];              /* of CPUID leaf 0x40000000: "KVMKVMKVM"; "" none */
};
/* Of the CPU that the caller runs on. implementer, part: of Arm, as the system reports them ("0x41"), or "". */
void as_cpu_identify(const char *implementer, const char *part, struct as_cpu_identity *out);
/* "AMD EPYC 9005 (Zen 5)", or the reported name with the core's: "AMD EPYC 9654 96-Core Processor (Zen 4)"; "" for a
 * CPU that the table has not. reported: as the system names it. */
void as_cpu_generation(const struct as_cpu_identity *id, const char *reported, char *out, size_t size);
/* "KVM", "Hyper-V"; "" for none or an unknown one. */
const char *as_cpu_hypervisor(const struct as_cpu_identity *id);

#endif
