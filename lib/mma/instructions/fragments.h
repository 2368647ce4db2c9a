/* A device's matrix instruction as a small unit: packs operands, multiplies, fetches results. */
#ifndef AS_LIB_MMA_INSTRUCTIONS_FRAGMENTS_H
#define AS_LIB_MMA_INSTRUCTIONS_FRAGMENTS_H

#include "cores.h"
#include "layout.h"
#include "lib/kernel_timer/kernel_timer.h"
#include "unit.h"

struct as_fragments {
    struct as_matrix_unit unit; /* its ctx is this */
    const struct as_matrix *matrix;
    unsigned n;
    struct as_kernel_timer timer;
    struct as_kernel *kernel;
    const struct as_core *core; /* of a CPU */
    size_t batch;               /* problems per launch */
    struct as_memory *memory[AS_MATRIX_OPERANDS];
    unsigned char *image[AS_MATRIX_OPERANDS];
    size_t bytes[AS_MATRIX_OPERANDS]; /* per problem */
};
/* n: columns, 0 its own or the maximum. as_fragments_close frees it, also after a failure. */
enum as_status as_fragments_open(struct as_fragments *f, struct as_device *dev, const struct as_matrix *matrix,
                                 unsigned n, struct as_error *err);
/* Multiplies the images of `count` problems, at most one batch; results are in the images of C. */
enum as_status as_fragments_run(struct as_fragments *f, size_t count, struct as_error *err);
void as_fragments_close(void *state);

#endif
