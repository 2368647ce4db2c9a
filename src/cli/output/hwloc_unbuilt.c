/* Replaces the export on systems where assay is built without hwloc. */
#include "cli/output/hwloc_export.h"

static enum as_status hwloc_unbuilt_refuse(struct as_error *err)
{
    return as_fail(err, AS_UNSUPPORTED, "this build lacks hwloc, which the format needs; use another --format");
}

enum as_status as_export_hwloc(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                               struct as_error *err)
{
    (void)store, (void)run, (void)sink;
    return hwloc_unbuilt_refuse(err);
}

enum as_status as_export_hwloc_joined(struct as_store *store, const struct as_run *last, const struct as_sink *sink,
                                      struct as_error *err)
{
    return as_export_hwloc(store, last, sink, err);
}

enum as_status as_hwloc_xml(const struct as_machine_sheet *m, struct as_buf *out, struct as_error *err)
{
    (void)m, (void)out;
    return hwloc_unbuilt_refuse(err);
}
