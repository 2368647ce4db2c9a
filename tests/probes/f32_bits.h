/* Numbers of f32 and their bits, for tests that say what hardware does in the words of its manual. */
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

/* Subnormal numbers are zeros of their sign. */
static inline float f32_flushed(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

#endif
