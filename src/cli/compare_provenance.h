/* Differences in the provenance of two runs, which may explain differences between their values. */
#ifndef AS_CLI_COMPARE_PROVENANCE_H
#define AS_CLI_COMPARE_PROVENANCE_H

#include "model/cell.h"

/* Appends a line for everything that differs, nothing when all is the same: "host: anvil, then bellows" for the
 * terminal (escaped), or with json an object: {"differs":"host","a":"anvil","b":"bellows"}, where a value that a run
 * lacks is null. Compared: tool version, commit and compiler, host, kernel, CPU, microcode, governor, huge pages,
 * virtualization, precision and trials requested, and of each device its name and driver. */
enum as_status as_compare_provenance(const struct as_run *a, const struct as_run *b, bool json, struct as_buf *out,
                                     struct as_error *err);

#endif
