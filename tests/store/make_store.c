/* Makes a store of any size from synthetic runs, for benchmarks, with one transaction per run.
 *     make-store FILE RUNS CELLS [SAMPLES] */
#include "sample.h"
#include "store/sql.h"

#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIALS = 2 };

static enum as_status put_measured(struct as_store *store, int64_t run_id, int position, size_t samples,
                                   struct as_rng *rng, struct as_error *err)
{
    struct as_cell cell;
    struct as_trial trials[TRIALS];
    sample_cell(&cell, position);
    for (int v = 0; v < TRIALS; v++, cell.trials_done++)
        sample_trial(&trials[v], &cell, samples, rng);
    sample_measured(&cell, trials, TRIALS);
    enum as_status st = as_store_put_cell(store, run_id, &cell, err);
    for (int v = 0; v < TRIALS; v++) {
        if (!st)
            st = as_store_put_trial(store, &trials[v], cell.id, err);
        as_trial_finish(&trials[v]);
    }
    as_cell_finish(&cell);
    return st;
}

static enum as_status add_run(struct as_store *store, uint64_t seed, int cells, size_t samples, struct as_error *err)
{
    struct as_run run;
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    sample_run(&run, seed);
    run.state = AS_RUN_COMPLETE;
    run.ended_at = run.started_at + 60;
    enum as_status st = as_begin_write(store, err);
    if (!st) {
        st = as_store_put_run(store, &run, cells, err);
        for (int i = 0; i < cells && !st; i++)
            st = put_measured(store, run.id, i, samples, &rng, err);
        if (!st)
            st = as_store_put_end(store, &run, err);
        st = as_end(store, st, err);
    }
    as_run_finish(&run);
    return st;
}

int main(int argc, char **argv)
{
    struct as_store *store = NULL;
    struct as_error err;
    uint64_t runs, cells, samples = 10;
    if (argc < 4 || argc > 5 || as_parse_u64(argv[2], &runs, NULL) || as_parse_u64(argv[3], &cells, NULL) ||
        (argc > 4 && as_parse_u64(argv[4], &samples, NULL)) || cells > INT_MAX || samples > 1u << 20) {
        fprintf(stderr, "usage: %s FILE RUNS CELLS [SAMPLES]\n", argv[0]);
        return 2;
    }
    double start = as_now();
    enum as_status st = as_store_open(argv[1], AS_STORE_WRITE, &store, &err);
    for (uint64_t i = 0; i < runs && !st; i++)
        st = add_run(store, i, (int)cells, (size_t)samples, &err);
    as_store_close(store);
    if (st) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%llu runs of %llu cells in %.1f s\n", (unsigned long long)runs, (unsigned long long)cells,
           as_now() - start);
    return 0;
}
