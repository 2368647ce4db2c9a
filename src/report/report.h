/* Views of stored runs: the HTML page, and tables and small plots for the terminal. Reads plain data only; nothing here
 * touches a device or a database. Text from files and drivers is escaped on output. */
#ifndef AS_REPORT_REPORT_H
#define AS_REPORT_REPORT_H

#include "device/info.h"
#include "facts/advice.h"
#include "facts/facts.h"
#include "model/cell.h"
#include "model/number.h"
#include "quantity/quantity.h"
#include "refs/refs.h"

struct as_overview;
struct as_machine_runs; /* report/sheet/machine_runs.h */
struct as_seen;         /* store/store.h */

/* A cell that two backends measured on one piece of hardware. */
struct as_backend_pair {
    const struct as_cell *a, *b;
    bool allocators_differ;          /* no common allocator: the best cell of each */
    struct as_comparison comparison; /* of b against a */
};

/* A line of the data sheet that lies outside the intervals of earlier runs of the same build on the same machine. */
struct as_unsteady {
    char device[32];
    const struct as_quantity *of;
    double lo, hi; /* of the values of all these runs */
    size_t runs;   /* this one among them */
};

/* What another run of the machine in the same state says that bears on what is worth knowing. */
struct as_other_fact {
    int64_t run;
    struct as_fact fact;
};

struct as_report_run {
    struct as_run run;
    struct as_cell *cells; /* without samples; where there is an overview, only those that facts may rest on */
    size_t cells_n;
    size_t rows_more;             /* cells of the one probe that was loaded, beyond those */
    struct as_overview *overview; /* of all cells of a run that is too big to be loaded whole; NULL: it is loaded */
    char *against_earlier;        /* how its sentinels differ from earlier runs; NULL: they do not */
    struct as_seen *seen;         /* what disturbed its devices; owned */
    size_t seen_n;
    struct as_unsteady *unsteady; /* owned */
    size_t unsteady_n;
    bool renumbered; /* run and cells have other numbers than in their store */
    char *left_out;  /* "latency (500000 cells)": probes left out of the facts; NULL: none */
    struct as_device_info *devices;
    char **topologies; /* JSON of each device's tree, NULL where there is none */
    size_t devices_n;
    struct as_fact *facts;
    size_t facts_n;
    struct as_other_fact *others; /* the latest run first; owned */
    size_t others_n;
    bool of_machine; /* others are facts of all runs of the machine, this one's among them, and stand for its own */
    struct as_advice *advice;
    size_t advice_n;
    const struct as_refs *refs; /* published figures to show beside the facts, not owned; NULL none */
    const struct as_refs *chip; /* of the chip whose figures the data sheet shows, not owned; NULL: its own */
    const struct as_machine_runs *machine;   /* its machine, whose sheet the page shows instead of its own; not owned;
                                                NULL: none */
    const struct as_quantity_joined *joined; /* the numbers of that sheet, for other views of them; not owned */
    size_t joined_n;
    struct as_backend_pair *backend_pairs; /* by pair of devices; those that differ first */
    size_t backend_pairs_n;
};
void as_report_run_finish(struct as_report_run *r);
/* Runs of several stores may have the same number, and so may their cells: then all get new ones, from 1 on. */
void as_report_tell_apart(struct as_report_run *runs, size_t n);
/* A cell of the run by its id; NULL: it has none, or it is not loaded. */
const struct as_cell *as_report_cell(const struct as_report_run *r, int64_t id);
/* It has a number, and one that counts or was rejected. */
bool as_report_has_number(const struct as_cell *c);
bool as_report_is_measured(const struct as_cell *c);
/* The gates that the cell failed: ": limit, checksum", nothing where there is none. */
void as_report_failed_gates(const struct as_cell *c, struct as_buf *out);
/* A device of the run by its id; NULL, and "", where it is none of them. */
const struct as_device_info *as_report_device(const struct as_report_run *r, const char *id);
/* A device of the run, to find its quantities. */
struct as_quantity_subject as_report_subject(const struct as_report_run *r, const char *device);
const char *as_report_device_name(const struct as_report_run *r, const char *id);

/* One self-contained page over one or more runs (with several: each section shows them beside each other). */
enum as_status as_report_html(const struct as_report_run *runs, size_t n, struct as_buf *out, struct as_error *err);
/* The same with another tolerance of what differs between runs. */
enum as_status as_report_html_within(const struct as_report_run *runs, size_t n, double tolerance, struct as_buf *out,
                                     struct as_error *err);

/* Terminal. width: columns. Text that is not from assay is escaped (as_buf_terminal). colour: ANSI colours. */
struct as_table_style {
    unsigned width;
    int colour;
    int unicode; /* box and block characters, else ASCII */
};
/* The short page after a run: data sheets, what is worth knowing, what is missing. device: whose sheet, "all" each in
 * full; NULL: of all, of identical GPUs the first in full. */
enum as_status as_report_terminal(const struct as_report_run *run, const char *device,
                                  const struct as_table_style *style, struct as_buf *out, struct as_error *err);
/* All cells of one probe: an aligned table, and a small plot where an axis is a size; with the probes of latency
 * between agents and memories that are not their own also the matrix of all. */
enum as_status as_report_probe(const struct as_report_run *run, const char *probe, const struct as_table_style *style,
                               struct as_buf *out, struct as_error *err);

#endif
