/* Data sheets of made-up machines, for checks. */
#ifndef AS_TESTS_MADE_SHEET_H
#define AS_TESTS_MADE_SHEET_H

#include "tests/unit_test.h"

#include "report/sheet/sheet_check.h"

enum { MADE_ROWS = 4 };
/* A machine with one device, one run and the first `rows` of a rate, a latency, a clock and a launch: values times
 * scale, intervals of the fraction `half` to either side. The caller finishes it. */
struct as_machine_sheet made_sheet(const char *device, size_t rows, double scale, double half);

#endif
