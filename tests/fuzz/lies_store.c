/* Lies in the tables of a store. */
#include "lies.h"

#include <math.h>
#include <sqlite3.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *table, *column;
} columns[] = {
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

void lies_in_store(const char *path, struct fuzz_bytes *b)
{
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK)
        exit(1);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
    for (unsigned n = 1 + fuzz_byte(b) % 6; n; n--) {
        const unsigned which = fuzz_byte(b) % COUNT(columns), row = fuzz_byte(b);
        char sql[200];
        sqlite3_stmt *st;
        /* of all rows where the byte is a multiple of 4 */
        snprintf(sql, sizeof sql, "UPDATE %s SET %s = ?1 WHERE ?2 %% 4 = 0 OR id %% 64 = ?2 %% 64",
                 columns[which].table, columns[which].column);
        if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK) {
            bind_value(st, b);
            sqlite3_bind_int64(st, 2, row);
            sqlite3_step(st); /* refused where the schema does not have it */
        }
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
}
