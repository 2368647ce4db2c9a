#include "device/metal/roles.h"

const struct as_role_name as_mtl_roles[] = {
    {AS_ROLE_DEVICE, "MTLStorageModePrivate"},
    {AS_ROLE_PINNED, "MTLStorageModeShared"},
    {AS_ROLE_PINNED_WC, "MTLStorageModeShared WriteCombined"},
    {AS_ROLE_MANAGED, "MTLStorageModeManaged"},
    {AS_ROLE_REGISTERED, "newBufferWithBytesNoCopy"},
    {AS_ROLE_UNKNOWN, NULL},
};

const struct as_vocabulary as_mtl_words = {.compute_unit = "GPU core",
                                           .workgroup = "threadgroup",
                                           .subgroup = "simdgroup",
                                           .shared_memory = "threadgroup memory",
                                           .queue = "command queue"};
