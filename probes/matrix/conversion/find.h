/* Infers the rounding and the overflow behaviour of a conversion from f32. */
#ifndef AS_PROBES_MATRIX_CONVERSION_FIND_H
#define AS_PROBES_MATRIX_CONVERSION_FIND_H

#include "base/error.h"
#include "lib/mma/instructions/formats.h"

#include <stddef.h>

struct converter {
    const struct as_number_format *to;
    /* Converts n numbers, given as f32 bits, to codes. */
    enum as_status (*convert)(void *ctx, size_t n, const uint32_t *from, uint32_t *to, struct as_error *err);
    void *ctx;
};
enum conversion_property {
    CONVERSION_ROUNDING,
    CONVERSION_OVERFLOW,
    CONVERSION_INFINITY,
    CONVERSION_NAN,
    CONVERSION_SUBNORMAL,
    CONVERSION_EXPLAINED,
    CONVERSION_PROPERTIES
};
/* Of overflow and infinity: the answer "largest finite number". */
enum { CONVERSION_LARGEST = 2 };
struct conversion_found {
    double value[CONVERSION_PROPERTIES];
    char text[CONVERSION_PROPERTIES][120];
    size_t compared, unequal;
};
/* AS_FAILED if the instruction changes numbers that the format represents. */
enum as_status as_conversion_find(const struct converter *c, struct conversion_found *out, struct as_error *err);

#endif
