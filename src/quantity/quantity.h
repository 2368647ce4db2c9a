/* The table of quantities: what people quote of a machine, and which cells of a run give it. Every view that prints
 * such a number cites a quantity, so that it has one value in a run. The table is quantities.ini; README.md has its
 * keys.
 *
 * A quantity has one definition, so that runs compare: the id of a fact, or a probe with the value of each axis. Of an
 * open size the largest counts, of an open axis that the source names the best value. A later source is used only where
 * the device cannot have the earlier one, never if that was left out or rejected. "@pinned" stands for the device's
 * first allocator of that role, "@all" for the threads of the whole device, {unit} in texts for its word for a compute
 * unit. */
#ifndef AS_QUANTITY_QUANTITY_H
#define AS_QUANTITY_QUANTITY_H

#include "base/text.h"
#include "facts/facts.h"
#include "model/number.h"
#include "probe/main_memory.h"
#include "probe/probe.h"

struct as_bound_line; /* refs/bounds.h */

/* Which devices have it: those whose kernels are the host's own code, or others. */
enum as_side { AS_SIDE_BOTH, AS_SIDE_CPU, AS_SIDE_DEVICE };

enum as_quantity_kind {
    AS_KIND_CLOCK,
    AS_KIND_RATE,
    AS_KIND_BANDWIDTH,
    AS_KIND_LATENCY,
    AS_KIND_TIME,
    AS_KIND_CAPACITY,
    AS_KIND_RATIO, /* how many times as long something takes */
};

/* The value in a source of an axis that may be "none": any other, of which the worst counts. */
#define AS_QUANTITY_WORST "@worst"
struct as_quantity_source {
    const char *from; /* id of a fact, or "PROBE axis=value ..." */
    enum as_side side;
    const char *cells; /* of a fact: the cells that it needs; NULL: any of the device */
    const char *said;  /* said beside the number; NULL nothing */
    const char *named; /* the axis or note whose value is said beside the number; NULL none */
    const char *fact;  /* the fact that says the same as the cell, for published figures; NULL none */
};
struct as_quantity {
    const char *name;          /* "memory.read.all" */
    const char *group, *label; /* "Memory", "read" */
    const char *unit;
    enum as_quantity_kind kind;
    const char *level;                /* "memory", "L2", "core"; "" none */
    unsigned counts;                  /* operations that one of the source's is */
    bool claimed;                     /* the limit of its cell is what is specified */
    bool of_host;                     /* on any device it depends on the host's CPUs */
    bool off_map;                     /* no row of its level on the map shows it */
    bool roof;                        /* the roofline draws this bandwidth as a slope */
    bool first;                       /* a plan with a small budget measures it before the others */
    const struct as_quantity *beside; /* the line of the data sheet whose remark has it; NULL: a line of its own */
    const char *before, *behind;      /* around it in that remark: "submit", "per kernel" */
    const struct as_quantity_source *sources; /* ends with a NULL from */
};
extern const struct as_quantity as_quantities[];               /* ends with a NULL name */
const struct as_quantity *as_quantity_named(const char *name); /* or NULL */
/* The line of the data sheet with that group and label, in the words of any device; NULL: none. */
const struct as_quantity *as_quantity_of_line(const char *group, const char *label);
/* Is text its name, label, or group and label, in the words of any device and in any case? */
bool as_quantity_is_called(const struct as_quantity *q, const char *text);
/* The same, or its group or level. */
bool as_quantity_is_meant(const struct as_quantity *q, const char *text);
bool as_quantity_any_is_meant(const char *text);
bool as_quantity_lower_is_better(const struct as_quantity *q);
/* Can its numbers be in that unit? */
bool as_quantity_has_unit(const struct as_quantity *q, const char *unit);

/* A device's number over the runs of its machine, which stands for that of one run. */
struct as_quantity_joined {
    const char *device;
    const struct as_quantity *of;
    const char *unit;
    double value, counted;    /* as in as_quantity_value */
    const char *counted_unit; /* "cycles", "B/cycle per SM"; "" not counted */
    struct as_interval ci;
    size_t trials, tried, modes;
    bool of_runs;
    double mode[2], mode_share0;
};
/* The device whose numbers are sought, and where. */
struct as_quantity_subject {
    const char *device;
    const struct as_device_info *info; /* NULL unknown */
    struct as_cell_view cells;         /* of the run or of the device */
    const struct as_fact *facts;
    size_t facts_n;
    double clock_hz;                         /* the quantity clock.core; NAN unknown */
    const struct as_quantity_joined *joined; /* not owned; NULL: numbers of the run */
    size_t joined_n;
};
/* Sets clock_hz from the facts. */
void as_quantity_use_clock(struct as_quantity_subject *s);
bool as_quantity_is_of_side(const struct as_quantity_subject *s, enum as_side side);
/* Has a source of the device's side, and, of a cache that few have, does the device have that cache? */
bool as_quantity_is_expected(const struct as_quantity_subject *s, const struct as_quantity *q);
/* Writes its label; of a CPU's bandwidth or rate by all of its threads with their number, "read, 2 threads". source:
 * that gives the value; NULL: the first of the device's side. */
void as_quantity_label(const struct as_quantity_subject *s, const struct as_quantity *q,
                       const struct as_quantity_source *source, char *out, size_t size);
/* Writes text with "@role" as the name of the device's allocator and "{unit}" as its word for a compute unit. */
void as_quantity_expand(const struct as_quantity_subject *s, const char *text, char *out, size_t size);
/* "PROBE axis=value ...": is it a cell of the device with these values? */
bool as_quantity_is_cell_of(const struct as_quantity_subject *s, const struct as_cell *c, const char *filter);
/* Why the device cannot have memory of the role that such cells name; "" where it can. */
const char *as_quantity_why_no_memory(const struct as_quantity_subject *s, const char *filter);

/* The operations of a run's main results, in their order; ends with NULL. */
extern const char *const as_main_operations[];

/* In what order a plan measures its cells where the budget is small: the highest first. */
enum as_quantity_order {
    AS_QUANTITY_OF_NONE,
    AS_QUANTITY_MAIN,  /* of no quantity, but of an operation among the main results */
    AS_QUANTITY_OTHER, /* of a quantity */
    AS_QUANTITY_FIRST, /* of one whose section says `first = yes` */
};
/* coarse: bit i for axis i of the probe, where it is a coarse point of the plan's grid or the plan's first
 * allocator: of an axis that a source leaves open, only these count. info: NULL unknown. *place: index of the quantity
 * in the table, of equals the first; 0 of none. */
enum as_quantity_order as_quantity_order_of(const struct as_device_info *info, const struct as_probe *probe,
                                            const struct as_cell *cell, unsigned coarse, size_t *place);

enum as_quantity_found {
    AS_QUANTITY_FOUND,
    AS_QUANTITY_NOT_IN_SUITE, /* no such cell */
    AS_QUANTITY_IMPOSSIBLE,   /* unsupported on this device */
    AS_QUANTITY_MISSING,      /* planned, but without a number */
    AS_QUANTITY_REJECTED,
    AS_QUANTITY_UNDECIDED, /* by valid cells */
    AS_QUANTITY_STATES,
};
struct as_quantity_value {
    const struct as_quantity *of;
    const struct as_quantity_source *source; /* that gave it */
    double value, claimed;                   /* claimed: by driver, OS or limit; NAN: by none */
    struct as_interval ci;
    char unit[16];
    bool wide, decided, refuted;
    size_t trials; /* that the interval rests on; 0 unknown */
    size_t tried;  /* trials in all, with those that failed or were left out; 0 unknown */
    size_t modes;  /* 2: of its cell's samples, or of_runs */
    bool of_runs;  /* the modes are states of whole runs */
    double mode[2], mode_share0;
    int64_t cell;               /* that it rests on; 0: several */
    const struct as_fact *fact; /* that gave it, with the evidence; NULL: the cell did */
    char named[64];             /* the value of the axis that the source names; "" none */
    bool on_small_pages;        /* base pages were allocated where huge ones were requested */
    double counted;             /* before conversion to ns or GB/s by the clock; NAN: not converted */
    char counted_unit[16];      /* "cycles", "B/cycle" */
};
/* The value of a quantity for a device, or why there is none: reason ("" where found) gets "left out by the budget",
 * "rejected: checksum". */
enum as_quantity_found as_quantity_find(const struct as_quantity_subject *s, const struct as_quantity *q,
                                        struct as_quantity_value *out, struct as_buf *reason);
/* Of a number with one of several peers, the best: what was measured with the others, "device 2 45.0 GB/s", of many
 * "6 others 345 to 396 GB/s"; nothing where there are none. */
void as_quantity_other_peers(const struct as_quantity_subject *s, const struct as_quantity_value *v,
                             struct as_buf *out);
/* How it is printed. */
struct as_number as_quantity_number(const struct as_quantity_value *v);
/* The value of the quantity of that name; false: there is none. */
bool as_quantity_get(const struct as_quantity_subject *s, const char *name, struct as_quantity_value *out);
/* The first quantity of the table that rests on the cell; alone: on this cell and no others. NULL: none does. */
const struct as_quantity *as_quantity_of_cell(const struct as_quantity_subject *s, const struct as_cell *c, bool alone);
/* While a run is measured: are cells that it may rest on still without a first trial? */
bool as_quantity_awaits_cells(const struct as_quantity_subject *s, const struct as_quantity *q);

/* ---- the roofline ---- */

/* Its ceilings, and the types in ids of facts. */
struct as_peak {
    const char *quantity, *type; /* "compute.fp64", "f64" */
};
extern const struct as_peak as_peaks[]; /* ends with a NULL quantity */
enum { AS_ROOFS_MAX = 8 };
/* Its slopes: of each level the fastest quantity whose section says `roof = yes`; returns how many. */
size_t as_quantity_roofs(const struct as_quantity_subject *s, struct as_quantity_value out[AS_ROOFS_MAX]);

#endif
