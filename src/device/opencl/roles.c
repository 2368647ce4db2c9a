/* The roles of the allocators of OpenCL. */
#include "device/opencl/roles.h"

const struct as_role_name as_cl_roles[] = {
    {AS_ROLE_DEVICE, "clCreateBuffer"},
    {AS_ROLE_PINNED, "clCreateBuffer ALLOC_HOST_PTR"},
    {AS_ROLE_REGISTERED, "clCreateBuffer USE_HOST_PTR"},
    {AS_ROLE_SHARED_COARSE, "clSVMAlloc coarse"},
    {AS_ROLE_SHARED_FINE, "clSVMAlloc fine"},
    {AS_ROLE_UNKNOWN, NULL},
};

const struct as_vocabulary as_cl_words = {.compute_unit = "CU",
                                          .workgroup = "workgroup",
                                          .subgroup = "subgroup",
                                          .shared_memory = "local memory",
                                          .queue = "queue"};
