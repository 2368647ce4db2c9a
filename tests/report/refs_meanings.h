/* What published operations compute, written without looking at ours. */
#ifndef AS_TESTS_REPORT_REFS_MEANINGS_H
#define AS_TESTS_REPORT_REFS_MEANINGS_H

#include "lib/ops/ops.h"

enum { LANES = 32 };

typedef uint64_t whole_fn(uint64_t a, uint64_t b, uint64_t c);
typedef double real_fn(double a, double b, double c);
typedef union as_op_value lanes[LANES][3];
typedef double lanes_fn(const lanes v, unsigned lane);

struct meaning {
    const char *group, *published;
    bool is_wide; /* the result has 64 bits, whatever the width of the operands */
    whole_fn *whole;
    real_fn *real;
    lanes_fn *of_lanes;
};
extern const struct meaning meanings[];
extern const size_t meanings_n;

#endif
