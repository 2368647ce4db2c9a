/* A simulated machine with known truth, and probes measured on it: clocks hop, neighbours come and go, memory has
 * slow episodes, baselines drift, numbers have two modes. Seeded. */
#ifndef TESTS_STATS_WORLD_H
#define TESTS_STATS_WORLD_H

#include "sim.h"

#include "stats/estimate.h"

enum { WORLD_CELLS = 16, WORLD_TRIALS = 12, WORLD_SAMPLES = 25 };

/* Shares are relative to the number unless noted. */
struct world {
    const char *name;
    double beta;            /* of the probe */
    bool hops;              /* 3.6, 3.85 and 4.1 GHz, some 30 ms each */
    double neighbour;       /* share of time, in bursts of some 200 ms */
    double slower;          /* under a neighbour or in an episode */
    bool seen;              /* nine of ten such samples show a sign of contention */
    double episodes;        /* share of time, some 3 s each */
    double drift;           /* from the first to the last second of the run */
    double modes;           /* distance of the second mode, which has 30% */
    bool by_trial;          /* a trial has one mode */
    double between, within; /* standard deviations, typical of the probe */
    double uneven;          /* standard deviation of the logarithm of `between` over cells */
    double least;           /* minimum coverage of nominal 95% intervals */
    bool plain;             /* coverage must also not exceed 98% */
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
/* trials[c] belongs to cell c, one per round of the run, with `samples` samples each. */
void world_measure(const struct world *w, const size_t *trials, size_t samples, struct as_rng *r,
                   struct world_probe *out);

#endif
