/* A matrix instruction of a device as one small unit: operands are put where it wants them, multiplied and fetched. */
#ifndef AS_LIB_MMA_FRAGMENTS_H
#define AS_LIB_MMA_FRAGMENTS_H

#include "cores.h"
#include "layout.h"
#include "lib/timed/timed.h"
#include "unit.h"

struct as_fragments {
    struct as_matrix_unit unit; /* its ctx is this */
    const struct as_matrix *matrix;
    unsigned n;
    struct as_timed timed;
    struct as_kernel *kernel;
    const struct as_core *core; /* of a CPU */
    size_t batch;               /* problems of a launch */
    struct as_memory *memory[AS_MATRIX_OPERANDS];
    unsigned char *image[AS_MATRIX_OPERANDS];
    size_t bytes[AS_MATRIX_OPERANDS]; /* of one problem */
};
/* n: columns, 0 its own or the most. What is open is given back by as_fragments_close, also after a failure. */
enum as_status as_fragments_open(struct as_fragments *f, struct as_device *dev, const struct as_matrix *matrix,
                                 unsigned n, struct as_error *err);
/* Multiplies what lies in the images of `count` problems, at most a batch; the results then lie in those of C. */
enum as_status as_fragments_run(struct as_fragments *f, size_t count, struct as_error *err);
void as_fragments_close(struct as_fragments *f);

#endif
