/* Cells of the stored samples, as exports. */
#include "forged.h"
#include "summarize.h"

#include "base/text.h"
#include "model/cell.h"
#include "store/store.h"

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TRIALS_KEPT = 3, SAMPLES_KEPT = 4, CELLS_MAX = 100 };

static const char *const samples[] = {"h200-quick", "h200-full", "h200-upm", "h200-alu", "h200-tensor"};

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* ---- samples and their summary in the cell ---- */

static size_t get_samples(const json_t *cell, double *x, int *trial, size_t max)
{
    const json_t *values = json_object_get(cell, "samples"), *trials = json_object_get(cell, "sample_trials");
    size_t n = json_array_size(values) < max ? json_array_size(values) : max;
    for (size_t i = 0; i < n; i++) {
        x[i] = json_number_value(json_array_get(values, i));
        trial[i] = (int)json_integer_value(json_array_get(trials, i));
    }
    return n;
}

void forged_settle(json_t *cell)
{
    enum { MOST = TRIALS_KEPT * SAMPLES_KEPT };
    double x[MOST];
    int trial[MOST];
    struct as_summary s;
    const size_t n = get_samples(cell, x, trial, MOST);
    if (n == 0 || !summarize(x, trial, n, &s))
        return;
    forged_set(cell, "n", json_integer((json_int_t)n));
    forged_set(cell, "trials_counted", json_integer((json_int_t)s.trials));
    forged_set(cell, "modes", json_integer((json_int_t)s.modes));
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"median", s.median},
                   {"ci_low", s.ci.lo},
                   {"ci_high", s.ci.hi},
                   {"mad", s.mad},
                   {"min", s.min},
                   {"max", s.max},
                   {"mode_low", s.modes == 2 ? s.mode[0] : NAN},
                   {"mode_high", s.modes == 2 ? s.mode[1] : NAN},
                   {"mode_share", s.modes == 2 ? s.mode_share0 : NAN}};
    for (size_t i = 0; i < COUNT(numbers); i++)
        forged_set(cell, numbers[i].name, number(numbers[i].value));
}

/* Keeps the first few trials and samples of a copy: thousands would not test readers better. */
static void make_thin(size_t which, const char *copy)
{
    char path[1024], sql[400];
    sqlite3 *db = NULL;
    struct as_buf bytes = AS_BUF_INIT;
    struct as_error err;
    snprintf(path, sizeof path, "%s/%s.db", FUZZ_SAMPLES, samples[which]);
    if (as_buf_read_file(&bytes, path, 256 << 20, &err) || as_write_file(copy, as_buf_get(&bytes), bytes.len, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    as_buf_finish(&bytes);
    struct as_store *store = NULL;
    if (as_store_open(copy, AS_STORE_WRITE, &store, &err)) { /* migrates it to the current schema */
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    as_store_close(store);
    snprintf(sql, sizeof sql,
             "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; DELETE FROM trials WHERE number >= %d;"
             "UPDATE trials SET n = %d, samples = substr(samples, 1, 8 * %d) WHERE n > %d",
             TRIALS_KEPT, SAMPLES_KEPT, SAMPLES_KEPT, SAMPLES_KEPT);
    if (sqlite3_open(copy, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", copy, sqlite3_errmsg(db));
        exit(1);
    }
    sqlite3_close(db);
}

static json_t *load_sample(size_t which)
{
    char copy[64];
    struct as_store *store = NULL;
    struct as_run run;
    struct as_buf text = AS_BUF_INIT;
    struct as_error err = {0};
    snprintf(copy, sizeof copy, "%s/assay-lies-%ld.db", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
    make_thin(which, copy);
    if (as_store_open(copy, AS_STORE_READ, &store, &err) || as_store_run(store, NULL, &run, &err) ||
        as_store_export_json(store, &run, &(struct as_sink){.out = &text}, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    as_run_finish(&run);
    as_store_close(store);
    unlink(copy);
    json_t *root = json_loadb(as_buf_get(&text), text.len, 0, NULL);
    as_buf_finish(&text);
    static const char *const lists[] = {"cells", "sentinels"};
    for (size_t l = 0; l < COUNT(lists); l++)
        for (size_t i = 0; i < json_array_size(json_object_get(root, lists[l])); i++)
            forged_settle(json_array_get(json_object_get(root, lists[l]), i));
    return root;
}

static json_t *loaded[COUNT(samples)];

static void forget(void)
{
    for (size_t i = 0; i < COUNT(loaded); i++)
        json_decref(loaded[i]);
}

json_t *forged_sample(struct fuzz_bytes *b)
{
    const size_t which = fuzz_byte(b) % COUNT(samples);
    static bool registered;
    if (!registered)
        atexit(forget);
    registered = true;
    if (!loaded[which])
        loaded[which] = load_sample(which);
    const json_t *cells = json_object_get(loaded[which], "cells");
    json_t *root = json_object(), *some = json_array();
    const size_t n = json_array_size(cells);
    bool *taken = calloc(n, sizeof *taken);
    fuzz_require(taken != NULL, "out of memory");
    /* runs of neighbouring cells contain whole curves, unlike single cells */
    for (unsigned stretches = 1 + fuzz_byte(b) % 4; stretches; stretches--) {
        const size_t from = fuzz_byte(b) * n / 256, length = 1 + fuzz_byte(b) % 48;
        for (size_t i = from; i < n && i < from + length; i++)
            taken[i] = true;
    }
    for (size_t i = 0; i < n && json_array_size(some) < CELLS_MAX; i++)
        if (taken[i])
            json_array_append_new(some, json_deep_copy(json_array_get(cells, i)));
    free(taken);
    forged_set(root, "format_version", json_copy(json_object_get(loaded[which], "format_version")));
    forged_set(root, "run", json_deep_copy(json_object_get(loaded[which], "run")));
    forged_set(root, "cells", some);
    forged_set(root, "sentinels", json_deep_copy(json_object_get(loaded[which], "sentinels")));
    return root;
}
