/* Facts that should change what a programmer does, the most important first. */
#ifndef AS_REPORT_WORTH_H
#define AS_REPORT_WORTH_H

#include "facts/facts.h"
#include "report/report.h"

enum { AS_WORTH_MAX = 12 };
/* Fills out with at most `most` facts of the device; returns how many. */
size_t as_worth_knowing(const struct as_report_run *run, const char *device, const struct as_fact **out, size_t most);

#endif
