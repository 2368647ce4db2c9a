/* A toy device whose kernel is a matrix instruction in software, with documented operand layouts and the test's
 * arithmetic. */
#ifndef TESTS_PROBES_MATRIX_TOY_H
#define TESTS_PROBES_MATRIX_TOY_H

#include "lib/mma/discovery/find.h"
#include "probes/matrix/layout/layout_unit.h"
#include "toy_device.h"

extern struct matrix_toy {
    struct toy toy;
    const struct as_matrix *matrix;
    unsigned n;
    struct as_arithmetic how;
    unsigned skipped_k; /* planted: this much of K is left out */
    bool swapped;       /* planted: the first two words of A's image are exchanged */
    bool unloaded;      /* planted: loading leaves out the first element of B */
    bool loaded_twice;  /* planted: loading puts every element of B into its second place */
} matrix_toy;
/* Without planted faults. n: 0 is the instruction's own. */
void matrix_toy_start(const char *instruction, unsigned n, const struct as_arithmetic *how);
/* The value of a trial, which must succeed, and its notes. */
double matrix_toy_value(const char *probe, const char *axes, char *detail, size_t room);
/* The error of preparing a trial. */
enum as_status matrix_toy_refused(const char *probe, const char *axes, struct as_error *err);

#endif
