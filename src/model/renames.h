/* Names and units of earlier versions, and those of today. Stores and exports are converted by them; suites and the
 * command line take the earlier names with a note. */
#ifndef AS_MODEL_RENAMES_H
#define AS_MODEL_RENAMES_H

#include "model/cell.h"

/* Brings a cell to today's names; false: it had them already. */
bool as_rename_cell(struct as_cell *cell);

/* Today's name of what had this name before; NULL: it never was one. The probe is given by its name of today, the axis
 * of a word too. */
const char *as_renamed_probe(const char *before);
const char *as_renamed_axis(const char *probe, const char *before);
const char *as_renamed_word(const char *probe, const char *axis, const char *before);

#endif
