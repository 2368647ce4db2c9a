/* Devices that drive the same hardware. */
#ifndef AS_REPORT_TWINS_H
#define AS_REPORT_TWINS_H

#include "report/report.h"

/* Of devices that are the same hardware behind several APIs, the index of the one that is shown for all: the native CPU
 * if it has numbers, else the one with most. index itself where there are no others. */
size_t as_twins_shown_for(const struct as_report_run *run, size_t index);
/* The id of that other device; NULL: it stands for itself, or is no device of the run. */
const char *as_twins_shown_of(const struct as_report_run *run, const char *device);

#endif
