#include "cli/output/hwloc_export.h"

#include "base/text.h"
#include "device/host_hwloc.h"
#include "report/model/load.h"
#include "report/sheet/machine_runs.h"
#include "run/identity.h"

#include <errno.h>
#include <hwloc.h>
#include <hwloc/memattrs.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* hwloc's memory attributes and the CPU's quantities that they are taken from. */
static const struct {
    hwloc_memattr_id_t id;
    const char *quantity;
    double unit; /* of the attribute, in that of the quantity */
} attributes[] = {
    {HWLOC_MEMATTR_ID_BANDWIDTH, "memory.triad.all", 0x1p20 * 1e-9},
    {HWLOC_MEMATTR_ID_LATENCY, "memory.latency", 1},
#if HWLOC_API_VERSION >= 0x00020800
    {HWLOC_MEMATTR_ID_READ_BANDWIDTH, "memory.read.all", 0x1p20 * 1e-9},
    {HWLOC_MEMATTR_ID_WRITE_BANDWIDTH, "memory.write.all", 0x1p20 * 1e-9},
    {HWLOC_MEMATTR_ID_READ_LATENCY, "memory.latency", 1},
#endif
};

static enum as_status set_attributes(hwloc_topology_t t, const struct as_sheet *cpu, struct as_error *err)
{
    hwloc_obj_t node = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, 0);
    if (!node || hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE) != 1)
        return AS_OK; /* probes do not tell nodes apart */
    struct hwloc_location from = {.type = HWLOC_LOCATION_TYPE_CPUSET, .location.cpuset = node->cpuset};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        const struct as_sheet_row *row = as_sheet_row_of(cpu, attributes[i].quantity);
        if (!row)
            continue;
        const struct as_number n = as_sheet_number(row);
        const double value = as_number_is_value(&n) ? row->value / attributes[i].unit : NAN;
        if (!(value >= 1) || value >= 0x1p62)
            continue;
        if (hwloc_memattr_set_value(t, attributes[i].id, node, &from, 0, (hwloc_uint64_t)llround(value)))
            return as_fail(err, AS_UNSUPPORTED, "hwloc rejects a memory attribute: %s", strerror(errno));
    }
    return AS_OK;
}

/* "123 to 140 ns" */
static void say_two(const double *v, const char *between, const char *unit, struct as_buf *out)
{
    enum { DIGITS = 3, CAPACITY_DIGITS = 15 };
    const int digits = strcmp(unit, "B") == 0 ? CAPACITY_DIGITS : DIGITS;
    as_format_number(out, v[0], digits);
    as_buf_str(out, between);
    as_format_number(out, v[1], digits);
    as_buf_printf(out, " %s", unit);
}

/* As exact as the sheet states it, without a prefix; false: it states no number. */
static bool say_number(const struct as_sheet_row *row, struct as_buf *out)
{
    const struct as_number n = as_sheet_number(row);
    const enum as_number_form form = as_number_form(&n);
    if (as_number_is_value(&n)) {
        as_number_plain(&n, out);
        as_buf_printf(out, " %s", row->unit);
    } else if (form == AS_NUMBER_RANGE)
        say_two((const double[]){row->ci.lo, row->ci.hi}, " to ", row->unit, out);
    else if (form == AS_NUMBER_MODES)
        say_two(row->mode, " or ", row->unit, out);
    return out->len > 0;
}

/* hwloc escapes marks, but takes no control characters and drops what is not ASCII, as the prefix of "µs". */
static void add_info(hwloc_obj_t o, const struct as_sheet_row *row)
{
    struct as_buf name = AS_BUF_INIT, value = AS_BUF_INIT, safe_name = AS_BUF_INIT, safe_value = AS_BUF_INIT;
    as_buf_printf(&name, "assay %s %s", row->group, row->label);
    as_buf_terminal(&safe_name, as_buf_get(&name));
    const bool is_stated = say_number(row, &value);
    as_buf_terminal(&safe_value, as_buf_get(&value));
    if (is_stated && !safe_name.failed && !safe_value.failed)
        hwloc_obj_add_info(o, as_buf_get(&safe_name), as_buf_get(&safe_value));
    as_buf_finish(&name);
    as_buf_finish(&value);
    as_buf_finish(&safe_name);
    as_buf_finish(&safe_value);
}

/* How many lines of the sheet found their place. */
static size_t add_infos(hwloc_topology_t t, const struct as_device_sheet *d)
{
    hwloc_obj_t o = NULL;
    if (strcmp(d->id, "cpu") == 0)
        o = hwloc_get_root_obj(t);
    else if (d->bus_id[0])
        o = hwloc_get_pcidev_by_busidstring(t, d->bus_id);
    for (size_t i = 0; o && i < d->sheet.n; i++)
        add_info(o, &d->sheet.rows[i]);
    return o ? d->sheet.n : 0;
}

enum as_status as_hwloc_xml(const struct as_machine_sheet *m, struct as_buf *out, struct as_error *err)
{
    hwloc_topology_t t;
    char *xml = NULL;
    int len = 0;
    size_t said = 0;
    enum as_status st = as_host_topology(AS_TOPOLOGY_IO, &t, err);
    if (st)
        return st;
    for (size_t i = 0; i < m->n && !st; i++) {
        said += add_infos(t, &m->v[i]);
        if (strcmp(m->v[i].id, "cpu") == 0)
            st = set_attributes(t, &m->v[i].sheet, err);
    }
    if (!st && !said)
        st = as_fail(err, AS_UNSUPPORTED,
                     "the run has no data-sheet line for the CPU or for a device in hwloc's topology");
    if (!st && hwloc_topology_export_xmlbuffer(t, &xml, &len, 0))
        st = as_fail(err, AS_UNSUPPORTED, "hwloc cannot write XML: %s", strerror(errno));
    if (!st)
        as_buf_str(out, xml);
    if (xml)
        hwloc_free_xmlbuffer(t, xml);
    hwloc_topology_destroy(t);
    return st ? st : as_buf_check(out, err);
}

static enum as_status check_host(const struct as_run *run, struct as_error *err)
{
    struct as_buf differs = AS_BUF_INIT;
    enum as_status st = as_identity_host(run, &differs, err);
    if (!st && differs.len)
        st = as_fail(err, AS_UNSUPPORTED, "run %lld: %s, which hwloc describes; export it there", (long long)run->id,
                     as_buf_get(&differs));
    as_buf_finish(&differs);
    return st;
}

static enum as_status write_xml(const struct as_machine_sheet *m, const struct as_sink *sink, struct as_error *err)
{
    enum as_status st = as_hwloc_xml(m, sink->out, err);
    if (!st && sink->write)
        st = sink->write(sink->user, as_buf_get(sink->out), sink->out->len, err);
    return st;
}

enum as_status as_export_hwloc(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                               struct as_error *err)
{
    char name[24];
    struct as_report_run loaded;
    struct as_machine_sheet m;
    enum as_status st = check_host(run, err);
    if (st)
        return st;
    snprintf(name, sizeof name, "%lld", (long long)run->id);
    st = as_report_load(store, name, &loaded, err);
    if (st)
        return st;
    st = as_machine_sheet_make(&loaded, &m, err);
    as_report_run_finish(&loaded);
    if (st)
        return st;
    st = write_xml(&m, sink, err);
    as_machine_sheet_finish(&m);
    return st;
}

enum as_status as_export_hwloc_joined(struct as_store *store, const struct as_run *last, const struct as_sink *sink,
                                      struct as_error *err)
{
    struct as_machine_runs machine = {0};
    enum as_status st = check_host(last, err);
    if (!st)
        st = as_machine_runs_load(store, AS_MACHINE_NOW, NULL, &machine, err);
    if (st == AS_NOTFOUND || (!st && !machine.sheet.n))
        st = as_export_hwloc(store, last, sink, err);
    else if (!st)
        st = write_xml(&machine.sheet, sink, err);
    as_machine_runs_finish(&machine);
    return st;
}
