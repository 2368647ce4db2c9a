/* Every reading of a program's memory, written as it is made: CSV, or an object of JSON per line. */
#ifndef AS_CLI_MEMORY_SERIES_H
#define AS_CLI_MEMORY_SERIES_H

#include "cli/memory/memory_summary.h"

struct memory_series {
    int fd; /* -1: not asked for */
    bool is_json;
    const char *path;
};

/* path NULL: nothing is written. format: "csv", "json" or NULL for the first. */
enum as_status as_memory_series_open(struct memory_series *s, const char *path, const char *format,
                                     const struct memory_counters *c, struct as_error *err);
enum as_status as_memory_series_add(const struct memory_series *s, const struct memory_counters *c,
                                    const struct memory_reading *reading, struct as_error *err);
/* status: of what was written before. JSON ends with the summary. */
enum as_status as_memory_series_close(struct memory_series *s, enum as_status status, const struct memory_summary *sum,
                                      const struct memory_counters *c, const char *end, struct as_error *err);

#endif
