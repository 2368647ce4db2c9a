/* Units that earlier versions stored, and those of today: stores and exports are converted by this. */
#ifndef AS_MODEL_RENAMES_H
#define AS_MODEL_RENAMES_H

#include "model/cell.h"

/* Brings a cell to today's names; false: it had them already. */
bool as_rename_cell(struct as_cell *cell);

#endif
