/* Former names and units. Stores and exports are converted; suites and the command line accept former names with a
 * note. */
#ifndef AS_MODEL_RENAMES_H
#define AS_MODEL_RENAMES_H

#include "model/cell.h"

/* Updates a cell to current names; true if anything changed. */
bool as_rename_cell(struct as_cell *cell);

/* Current name for a former one; NULL if it was never renamed. Pass the current probe and axis names. */
const char *as_renamed_probe(const char *former);
const char *as_renamed_axis(const char *probe, const char *former);
const char *as_renamed_word(const char *probe, const char *axis, const char *former);

#endif
