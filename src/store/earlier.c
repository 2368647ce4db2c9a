/* A run's sentinels against those of the runs before it on the same machine: an episode that lasts longer than a run
 * widens no interval of it. */
#include "base/text.h"
#include "store/sql.h"
#include "store/store.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EARLIER_MOST = 5, EARLIER_LEAST = 3 };
/* Sentinels of steady machines repeat within a few percent. */
static const double CHANGED = 1.15;

static const struct {
    const char *what, *subject;
} subjects[] = {{"core", "core arithmetic"}, {"memory", "main memory"}, {"pair", "a cache line between two CPUs"}};

/* The same CPU of the same host, measured by the same program. */
static bool is_alike(const struct as_run *a, const struct as_run *b)
{
    if (strcmp(a->host, b->host) != 0 || strcmp(a->tool_commit, b->tool_commit) != 0)
        return false;
    json_t *x = a->provenance ? json_loads(a->provenance, 0, NULL) : NULL;
    json_t *y = b->provenance ? json_loads(b->provenance, 0, NULL) : NULL;
    const json_t *cpu = json_object_get(x, "cpu");
    const bool alike =
        cpu && json_equal(json_object_get(cpu, "model"), json_object_get(json_object_get(y, "cpu"), "model"));
    json_decref(x);
    json_decref(y);
    return alike;
}

static enum as_status sentinels_of(struct as_store *store, int64_t run_id, struct as_cell **cells, size_t *n,
                                   struct as_error *err)
{
    const struct as_cell_filter filter = {.run_id = run_id, .probe = AS_HIDDEN_PROBE, .hidden = 1};
    return as_store_cells(store, &filter, cells, n, err);
}

struct earlier {
    struct as_cell *cells[EARLIER_MOST];
    size_t n[EARLIER_MOST], runs;
};

static enum as_status load_earlier(struct as_store *store, const struct as_run *run, struct earlier *e,
                                   struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0;
    enum as_status s = as_store_runs(store, &runs, &n, err);
    for (;;) { /* the latest first, in whatever order they were stored */
        const struct as_run *latest = NULL;
        for (size_t i = 0; i < n && !s; i++)
            if (runs[i].state == AS_RUN_COMPLETE && runs[i].started_at < run->started_at && runs[i].id != run->id &&
                runs[i].id > 0 && (!latest || runs[i].started_at > latest->started_at))
                latest = &runs[i];
        if (!latest || e->runs == EARLIER_MOST)
            break;
        if (is_alike(latest, run)) {
            s = sentinels_of(store, latest->id, &e->cells[e->runs], &e->n[e->runs], err);
            e->runs++;
        }
        runs[latest - runs].id = 0; /* looked at */
    }
    as_runs_free(runs, n);
    return s;
}

/* Medians of the same sentinel in the earlier runs. */
static size_t medians_of(const struct earlier *e, const struct as_cell *cell, double *x)
{
    size_t n = 0;
    for (size_t r = 0; r < e->runs; r++)
        for (size_t i = 0; i < e->n[r]; i++) {
            const struct as_cell *c = &e->cells[r][i];
            if (c->key == cell->key && strcmp(c->device, cell->device) == 0 && c->sum.median > 0) {
                x[n++] = c->sum.median;
                break;
            }
        }
    return n;
}

/* "main memory of cpu is 40% slower than in the last 5 runs here": beyond all of them, not only beyond most. */
static void say_change(const struct as_cell *cell, const double *x, size_t n, struct as_buf *out)
{
    double lo = INFINITY, hi = 0;
    const char *what = as_axes_text(&cell->axes, "what"), *subject = what;
    for (size_t i = 0; i < n; i++) {
        lo = fmin(lo, x[i]);
        hi = fmax(hi, x[i]);
    }
    const bool slower = cell->sum.median > CHANGED * hi;
    if (n < EARLIER_LEAST || !what || (!slower && cell->sum.median * CHANGED >= lo))
        return;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(subjects[i].what, what) == 0)
            subject = subjects[i].subject;
    const double percent = 100 * (slower ? cell->sum.median / hi - 1 : 1 - cell->sum.median / lo);
    as_buf_printf(out, "%s%s of ", out->len ? "; " : "", subject);
    as_buf_str(out, cell->device);
    as_buf_printf(out, " takes %.0f%% %s time than in any of the last %zu runs here", percent, slower ? "more" : "less",
                  n);
}

enum as_status as_store_against_earlier(struct as_store *store, const struct as_run *run, struct as_buf *out,
                                        struct as_error *err)
{
    struct earlier e = {0};
    struct as_cell *cells = NULL;
    size_t n = 0;
    enum as_status s = sentinels_of(store, run->id, &cells, &n, err);
    if (!s && n)
        s = load_earlier(store, run, &e, err);
    for (size_t i = 0; i < n && !s; i++) {
        double x[EARLIER_MOST];
        if (cells[i].sum.median > 0)
            say_change(&cells[i], x, medians_of(&e, &cells[i], x), out);
    }
    for (size_t r = 0; r < e.runs; r++)
        as_cells_free(e.cells[r], e.n[r]);
    as_cells_free(cells, n);
    return s ? s : as_buf_check(out, err);
}
