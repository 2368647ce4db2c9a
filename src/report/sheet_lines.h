/* What the data sheet lists. A source is the id of a fact, or a probe's name followed by axes that its cell must have:
 * of several cells the one with the largest size, then the most threads, then the best number. Several may stand in one
 * text with '|' between them. "@pinned" stands for the device's first allocator of that role, "@all" for
 * the threads of the whole device. In texts, {unit} is the device's word for a compute unit. */
#ifndef AS_REPORT_SHEET_LINES_H
#define AS_REPORT_SHEET_LINES_H

#include <stdbool.h>

/* The group of a cache in front of memory, which has a level of its own on each device. */
#define AS_SHEET_MEMORY_SIDE "Memory-side cache"
enum { AS_SHEET_SOURCES = 3, AS_SHEET_ALSO = 3 };

struct as_sheet_line {
    const char *group, *label;
    const char *from[AS_SHEET_SOURCES]; /* the first that has a number */
    struct {
        const char *before, *from, *behind; /* "graph of 100", source, "per kernel" */
    } also[AS_SHEET_ALSO];                  /* further numbers for the remark */
};
extern const struct as_sheet_line as_sheet_lines[]; /* ends with a NULL group */
/* Of a device's line: does its number depend on the host's CPUs? */
bool as_sheet_line_is_of_host(const char *group, const char *label);

#endif
