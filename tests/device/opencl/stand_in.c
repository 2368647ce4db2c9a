/* The stand-in for libOpenCL.so.1: its faults, and the backend's messages for them. It runs no kernels. */
#include "../stand_in.h"

extern const struct as_backend as_backend_opencl;

static const char *const machines[] = {"", "unified", "lies", NULL};
static const char *const bus_ids[] = {"0000:01:00.0", "0000:41:03.1", "", NULL};

static const struct open_refusal refusals[] = {
    {"none", NULL, false, AS_UNSUPPORTED, "no driver is registered"},
    {"empty", NULL, false, AS_UNSUPPORTED, "none of them has a device"},
    {"off", NULL, true, AS_UNSUPPORTED, "the driver reports device 0 as not available"},
    {"taken", NULL, true, AS_UNSUPPORTED,
     "opencl: clCreateContext returned CL_DEVICE_NOT_AVAILABLE (-2): in exclusive use by another process, or its "
     "compute mode forbids access"},
    {0},
};

static const struct size_limit limits[] = {
    {"clCreateBuffer", (1 << 18) + 1, AS_UNSUPPORTED, ""},
    {0},
};

static const struct driver_fault faults[] = {
    {"norun", AS_NOMEM, "CL_OUT_OF_RESOURCES", DOES_KERNELS, false, NULL},
    {0},
};

const struct stand_in stand_in = {
    .backend = &as_backend_opencl,
    .library = "libOpenCL.so.1",
    .words = "FAKE_OPENCL",
    .live = "fake_opencl_live",
    .runs = RUNS_NONE,
    .machines = machines,
    .bus_ids = bus_ids,
    .refusals = refusals,
    .limits = limits,
    .faults = faults,
    .no_memory = "CL_OUT_OF_RESOURCES",
};
