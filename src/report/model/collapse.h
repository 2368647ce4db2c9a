/* Many facts about one object (each pair of allocators of a copy) would hide the others: the first few decided ones are
 * shown, the rest collapsed. */
#ifndef AS_REPORT_FOLD_H
#define AS_REPORT_FOLD_H

#include "facts/facts.h"

#include <stdbool.h>

/* Is facts[i] collapsed? */
bool as_fact_is_collapsed(const struct as_fact *facts, size_t n, size_t i);

#endif
