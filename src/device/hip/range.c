/* What the HIP runtime has recorded of managed memory: its range attributes. */
#include "device/hip/hip.h"

#include "base/text.h"

static hipError_t range_ask(const struct as_gpu *gpu, const struct as_gpu_block *b, hipMemRangeAttribute attribute,
                            int *out)
{
    return as_hip_of(gpu)->hipMemRangeGetAttribute(out, sizeof *out, attribute, as_hip_pointer(b->address), b->bytes);
}

static void range_place(const struct as_gpu *gpu, int device, char *out, size_t size)
{
    as_copy_text(out, size,
                 device == hipCpuDeviceId       ? "host"
                 : device == gpu->here.device   ? "device"
                 : device == hipInvalidDeviceId ? "none"
                                                : "another device");
}

static void range_coherence(int mode, char *out, size_t size)
{
    as_copy_text(out, size,
                 mode == hipMemRangeCoherencyModeFineGrain     ? "fine-grained"
                 : mode == hipMemRangeCoherencyModeCoarseGrain ? "coarse-grained"
                                                               : "mixed");
}

enum as_status as_hip_attributes(struct as_gpu *gpu, const struct as_gpu_block *b, struct as_page_attributes *out,
                                 struct as_error *err)
{
    static const hipMemRangeAttribute asked[] = {hipMemRangeAttributeLastPrefetchLocation,
                                                 hipMemRangeAttributePreferredLocation, hipMemRangeAttributeAccessedBy,
                                                 hipMemRangeAttributeReadMostly, hipMemRangeAttributeCoherencyMode};
    enum { ASKED = sizeof asked / sizeof *asked };
    int value[ASKED] = {0};
    if (!as_hip_of(gpu)->hipMemRangeGetAttribute)
        return as_fail(err, AS_UNSUPPORTED, "hip: this runtime lacks hipMemRangeGetAttribute");
    for (size_t i = 0; i < ASKED - 1; i++) {
        const hipError_t code = range_ask(gpu, b, asked[i], &value[i]);
        if (code)
            return as_gpu_check(gpu, code, "hipMemRangeGetAttribute", err);
    }
    range_place(gpu, value[0], out->last_prefetch, sizeof out->last_prefetch);
    range_place(gpu, value[1], out->preferred, sizeof out->preferred);
    range_place(gpu, value[2], out->accessed_by, sizeof out->accessed_by);
    as_copy_text(out->read_mostly, sizeof out->read_mostly, value[3] ? "yes" : "no");
    if (range_ask(gpu, b, asked[ASKED - 1], &value[ASKED - 1]) == 0) /* newer than the others */
        range_coherence(value[ASKED - 1], out->coherence, sizeof out->coherence);
    return AS_OK;
}
