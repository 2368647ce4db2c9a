/* What is known of a program's memory once it has ended, as a table and as JSON. */
#ifndef AS_CLI_MEMORY_SUMMARY_H
#define AS_CLI_MEMORY_SUMMARY_H

#include "base/buf.h"
#include "cli/memory/memory_counters.h"
#include "report/report.h"

struct memory_summary {
    struct memory_reading before, first, last, after;
    double peak[MEMORY_COUNTERS_MAX];
    size_t readings, processes; /* the most processes at once */
    double period;              /* as asked for */
};

/* before: of the system, when the program has not been started. */
void as_memory_summary_begin(struct memory_summary *s, const struct memory_reading *before, double period);
void as_memory_summary_add(struct memory_summary *s, const struct memory_counters *c,
                           const struct memory_reading *reading);
enum as_status as_memory_summary_text(const struct memory_summary *s, const struct memory_counters *c, const char *end,
                                      const struct as_table_style *style, struct as_buf *out, struct as_error *err);
void as_memory_summary_json(const struct memory_summary *s, const struct memory_counters *c, const char *end,
                            struct as_buf *out);

#endif
