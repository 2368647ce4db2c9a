/* A run in memory, with one GPU unless a test adds others, for tests of its data sheet. */
#ifndef AS_TESTS_REPORT_SHEET_RUN_H
#define AS_TESTS_REPORT_SHEET_RUN_H

#include "facts/facts.h"
#include "report/sheet/sheet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { CELLS = 16, FACTS = 8 };

extern struct as_cell cells[CELLS];
extern struct as_fact facts[FACTS];
extern struct as_device_info gpu;
extern struct as_report_run run;

/* Empties the run: setup of each test. */
int start(void **state);
/* axes: a JSON object. If they claim main memory, the gate has passed. */
struct as_cell *add_cell(const char *probe, const char *axes, double value, const char *unit);
struct as_fact *add_fact(const char *id, double value, const char *unit, double claimed);
struct as_sheet made(void); /* the GPU's; the caller finishes it */
/* What the row says beside its number; until the next call. */
const char *details_of(const struct as_sheet_row *row);

#endif
