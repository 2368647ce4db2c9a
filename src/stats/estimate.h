/* Estimate and interval for every cell with a sample. docs/statistics.md has the rules, their sources and the
 * simulated coverage. No function prints, changes its input or keeps state between calls. */
#ifndef AS_STATS_ESTIMATE_H
#define AS_STATS_ESTIMATE_H

#include "stats/stats.h"

/* One trial: samples in order of time. */
struct as_trial_samples {
    const double *x;
    const double *clock_hz; /* core clock during each sample; NULL or NAN entries: unknown */
    const double *weight;   /* NULL: all 1; 0: left out */
    size_t n;
    int process; /* trials of one process share effects fixed per process: together they are one observation of
                    the scatter if there are two or more processes. 0: the trial is its own observation */
};

/* Scatter of the logarithms of trial medians between the trials of a cell, for a group of similar cells
 * (core-bound, cache, DRAM, host calls). */
struct as_prior {
    double df;         /* weight of var in degrees of freedom; 0: unknown */
    double var;        /* typical variance */
    double upper_var;  /* for a cell of one trial: its 95% interval is 1.96 sqrt(upper_var) to either side */
    double sample_var; /* variance of the logarithms of single samples within a trial; 0: unknown */
    size_t cells;      /* number of cells in the fit */
};

/* How to normalise samples to the reference clock: time is proportional to clock^-beta. NULL if the clock's effect is
 * unknown; beta 0: no effect. */
struct as_norm {
    double beta;
    double reference_hz;
    bool rate; /* the number is a rate: larger with a faster clock */
};

/* What was requested of the cell; NULL: nothing. */
struct as_aim {
    double width;  /* of the interval as a share of the value; 0: as narrow as possible */
    size_t trials; /* planned */
    bool exact;    /* a count, not a time or rate: its interval is the range of its samples */
    bool stopped;  /* trials stopped once the interval was narrow enough, which makes it optimistic */
    int better;    /* 1: larger values are better, -1: smaller ones, and other work makes them worse; 0: unknown */
};

/* Why an interval is wider than requested. */
enum as_wide {
    AS_WIDE_TIME = 1,       /* fewer trials than planned, or too few */
    AS_WIDE_CONTENTION = 2, /* trials in which fewer than three samples, or than a quarter, have weight */
    AS_WIDE_CLOCK = 4,      /* the clock is unknown, or moved and its effect is unknown */
    AS_WIDE_DRIFT = 8,      /* a trend over the trials */
    AS_WIDE_PLACEMENT = 16, /* trials differ much more than the samples within them */
    AS_WIDE_MODES = 32,     /* two modes on which trials disagree */
    AS_WIDE_BUSY = 64,      /* every trial was contended by other work: the number only bounds what it is without */
};
enum { AS_WIDE_CAUSES = 7 };
/* "time", "contention", "clock", "drift", "placement", "modes", "busy"; NULL for anything else. */
const char *as_wide_word(unsigned cause);

struct as_estimate {
    size_t n, trials;      /* those that count */
    size_t left_out;       /* samples that do not count */
    double value;          /* at the reference clock; NAN without samples */
    struct as_interval ci; /* 95%; finite if value is, and contains it */
    double raw_value;      /* median of all samples as measured, and their quartiles, as a description of the machine */
    double raw_lo, raw_hi;
    double mad, min, max; /* of the samples that count, at the reference clock */
    double log_var;       /* between trials, with its degrees of freedom: for as_prior_fit; NAN with df 0 */
    unsigned df;
    double sample_var; /* of the logarithms of samples within a trial, from quartiles; NAN with fewer than four samples
                          per trial */
    size_t modes;      /* 1, or 2 with centres and share */
    double mode[2], mode_share0;
    bool modes_decided; /* the medians of all trials, at least three, lie in one mode */
    double
        drift; /* change of the logarithm from the first to the last trial according to the trend; NAN below 4 trials */
    bool wide; /* wider than requested */
    unsigned causes; /* enum as_wide; 0 unless wide, never 0 when wide */
};

/* AS_FORMAT: a sample is not finite, a weight is not at least 0, or a clock is not above 0. */
enum as_status as_estimate_cell(const struct as_trial_samples *trials, size_t n, const struct as_norm *norm,
                                const struct as_prior *prior, const struct as_aim *aim, struct as_estimate *out,
                                struct as_error *err);

/* Prior of a group from its cells' variances between trials and their degrees of freedom (0: left out). */
enum as_status as_prior_fit(const double *var, const unsigned *df, size_t n, struct as_prior *out,
                            struct as_error *err);
/* The same from estimates made without a prior; also fills sample_var. */
enum as_status as_prior_fit_cells(const struct as_estimate *cells, size_t n, struct as_prior *out,
                                  struct as_error *err);

/* The exponent of a probe, from the trials of its cells within a run. */
struct as_cell_trials {
    const struct as_trial_samples *trials;
    size_t n;
};
struct as_exponent {
    bool known;            /* false: do not normalise */
    double beta;           /* in [0, 1] */
    struct as_interval ci; /* 95%, not cut to [0, 1]; NAN with fewer than six slopes */
    size_t trials;         /* trials in which the clock moved by 3% or more */
};
enum as_status as_exponent_fit(const struct as_cell_trials *cells, size_t n, bool rate, struct as_exponent *out,
                               struct as_error *err);

/* The most frequent clock: middle of the 1% range with the most weight. weight NULL: all 1. NAN if no clock is
 * known or memory runs out. */
double as_reference_clock(const double *hz, const double *weight, size_t n);

/* Clock and weight of a sample from the readings of the reference loop before and after it (NAN: none). Contended, or a
 * reading below slowest_hz, the slowest clock of this machine (0: unknown): weight 0. Readings that differ by more than
 * 1%: weight 0.1, so that the sample matters only if hardly any other counts. */
double as_sample_weight(double before_hz, double after_hz, double slowest_hz, bool contended, double *clock_hz);

#endif
