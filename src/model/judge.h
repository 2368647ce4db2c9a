/* From trials to numbers: reference clock, clock exponents and scatter of similar cells, and from
 * these the estimate, interval and state of each cell. Pure functions of the samples, called by the engine during a
 * run and by repair for stored runs. docs/statistics.md describes the method. */
#ifndef AS_MODEL_JUDGE_H
#define AS_MODEL_JUDGE_H

#include "model/cell.h"
#include "stats/estimate.h"

/* The trials of one cell, ordered by number. */
struct as_trials {
    struct as_trial *v; /* owned */
    size_t n, cap;
};
void as_trials_finish(struct as_trials *t);
/* Takes ownership of the trial; *trial is empty afterwards. */
enum as_status as_trials_add(struct as_trials *t, struct as_trial *trial, struct as_error *err);

/* Bytes touched by trials that claim to measure main memory; 0 if none does. */
uint64_t as_trials_memory_claim(const struct as_trials *t);

struct as_judge_device {
    char id[32];
    bool is_cpu;           /* its work runs on the host's cores */
    uint64_t core_cache;   /* largest private cache of a core, bytes; 0 unknown */
    uint64_t memory_least; /* minimum bytes of a working set in main memory */
};

/* Similar cells: their numbers scale with the clock and scatter between trials in the same way. */
struct as_kind;
struct as_metric_kind;
struct as_judge {
    const struct as_judge_device *devices; /* the caller's */
    size_t devices_n;
    int trials_asked;
    /* Does its number differ between worker processes? NULL: never. */
    bool (*varies_by_process)(const struct as_cell *cell);
    /* Is its number neither a time nor a rate, so that other work does not change it? NULL: of counts only. */
    bool (*is_untimed)(const struct as_cell *cell);
    /* The further metrics of its probe, which a NULL name ends. NULL, or returns NULL: those that the cell has. */
    const struct as_metric *(*further)(const struct as_cell *cell);
    double reference_hz;   /* NAN unknown */
    struct as_kind *kinds; /* owned */
    size_t kinds_n;
    struct as_metric_kind *metric_kinds; /* owned */
    size_t metric_kinds_n, metric_kinds_cap;
};
/* Fits reference clock, exponents and scatter to all trials: trials[i] belong to cells[i]. Call it
 * again after more trials. */
enum as_status as_judge_learn(struct as_judge *j, const struct as_cell *cells, const struct as_trials *trials, size_t n,
                              struct as_error *err);
void as_judge_finish(struct as_judge *j);

/* The step from an array of the run to one about twice as large. */
struct as_memory_step {
    double half, size;         /* bytes of the two; 0 if there are none */
    struct as_interval slower; /* time per load or byte, relative to the smaller one */
    bool faster_below;         /* smaller sizes include a level at least twice as fast */
};

/* Inputs of the gates besides the trials. */
struct as_judge_context {
    uint64_t largest_cache;            /* bytes of the largest cache on the path to memory, 0 unknown */
    uint64_t memory_least;             /* bytes of a working set that rests on main memory */
    const char *largest_cache_name;    /* for display; NULL: "last-level cache" */
    struct as_memory_step memory_step; /* to an array of about the cell's size */
    struct as_memory_step memory_rise; /* the largest step from there on */
    bool keeps_footprint;              /* the caches are no longer known: keep the gate's state */
    bool own_power;                    /* the probe measures at the clock that the power limit allows */
};
/* Sets estimate, interval, gates, state and causes of one cell. The reason mentions a trial that crashed or failed; if
 * no trial has samples, its status becomes the cell's. */
enum as_status as_judge_cell(const struct as_judge *j, struct as_cell *cell, const struct as_trials *trials,
                             const struct as_judge_context *context, struct as_error *err);
/* The exponents as JSON, for the run. */
void as_judge_exponents(const struct as_judge *j, struct as_buf *out);

#endif
