/* Results of the probes of operations (throughput, latency), one row per operation: throughput, latency and derived
 * values. */
#ifndef AS_REPORT_OPERATIONS_H
#define AS_REPORT_OPERATIONS_H

#include "probe/probe.h"
#include "report/model/view_table.h"

/* The page's entry of an operation has this before its name as its id. */
#define AS_OPERATION_ANCHOR "op-"

/* One operation, in one form of its operands and one width, on one device. Texts of it are a store's: escape them. */
struct as_operation {
    const char *name, *device;
    size_t place;                             /* of the device in the run, behind all where it is not among them */
    const struct as_word *word;               /* NULL: this build does not know the operation */
    const struct as_cell *throughput;         /* the best valid cell, else one that is not; NULL none was asked for */
    const struct as_cell *latency;            /* the same, the least */
    const struct as_cell *link;               /* latency of what makes an operand of a result; NULL unknown */
    struct as_measure warp;                   /* cycles that an instruction of a warp or vector takes of a full unit */
    struct as_measure relative;               /* throughput over that of ffma32 in the same width */
    struct as_measure adjusted;               /* latency less that of the link, and then no interval */
    char link_name[48], form[64], steps[160]; /* "" unknown; steps: "1 MUFU, 1 FMUL" */
    size_t forms_left_out;                    /* of a row over all forms: whose throughput the run left out */
};

/* Is it a cell of one of these probes, of an operation? */
bool as_operation_cell(const struct as_cell *c);
/* Is `a` the one that a row shows? Either may be NULL. */
bool as_operation_beats(const struct as_cell *a, const struct as_cell *b);
/* Does the run have cells of these probes? */
bool as_operations_any(const struct as_report_run *run);
/* In order of devices, then of the table of operations. *out is the caller's (free). */
enum as_status as_operations_make(const struct as_report_run *run, struct as_operation **out, size_t *n,
                                  struct as_error *err);
/* State of its values in words: "ok", "rejected: checksum", "unsupported"; of both where they differ.
 */
void as_operation_status(const struct as_operation *o, struct as_buf *out);
bool as_operation_is_valid(const struct as_operation *o);

/* The measured counterpart of a published figure. False if there is none. */
bool as_operation_of_ref(const struct as_report_run *run, const struct as_operation *o, const struct as_ref *ref,
                         struct as_measure *out);
/* Our name of an operation that is published as n bytes of another, in a group of lanes ("simd", "quad", "" none);
 * NULL: the same. */
const char *as_ref_our_name(const char *group, const char *published, size_t n);
/* Is the figure of this operation? */
bool as_ref_is_of(const struct as_ref *ref, const char *op);

/* The device's most asked-for operations that have a valid number, at most 14, a row each over all forms: the best
 * throughput, with its form, and the least latency. *out is the caller's (free). */
enum as_status as_operations_main(const struct as_report_run *run, const char *device, struct as_operation **out,
                                  size_t *n, struct as_error *err);
/* Their table. info: of their device, NULL unknown. *out is the caller's (as_view_finish). */
void as_operations_main_view(const struct as_operation *rows, size_t n, const struct as_device_info *info,
                             struct as_view_table *out);

/* One behind the last row of the device whose first is `from`. */
size_t as_operations_end(const struct as_operation *rows, size_t n, size_t from);
/* The table of one device's operations, in groups by kind. *out is the caller's (as_view_finish). */
void as_operations_view(const struct as_operation *rows, size_t n, struct as_view_table *out);

#endif
