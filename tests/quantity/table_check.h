/* The cells and facts that quantities and bounds name, compared with the records of the probes that are built in.
 * The tables are constant once compiled, so a test checks them, and not each start of assay. */
#ifndef TESTS_QUANTITY_TABLE_CHECK_H
#define TESTS_QUANTITY_TABLE_CHECK_H

#include "base/error.h"
#include "quantity/quantity.h"
#include "refs/bounds.h"

/* table ends with a NULL name, bounds with NULL cells. */
enum as_status table_check(const struct as_quantity *table, const struct as_bound_line *bounds, struct as_error *err);

#endif
