/* Where the elements of a matrix instruction's operand lie, as a cell's notes have it. */
#ifndef AS_MODEL_FRAGMENT_H
#define AS_MODEL_FRAGMENT_H

#include "model/cell.h"

#include <stdbool.h>

/* Lanes times places are at most so many times the elements: copies and unused places take some. */
enum { AS_FRAGMENT_ELEMENTS = 1 << 16, AS_FRAGMENT_ROOM = 4 };

/* Element (row, column) is at index row * columns + column of both lists. */
struct as_fragment {
    size_t rows, columns;
    int *lanes;               /* -1: in no lane, as in shared memory */
    int *places;              /* among the elements that a lane holds, or of the whole in shared memory; -1: nowhere */
    size_t lanes_n, places_n; /* one more than the largest of each */
};

/* From the notes "rows", "columns", "lanes" and "places". false: the cell has none, or they do not fit each other, as
 * of a damaged store; nothing to free then. */
bool as_fragment_of(const struct as_cell *cell, struct as_fragment *out);
void as_fragment_finish(struct as_fragment *f);
/* Is it a note that as_fragment_of reads, so that views need not list it? */
bool as_fragment_has_note(const char *name);

#endif
