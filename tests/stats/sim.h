/* Simulation helpers for the tests of statistics: seeded data with known truth. */
#ifndef TESTS_STATS_SIM_H
#define TESTS_STATS_SIM_H

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A kind of noise around 1, and its true median. */
struct kind {
    const char *name;
    double (*draw)(struct as_rng *r);
    double median;
};
enum { KINDS = 4 };
extern const struct kind kinds[KINDS]; /* normal, lognormal, exponential, two modes 70/30 */

#endif
