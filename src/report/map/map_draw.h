/* Inside the machine map: what its drawing and the numbers beside it share. */
#ifndef AS_REPORT_MAP_DRAW_H
#define AS_REPORT_MAP_DRAW_H

#include "report/map/map.h"

#define AS_MAP_INK "var(--ink,#1b1f24)"
#define AS_MAP_MUTED "var(--muted,#5a6572)"
#define AS_MAP_LINE "var(--line,#c9d1d9)"
extern const char *const as_map_bar_fill[AS_MAP_KINDS];

/* Measures of a drawing, in user units. Wide: the numbers stand beside the boxes; narrow: under them. */
struct as_map_shape {
    bool wide;
    double width, boxes_w; /* of all; of the part with boxes */
    double head_h, row_h, box_h, gap;
    double number_x[AS_MAP_KINDS];
    double number_w; /* of a bar */
    double note_w;   /* up to the next column */
    double label_x;
};

/* Where a line of numbers stands; NAN: nowhere. */
struct as_map_places {
    double row[AS_MAP_ROWS], link[AS_MAP_LINKS_MAX];
};

struct as_map_drawing {
    const struct as_report_run *run;
    const struct as_device_info *info;
    struct as_map_tree tree;
    struct as_map_numbers numbers;
    struct as_map_shape s;
    struct as_buf *b;
    double top;                     /* y of the device's first row */
    struct as_map_places box, line; /* tops of boxes, and of their numbers: the same, or in a table below all boxes */
    double bottom;                  /* y behind the last box of the tree */
    double col_w;
};

/* Adds the links of a device: of its memory to the host's and to other devices', and of NUMA nodes. */
void as_map_links_find(const struct as_report_run *run, const struct as_device_info *info,
                       const struct as_quantity_subject *subject, struct as_map_numbers *out);
/* Opens a text; the other one is whole, and escaped. */
void as_map_text_at(struct as_buf *b, double x, double y, const char *css_class, const char *fill, double size,
                    const char *anchor);
void as_map_textf(struct as_buf *b, double x, double y, const char *css_class, const char *fill, double size,
                  const char *anchor, const char *fmt, ...) __attribute__((format(printf, 8, 9)));
const char *as_map_row_name(const struct as_map_drawing *d, int row, char name[static 24]);
/* Length of a bar, 0 to 1: logarithmic, over what memory systems of today span. */
double as_map_bar_share(const struct as_map_number *n);
/* The numbers of all rows and links; *y: behind the last box, moved behind the last number. */
void as_map_draw_numbers(struct as_map_drawing *d, double *y);
/* One device of a drawing. */
struct as_map_device {
    size_t index;
    size_t beside; /* whose link is drawn apart, between the two; SIZE_MAX: none */
    double memory; /* set: y of the top of its memory; NAN: it has none */
};
/* Draws it from *y on, which it moves; desc: the same in words. */
enum as_status as_map_draw_device(const struct as_report_run *run, struct as_map_device *device,
                                  const struct as_map_shape *s, double *y, struct as_buf *b, struct as_buf *desc,
                                  struct as_error *err);
/* The measures of a drawing of that width. */
struct as_map_shape as_map_shape_of(unsigned width);
/* Two devices with memory of their own beside each other, with what was measured of the link between them. */
enum as_status as_map_draw_pair(const struct as_report_run *run, size_t first, size_t second, unsigned width, double *y,
                                struct as_buf *b, struct as_buf *desc, struct as_error *err);
/* Text alternative of the drawing. */
void as_map_describe(const struct as_map_drawing *d, struct as_buf *b);

#endif
