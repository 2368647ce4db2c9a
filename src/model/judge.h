/* From trials to numbers: the reference clock, the exponents of the clock and the scatter of similar cells, and from
 * these the estimate, interval and state of each cell. Pure functions of the samples: the engine calls them during a
 * run, repair for stored runs. The method is in docs/statistics.md. */
#ifndef AS_MODEL_JUDGE_H
#define AS_MODEL_JUDGE_H

#include "model/cell.h"
#include "stats/estimate.h"

/* The trials of one cell in order of their numbers. */
struct as_trials {
    struct as_trial *v; /* owned */
    size_t n, cap;
};
void as_trials_finish(struct as_trials *t);
/* Takes ownership of the trial: *trial is empty afterwards. */
enum as_status as_trials_add(struct as_trials *t, struct as_trial *trial, struct as_error *err);

/* Bytes touched by trials that claim to measure main memory; 0: none does. */
uint64_t as_trials_memory_claim(const struct as_trials *t);

struct as_judge_device {
    char id[32];
    bool is_cpu;            /* the host's cores do its work */
    bool counts_own_cycles; /* with a counter in the clock domain that does the work */
    uint64_t core_cache;    /* largest private cache of a core, bytes; 0 unknown */
    uint64_t memory_least;  /* bytes of a working set that rests on main memory */
};

/* Cells that behave alike: their numbers scale with the clock and scatter between trials in the same way. */
struct as_kind;
struct as_judge {
    const struct as_judge_device *devices; /* the caller's */
    size_t devices_n;
    int trials_asked;
    bool (*varies_by_process)(const struct as_cell *cell); /* do worker processes differ in its number? NULL: none */
    double reference_hz;                                   /* NAN unknown */
    struct as_kind *kinds;                                 /* owned */
    size_t kinds_n;
};
/* Learns the reference clock, the exponents and the scatter from all trials: trials[i] are those of cells[i]. Call it
 * again after more trials. */
enum as_status as_judge_learn(struct as_judge *j, const struct as_cell *cells, const struct as_trials *trials, size_t n,
                              struct as_error *err);
void as_judge_finish(struct as_judge *j);

/* From an array of the run to one about twice as large. */
struct as_memory_step {
    double half, size;         /* bytes of the two; 0: there are none */
    struct as_interval slower; /* times the time of the smaller one, per load or byte */
    bool faster_below;         /* a level at least twice as fast lies below */
};

/* What the gates need beyond the trials. */
struct as_judge_context {
    uint64_t largest_cache;            /* bytes of the largest cache on the cell's way to memory, 0 unknown */
    uint64_t memory_least;             /* bytes of a working set that rests on main memory */
    const char *largest_cache_name;    /* for people; NULL: "last-level cache" */
    struct as_memory_step memory_step; /* to an array of about the cell's size */
    struct as_memory_step memory_rise; /* the largest from there on */
    bool keeps_footprint;              /* the caches are no longer known: the gate stays as it is */
    const struct as_metric *further;   /* of the probe, ends with a NULL name; NULL: those that the cell has */
    bool own_power;                    /* the probe measures the device at the clock that its power limit allows */
};
/* Estimate, interval, gates, state and causes of one cell. A trial that crashed or failed is in the reason; where no
 * trial has samples, its status is the cell's. */
enum as_status as_judge_cell(const struct as_judge *j, struct as_cell *cell, const struct as_trials *trials,
                             const struct as_judge_context *context, struct as_error *err);
/* The exponents as JSON, for the run. */
void as_judge_exponents(const struct as_judge *j, struct as_buf *out);

#endif
