/* Output of 'assay history', and the quantities that it is asked for. */
#ifndef AS_CLI_HISTORY_H
#define AS_CLI_HISTORY_H

#include "cli/cli.h"
#include "report/sheet/machine_history.h"

/* What is asked for. */
struct as_history_asked {
    const struct as_quantity *quantity; /* NULL: all, or those of a group */
    const char *group;                  /* "Memory"; NULL: all */
    const char *device;                 /* "cuda:0"; NULL: all */
};
/* The words of the command: the name of a quantity ("memory.read.all"), a line of the data sheet ("memory read") or a
 * group ("memory"). AS_NOTFOUND, with the nearest. */
enum as_status as_history_find(const struct as_args *args, struct as_history_asked *out, struct as_error *err);
/* The CPU clock of a run, for lines of the CPU and others that follow it; NAN for the rest. */
double as_history_clock(const struct as_history *h, const struct as_history_run *run);
bool as_history_is_asked(const struct as_history *h, const struct as_history_asked *asked);

/* A run per row. */
enum as_status as_history_table(const struct as_history *h, const struct as_machine_runs *m,
                                const struct as_table_style *style, struct as_buf *out, struct as_error *err);
/* Those of v that are asked for: which changed, or else which are steady. */
enum as_status as_history_summary(const struct as_history *v, size_t n, const struct as_history_asked *asked,
                                  const struct as_machine_runs *m, const struct as_table_style *style,
                                  struct as_buf *out, struct as_error *err);
/* One object per run and line, then one per line: its level now. */
void as_history_json(const struct as_history *h, struct as_buf *out);
/* A row per run and line. */
void as_history_csv_head(struct as_buf *out);
void as_history_csv(const struct as_history *h, struct as_buf *out);
const char *as_run_place_word(enum as_run_place place); /* "changed" */

#endif
