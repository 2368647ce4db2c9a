/* Why a run has no number for a quantity. */
#ifndef AS_QUANTITY_REASON_H
#define AS_QUANTITY_REASON_H

#include "quantity/quantity.h"

/* The i-th of the subject's cells. */
const struct as_cell *as_quantity_cell_at(const struct as_quantity_subject *s, size_t i);
/* Is a the one to take: the larger, else the better number? */
bool as_quantity_is_preferred(const struct as_cell *a, const struct as_cell *b);
/* A buffer that is larger than the cache of a level ("L2") says nothing about that cache, and one that a cache may hold
 * nothing about memory. */
bool as_quantity_is_of_level(const struct as_quantity_subject *s, const struct as_cell *c, const char *level);
/* Why no cell of the source, which names some, gives the number. reason gets "rejected: checksum", "inconclusive: no
 * clear step in latency; 3 of 12 left out by the budget", or nothing where the run has no such cell. */
enum as_quantity_found as_quantity_explain(const struct as_quantity_subject *s, const struct as_quantity *q,
                                           const struct as_quantity_source *source, struct as_buf *reason);

#endif
