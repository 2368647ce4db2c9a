/* Unit conversion for display. */
#ifndef AS_REPORT_SHOWN_H
#define AS_REPORT_SHOWN_H

#include "model/cell.h"

/* Converts cells that read better in another unit (times of a known number of bytes to bandwidth), with all their
 * values and samples. Other cells stay unchanged. */
void as_display_cell(struct as_cell *cell);

#endif
