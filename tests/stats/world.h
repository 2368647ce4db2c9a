/* A simulated machine whose truth is known, and probes measured on it: clocks hop, neighbours come and go, memory has
 * slow episodes, baselines drift, numbers have two modes. Seeded. */
#ifndef TESTS_STATS_WORLD_H
#define TESTS_STATS_WORLD_H

#include "sim.h"

#include "stats/estimate.h"

enum { WORLD_CELLS = 16, WORLD_TRIALS = 12, WORLD_SAMPLES = 25 };

/* Shares are of the number unless said otherwise. */
struct world {
    const char *name;
    double beta;            /* of the probe */
    bool hops;              /* 3.6, 3.85 and 4.1 GHz, some 30 ms each */
    double neighbour;       /* share of time, in bursts of some 200 ms */
    double slower;          /* under a neighbour or in an episode */
    bool seen;              /* nine of ten such samples have a sign of it */
    double episodes;        /* share of time, some 3 s each */
    double drift;           /* from the first to the last second of the run */
    double modes;           /* distance of the second mode, which has 30% */
    bool by_trial;          /* a trial has one mode */
    double between, within; /* standard deviations, typical of the probe */
    double uneven;          /* standard deviation of the logarithm of `between` over cells */
    double least;           /* coverage that can be had of 95% */
    bool plain;             /* nothing makes an interval cover more than 98% either */
};
extern const struct world worlds[];
extern const size_t worlds_n;

struct world_cell {
    struct as_trial_samples trials[WORLD_TRIALS];
    size_t n;
    double truth; /* at 4.1 GHz, without neighbours and episodes */
};
struct world_probe {
    struct world_cell cells[WORLD_CELLS];
    double x[WORLD_CELLS][WORLD_TRIALS][WORLD_SAMPLES], hz[WORLD_CELLS][WORLD_TRIALS][WORLD_SAMPLES],
        weight[WORLD_CELLS][WORLD_TRIALS][WORLD_SAMPLES];
};
/* trials[c] of cell c, one in each round of the run; samples of each trial. */
void world_measure(const struct world *w, const size_t *trials, size_t samples, struct as_rng *r,
                   struct world_probe *out);

#endif
