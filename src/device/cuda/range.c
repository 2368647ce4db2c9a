/* What the CUDA driver has recorded of managed memory: its range attributes. */
#include "device/cuda/cuda.h"

#include "base/text.h"

#include <stdio.h>

static bool range_ask(const struct as_gpu *gpu, const struct as_gpu_block *b, CUmem_range_attribute attribute, int *out,
                      CUresult *code)
{
    *code = as_cu_of(gpu)->cuMemRangeGetAttribute(out, sizeof *out, attribute, b->address, b->bytes);
    return *code == CUDA_SUCCESS;
}

static void range_place(const struct as_gpu *gpu, int device, char *out, size_t size)
{
    as_copy_text(out, size,
                 device == CU_DEVICE_CPU       ? "host"
                 : device == gpu->here.device  ? "device"
                 : device == CU_DEVICE_INVALID ? "none"
                                               : "another device");
}

/* Newer drivers also give the type of a location, which tells the host's nodes apart. */
static bool range_location(const struct as_gpu *gpu, const struct as_gpu_block *b, CUmem_range_attribute plain,
                           CUmem_range_attribute type, CUmem_range_attribute id, char *out, size_t size, CUresult *code)
{
    CUresult unused;
    int kind = CU_MEM_LOCATION_TYPE_INVALID, number = 0;
    if (range_ask(gpu, b, type, &kind, &unused) && kind == CU_MEM_LOCATION_TYPE_HOST_NUMA &&
        range_ask(gpu, b, id, &number, &unused)) {
        snprintf(out, size, "NUMA node %d", number);
        *code = CUDA_SUCCESS;
        return true;
    }
    const bool known = range_ask(gpu, b, plain, &number, code);
    if (known)
        range_place(gpu, number, out, size);
    return known;
}

enum as_status as_cu_attributes(struct as_gpu *gpu, const struct as_gpu_block *b, struct as_page_attributes *out,
                                struct as_error *err)
{
    CUresult code = CUDA_ERROR_NOT_SUPPORTED;
    int value = 0;
    if (!as_cu_of(gpu)->cuMemRangeGetAttribute)
        return as_fail(err, AS_UNSUPPORTED, "cuda: this driver has no cuMemRangeGetAttribute");
    if (range_location(
            gpu, b, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
            CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, out->last_prefetch, sizeof out->last_prefetch, &code) &&
        range_location(gpu, b, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                       CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
                       out->preferred, sizeof out->preferred, &code) &&
        range_ask(gpu, b, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, &value, &code)) {
        range_place(gpu, value, out->accessed_by, sizeof out->accessed_by);
        if (range_ask(gpu, b, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, &value, &code))
            as_copy_text(out->read_mostly, sizeof out->read_mostly, value ? "yes" : "no");
    }
    return as_gpu_check(gpu, code, "cuMemRangeGetAttribute", err);
}
