/* Cells, trials and runs as plain data: the engine creates them, the store keeps them, and facts, report and command
 * line read them. Independent of devices and databases. */
#ifndef AS_MODEL_CELL_H
#define AS_MODEL_CELL_H

#include "base/buf.h"
#include "base/error.h"
#include "model/readings.h"
#include "stats/estimate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_AXES_MAX = 12 };

/* One axis with its value in a cell. text is the canonical spelling and the identity ("1048576" for 1 MiB);
 * number is its numeric value, NAN for words. */
struct as_axis_value {
    char name[24];
    char text[48];
    double number;
};
struct as_axes {
    size_t n;
    struct as_axis_value v[AS_AXES_MAX]; /* in the probe's order of axes */
};
const struct as_axis_value *as_axes_get(const struct as_axes *axes, const char *name); /* NULL when absent */
const char *as_axes_text(const struct as_axes *axes, const char *name);                /* "" when absent */
double as_axes_number(const struct as_axes *axes, const char *name);                   /* NAN when absent or a word */
uint64_t as_axes_u64(const struct as_axes *axes, const char *name);                    /* 0 when absent or a word */
/* Has the axis this value? Axes without it have every value. */
bool as_axes_is(const struct as_axes *axes, const char *name, const char *text);
enum as_status as_axes_add(struct as_axes *axes, const char *name, const char *text, struct as_error *err);
/* {"size":1048576,"op":"triad"} and back; and "size=1 MiB op=triad" for display. */
void as_axes_to_json(const struct as_axes *axes, struct as_buf *out);
enum as_status as_axes_from_json(const char *json, struct as_axes *axes, struct as_error *err);
void as_axes_to_text(const struct as_axes *axes, struct as_buf *out);
/* The unit of a rate, by the axes that select the operation: AS_UNIT_RATE becomes FLOP/s or OP/s; other units stay. */
const char *as_axes_rate_unit(const struct as_axes *axes, const char *unit);
/* Identity across runs and machines: hash of probe, metric and the axes sorted by name, without the device. */
uint64_t as_cell_key(const char *probe, const char *metric, const struct as_axes *axes);

/* A metric. */
struct as_metric {
    const char *name; /* "latency", "bandwidth" */
    const char *unit;
    bool lower_is_better;
    const char *counts;         /* in words */
    const char *const *answers; /* for AS_UNIT_ANSWER: texts of 1, 2, ...; terminated by NULL */
};
/* The unit of a cell whose number is a 1-based index into a list of answers. */
#define AS_UNIT_ANSWER "answer"

enum as_cell_status {
    AS_CELL_PLANNED, /* not measured yet */
    AS_CELL_OK,
    AS_CELL_WIDE,     /* valid, but the interval is wider than requested: see `causes` */
    AS_CELL_REJECTED, /* a gate failed: the value is wrong and not used */
    AS_CELL_UNSUPPORTED,
    AS_CELL_FAILED,
    AS_CELL_CRASHED,
    AS_CELL_TIMEOUT,
    AS_CELL_SKIPPED,
    AS_CELL_STATUS_N,
};
const char *as_cell_status_word(enum as_cell_status s); /* as stores and exports name it */
const char *as_cell_status_said(enum as_cell_status s); /* as texts for people name it */
enum as_status as_cell_status_parse(const char *word, enum as_cell_status *out, struct as_error *err);

/* Why an interval is wider than requested (enum as_wide): "time, contention"; "" for none. */
void as_causes_text(unsigned causes, struct as_buf *out);
enum as_status as_causes_parse(const char *text, unsigned *out, struct as_error *err);
const char *as_cause_help(const char *name); /* its meaning in one sentence; NULL if there is no such cause */

/* Checks whether a number can be correct. */
enum as_gate { /* in display order */
               AS_GATE_CHECKSUM,
               AS_GATE_LIMIT,
               AS_GATE_CODE,
               AS_GATE_FOOTPRINT,
               AS_GATE_N,
};
enum as_gate_state {
    AS_GATE_NA,
    AS_GATE_PASS,
    AS_GATE_FAIL
}; /* NA: not applicable or undecidable; text has the reason */
struct as_gate_result {
    enum as_gate_state state;
    char text[256]; /* "98.2% of the bound 31 GB/s (...)"; may be "" */
};
const char *as_gate_name(enum as_gate g);
const char *as_gate_state_word(enum as_gate_state s); /* "n/a", "pass", "fail" */
const char *as_gate_help(enum as_gate g);             /* "passes when ...": one sentence, as in `explain` */

/* One trial: prepare, warm up, sample, check. A cell has several, spread over the run. */
struct as_trial {
    int64_t cell_id;
    int number;        /* 0, 1, 2, ... */
    double started_at; /* seconds since 1970 */
    double prepare_s, duration_s;
    size_t n;          /* samples */
    double *samples;   /* in the cell's unit, in order of time, without warm-up; owned */
    double *core_hz;   /* clock of the host's core during each sample, NAN unknown; NULL: no core involved; owned */
    double *weight;    /* per sample, 0 to 1: 0 during contention; NULL: all 1; owned */
    size_t warmup;     /* samples discarded */
    uint64_t reps;     /* repetitions per sample */
    double sample_s;   /* median seconds of a sample */
    double sampling_s; /* total seconds of timed samples, NAN unknown */
    double clock_hz;   /* median true clock while it ran, NAN unknown */
    double clock_lo, clock_hi;
    enum as_gate_state checksum;
    char checksum_text[160];
    enum as_gate_state code; /* whether the machine code contains the expected instructions */
    char code_text[160];
    struct as_readings readings; /* of the device's sensor while it ran */
    enum as_cell_status status;  /* OK, or why there are no samples */
    char reason[256];            /* "" if OK */
    int excluded;                /* 1: not in the cell's estimate (isolated trial); see reason */
    int worker;                  /* process id */
    double limit;                /* physical bound in the unit, NAN if none */
    char limit_why[96];
    uint64_t footprint; /* bytes touched */
    int claims_memory;  /* 1: claims to measure DRAM */
    char *detail;       /* JSON object of the probe's own notes (variant, page size, ...); owned, may be NULL */
};
void as_trial_finish(struct as_trial *v);
bool as_trial_counts(const struct as_trial *v); /* towards its cell's value: complete, with samples */
bool as_is_core_hz(double v);                   /* valid in core_hz */
bool as_is_weight(double v);                    /* valid in weight */

/* Trials of --isolate are numbered from here and never count in a cell's numbers. */
enum { AS_ISOLATED_TRIAL = 1000000 };

struct as_cell {
    int64_t id;     /* in the store; 0 if not stored */
    int64_t run_id; /* likewise */
    int index;      /* in the plan, from 0 */
    char backend[16];
    char device[32]; /* device id */
    char probe[32];
    char metric[32]; /* "latency", "bandwidth", ... */
    char unit[16];
    int lower_is_better;
    struct as_axes axes;
    uint64_t key;
    char counts[160]; /* what the number counts, in words */
    double precision; /* requested width of the interval, as a fraction of the median */
    enum as_cell_status status;
    char reason[512];      /* for every status except planned and ok */
    unsigned causes;       /* enum as_wide, if wide */
    struct as_summary sum; /* n = 0 if nothing was measured; at the run's reference clock */
    double exponent; /* time is proportional to 1 / clock ^ exponent, and was normalised by that; NAN: not normalised */
    double raw_low, raw_high; /* quartiles of the raw samples */
    double limit;             /* NAN if none */
    double clock_hz;          /* NAN unknown */
    uint64_t footprint;
    struct as_gate_result gates[AS_GATE_N];
    int trials_done;
    double duration_s; /* all trials */
    double started_at; /* of the first trial, 0 if none */
    char *detail;      /* JSON object of the last trial; owned, may be NULL */
    char *answers;     /* JSON array of texts for AS_UNIT_ANSWER (model/metrics.h); owned, NULL if none */
    char *metrics;     /* JSON array: further metrics (model/metrics.h); owned, NULL if none */
    double *samples;   /* filled only on request: sum.n values; owned */
    int *sample_trial; /* trial number of each sample; owned */
};
/* A number in the detail of a cell whose value is an upper bound: 1. */
#define AS_NOTE_AT_MOST "at_most"
void as_cell_finish(struct as_cell *c);
/* Whether the first cell's value is better. Both belong to one probe and have a value. */
bool as_cell_is_better(const struct as_cell *a, const struct as_cell *b);
/* Whether its number is valid, however wide the interval. Tables, charts and comparisons use these. */
bool as_cell_is_valid(const struct as_cell *c);
/* Whether other work disturbed all its trials, so that its number is only a bound. */
/* Has it no number that others may rest on, though a further trial may give one: left out, interrupted or contended? */
bool as_cell_waits(const struct as_cell *c);
bool as_cell_is_busy(const struct as_cell *c);
/* Whether it is valid, no mere bound, and not of an older version that timed something else. Quantities, facts and
 * comparisons with published figures rest on these. */
bool as_cell_is_evidence(const struct as_cell *c);
/* The part of an interval around its number that the physical bound leaves. */
struct as_interval as_cell_possible(const struct as_cell *c, struct as_interval ci);
/* Half the interval's width over the number; NAN if there is none. */
double as_cell_width(const struct as_cell *c);
void as_cells_free(struct as_cell *cells, size_t n); /* finishes each and frees the array */

enum as_run_state { AS_RUN_RUNNING, AS_RUN_COMPLETE, AS_RUN_INTERRUPTED, AS_RUN_STATE_N };
const char *as_run_state_word(enum as_run_state s);

/* Above any real machine or build, but small enough for quadratic loops. */
enum { AS_RUN_DEVICES_MAX = 2048, AS_RUN_PROBES_MAX = 1024 };

struct as_run {
    int64_t id;
    char uuid[40];
    double started_at, ended_at; /* as_wall(); 0 if not ended */
    enum as_run_state state;     /* RUNNING without a claim means killed */
    char suite[64];              /* "quick", or the requested probes */
    char *command;               /* command line as given; owned */
    uint64_t seed;
    double precision; /* of the suites in general; each cell has its own */
    double budget_s;  /* 0: no limit */
    int trials;       /* requested */
    int isolate;
    char tool_version[32], tool_commit[48]; /* commit with "-dirty" */
    char host[64];                          /* host name */
    char *provenance;    /* JSON object: host, kernel, CPU, memory, settings, compiler (see provenance.h); owned */
    char *devices;       /* JSON array of as_device_info objects, each with "topology" where known; owned */
    double reference_hz; /* host clock to which numbers are normalised, NAN unknown */
    double sampling;     /* share of the measuring time inside timed samples, NAN unknown */
    char *exponents;     /* JSON array: fitted and given exponents of the clock; owned, may be NULL */
    char *left_out;      /* JSON object: cells that exceeded the budget; owned, NULL if none */
    int cells, cells_ok; /* counts, set when read from the store */
};
/* Whether its UUID is valid: at least 8 characters, lower-case hexadecimal digits and '-'. It appears in names and
 * comments. */
bool as_run_has_uuid(const struct as_run *r);
/* Are both UUIDs of one run? Not where one is unknown (""). */
bool as_run_uuid_is_same(const char *a, const char *b);
/* Is b the same run as a, or a copy from another store to which nothing was added? */
bool as_run_is_same(const struct as_run *a, const struct as_run *b);
/* The suite of a run that measured some cells of another again, by the number of that run. "last" and counts from the
 * end pass over such runs. */
#define AS_AGAIN_SUITE "cells of run %lld again"
bool as_run_is_again(const struct as_run *r);
/* The UUID of the run whose cells it measured again, as its provenance has it; "" unknown. */
void as_run_repeated(const struct as_run *r, char *uuid, size_t size);
enum as_status as_run_set_repeated(struct as_run *run, const char *uuid, struct as_error *err);
/* CPUs that other processes, and other guests of the host, used on average while it was measured, as its provenance
 * has them; NAN unknown, as for a resumed run. */
double as_run_others_cpus(const struct as_run *r);
enum as_status as_run_set_others(struct as_run *run, double cpus, struct as_error *err); /* NAN: unknown */
/* What others used beyond this is named: less is the system's own background. */
#define AS_OTHERS_MAX 0.25
#define AS_OTHERS_SAID "other processes or guests used %.1f CPUs"
void as_run_finish(struct as_run *r);
void as_runs_free(struct as_run *runs, size_t n);
/* Adds a pause between two as_wall() times to the run's provenance, unless it is already there. */
enum as_status as_run_add_pause(struct as_run *run, double from, double until, struct as_error *err);
/* Adds a text to the notes of the run's provenance, unless it is already there. */
enum as_status as_run_add_note(struct as_run *run, const char *text, struct as_error *err);
/* Seconds from the run's start to its end, without pauses; NAN if it has not ended. */
double as_run_length(const struct as_run *run);

#endif
