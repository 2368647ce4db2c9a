/* Pictures of the matrix path: GEMM over size, fragments of an operand, bars. */
#ifndef AS_REPORT_MATRIX_DRAW_H
#define AS_REPORT_MATRIX_DRAW_H

#include "report/report.h"

struct as_matrix_point {
    const char *path;
    double size, rate;
    struct as_interval ci;
    bool valid;
};
/* GEMM rates of one type over size on logarithmic axes, one line per path; the vector ALU peak as a dashed line (NAN:
 * unknown). Points are in the order of path and size. */
void as_matrix_draw_gemms(struct as_buf *b, const char *type, const struct as_matrix_point *points, size_t n,
                          double roof, const char *roof_type);
/* The colour of a path, for the key. */
const char *as_matrix_colour(const char *path);

/* Rows and columns of an operand, each number coloured by its lane and labelled with lane and place; texts of numbers
 * apart by blanks, row by row, as the notes of probe layout have them. False, and nothing drawn, where they are not
 * that. */
enum { AS_MATRIX_GRID = 4096 };
bool as_matrix_draw_fragment(struct as_buf *b, const char *name, unsigned rows, unsigned columns, const char *lanes,
                             const char *places);

struct as_matrix_bar {
    char label[96];
    const char *path; /* its colour */
    double value;
    struct as_interval ci;
    bool valid;
};
/* Bars from 0, or from a line at `mark` to either side (NAN: none). */
void as_matrix_draw_bars(struct as_buf *b, const char *name, const struct as_matrix_bar *bars, size_t n,
                         const char *unit, double mark);

#endif
