/* OpenCL with any driver of this machine: PoCL on one without a GPU. */
#include "../stand_in.h"

extern const struct as_backend as_backend_opencl;

const struct stand_in stand_in = {.backend = &as_backend_opencl, .may_be_missing = true, .runs = RUNS_ALL};
