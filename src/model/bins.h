/* Counts of single events between log-spaced edges, as trials note them: they show modes that percentiles hide. A
 * cell's notes have the sum over its trials. */
#ifndef AS_MODEL_BINS_H
#define AS_MODEL_BINS_H

#include "model/cell.h"
#include "model/judge.h"

#define AS_BINS_NOTE "bins"

enum { AS_BINS_PER_OCTAVE = 8, AS_BINS_MAX = 1 + 32 * AS_BINS_PER_OCTAVE };

/* In the cell's unit. Bin 0 has the values below 1, the last one also those beyond its end. */
struct as_bins {
    uint64_t count[AS_BINS_MAX];
};
double as_bins_edge(size_t i); /* lower edge of a bin; 0 for the first. The next one's is its end. */
void as_bins_add(struct as_bins *b, double value);
uint64_t as_bins_total(const struct as_bins *b);
/* Lower edges of the occupied bins with their counts: "0:2 8192:31 8933:4". */
void as_bins_write(const struct as_bins *b, struct as_buf *out);
/* Those of the cell's notes. False: it has none, or they are damaged. */
bool as_bins_of(const struct as_cell *cell, struct as_bins *out);
/* Gives the notes of a cell whose last trial has bins the sum over all trials that count. */
enum as_status as_bins_sum(struct as_cell *cell, const struct as_trials *trials, struct as_error *err);
/* Two modes separated by a valley, each with at least about 15% of the events: their centres, the share of the lower.
 */
bool as_bins_two_modes(const struct as_bins *b, double mode[2], double *share0);

#endif
