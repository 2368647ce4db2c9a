/* The rows of this CPU's native instructions, for their tests. */
#ifndef AS_TESTS_PROBES_NATIVE_ROWS_H
#define AS_TESTS_PROBES_NATIVE_ROWS_H

#include "device/cpu/features.h"
#include "lib/ops/native.h"

static inline bool native_can_run(const struct as_native *n)
{
    char missing[120];
    return as_cpu_has(n->needs, missing, sizeof missing);
}

#endif
