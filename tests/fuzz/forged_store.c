/* Forges the tables of a store. */
#include "forged.h"

#include <math.h>
#include <sqlite3.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

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
    {"cells", "trials"},
    {"cells", "modes"},
    {"cells", "trials_done"},
    {"cells", "gate_limit"},
    {"cells", "gate_limit_text"},
    {"cells", "lower_is_better"},
    {"runs", "uuid"},
    {"runs", "started_at"},
    {"runs", "ended_at"},
    {"runs", "state"},
    {"runs", "suite"},
    {"runs", "command"},
    {"runs", "seed"},
    {"runs", "precision"},
    {"runs", "budget_s"},
    {"runs", "trials"},
    {"runs", "host"},
    {"runs", "provenance"},
    {"runs", "devices"},
    {"runs", "cells"},
    {"runs", "cells_ok"},
    {"runs", "tool_version"},
    {"trials", "number"},
    {"trials", "started_at"},
    {"trials", "duration_s"},
    {"trials", "n"},
    {"trials", "warmup"},
    {"trials", "reps"},
    {"trials", "sample_s"},
    {"trials", "clock_hz"},
    {"trials", "clock_low"},
    {"trials", "clock_high"},
    {"trials", "status"},
    {"trials", "reason"},
    {"trials", "excluded"},
    {"trials", "bound"},
    {"trials", "detail"},
    {"trials", "power_w"},
    {"trials", "throttle"},
    {"trials", "sensor"},
    {"trials", "users"},
    {"trials", "temperature_after"},
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
        sqlite3_bind_int64(st, 1, (sqlite3_int64)fmax(fmin(forged_number(b), 9.2e18), -9.2e18));
        break;
    case 3:
    case 4:
        sqlite3_bind_text(st, 1, forged_broken(b), -1, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_double(st, 1, forged_number(b));
    }
}

/* Tables that a resumed run also loads. */
static const struct column resumed[] = {
    {"cells", "axes"},        {"cells", "status"},      {"cells", "precision"}, {"cells", "position"},
    {"cells", "n"},           {"cells", "trials"},      {"cells", "exponent"},  {"cells", "causes"},
    {"cells", "raw_low"},     {"cells", "trials_done"}, {"runs", "trials"},     {"runs", "seed"},
    {"runs", "isolate"},      {"runs", "budget_s"},     {"runs", "started_at"}, {"runs", "ended_at"},
    {"runs", "provenance"},   {"runs", "sampling"},     {"runs", "exponents"},  {"runs", "left_out"},
    {"runs", "reference_hz"}, {"trials", "number"},     {"trials", "code"},     {"trials", "checksum"},
    {"trials", "sampling_s"}, {"trials", "prepare_s"},  {"trials", "worker"},   {"trials", "bound_text"},
    {"trials", "cell_id"},    {"trials", "footprint"},  {"trials", "status"},   {"trials", "claims_memory"},
};

static sqlite3 *open_quickly(const char *path)
{
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK)
        exit(1);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
    return db;
}

/* Changes all rows if the byte is a multiple of 4. The schema refuses unknown values. */
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

void forged_in_store(const char *path, struct fuzz_bytes *b)
{
    sqlite3 *db = open_quickly(path);
    for (unsigned n = 1 + fuzz_byte(b) % 6; n; n--) {
        const unsigned which = fuzz_byte(b) % COUNT(columns), row = fuzz_byte(b);
        lie_in_column(db, &columns[which], row, b);
    }
    sqlite3_close(db);
}

/* Changes arrays of numbers beside or in place of the samples, of the same length: the schema cannot inspect them. */
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
        x[i] = what % 8 == 7 ? odd[what / 8 % COUNT(odd)] : what % 8 == 6 && i ? x[i - 1] : forged_number(b);
    }
    snprintf(sql, sizeof sql,
             "UPDATE trials SET %s = substr(?1, 1, 8 * n) WHERE n <= %d AND (?2 %% 4 = 0 OR id %% 64 = ?2 %% 64)",
             names[which], MOST);
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK) {
        sqlite3_bind_blob(st, 1, x, sizeof x, SQLITE_STATIC);
        sqlite3_bind_int64(st, 2, row);
        sqlite3_step(st);
    }
    sqlite3_finalize(st);
}

void forged_in_unfinished(const char *path, struct fuzz_bytes *b)
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
