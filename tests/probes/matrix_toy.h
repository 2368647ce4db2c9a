/* A toy device whose kernel is a matrix instruction in software: its operands lie as the instruction's document says,
 * and it computes as the test says. */
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
    unsigned skipped_k; /* planted: so much of K is left out */
    bool swapped;       /* planted: the first two words of A's image change places */
} matrix_toy;
/* Without planted faults. n: 0 is the instruction's own */
void matrix_toy_start(const char *instruction, unsigned n, const struct as_arithmetic *how);
/* The value of a trial, which must go well, and its notes. */
double matrix_toy_value(const char *probe, const char *axes, char *detail, size_t room);
/* What preparing a trial says. */
enum as_status matrix_toy_refused(const char *probe, const char *axes, struct as_error *err);

#endif
