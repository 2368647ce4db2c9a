#include "lies.h"

#include "base/text.h"
#include "core/cell.h"
#include "store/store.h"

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TRIALS_KEPT = 3, SAMPLES_KEPT = 4, CELLS_MAX = 100 };

static const char *const samples[] = {"h200-quick", "h200-full", "h200-upm", "h200-alu", "h200-tensor"};

/* ---- values ---- */

double lies_number(struct fuzz_bytes *b)
{
    static const double values[] = {
        0,      -0.0,     1,      -1,   1e-308, 1e308, -1e308,      5e-324, 1.7976931348623157e308,
        1e-200, 1e200,    1e-150, 1e15, 1e300,  -1e-9, 9.3e18,      1.9e19, 4294967296.0,
        0.5,    2.2e-308, 1e-5,   1e9,  65536,  1e-30, 2147483648.0};
    const unsigned which = fuzz_byte(b);
    return which < 2 * COUNT(values) ? values[which / 2] : ldexp(1 + fuzz_byte(b), (int)(which % 64) - 32);
}

static const char *long_text(void)
{
    static char text[5000];
    memset(text, 'x', sizeof text - 1);
    return text;
}

const char *lies_text(struct fuzz_bytes *b)
{
    static const char *const texts[] = {"",
                                        "\x1b]0;owned\x07\x1b[2J",
                                        "<script>alert(1)</script>&\"'",
                                        "</script></svg><!--",
                                        "\xe2\x80\xae"
                                        "%s%n%d",
                                        "=cmd|' /C calc'!A0",
                                        "a\nb\tc\rd",
                                        "nan",
                                        "-inf",
                                        "0",
                                        "1e999",
                                        "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x",
                                        "ns",
                                        "GB/s",
                                        "B",
                                        "ops/s",
                                        "cycles",
                                        "bytes/cycle",
                                        "updates",
                                        "x",
                                        "%",
                                        "cpu",
                                        "cuda:0",
                                        "latency",
                                        "matmul",
                                        "all",
                                        "{\"a\":[1e308]}",
                                        "[[[[",
                                        "\xf0\x9f\x98\x80\xcc\x81\xe6\xb8\xac",
                                        "\x7f\xc2\x9b"
                                        "31m",
                                        "driver",
                                        "2026-11-21T09:05:00Z"};
    const unsigned which = fuzz_byte(b);
    return which == 255 ? long_text() : texts[which % COUNT(texts)];
}

const char *lies_broken(struct fuzz_bytes *b)
{
    static const char *const texts[] = {"\xff\xfe",     "\xc3",     "a\xe2\x82",
                                        "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"};
    const unsigned which = fuzz_byte(b);
    return which % 4 ? lies_text(b) : texts[which / 4 % COUNT(texts)];
}

json_t *lies_value(struct fuzz_bytes *b)
{
    switch (fuzz_byte(b) % 8) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(fuzz_byte(b) & 1);
    case 2:
        return json_integer((json_int_t)fmax(fmin(lies_number(b), 9.2e18), -9.2e18));
    case 3:
        return json_string(lies_text(b));
    case 4:
        return json_array();
    case 5:
        return json_object();
    default:
        return json_real(lies_number(b));
    }
}

/* ---- trees ---- */

static json_t *child(json_t *j, unsigned which, const char **name)
{
    *name = NULL;
    if (json_is_array(j))
        return json_array_size(j) ? json_array_get(j, which % json_array_size(j)) : NULL;
    if (!json_is_object(j) || !json_object_size(j))
        return NULL;
    void *at = json_object_iter(j);
    for (unsigned k = which % (unsigned)json_object_size(j); k; k--)
        at = json_object_iter_next(j, at);
    *name = json_object_iter_key(at);
    return json_object_iter_value(at);
}

void lies_in_tree(json_t *tree, struct fuzz_bytes *b)
{
    for (int depth = 0; depth < 12; depth++) {
        const unsigned which = fuzz_byte(b);
        const char *name;
        json_t *next = child(tree, which, &name);
        if (!next)
            return;
        const bool down = json_object_size(next) || json_array_size(next);
        if (down && fuzz_byte(b) % 8) {
            tree = next;
            continue;
        }
        const unsigned what = fuzz_byte(b) % 8;
        if (name && what == 0) {
            char *copy = strdup(name);
            json_object_del(tree, copy);
            free(copy);
        } else if (name)
            json_object_set_new(tree, name, lies_value(b));
        else if (what == 0)
            json_array_remove(tree, which % json_array_size(tree));
        else if (what == 1)
            json_array_append_new(tree, json_deep_copy(next));
        else
            json_array_set_new(tree, which % json_array_size(tree), lies_value(b));
        return;
    }
}

static void set(json_t *j, const char *name, json_t *value)
{
    fuzz_require(value && json_object_set_new(j, name, value) == 0, "out of memory");
}

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* ---- samples and what a cell says of them ---- */

static size_t get_samples(const json_t *cell, double *x, int *trial, size_t max)
{
    const json_t *values = json_object_get(cell, "samples"), *trials = json_object_get(cell, "sample_visits");
    size_t n = json_array_size(values) < max ? json_array_size(values) : max;
    for (size_t i = 0; i < n; i++) {
        x[i] = json_number_value(json_array_get(values, i));
        trial[i] = (int)json_integer_value(json_array_get(trials, i));
    }
    return n;
}

/* The cell's numbers become those of its samples. */
static void settle(json_t *cell)
{
    enum { MOST = TRIALS_KEPT * SAMPLES_KEPT };
    double x[MOST];
    int trial[MOST];
    struct as_summary s;
    struct as_error err;
    const size_t n = get_samples(cell, x, trial, MOST);
    if (as_summarize(x, trial, n, &s, &err))
        return;
    set(cell, "n", json_integer((json_int_t)n));
    set(cell, "visits_counted", json_integer((json_int_t)s.visits));
    set(cell, "modes", json_integer((json_int_t)s.modes));
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
        set(cell, numbers[i].name, number(numbers[i].value));
}

/* Of a copy of the sample the first few trials and samples: thousands tell readers nothing more. */
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
    snprintf(sql, sizeof sql,
             "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; DELETE FROM visits WHERE number >= %d;"
             "UPDATE visits SET n = %d, samples = substr(samples, 1, 8 * %d) WHERE n > %d",
             TRIALS_KEPT, SAMPLES_KEPT, SAMPLES_KEPT, SAMPLES_KEPT);
    if (sqlite3_open(copy, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", copy, sqlite3_errmsg(db));
        exit(1);
    }
    sqlite3_close(db);
}

static json_t *load(size_t which)
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
            settle(json_array_get(json_object_get(root, lists[l]), i));
    return root;
}

static json_t *loaded[COUNT(samples)];

static void forget(void)
{
    for (size_t i = 0; i < COUNT(loaded); i++)
        json_decref(loaded[i]);
}

json_t *lies_sample(struct fuzz_bytes *b)
{
    const size_t which = fuzz_byte(b) % COUNT(samples);
    static bool registered;
    if (!registered)
        atexit(forget);
    registered = true;
    if (!loaded[which])
        loaded[which] = load(which);
    const json_t *cells = json_object_get(loaded[which], "cells");
    json_t *root = json_object(), *some = json_array();
    const size_t n = json_array_size(cells);
    bool *taken = calloc(n, sizeof *taken);
    fuzz_require(taken != NULL, "out of memory");
    /* stretches of neighbours hold whole curves, which single cells would not */
    for (unsigned stretches = 1 + fuzz_byte(b) % 4; stretches; stretches--) {
        const size_t from = fuzz_byte(b) * n / 256, length = 1 + fuzz_byte(b) % 48;
        for (size_t i = from; i < n && i < from + length; i++)
            taken[i] = true;
    }
    for (size_t i = 0; i < n && json_array_size(some) < CELLS_MAX; i++)
        if (taken[i])
            json_array_append_new(some, json_deep_copy(json_array_get(cells, i)));
    free(taken);
    set(root, "format_version", json_copy(json_object_get(loaded[which], "format_version")));
    set(root, "run", json_deep_copy(json_object_get(loaded[which], "run")));
    set(root, "cells", some);
    set(root, "sentinels", json_deep_copy(json_object_get(loaded[which], "sentinels")));
    return root;
}

/* ---- lies about cells ---- */

static void rekey(json_t *cell)
{
    struct as_axes axes;
    struct as_error err;
    char key[20], *text = json_dumps(json_object_get(cell, "axes"), JSON_COMPACT);
    const char *probe = json_string_value(json_object_get(cell, "probe")),
               *metric = json_string_value(json_object_get(cell, "metric"));
    if (text && probe && metric && as_axes_from_json(text, &axes, &err) == AS_OK) {
        snprintf(key, sizeof key, "%016llx", (unsigned long long)as_cell_key(probe, metric, &axes));
        set(cell, "key", json_string(key));
    }
    free(text);
}

static void scale(json_t *cell, double factor)
{
    json_t *values = json_object_get(cell, "samples");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const double v = json_number_value(json_array_get(values, i)) * factor;
        json_array_set_new(values, i, json_real(isfinite(v) ? v : v > 0 ? 1.7e308 : -1.7e308));
    }
    settle(cell);
}

static void lie_scale(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    scale(cell, lies_number(b));
}

static void lie_scale_all(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    const double factor = lies_number(b), growth = lies_number(b);
    double power = factor;
    json_t *cells = json_object_get(root, "cells");
    const char *probe = json_string_value(json_object_get(cell, "probe"));
    for (size_t i = 0; probe && i < json_array_size(cells); i++) {
        json_t *other = json_array_get(cells, i);
        const char *name = json_string_value(json_object_get(other, "probe"));
        if (!name || strcmp(name, probe) != 0)
            continue;
        scale(other, power);
        power = isfinite(power * growth) ? power * growth : factor;
    }
}

static void lie_constant(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    const double v = lies_number(b);
    json_t *values = json_object_get(cell, "samples");
    for (size_t i = 0; i < json_array_size(values); i++)
        json_array_set_new(values, i, json_real(v));
    settle(cell);
}

static void lie_one_sample(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    json_t *values = json_object_get(cell, "samples");
    const unsigned which = fuzz_byte(b);
    if (json_array_size(values))
        json_array_set_new(values, which % json_array_size(values), json_real(lies_number(b)));
    settle(cell);
}

static void lie_number(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    static const char *const names[] = {"median",   "ci_low",     "ci_high",    "mad",        "min",
                                        "max",      "mode_low",   "mode_high",  "mode_share", "limit",
                                        "clock_hz", "duration_s", "started_at", "precision"};
    (void)root;
    const char *name = names[fuzz_byte(b) % COUNT(names)];
    set(cell, name, fuzz_byte(b) % 8 ? json_real(lies_number(b)) : json_null());
}

static void lie_interval(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    const double v = json_number_value(json_object_get(cell, "median")), lo = lies_number(b), hi = lies_number(b);
    set(cell, "ci_low", json_real(fmin(lo, v)));
    set(cell, "ci_high", json_real(fmax(hi, v)));
}

static void lie_text(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    static const char *const names[] = {"backend", "device", "probe", "metric", "unit", "reason", "counts", "driver"};
    (void)root;
    const char *name = names[fuzz_byte(b) % COUNT(names)];
    set(cell, name, json_string(lies_text(b)));
    rekey(cell);
}

static void lie_axis(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    json_t *axes = json_object_get(cell, "axes");
    const char *name;
    json_t *value = child(axes, fuzz_byte(b), &name);
    const unsigned what = fuzz_byte(b) % 4;
    if (value && what == 0) {
        char *copy = strdup(name);
        json_object_del(axes, copy);
        free(copy);
    } else if (what == 1)
        set(axes, "another", lies_value(b));
    else if (value)
        set(axes, name, what == 2 ? json_real(lies_number(b)) : json_string(lies_text(b)));
    rekey(cell);
}

static void lie_status(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    set(cell, "status", json_string(as_cell_status_word((enum as_cell_status)(fuzz_byte(b) % AS_CELL_STATUS_N))));
}

static void lie_gate(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    const unsigned which = fuzz_byte(b);
    json_t *gate = json_object_get(json_object_get(cell, "gates"), as_gate_name((enum as_gate)(which % AS_GATE_N)));
    set(gate, "state", json_string(as_gate_state_word((enum as_gate_state)(fuzz_byte(b) % 3))));
    set(gate, "text", json_string(lies_text(b)));
}

/* What readers draw and derive facts from. */
static void lie_trusted(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    json_t *cells = json_object_get(root, "cells");
    (void)cell;
    (void)b;
    for (size_t i = 0; i < json_array_size(cells); i++) {
        json_t *c = json_array_get(cells, i), *gates = json_object_get(c, "gates"), *gate;
        const char *name;
        if (!json_integer_value(json_object_get(c, "n")))
            continue;
        set(c, "status", json_string("ok"));
        set(c, "reason", json_string(""));
        json_object_foreach(gates, name, gate) set(gate, "state", json_string("pass"));
    }
}

static void lie_gone(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    json_t *cells = json_object_get(root, "cells");
    for (size_t i = 0; i < json_array_size(cells); i++)
        if (json_array_get(cells, i) == cell && json_array_size(cells) > 1) {
            json_array_remove(cells, i);
            return;
        }
    (void)b;
}

static void lie_twice(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    json_t *copy = json_deep_copy(cell), *cells = json_object_get(root, "cells");
    set(copy, "position", json_integer(100000 + (json_int_t)json_array_size(cells)));
    set(copy, "device", json_string(fuzz_byte(b) % 2 ? "cpu" : lies_text(b)));
    json_array_append_new(cells, copy);
}

static void lie_swap(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    static const char *const names[] = {"unit", "axes", "metric", "samples", "device", "better", "counts", "detail"};
    json_t *cells = json_object_get(root, "cells"),
           *other = json_array_get(cells, fuzz_byte(b) % json_array_size(cells));
    const char *name = names[fuzz_byte(b) % COUNT(names)];
    json_t *mine = json_deep_copy(json_object_get(cell, name)), *theirs = json_deep_copy(json_object_get(other, name));
    if (mine && theirs && strcmp(name, "samples") != 0) {
        set(cell, name, theirs);
        set(other, name, mine);
        rekey(cell);
        rekey(other);
    } else {
        json_decref(mine);
        json_decref(theirs);
    }
}

static void lie_detail(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    lies_in_tree(json_object_get(cell, "detail"), b);
}

static void lie_trial(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    lies_in_tree(json_object_get(cell, "visits"), b);
}

static void lie_device(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)cell;
    lies_in_tree(json_object_get(json_object_get(root, "run"), "devices"), b);
}

static void lie_provenance(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)cell;
    lies_in_tree(json_object_get(json_object_get(root, "run"), "provenance"), b);
}

static void lie_run(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)cell;
    static const char *const texts[] = {"suite", "command", "tool_version", "tool_commit", "host"}, *const numbers[] = {
                                                                                                        "started_at",
                                                                                                        "ended_at",
                                                                                                        "precision",
                                                                                                        "budget_s"};
    json_t *run = json_object_get(root, "run");
    const unsigned which = fuzz_byte(b);
    if (which % 2)
        set(run, texts[which / 2 % COUNT(texts)], json_string(lies_text(b)));
    else
        set(run, numbers[which / 2 % COUNT(numbers)], json_real(lies_number(b)));
}

static void lie_anywhere(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    lies_in_tree(fuzz_byte(b) % 2 ? root : cell, b);
}

static void (*const lies[])(json_t *root, json_t *cell, struct fuzz_bytes *b) = {
    lie_scale,  lie_scale_all, lie_constant, lie_one_sample, lie_number, lie_interval, lie_text,
    lie_axis,   lie_status,    lie_gate,     lie_trusted,    lie_gone,   lie_twice,    lie_swap,
    lie_detail, lie_trial,     lie_device,   lie_provenance, lie_run,    lie_anywhere};

void lies_in_export(json_t *root, struct fuzz_bytes *b)
{
    for (unsigned n = fuzz_byte(b) % 8; n; n--) {
        json_t *cells = json_object_get(root, "cells");
        const unsigned what = fuzz_byte(b), which = fuzz_byte(b);
        json_t *cell = json_array_size(cells) ? json_array_get(cells, which % json_array_size(cells)) : NULL;
        if (!json_is_object(cell))
            return;
        json_incref(cell);
        lies[what % COUNT(lies)](root, cell, b);
        json_decref(cell);
    }
}

/* ---- lies in tables ---- */

struct column {
    const char *table, *column;
};

static const struct column columns[] = {
    {"cells", "median"},
    {"cells", "ci_low"},
    {"cells", "ci_high"},
    {"cells", "mad"},
    {"cells", "min"},
    {"cells", "max"},
    {"cells", "mode_low"},
    {"cells", "mode_high"},
    {"cells", "mode_share"},
    {"cells", "bound"},
    {"cells", "clock_hz"},
    {"cells", "footprint"},
    {"cells", "duration_s"},
    {"cells", "started_at"},
    {"cells", "detail"},
    {"cells", "precision"},
    {"cells", "backend"},
    {"cells", "device"},
    {"cells", "probe"},
    {"cells", "metric"},
    {"cells", "unit"},
    {"cells", "counts"},
    {"cells", "axes"},
    {"cells", "key"},
    {"cells", "status"},
    {"cells", "reason"},
    {"cells", "n"},
    {"cells", "visits"},
    {"cells", "modes"},
    {"cells", "visits_done"},
    {"cells", "gate_limit"},
    {"cells", "gate_limit_text"},
    {"cells", "better_less"},
    {"runs", "uuid"},
    {"runs", "started_at"},
    {"runs", "ended_at"},
    {"runs", "state"},
    {"runs", "suite"},
    {"runs", "command"},
    {"runs", "seed"},
    {"runs", "precision"},
    {"runs", "budget_s"},
    {"runs", "visits"},
    {"runs", "host"},
    {"runs", "provenance"},
    {"runs", "devices"},
    {"runs", "cells"},
    {"runs", "cells_ok"},
    {"runs", "tool_version"},
    {"visits", "number"},
    {"visits", "started_at"},
    {"visits", "duration_s"},
    {"visits", "n"},
    {"visits", "warmup"},
    {"visits", "reps"},
    {"visits", "sample_s"},
    {"visits", "clock_hz"},
    {"visits", "clock_low"},
    {"visits", "clock_high"},
    {"visits", "status"},
    {"visits", "reason"},
    {"visits", "excluded"},
    {"visits", "bound"},
    {"visits", "detail"},
    {"visits", "power_w"},
    {"visits", "throttle"},
    {"visits", "sensor"},
    {"visits", "users"},
    {"visits", "temperature_after"},
};

static void bind_value(sqlite3_stmt *st, struct fuzz_bytes *b)
{
    switch (fuzz_byte(b) % 8) {
    case 0:
        sqlite3_bind_null(st, 1);
        break;
    case 1:
        sqlite3_bind_double(st, 1, fuzz_byte(b) % 2 ? INFINITY : -INFINITY);
        break;
    case 2:
        sqlite3_bind_int64(st, 1, (sqlite3_int64)fmax(fmin(lies_number(b), 9.2e18), -9.2e18));
        break;
    case 3:
    case 4:
        sqlite3_bind_text(st, 1, lies_broken(b), -1, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_double(st, 1, lies_number(b));
    }
}

/* What a resumed run loads beside these. */
static const struct column resumed[] = {
    {"cells", "axes"},        {"cells", "status"},      {"cells", "precision"}, {"cells", "position"},
    {"cells", "n"},           {"cells", "visits"},      {"cells", "exponent"},  {"cells", "causes"},
    {"cells", "raw_low"},     {"cells", "visits_done"}, {"runs", "visits"},     {"runs", "seed"},
    {"runs", "isolate"},      {"runs", "budget_s"},     {"runs", "started_at"}, {"runs", "ended_at"},
    {"runs", "provenance"},   {"runs", "sampling"},     {"runs", "exponents"},  {"runs", "left_out"},
    {"runs", "reference_hz"}, {"visits", "number"},     {"visits", "code"},     {"visits", "checksum"},
    {"visits", "sampling_s"}, {"visits", "prepare_s"},  {"visits", "worker"},   {"visits", "bound_text"},
    {"visits", "cell_id"},    {"visits", "footprint"},  {"visits", "status"},   {"visits", "claims_memory"},
};

static sqlite3 *open_quickly(const char *path)
{
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK)
        exit(1);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
    return db;
}

/* Of all rows where the byte is a multiple of 4. What the schema does not have is refused. */
static void lie_in_column(sqlite3 *db, const struct column *c, unsigned row, struct fuzz_bytes *b)
{
    char sql[200];
    sqlite3_stmt *st;
    snprintf(sql, sizeof sql, "UPDATE %s SET %s = ?1 WHERE ?2 %% 4 = 0 OR id %% 64 = ?2 %% 64", c->table, c->column);
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK) {
        bind_value(st, b);
        sqlite3_bind_int64(st, 2, row);
        sqlite3_step(st);
    }
    sqlite3_finalize(st);
}

void lies_in_store(const char *path, struct fuzz_bytes *b)
{
    sqlite3 *db = open_quickly(path);
    for (unsigned n = 1 + fuzz_byte(b) % 6; n; n--) {
        const unsigned which = fuzz_byte(b) % COUNT(columns), row = fuzz_byte(b);
        lie_in_column(db, &columns[which], row, b);
    }
    sqlite3_close(db);
}

/* Numbers beside or in the place of the samples, as many as there are: what the schema cannot look into. */
static void lie_in_samples(sqlite3 *db, unsigned row, struct fuzz_bytes *b)
{
    static const char *const names[] = {"samples", "weight", "core_hz"};
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    enum { MOST = 16 };
    double x[MOST];
    char sql[200];
    sqlite3_stmt *st;
    const unsigned which = fuzz_byte(b) % COUNT(names);
    for (size_t i = 0; i < MOST; i++) {
        const unsigned what = fuzz_byte(b);
        x[i] = what % 8 == 7 ? odd[what / 8 % COUNT(odd)] : what % 8 == 6 && i ? x[i - 1] : lies_number(b);
    }
    snprintf(sql, sizeof sql,
             "UPDATE visits SET %s = substr(?1, 1, 8 * n) WHERE n <= %d AND (?2 %% 4 = 0 OR id %% 64 = ?2 %% 64)",
             names[which], MOST);
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK) {
        sqlite3_bind_blob(st, 1, x, sizeof x, SQLITE_STATIC);
        sqlite3_bind_int64(st, 2, row);
        sqlite3_step(st);
    }
    sqlite3_finalize(st);
}

void lies_in_unfinished(const char *path, struct fuzz_bytes *b)
{
    sqlite3 *db = open_quickly(path);
    for (unsigned n = fuzz_byte(b) % 8; n; n--) {
        const unsigned what = fuzz_byte(b) % 4, which = fuzz_byte(b), row = fuzz_byte(b);
        if (what == 0)
            lie_in_samples(db, row, b);
        else if (what == 1)
            lie_in_column(db, &columns[which % COUNT(columns)], row, b);
        else
            lie_in_column(db, &resumed[which % COUNT(resumed)], row, b);
    }
    sqlite3_close(db);
}
