#include "world.h"

#include <math.h>

const struct world worlds[] = {
    {.name = "quiet", .beta = 1, .between = 0.005, .within = 0.01, .uneven = 0.4, .least = 0.925, .plain = true},
    {.name = "clock hops, L1",
     .beta = 1,
     .hops = true,
     .between = 0.001,
     .within = 0.002,
     .uneven = 0.4,
     .least = 0.925,
     .plain = true},
    {.name = "clock hops, calls",
     .beta = 0.6,
     .hops = true,
     .between = 0.02,
     .within = 0.03,
     .uneven = 0.5,
     .least = 0.925,
     .plain = true},
    {.name = "clock hops, DRAM",
     .beta = 0,
     .hops = true,
     .between = 0.02,
     .within = 0.02,
     .uneven = 0.5,
     .least = 0.925,
     .plain = true},
    {.name = "neighbours, seen",
     .beta = 1,
     .hops = true,
     .neighbour = 0.3,
     .slower = 0.4,
     .seen = true,
     .between = 0.002,
     .within = 0.005,
     .uneven = 0.5,
     .least = 0.925},
    /* A number that is slower 30% of the time without a sign is biased; more trials only narrow the interval. */
    {.name = "neighbours, unseen",
     .neighbour = 0.3,
     .slower = 0.08,
     .between = 0.02,
     .within = 0.02,
     .uneven = 0.5,
     .least = 0.78},
    {.name = "slow episodes",
     .episodes = 0.1,
     .slower = 0.25,
     .between = 0.02,
     .within = 0.02,
     .uneven = 0.5,
     .least = 0.925},
    {.name = "bad trials, L1",
     .beta = 1,
     .hops = true,
     .episodes = 0.1,
     .slower = 0.1,
     .between = 0.001,
     .within = 0.002,
     .uneven = 0.4,
     .least = 0.925},
    {.name = "drift", .drift = 0.06, .between = 0.01, .within = 0.02, .uneven = 0.4, .least = 0.925},
    {.name = "two modes by sample", .modes = 0.2, .between = 0.01, .within = 0.01, .uneven = 0.4, .least = 0.925},
    /* In 9% of pairs, both trials are in the rarer mode. */
    {.name = "two modes by trial",
     .modes = 0.2,
     .by_trial = true,
     .between = 0.01,
     .within = 0.01,
     .uneven = 0.4,
     .least = 0.89},
    {.name = "cells unlike", .between = 0.02, .within = 0.02, .uneven = 1.2, .least = 0.925, .plain = true},
};
const size_t worlds_n = sizeof worlds / sizeof *worlds;

static const double top_hz = 4.1e9, sample_s = 0.002;

static double draw_clock(struct as_rng *r)
{
    static const double clocks[] = {3.6e9, 3.85e9, 4.1e9, 4.1e9};
    return clocks[as_rng_below(r, 4)];
}

/* A disturbance that is on for `length` on average and for a share of the time. */
struct burst {
    double share, length;
    bool on;
};

static struct burst burst(struct as_rng *r, double share, double length)
{
    return (struct burst){share, length, as_rng_double(r) < share};
}

static void pass(struct burst *b, struct as_rng *r)
{
    double stay = b->on ? b->length : b->share > 0 ? b->length * (1 - b->share) / b->share : INFINITY;
    if (as_rng_double(r) < sample_s / stay)
        b->on = !b->on;
}

/* Properties of a cell: level and scatter between trials. */
struct character {
    double level, between;
};

static void measure_trial(const struct world *w, const struct character *c, double when, size_t samples,
                          struct as_rng *r, double *x, double *hz, double *weight)
{
    static const double slowest_hz = 3e9;
    struct burst near = burst(r, w->neighbour, 0.2), slow = burst(r, w->episodes, 3);
    double clock = w->hops ? draw_clock(r) : top_hz;
    double level = c->level * exp(c->between * as_rng_normal(r) + w->drift * (when - 0.5));
    bool mode = as_rng_double(r) < 0.3;
    for (size_t i = 0; i < samples; i++) {
        double before = clock;
        if (w->hops && as_rng_double(r) < sample_s / 0.03)
            clock = draw_clock(r);
        pass(&near, r);
        pass(&slow, r);
        if (!w->by_trial)
            mode = as_rng_double(r) < 0.3;
        double during = before + as_rng_double(r) * (clock - before), slower = near.on || slow.on ? 1 + w->slower : 1;
        x[i] = level * pow(top_hz / during, w->beta) * slower * exp(w->within * as_rng_normal(r));
        if (mode)
            x[i] *= 1 + w->modes;
        bool sign = w->seen && near.on && as_rng_double(r) < 0.9;
        double reading = sign ? 0.6 : 1;
        before *= reading * (1 + 5e-4 * as_rng_normal(r));
        double after = clock * reading * (1 + 5e-4 * as_rng_normal(r));
        weight[i] = as_sample_weight(before, after, slowest_hz, false, &hz[i]);
    }
}

/* 70% of the samples in the lower mode: the median is its 5/7 quantile. */
static double truth_of(const struct world *w, const struct character *c)
{
    return w->modes > 0 && !w->by_trial ? c->level * exp(0.5659488219328631 * w->within) : c->level;
}

void world_measure(const struct world *w, const size_t *trials, size_t samples, struct as_rng *r,
                   struct world_probe *out)
{
    for (size_t c = 0; c < WORLD_CELLS; c++) {
        struct world_cell *cell = &out->cells[c];
        struct character own = {exp(2 * as_rng_normal(r)), w->between * exp(w->uneven * as_rng_normal(r))};
        cell->n = trials[c];
        cell->truth = truth_of(w, &own);
        for (size_t k = 0; k < trials[c]; k++) {
            double when = ((double)k + as_rng_double(r)) / (double)trials[c];
            measure_trial(w, &own, when, samples, r, out->x[c][k], out->hz[c][k], out->weight[c][k]);
            cell->trials[k] = (struct as_trial_samples){
                .x = out->x[c][k], .clock_hz = out->hz[c][k], .weight = out->weight[c][k], .n = samples};
        }
    }
}
