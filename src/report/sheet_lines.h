/* The lines of the data sheet. So that runs compare, a line has one definition: the id of a fact, or a probe with the
 * value of each axis. Of an open size the largest counts, of an open axis that the remark names the best value. A
 * later source is used only where the device cannot have the earlier one, never if that was left out or rejected.
 * "@pinned" stands for the device's first allocator of that role, "@all" for the threads of the whole device. In texts,
 * {unit} is the device's word for a compute unit. */
#ifndef AS_REPORT_SHEET_LINES_H
#define AS_REPORT_SHEET_LINES_H

#include <stdbool.h>

/* The group of a cache in front of memory, which has a level of its own on each device. */
#define AS_SHEET_MEMORY_SIDE "Memory-side cache"
enum { AS_SHEET_SOURCES = 6, AS_SHEET_ALSO = 4 };

/* Which devices have it: those whose kernels are the host's own code, or others. */
enum as_sheet_side { AS_SHEET_BOTH, AS_SHEET_CPU, AS_SHEET_DEVICE };

struct as_sheet_source {
    enum as_sheet_side side;
    const char *from;
    const char *cells; /* of a fact: the cells that it needs, as a source; NULL: any of the device */
    const char *said;  /* in the remark; NULL nothing */
    const char *named; /* the axis whose value the remark gives; NULL none */
    const char *fact;  /* the fact that says the same as the cell, for published figures; NULL none */
};
struct as_sheet_line {
    const char *group, *label;
    struct as_sheet_source from[AS_SHEET_SOURCES]; /* ends with a NULL from */
    struct {
        enum as_sheet_side side;
        const char *before, *from, *behind; /* "graph of 100", source, "per kernel" */
    } also[AS_SHEET_ALSO];                  /* further numbers for the remark; ends with a NULL from */
};
extern const struct as_sheet_line as_sheet_lines[]; /* ends with a NULL group */
/* Of a device's line: does its number depend on the host's CPUs? */
bool as_sheet_line_is_of_host(const char *group, const char *label);

#endif
