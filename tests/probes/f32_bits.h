/* f32 numbers and their bits, for tests that follow a hardware manual. */
#ifndef TESTS_PROBES_F32_BITS_H
#define TESTS_PROBES_F32_BITS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t f32_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float f32_of(uint64_t code)
{
    uint32_t u = (uint32_t)code;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Flushes subnormal numbers to zeros of the same sign. */
static inline float f32_flushed(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

#endif
