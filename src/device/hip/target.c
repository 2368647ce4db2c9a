/* The PCI address of a device, and its compilation target. */
#include "device/hip/hip.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

unsigned as_hip_count(const struct as_hip_api *api, int id, int attribute)
{
    int n = 0;
    return api->hipDeviceGetAttribute(&n, attribute, id) == hipSuccess && n > 0 ? (unsigned)n : 0;
}

void as_hip_locate(const struct as_hip_api *api, struct as_gpu_found *found)
{
    char text[32] = "";
    if (api->hipDeviceGetPCIBusId(text, sizeof text - 1, found->id))
        text[0] = 0;
    as_gpu_locate(found, text, as_hip_count(api, found->id, hipDeviceAttributePciDomainID),
                  as_hip_count(api, found->id, hipDeviceAttributePciBusId),
                  as_hip_count(api, found->id, hipDeviceAttributePciDeviceId));
}

/* Two hexadecimal digits for minor version and stepping follow the generation: "gfx90a", "gfx1100". */
static unsigned hip_target_generation_of(const char *arch)
{
    size_t n = strlen(arch);
    char digits[8] = "";
    if (n < 6 || n > 8)
        return 0;
    memcpy(digits, arch + 3, n - 5);
    return (unsigned)strtoul(digits, NULL, 10);
}

/* "gfx", letters and digits, and features: ":sramecc+:xnack-". */
static bool is_target(const char *name)
{
    return strncmp(name, "gfx", 3) == 0 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789:+-") == strlen(name);
}

/* Whether page faults are replayed is fixed when the process starts, and shown in the target's name; a name without
 * a sign leaves it to HSA_XNACK. Chips without the feature do not have the word. */
void as_hip_parse_target(const char *name, const char *environment, struct as_hip_target *out)
{
    *out = (struct as_hip_target){0};
    if (!is_target(name) || strlen(name) >= sizeof out->name || strcspn(name, ":") >= sizeof out->arch)
        return;
    as_copy_text(out->name, sizeof out->name, name);
    as_copy_text(out->arch, sizeof out->arch, name);
    out->arch[strcspn(out->arch, ":")] = 0;
    out->generation = hip_target_generation_of(out->arch);
    const char *feature = strstr(name, ":xnack");
    bool asked = environment && strcmp(environment, "1") == 0;
    if (feature && feature[6] == '+')
        out->xnack = AS_HIP_XNACK_ON;
    else if (feature && feature[6] == '-')
        out->xnack = AS_HIP_XNACK_OFF;
    else if (feature)
        out->xnack = asked ? AS_HIP_XNACK_ON : AS_HIP_XNACK_OFF;
}

/* The name is a member of a struct that grew with ROCm 6, which also renamed the function; no other member is
 * read. */
enum { PROPERTIES_BYTES = 4096 };

void as_hip_find_target(const struct as_hip_api *api, int id, struct as_hip_target *out)
{
    union {
        char bytes[PROPERTIES_BYTES];
        max_align_t align;
    } properties = {.bytes = ""};
    struct hipDeviceProp_t *p = (struct hipDeviceProp_t *)(void *)&properties;
    hipError_t code = hipErrorNotSupported;
    if (api->hipGetDevicePropertiesR0600)
        code = api->hipGetDevicePropertiesR0600(p, id);
    else if (api->hipGetDeviceProperties)
        code = api->hipGetDeviceProperties(p, id);
    char *name = properties.bytes + (api->hipGetDevicePropertiesR0600 ? AS_HIP_TARGET_AT_R0600 : AS_HIP_TARGET_AT);
    name[AS_HIP_TARGET_BYTES - 1] = 0;
    as_hip_parse_target(code ? "" : name, getenv("HSA_XNACK"), out);
    out->wall_khz = as_hip_count(api, id, hipDeviceAttributeWallClockRate);
}
