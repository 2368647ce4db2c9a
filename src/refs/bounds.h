/* Physical bounds, shared by the gate `limit` and the data sheet: what driver and PCI bus report and what the vendor
 * specifies (refs/gpus.csv, cpus.csv). Published measurements are no bounds. */
#ifndef AS_REFS_BOUNDS_H
#define AS_REFS_BOUNDS_H

#include "model/cell.h"
#include "refs/refs.h"

struct as_bound {
    double value; /* in the unit that was asked for; NAN: nothing is known */
    char why[96]; /* "specified for H100 SXM, at the highest clock" */
};

/* Reported by driver or bus for a line of the data sheet ("Memory", "read", "GB/s"), in its unit; NAN: nothing. The
 * memory peak applies to all operations, the link peak to each direction. */
double as_reported_line(const struct as_device_info *info, const char *group, const char *label, const char *unit);

/* A line that the bytes or operations of trials count for. Made from the keys `bound` of src/quantity/quantities.ini;
 * ends with NULL cells. */
struct as_bound_line {
    const char *cells; /* "PROBE axis=value,value ..."; a value may be @own, @of_host or @memory (README.md there) */
    const char *group, *label;
    unsigned times; /* each byte counts */
};
extern const struct as_bound_line as_bound_lines[];

/* The work of a trial. */
struct as_bound_trial {
    const char *probe;
    const struct as_axes *axes;
    const char *unit;
    uint64_t footprint; /* bytes */
};
/* The bound of a trial on a device, from the lines of the data sheet that its bytes and operations count for: of
 * several the tightest. */
enum as_status as_bound_of_trial(const struct as_device_info *info, const struct as_bound_trial *trial,
                                 struct as_bound *out, struct as_error *err);

/* Adds the L2 that the vendor specifies (source "table") to a device with memory of its own whose API tells of none. */
enum as_status as_specified_cache(struct as_device_info *info, struct as_error *err);

#endif
