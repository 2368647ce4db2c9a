/* The contents of one run in a store. */
#ifndef AS_TESTS_RUN_CONTENTS_H
#define AS_TESTS_RUN_CONTENTS_H

#include "fixture.h"

struct contents {
    struct as_cell *cells;   /* owned; without sentinels */
    struct as_trial *trials; /* owned; of all cells */
    size_t cells_n, trials_n;
};

/* Fails if the store is not sound. */
struct contents stored(struct fixture *f, int64_t run_id);
void forget(struct contents *c);
/* NULL: none; stored at most once. */
const struct as_trial *find_trial(const struct contents *c, int64_t cell, int number);
size_t with_status(const struct contents *c, enum as_cell_status status);
/* Fails if there is none. */
const struct as_cell *cell_of_size(const struct contents *c, uint64_t bytes);

#endif
