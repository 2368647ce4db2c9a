/* Many facts about one object (each pair of allocators of a copy) would hide the others: the first few decided ones are
 * shown, the rest collapsed. */
#ifndef AS_REPORT_FOLD_H
#define AS_REPORT_FOLD_H

#include "base/text.h"
#include "facts/facts.h"

#include <stdbool.h>

/* Is facts[i] collapsed? */
bool as_fact_is_collapsed(const struct as_fact *facts, size_t n, size_t i);
/* "33 more on copy, 20 on L2": the collapsed facts of a device (NULL: of all). Returns their number; appends nothing
 * for 0. Not escaped. */
size_t as_collapsed_text(const struct as_fact *facts, size_t n, const char *device, struct as_buf *out);

#endif
