/* The kernels of conformance.kernel for CPUs; a thread is a workgroup of one work-item. */
#include "conformance.h"

#include <stdatomic.h>

static void tick(const struct as_host_call *call)
{
    for (uint64_t i = 0; i < call->reps; i++)
        atomic_fetch_add((_Atomic uint32_t *)call->args[0], 1);
}

static void numbers(const struct as_host_call *call)
{
    uint64_t *out = call->args[0];
    out[call->thread] = (*(const uint64_t *)call->args[1] >> 8) + (uint64_t)(*(const float *)call->args[2] * 4) +
                        *(const uint32_t *)call->args[3] + 2;
}

static void one_double(const struct as_host_call *call)
{
    ((double *)call->args[0])[call->thread] = 2 * *(const double *)call->args[1];
}

const struct as_host_kernel conformance_host[] = {
    {"conform_tick", tick}, {"conform_numbers", numbers}, {"conform_double", one_double}, {NULL, NULL}};
