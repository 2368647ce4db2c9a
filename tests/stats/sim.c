#include "sim.h"

#include <math.h>

static double normal(struct as_rng *r)
{
    return 1 + 0.05 * as_rng_normal(r);
}

static double lognormal(struct as_rng *r)
{
    return exp(0.8 * as_rng_normal(r));
}

static double exponential(struct as_rng *r)
{
    return -log(1 - as_rng_double(r)) / 0.69314718055994531;
}

/* The median is the 5/7 quantile of the lower mode. */
static double two_modes(struct as_rng *r)
{
    double centre = as_rng_double(r) < 0.7 ? 1 - 0.05 * 0.5659488219328631 : 2;
    return centre + 0.05 * as_rng_normal(r);
}

const struct kind kinds[KINDS] = {
    {"normal", normal, 1}, {"lognormal", lognormal, 1}, {"exponential", exponential, 1}, {"two modes", two_modes, 1}};
