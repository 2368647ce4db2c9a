/* What stands above a data sheet: what the device is, by the names that people use, and what disturbed it. */
#ifndef AS_REPORT_SHEET_HEADER_H
#define AS_REPORT_SHEET_HEADER_H

#include "report/report.h"

/* "AMD EPYC 9005 (Zen 5)", "NVIDIA H200": the generation of a CPU where it is known, else the reported name. Lives
 * as long as the run. */
const char *as_sheet_device_name(const struct as_report_run *run, const char *device);
/* "AMD EPYC 9005 (Zen 5), 2 vCPUs of a KVM guest", "NVIDIA H200"; "" for a device without a name. */
void as_sheet_device_text(const struct as_report_run *run, const char *device, struct as_buf *out);
/* "24 GiB · Linux 6.18.44 · THP madvise · L3 shared with other guests", "132 SMs · 80 GiB · power limit 700 W ·
 * driver 580.159 · PCIe 5.0 x16", with the separator between. */
void as_sheet_about_text(const struct as_report_run *run, const char *device, const char *separator,
                         struct as_buf *out);

#endif
