/* Made-up runs for the tests of the store and for stores of any size, the same for the same seed; and folders to keep
 * them in. */
#ifndef AS_TESTS_STORE_SAMPLE_H
#define AS_TESTS_STORE_SAMPLE_H

#include "base/clock.h"
#include "model/cell.h"

/* Everything a run holds, with text that needs escaping. Owned: as_run_finish. */
void sample_run(struct as_run *run, uint64_t seed);
/* The cell at a position of a plan: probes and axes as a suite has them, planned. */
void sample_cell(struct as_cell *cell, int position);
/* A planned sentinel cell. */
void sample_sentinel(struct as_cell *cell, int position);
/* The next trial of a cell with n samples (as_trial_finish), and the cell's numbers with it: trial by trial. */
void sample_trial(struct as_trial *trial, const struct as_cell *cell, size_t n, struct as_rng *rng);
/* Numbers of a cell from its trials, all gates passed. */
void sample_measured(struct as_cell *cell, const struct as_trial *trials, size_t n);

/* A folder that is not there yet; removed with all that is in it. */
void sample_folder(char out[64]);
void sample_remove(const char *folder);

#endif
