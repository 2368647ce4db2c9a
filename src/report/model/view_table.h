/* A table as a model: which rows and columns, in what order, with what words and numbers. The page and the terminal
 * print the same model, each with its own marks and number formats. */
#ifndef AS_REPORT_VIEW_TABLE_H
#define AS_REPORT_VIEW_TABLE_H

#include "report/report.h"

/* How words and numbers stand out. */
enum as_paint { AS_PAINT_NONE, AS_PAINT_GOOD, AS_PAINT_BAD, AS_PAINT_DIM, AS_PAINT_STRONG };
enum as_paint as_status_paint(enum as_cell_status s);

struct as_measure {
    double value; /* NAN unknown */
    struct as_interval ci;
};

struct as_view_column {
    char title[40];
    bool number; /* else words; numbers are right-aligned */
    bool under;  /* the page prints it small under the column before */
    bool brief;  /* only in the terminal */
    bool spare;  /* the terminal leaves it out where not all fit, and any column without text always */
};

struct as_view_cell {
    char *text;                 /* words; NULL: a number. Owned */
    const char *anchor;         /* the page links the words to "#ANCHORwords"; NULL: no link */
    const struct as_cell *cell; /* whose number it is; NULL: derived from several */
    struct as_measure measure;
    const char *unit; /* NULL: the cell's own; "" where the column says it */
    enum as_paint paint;
    bool interval; /* that of the cell's number, instead of the number */
    int bound;     /* as as_number.bound, where the number bounds that of several cells */
};

enum { AS_VIEW_COLUMNS_MAX = 40 };
struct as_view_table {
    struct as_view_column columns[AS_VIEW_COLUMNS_MAX];
    size_t columns_n;
    struct as_view_cell *cells; /* row by row, columns_n of each; owned */
    size_t n, cap;
    struct as_view_row {
        char *group; /* a heading stands before the row; NULL: none. Owned */
        int64_t id;  /* of its cell, where each row is one */
        bool invalid;
    } * rows; /* owned */
    size_t rows_n, rows_cap;
    bool of_cells; /* each row is a measured cell: it has an id, its numbers need no link */
    bool failed;   /* out of memory: whoever prints it reports that */
};

void as_view_add_column(struct as_view_table *t, struct as_view_column column);
/* Begins a row; then a cell for each column follows. */
void as_view_begin_row(struct as_view_table *t, bool valid);
/* Begins the row of a measured cell. */
void as_view_begin_cell(struct as_view_table *t, const struct as_cell *cell);
/* A heading before the row begun last. */
void as_view_group(struct as_view_table *t, const char *heading);
void as_view_text(struct as_view_table *t, const char *text, enum as_paint paint);
void as_view_link(struct as_view_table *t, const char *text, const char *anchor);
/* The number of a measured cell, of which the page shows the interval where unit is given; NULL: none. */
void as_view_measured(struct as_view_table *t, const struct as_cell *cell, const char *unit);
/* The same of the best of several, of which n others have no number: "at least 183". */
void as_view_best(struct as_view_table *t, const struct as_cell *cell, size_t n, const char *unit);
/* The interval of a cell's number: its ends on the page, its width in the terminal. */
void as_view_interval(struct as_view_table *t, const struct as_cell *cell);
/* A number derived from several. Its interval is shown where it has one. */
void as_view_derived(struct as_view_table *t, struct as_measure m, const char *unit);
void as_view_finish(struct as_view_table *t);

#endif
