/* Many facts about one object (each pair of allocators that was copied between) hide the others: the first few that
 * are decided stand, the rest is folded. */
#ifndef AS_REPORT_FOLD_H
#define AS_REPORT_FOLD_H

#include "base/text.h"
#include "facts/facts.h"

#include <stdbool.h>

/* Is facts[i] one of those that are folded away? */
bool as_fact_is_folded(const struct as_fact *facts, size_t n, size_t i);
/* "33 more on copy, 20 on L2": of those folded away of a device, of all devices where it is NULL. Appends nothing and
 * returns 0 where there is none, else how many they are. Not escaped. */
size_t as_folded_text(const struct as_fact *facts, size_t n, const char *device, struct as_buf *out);

#endif
