/* hwloc XML of this machine with measurements: memory attributes of its NUMA node, info attributes on the machine and
 * its PCI devices. */
#ifndef AS_CLI_HWLOC_EXPORT_H
#define AS_CLI_HWLOC_EXPORT_H

#include "report/sheet/machine_sheet.h"
#include "store/store.h"

/* AS_UNSUPPORTED: the run is of another machine. */
enum as_status as_export_hwloc(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                               struct as_error *err);
/* The same with the numbers of the machine's data sheet over its complete runs; the run's where none is complete. */
enum as_status as_export_hwloc_joined(struct as_store *store, const struct as_run *last, const struct as_sink *sink,
                                      struct as_error *err);
/* The same of sheets, which are of this machine. Attributes: Bandwidth, ReadBandwidth and WriteBandwidth (MiB/s, as
 * hwloc has it), Latency and ReadLatency (ns), where there is one NUMA node, as seen from its CPUs. Each line of a
 * sheet is an info "assay <group> <quantity>" of the machine or, for a device, of its PCI device, where hwloc sees it.
 */
enum as_status as_hwloc_xml(const struct as_machine_sheet *m, struct as_buf *out, struct as_error *err);

#endif
