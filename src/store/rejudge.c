/* Rejudges stored runs from their raw samples by the current rules. */
#include "store/sql.h"

#include "model/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct judged {
    struct as_cell *cells;
    struct as_trials *trials;
    size_t n;
};

static enum as_status load_run(struct as_store *store, int64_t run_id, struct judged *r, struct as_error *err)
{
    enum as_status s =
        as_store_cells(store, &(struct as_cell_filter){.run_id = run_id, .hidden = 1}, &r->cells, &r->n, err);
    r->trials = calloc(r->n ? r->n : 1, sizeof *r->trials);
    if (!s && !r->trials)
        s = as_nomem(err, r->n * sizeof *r->trials, "trials");
    for (size_t i = 0; i < r->n && !s; i++) {
        s = as_store_trials(store, run_id, r->cells[i].id, &r->trials[i].v, &r->trials[i].n, err);
        r->trials[i].cap = r->trials[i].n;
    }
    return s;
}

static enum as_status rejudge_run(struct as_store *store, const struct as_run *run, struct as_error *err)
{
    struct judged r = {0};
    struct as_judge judge = {.trials_asked = run->trials, .reference_hz = NAN};
    enum as_status s = load_run(store, run->id, &r, err);
    if (!s)
        s = as_judge_learn(&judge, r.cells, r.trials, r.n, err);
    for (size_t i = 0; i < r.n && !s; i++) {
        if (r.trials[i].n == 0)
            continue;
        /* What the probe allows is not known here: a falling clock counts where it did before. */
        const struct as_judge_context of_before = {.keeps_footprint = true,
                                                   .own_power = !(r.cells[i].causes & AS_WIDE_CLOCK)};
        s = as_judge_cell(&judge, &r.cells[i], &r.trials[i], &of_before, err);
        if (!s)
            s = as_store_put_result(store, &r.cells[i], err);
    }
    for (size_t i = 0; r.trials && i < r.n; i++)
        as_trials_finish(&r.trials[i]);
    free(r.trials);
    as_cells_free(r.cells, r.n);
    as_judge_finish(&judge);
    return s;
}

/* Earlier rules excluded trials for disturbances; the interval covers those now. */
static enum as_status count_all(struct as_store *store, int64_t run_id, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_COUNT_ALL_TRIALS);
    as_put_int(&row, run_id);
    as_put_int(&row, AS_ISOLATED_TRIAL);
    return as_row_run(&row, err);
}

enum as_status as_store_rejudge(struct as_store *store, int64_t run_id, struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0;
    enum as_status s = count_all(store, run_id, err);
    if (!s)
        s = as_store_runs(store, &runs, &n, err);
    for (size_t i = 0; i < n && !s; i++)
        if (run_id == 0 || runs[i].id == run_id)
            s = rejudge_run(store, &runs[i], err);
    as_runs_free(runs, n);
    return s;
}
