/* From trials to numbers: the clock that they are given at, how they go with it, what cells that behave alike scatter,
 * and with these the estimate, interval and state of each cell. Pure functions of what was measured: the engine asks
 * while a run goes on, the store for runs of before. How: docs/statistics.md. */
#ifndef AS_CORE_JUDGE_H
#define AS_CORE_JUDGE_H

#include "core/cell.h"
#include "stats/estimate.h"

/* The trials of one cell in order of their numbers. */
struct as_trials {
    struct as_visit *v; /* owned */
    size_t n, cap;
};
void as_trials_finish(struct as_trials *t);
/* Takes the trial over: *visit is empty afterwards. */
enum as_status as_trials_add(struct as_trials *t, struct as_visit *visit, struct as_error *err);

struct as_judge_device {
    char id[32];
    bool is_cpu;            /* its work is done by cores of the host */
    bool counts_own_cycles; /* by a counter of the clock that does the work */
    uint64_t core_cache;    /* largest cache of one core alone, bytes; 0 unknown */
    uint64_t last_cache;    /* of the whole device, bytes; 0 unknown */
};

/* Cells that behave alike: their number goes with the clock in the same way, and they scatter alike from trial to
 * trial.
 */
struct as_kind;
struct as_judge {
    const struct as_judge_device *devices; /* the caller's */
    size_t devices_n;
    int trials_asked;
    double reference_hz;   /* NAN unknown */
    struct as_kind *kinds; /* owned */
    size_t kinds_n;
};
/* Learns reference clock, exponents and scatter from all trials: trials[i] are those of cells[i]. To be repeated as
 * more come in. */
enum as_status as_judge_learn(struct as_judge *j, const struct as_cell *cells, const struct as_trials *trials, size_t n,
                              struct as_error *err);
void as_judge_finish(struct as_judge *j);

/* Where the gates look beyond the trials. */
struct as_judge_context {
    uint64_t reachable_cache; /* bytes of the last caches that the cell's threads reach */
    bool keeps_footprint;     /* not known any more: the gate stays as it is */
    bool own_power;           /* the probe asks what a device does at the clock that its power allows */
};
/* Estimate, interval, gates, state and causes of one cell. A trial without samples because of a crash or the like is
 * told in the reason; where no trial has samples it is the cell's state. */
enum as_status as_judge_cell(const struct as_judge *j, struct as_cell *cell, const struct as_trials *trials,
                             const struct as_judge_context *context, struct as_error *err);
/* The exponents as JSON, for the run. */
void as_judge_exponents(const struct as_judge *j, struct as_buf *out);

#endif
