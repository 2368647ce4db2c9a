/* Numbers as they are shown. */
#ifndef AS_REPORT_SHOWN_H
#define AS_REPORT_SHOWN_H

#include "model/cell.h"

/* Of a probe that tells two things in one unit, the cells that are read more easily in another: from then on the cell
 * has that metric and unit, and all its numbers, samples included, are in it. Other cells stay as they are. */
void as_shown_cell(struct as_cell *cell);

#endif
