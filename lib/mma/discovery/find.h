/* Infers the arithmetic of a matrix unit from its results alone. */
#ifndef AS_LIB_MMA_DISCOVERY_FIND_H
#define AS_LIB_MMA_DISCOVERY_FIND_H

#include "model.h"

enum as_property {
    AS_PROPERTY_PRODUCT,
    AS_PROPERTY_ACCUMULATOR,
    AS_PROPERTY_KEPT,
    AS_PROPERTY_CUT,
    AS_PROPERTY_ALIGNED,
    AS_PROPERTY_STEP,
    AS_PROPERTY_SUMS,
    AS_PROPERTY_START,
    AS_PROPERTY_ROUNDING,
    AS_PROPERTY_SUBNORMAL,
    AS_PROPERTY_OVERFLOW,
    AS_PROPERTY_SPECIAL,
    AS_PROPERTY_NAN,
    AS_PROPERTY_ZERO,
    AS_PROPERTY_EXPLAINED,
    AS_PROPERTIES
};
/* Values of properties other than counts. */
enum as_property_value {
    AS_CUT_TOWARD_ZERO = 1, /* for cut and rounding: 1 + index in as_roundings */
    AS_CUT_NEAREST_EVEN,
    AS_CUT_NEAREST_AWAY,
    AS_CUT_DOWN,
    AS_CUT_UP,
    AS_CUT_OTHER,
    AS_ALIGNED_BY_DIGIT = 1,
    AS_ALIGNED_BY_FACTORS,
    AS_START_VALUE_TOGETHER = 1,
    AS_START_VALUE_EACH,
    AS_START_VALUE_LAST,
    AS_START_VALUE_OTHER,
    AS_OVERFLOW_VALUE_INFINITY = 1,
    AS_OVERFLOW_VALUE_LARGEST,
    AS_OVERFLOW_VALUE_NAN,
    AS_OVERFLOW_VALUE_WRAPS,
    AS_OVERFLOW_VALUE_OTHER,
    AS_NAN_VALUE_CANONICAL = 1,
    AS_NAN_VALUE_PAYLOAD,
    AS_ZERO_VALUE_IEEE = 1,
    AS_ZERO_VALUE_PLUS,
    AS_ZERO_VALUE_OTHER,
};
struct as_property_info {
    const char *word, *title; /* "kept", "alignment width" */
};
extern const struct as_property_info as_properties[AS_PROPERTIES];

struct as_property_found {
    bool seen;    /* else text has the reason */
    double value; /* a number, or one of as_property_value */
    /* for counts: the experiment's maximum; equal to the value: that or more; NAN: no maximum */
    double at_most;
    char text[200]; /* as text */
};
struct as_matrix_found {
    struct as_property_found property[AS_PROPERTIES];
    struct as_arithmetic how;   /* the model's parameters; invisible ones as in as_arithmetic_of_fma */
    uint64_t compared, unequal; /* results of random problems, compared and explained */
    char first[160];            /* the first difference */
};
/* AS_FAILED if the unit does not multiply matrices: small integers give wrong results. */
enum as_status as_arithmetic_find(const struct as_matrix_unit *unit, uint64_t seed, struct as_matrix_found *found,
                                  struct as_error *err);

#endif
