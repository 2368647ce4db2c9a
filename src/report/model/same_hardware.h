/* Devices that drive the same hardware. */
#ifndef AS_REPORT_SAME_HARDWARE_H
#define AS_REPORT_SAME_HARDWARE_H

#include "report/report.h"

/* Of devices that are the same hardware behind several APIs, the index of the one that is shown for all: the native CPU
 * if it has numbers, else the one with most. index itself where there are no others. */
size_t as_hardware_representative(const struct as_report_run *run, size_t index);
/* The id of that other device; NULL: it stands for itself, or is no device of the run. */
const char *as_hardware_representative_id(const struct as_report_run *run, const char *id);
/* Does it have memory of its own, reached over a link? */
bool as_hardware_has_own_memory(const struct as_device_info *info);
/* Are they identical devices, with memory of their own? */
bool as_hardware_is_alike(const struct as_device_info *a, const struct as_device_info *b);

#endif
