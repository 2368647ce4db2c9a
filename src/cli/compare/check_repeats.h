/* Runs that measured cells of a checked run again. */
#ifndef AS_CLI_CHECK_REPEATS_H
#define AS_CLI_CHECK_REPEATS_H

#include "report/sheet/machine_sheet.h"
#include "store/store.h"

struct as_repeat {
    struct as_report_run run;
    struct as_machine_sheet sheet;
    char text[96]; /* for as_repeats_beside */
};
struct as_repeats {
    struct as_repeat *v; /* owned; the earliest first */
    size_t n, cap;
};
/* Adds the complete repeats of the run with this UUID that the store has. */
enum as_status as_repeats_find(struct as_store *store, const char *uuid, struct as_repeats *out, struct as_error *err);
/* Adds the run of that number. */
enum as_status as_repeats_add(struct as_store *store, int64_t id, struct as_repeats *out, struct as_error *err);
/* Adds those from index `from` on to the checked machine's runs, in order, and drops those that are already among its
 * runs or those of base, or do not fit. */
enum as_status as_repeats_merge(struct as_repeats *r, size_t from, const struct as_machine_sheet *base,
                                struct as_machine_sheet *now, struct as_error *err);
/* What disturbed a device in the repeat at that index; NULL: nothing. */
const char *as_repeats_beside(struct as_repeats *r, size_t index, const char *device, const struct as_quantity *q);
void as_repeats_finish(struct as_repeats *r);

#endif
