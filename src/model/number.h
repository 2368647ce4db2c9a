/* How a measured number is printed, the same in every view: with no more digits than its interval supports, and as a
 * range, two modes or words where a value with ± would say more than is known. */
#ifndef AS_MODEL_NUMBER_H
#define AS_MODEL_NUMBER_H

#include "base/buf.h"
#include "model/cell.h"

struct as_number {
    double value;          /* NAN unknown */
    struct as_interval ci; /* 95%; NAN: none */
    const char *unit;
    size_t trials;  /* that the interval rests on; 0 unknown */
    size_t tried;   /* trials in all, with those that failed or were left out; 0 unknown */
    double mode[2]; /* of the samples, if modes is 2 */
    double share0;  /* of mode[0] */
    size_t modes;
    bool of_runs; /* the modes are states of whole runs, not of samples */
    int bound; /* 1: the value may be larger than the interval says ("at least"), -1: smaller ("at most"); 0: neither */
};
enum as_number_form {
    AS_NUMBER_VALUE,     /* "59 GB/s"; its interval, if it has one, is at most 25% to each side */
    AS_NUMBER_ONE_TRIAL, /* the same, of one trial: the interval is only what is usual for such cells */
    AS_NUMBER_RANGE,     /* "27 to 121 ns", "27 to 121 ns, 1 of 5 trials", and any capacity with an interval */
    AS_NUMBER_MODES,     /* "27 ns in 60% of samples, 121 ns in 40%", or of runs */
    AS_NUMBER_NOISY,     /* "about 41 GB/s, 2 of 5 trials" of few trials, "too noisy, 12 trials" of more */
    AS_NUMBER_BOUND,     /* the end of a wide interval: "at least 13 GB/s"; of a ratio that is no bound: "over 1.1x" */
    AS_NUMBER_INCONCLUSIVE, /* of a ratio that may be above and below 1 */
};
enum as_number_form as_number_form(const struct as_number *n);
/* The interval as every view shows it: cut at the physical bound, which more trials could not exceed either, and at 0
 * unless the value is negative. */
struct as_interval as_number_interval_of_cell(const struct as_cell *c);
/* With that interval. A bound where the cell was measured in contention, or notes AS_NOTE_AT_MOST. */
struct as_number as_number_of_cell(const struct as_cell *c);
/* The value for programs; NAN where only a range is known, as of a capacity. */
double as_number_point(const struct as_number *n);
/* The same number in what the clock made it of: 500 cycles of 136 ns. */
struct as_number as_number_counted(const struct as_number *n, double counted, const char *unit);
/* Is it stated as one value, rather than as a range, two modes or words? */
bool as_number_is_value(const struct as_number *n);
/* Is it stated in numbers, rather than as too noisy? */
bool as_number_is_said(const struct as_number *n);
/* The value for other programs, as exact as it is printed, without unit or prefix: "3690000000". */
void as_number_plain(const struct as_number *n, struct as_buf *out);
/* A cell's number in a table, or its answer. */
void as_cell_number(const struct as_cell *c, struct as_buf *out);
/* "59 GB/s", "27 to 121 ns", "about 41 GB/s, one trial", "inconclusive" */
void as_number_text(const struct as_number *n, struct as_buf *out);
/* The same for a table: "27 or 121 ns", "about 41 GB/s" of few trials, "too noisy" of more; the precision
 * says of how many trials. */
void as_number_brief(const struct as_number *n, struct as_buf *out);
/* What stands behind ±: "10%", "<0.1%", "one trial", "1 of 5 trials", "2 trials" of what is too noisy; "" where the
 * text says it, and without an interval. */
void as_number_precision(const struct as_number *n, struct as_buf *out);
/* The value, what it is per ("" or " per load"), and the interval where it is narrow enough, in one parenthesis with a
 * note ("" for none): "10.8 ns per load (10.7 to 11.0 ns; 21 cycles)". */
void as_number_prose(const struct as_number *n, const char *per, const char *note, struct as_buf *out);
/* Does the interval add to the text? */
bool as_number_has_interval(const struct as_number *n);
/* "10.7 to 11.0 ns", with four digits where three would hide that the ends differ; "" where it adds nothing. */
void as_number_interval(const struct as_number *n, struct as_buf *out);
/* Does the interval of another run tell anything: are its ends at most a factor of four apart? */
bool as_number_predicts(struct as_interval another);
/* What is printed in place of one that does not. */
#define AS_NOT_YET_KNOWN "not yet known"
/* Significant digits that an interval of this half width supports, by the rule of the Particle Data Group ("Rounding",
 * Review of Particle Physics 2022, 5.3): two of the half width if they are below 36, else one. */
int as_number_digits(double v, double half);
/* Half the interval relative to the value, the farther end; NAN: none. */
double as_number_width(double v, struct as_interval ci);

#endif
