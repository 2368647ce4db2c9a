/* The CPUs of this machine. */
#include "conformance.h"

extern const struct as_backend as_backend_cpu;

static const struct size_limit limits[] = {
    {"malloc", UINT64_C(1) << 50, AS_NOMEM, "request less"},
    {0},
};

const struct stand_in stand_in = {.backend = &as_backend_cpu, .runs = RUNS_ALL, .limits = limits};
