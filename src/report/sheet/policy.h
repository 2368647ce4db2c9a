/* A policy: what lines of the data sheet must reach, for `assay check --policy`. An INI file whose sections name
 * devices, and whose lines bound quantities:
 *
 *   [cuda:*]
 *   memory.read.all >= 4.2 TB/s
 *   memory.latency <= 700 ns, warn
 *   host_link.replays <= 0
 *   devices >= 8
 *
 * A section's name is an id of a device or a pattern (fnmatch); `devices` says how many must fit one that ends with
 * '*'. Of several lines that bound a quantity of a device, the last counts. A line with ", warn" is reported and does
 * not fail the check. */
#ifndef AS_REPORT_POLICY_H
#define AS_REPORT_POLICY_H

#include "report/sheet/machine_sheet.h"

struct as_policy_rule {
    char device[32];
    const struct as_quantity *of;
    double bound; /* in the unit of the quantity */
    bool warns;
};
enum { AS_POLICY_COUNTS_MAX = 32, AS_POLICY_DEVICES_MAX = 64 };
struct as_policy {
    struct as_policy_rule *v; /* owned */
    size_t n;
    struct as_policy_count {
        char device[32]; /* pattern */
        size_t least;
    } counts[AS_POLICY_COUNTS_MAX];
    size_t counts_n;
};
/* AS_USAGE with the line: no quantity of that name, a bound of the wrong direction or unit, a capacity, or no rule. */
enum as_status as_policy_parse(const char *text, struct as_policy *out, struct as_error *err);
/* The same of a file. */
enum as_status as_policy_read(const char *path, struct as_policy *out, struct as_error *err);
void as_policy_finish(struct as_policy *p);
/* The bounds as lines of a data sheet, of every device of m that they fit, whether it has such a line or not. A pattern
 * that fits no device stands for one, so that its lines are missing; the same for each
 * device that `devices` requires and that was not measured. */
enum as_status as_policy_sheet(const struct as_policy *p, const struct as_machine_sheet *m,
                               struct as_machine_sheet *out, struct as_error *err);

#endif
