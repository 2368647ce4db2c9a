/* Replaces the OpenCL backend in a build without its headers. */
#include "device/device.h"
#include "device/opencl/roles.h"

const struct as_backend as_backend_opencl = {
    .abi = AS_DEVICE_ABI,
    .name = "opencl",
    .title = "OpenCL, any vendor, by libOpenCL.so.1",
    .portable = true,
    .roles = as_cl_roles,
    .words = &as_cl_words,
    .unbuilt = "assay was built without the OpenCL headers; install opencl-c-headers and build again",
};
