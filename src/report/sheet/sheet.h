/* The data sheet of a device: a fixed list of quantities in a fixed order, each with one number, the same in every
 * suite that measures it. */
#ifndef AS_REPORT_SHEET_H
#define AS_REPORT_SHEET_H

#include "model/counters.h"
#include "quantity/quantity.h"
#include "report/report.h"

/* The group of a cache in front of memory, which has a level of its own on each device. */
#define AS_SHEET_MEMORY_SIDE "Memory-side cache"

/* Below the sheet of a run that is not joined with others. */
#define AS_WITHIN_RUN "95% intervals are within a run; another run may lie outside."

struct as_sheet_row {
    const char *group; /* "Memory" */
    char title[32];    /* the group in the words of the device: "Threadgroup memory" */
    char label[48];    /* "read" */
    char shown[64];    /* the label as it is printed: "read, 2 threads" */
    double value;
    struct as_interval ci;
    char unit[16];
    bool wide;     /* the interval is wider than requested */
    bool warns;    /* of a policy's bound: it does not fail a check */
    size_t trials; /* that the interval rests on; 0 unknown */
    size_t tried;  /* trials in all, with those that failed or were left out; 0 unknown */
    size_t modes;  /* 2: of the samples, or of_runs */
    bool of_runs;  /* the modes are states, one of which each run shows */
    double mode[2], mode_share0;
    double clock_exponent; /* time goes with 1 / clock^this, a rate with clock^this; NAN: unknown, or not the CPU's */
    double specified;      /* by driver or OS, else by the vendor's data sheet, in the unit; NAN: not known */
    const struct as_ref *specified_by; /* the data sheet's figure; NULL: driver or OS */
    const struct as_ref *published;    /* what others measured on this chip; NULL: none */
    double counted;                    /* the value as it was counted, in that unit; NAN: it was not counted */
    char counted_unit[32];             /* "cycles", "B/cycle per SM" */
    char remark[192], further[192];    /* said before and after what was counted, "" nothing */
    int64_t cell;                      /* that it rests on; 0: several */
    char fact[128];                    /* the id of the fact that it is; "": it is a cell's */
    const struct as_quantity *of;      /* a line of the table */
};
/* A line without a number. */
struct as_sheet_gap {
    const char *group;
    char title[32], label[48], shown[64]; /* as of a row */
    char reason[192];                     /* "left out by the budget", "rejected: checksum"; "": not in this suite */
    bool not_asked;                       /* no cell of the run could give it */
    bool undecided;                       /* measured, without an answer: contended, or inconclusive */
    const struct as_quantity *of;
};
/* A counter of a link: its last reading, and by how much it rose since the first of the run. Of a policy: how much it
 * may. */
struct as_link_count {
    bool known, warns;
    double total, grown;
};
struct as_sheet {
    struct as_sheet_row *rows; /* owned */
    size_t n;
    struct as_link_count counts[AS_COUNTERS_N];
    struct as_sheet_gap *gaps; /* owned; lines that the device could have, in the order of the table */
    size_t gaps_n;
    struct as_refs figures; /* owned: those that rows point to are among them */
    const char *chip;       /* "MI300X": whose figures these are where the run names another chip; "": the device's */
};
/* How its number is printed. */
struct as_number as_sheet_number(const struct as_sheet_row *row);
/* A line without a valid number is a gap. Facts and cells of the run must be loaded. Specified and published figures
 * are those of the device, by its name, or those of the chip that run->chip holds. */
enum as_status as_sheet_make(const struct as_report_run *run, const char *device, struct as_sheet *out,
                             struct as_error *err);
void as_sheet_finish(struct as_sheet *s);
/* Sets run->unsteady: lines that lie outside the interval of an earlier run by more than the sum of the half widths.
 * Runs of other devices under the same id do not count. */
enum as_status as_sheet_compare_earlier(struct as_report_run *run, const struct as_report_run *earlier, size_t n,
                                        struct as_error *err);
/* What stands beside the number: "32.0 cycles, atomic add 1.02 µs". */
void as_sheet_details(const struct as_sheet_row *row, struct as_buf *out);
/* Appends the row's entry in run->unsteady to its details: "unsteady: 135 to 243 ns in 3 runs". */
void as_sheet_say_unsteady(const struct as_report_run *run, const char *device, struct as_sheet_row *row);
/* What disturbed a device: "another process in 123 of 123 trials, power cap in 118"; "" nothing. */
void as_sheet_seen_text(const struct as_report_run *run, const char *device, struct as_buf *out);
/* Names the facts that figures of data-sheet lines stand beside: those that the lines rest on. */
void as_sheet_name_facts(struct as_refs *refs);
/* The next row or gap with a reason in the order of the table, from *row and *gap on, which it moves; false: none is
 * left. The one of out that it is not is NULL. */
struct as_sheet_entry {
    const struct as_sheet_row *row;
    const struct as_sheet_gap *gap;
};
bool as_sheet_next(const struct as_sheet *s, size_t *row, size_t *gap, struct as_sheet_entry *out);
/* "Atomics; Memory write; copy": the lines that the suite does not measure, a group but a cache by its name where it
 * has no other line, and by their number where it lacks more than five; "" none. */
void as_sheet_not_in_suite(const struct as_sheet *s, struct as_buf *out);
const struct as_sheet_row *as_sheet_find(const struct as_sheet *s, const char *group, const char *label); /* or NULL */
const struct as_sheet_row *as_sheet_row_of(const struct as_sheet *s, const char *quantity); /* by its name; or NULL */
/* measured / specified; NAN unless the unit is a rate and a specified value is known, and where more than that was
 * measured: then it is of something else */
double as_sheet_share(const struct as_sheet_row *row);
/* A specified value is shown for rates and bytes only. */
bool as_sheet_shows_specified(const struct as_sheet_row *row);
bool as_sheet_has_specified(const struct as_sheet *s);
bool as_sheet_has_reported(const struct as_sheet *s); /* a specified value as the driver or OS reports it */
bool as_sheet_has_vendors(const struct as_sheet *s);  /* a specified value of a vendor's data sheet */
bool as_sheet_has_published(const struct as_sheet *s);
/* "9.77 TB/s", "32.1 cycles": the published figure, as precise as a measured one is shown. */
void as_sheet_published(const struct as_sheet_row *row, struct as_buf *out);
/* "driver; NVIDIA H200 data sheet 2024": who specifies, or who published, each once. */
void as_sheet_sources(const struct as_sheet *s, bool published, struct as_buf *out);

#endif
