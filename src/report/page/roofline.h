/* What the roofline of a device shows: ceilings, slopes and the facts about ridge points. */
#ifndef AS_REPORT_ROOFLINE_H
#define AS_REPORT_ROOFLINE_H

#include "report/page/page.h"

enum { AS_ROOFLINE_TYPES_MAX = 12, AS_ROOFLINE_LEVELS_MAX = AS_ROOFS_MAX };
enum { AS_ROOFLINE_DRAWN_MAX = 8 }; /* ceilings; the table has all */

/* Quantities of one device, and the facts about their ratios. */
struct as_roofline {
    struct as_ceiling {
        struct as_quantity_value peak;
        char name[32]; /* "FP16", "FP16 matrix" */
        char type[24]; /* of matrix units: "fp16"; "" of the vector ALU */
        bool is_drawn;
    } ceiling[AS_ROOFLINE_TYPES_MAX];
    size_t types;
    char local[24]; /* its word for shared memory */
    struct as_roof_level {
        struct as_quantity_value roof;
        double bytes_s;
        const struct as_fact *ridge[AS_ROOFLINE_TYPES_MAX];
    } level[AS_ROOFLINE_LEVELS_MAX]; /* the fastest first */
    size_t levels;
};

/* What of it was measured on a device of a run. */
void as_roofline_find(const struct as_report_run *rr, const char *device, struct as_roofline *out);
/* "L2 read", "LDS read" */
void as_roofline_level_text(struct as_buf *b, const struct as_roofline *r, size_t level);

#endif
