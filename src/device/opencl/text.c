/* Sanitised driver properties: text, numbers, extensions, PCI addresses. */
#include "device/opencl/opencl.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void as_cl_device_text(const struct as_cl_api *api, cl_device_id id, cl_device_info what, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    if (api->clGetDeviceInfo(id, what, 0, NULL, &n) || n == 0 || n > 1u << 20)
        return;
    char *text = calloc(n + 1, 1);
    if (text && !api->clGetDeviceInfo(id, what, n, text, NULL))
        as_copy_clean(out, size, text);
    free(text);
}

uint64_t as_cl_device_number(const struct as_cl_api *api, cl_device_id id, cl_device_info what)
{
    uint64_t wide = 0;
    size_t n = 0;
    if (api->clGetDeviceInfo(id, what, sizeof wide, &wide, &n))
        return 0;
    uint32_t narrow;
    if (n != sizeof narrow)
        return n == sizeof wide ? wide : 0;
    memcpy(&narrow, &wide, sizeof narrow);
    return narrow;
}

bool as_cl_has_extension(const struct as_cl_api *api, cl_device_id id, const char *name)
{
    size_t n = 0, length = strlen(name);
    if (api->clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &n) || n == 0 || n > 1u << 20)
        return false;
    char *list = calloc(n + 1, 1);
    bool found = false;
    if (list && !api->clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, n, list, NULL))
        for (const char *at = list; (at = strstr(at, name)) && !found; at += length)
            found = (at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0);
    free(list);
    return found;
}

/* Missing in some versions of the headers. */
enum { PCI_BUS_ID_NV = 0x4008, PCI_SLOT_ID_NV = 0x4009, PCI_DOMAIN_ID_NV = 0x400A, TOPOLOGY_AMD = 0x4037 };

struct pci_bus_info { /* cl_device_pci_bus_info_khr */
    cl_uint domain, bus, device, function;
};

static bool bus_from_khr(const struct as_cl_api *api, cl_device_id id, struct pci_bus_info *out)
{
    size_t n = 0;
    return as_cl_has_extension(api, id, "cl_khr_pci_bus_info") &&
           api->clGetDeviceInfo(id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof *out, out, &n) == CL_SUCCESS && n == sizeof *out;
}

static bool bus_from_nv(const struct as_cl_api *api, cl_device_id id, struct pci_bus_info *out)
{
    cl_uint bus, slot;
    size_t bus_bytes = 0, slot_bytes = 0;
    if (!as_cl_has_extension(api, id, "cl_nv_device_attribute_query") ||
        api->clGetDeviceInfo(id, PCI_BUS_ID_NV, sizeof bus, &bus, &bus_bytes) || bus_bytes != sizeof bus ||
        api->clGetDeviceInfo(id, PCI_SLOT_ID_NV, sizeof slot, &slot, &slot_bytes) || slot_bytes != sizeof slot)
        return false;
    *out = (struct pci_bus_info){.domain = (cl_uint)as_cl_device_number(api, id, PCI_DOMAIN_ID_NV),
                                 .bus = bus,
                                 .device = slot >> 3,
                                 .function = slot & 7};
    return true;
}

static bool bus_from_amd(const struct as_cl_api *api, cl_device_id id, struct pci_bus_info *out)
{
    /* cl_device_topology_amd: a type (1: PCIe), 17 unused bytes, bus, device, function */
    unsigned char raw[24] = {0};
    cl_uint type;
    size_t n = 0;
    if (!as_cl_has_extension(api, id, "cl_amd_device_attribute_query") ||
        api->clGetDeviceInfo(id, TOPOLOGY_AMD, sizeof raw, raw, &n) || n != sizeof raw)
        return false;
    memcpy(&type, raw, sizeof type);
    *out = (struct pci_bus_info){.bus = raw[21], .device = raw[22], .function = raw[23]};
    return type == 1;
}

void as_cl_bus_id(const struct as_cl_api *api, cl_device_id id, char out[24])
{
    struct pci_bus_info pci;
    out[0] = 0;
    if (bus_from_khr(api, id, &pci) || bus_from_nv(api, id, &pci) || bus_from_amd(api, id, &pci))
        snprintf(out, 24, "%04x:%02x:%02x.%x", pci.domain & 0xFFFFu, pci.bus & 0xFFu, pci.device & 0x1Fu,
                 pci.function & 7u);
}
