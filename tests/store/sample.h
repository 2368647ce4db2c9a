/* Synthetic runs for tests of the store and for stores of any size, equal for equal seeds; and folders for them. */
#ifndef AS_TESTS_STORE_SAMPLE_H
#define AS_TESTS_STORE_SAMPLE_H

#include "base/clock.h"
#include "model/cell.h"

/* Everything in a run, with text that needs escaping. Owned: as_run_finish. */
void sample_run(struct as_run *run, uint64_t seed);
/* The planned cell at a position of a plan, with probes and axes like those of a suite. */
void sample_cell(struct as_cell *cell, int position);
/* A planned sentinel cell. */
void sample_sentinel(struct as_cell *cell, int position);
/* The next trial of a cell with n samples (as_trial_finish), which also updates the cell's numbers. */
void sample_trial(struct as_trial *trial, const struct as_cell *cell, size_t n, struct as_rng *rng);
/* Numbers of a cell from its trials, with all gates passed. */
void sample_measured(struct as_cell *cell, const struct as_trial *trials, size_t n);

/* A folder that does not exist yet; removed with its contents. */
void sample_folder(char out[64]);
void sample_remove(const char *folder);

#endif
