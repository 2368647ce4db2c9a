/* Counters of links (errors, replays) as trials note them: after each trial, and how much they grew in it. A cell's
 * notes have the readings of all of its trials, since those of the last one do not tell growth from a reset. */
#ifndef AS_MODEL_COUNTERS_H
#define AS_MODEL_COUNTERS_H

#include "model/cell.h"
#include "model/judge.h"

enum { AS_COUNTER_LINK_ERRORS, AS_COUNTER_LINK_REPLAYS, AS_COUNTER_PCIE_REPLAYS, AS_COUNTERS_N };
extern const char *const as_counter_notes[AS_COUNTERS_N + 1]; /* names in the notes; ends with NULL */
bool as_counter_has_note(const char *name);                   /* is it a list of readings, which is not for people? */

struct as_counter_reading {
    double at; /* seconds since 1970 */
    int worker;
    double value;
};
struct as_counter_readings {
    struct as_counter_reading *v; /* owned */
    size_t n, cap;
};
/* Gives the notes of a cell whose last trial has counters the readings of all trials. */
enum as_status as_counters_gather(struct as_cell *cell, const struct as_trials *trials, struct as_error *err);
/* Adds those of the cell's notes under the counter's name; damaged ones are left out. */
enum as_status as_counters_of(const struct as_cell *cell, const char *name, struct as_counter_readings *out,
                              struct as_error *err);

/* What readings of one device say: by how much a counter rose from the first trial that read it to the last, also
 * between trials. Where it fell it was reset, and what it counted up to its next reading is unknown. */
struct as_counter_growth {
    double grown;
    double first, last;   /* readings of the run */
    size_t resets;        /* times it fell: a reboot, or the driver loaded anew */
    double before, after; /* around the last of them */
};
/* Sorts the readings by time. False: there are none. */
bool as_counters_grown(struct as_counter_readings *readings, struct as_counter_growth *out);

#endif
