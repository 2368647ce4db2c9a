/* Differences in the provenance of two runs, which may explain differences between their values. */
#ifndef AS_CLI_COMPARE_PROVENANCE_H
#define AS_CLI_COMPARE_PROVENANCE_H

#include "model/cell.h"

/* Appends one line per difference: "host: anvil, then bellows" for the
 * terminal (escaped), or with json {"differs":"host","a":"anvil","b":"bellows"}, where a missing value
 * is null. Compared: tool version, commit and compiler, host, kernel, CPU, microcode, governor, huge pages,
 * virtualization, requested precision and trials, and each device's name and driver. */
enum as_status as_compare_provenance(const struct as_run *a, const struct as_run *b, bool json, struct as_buf *out,
                                     struct as_error *err);

#endif
