/* State of path mma on a CPU: see cores.c. */
#ifndef AS_LIB_GEMM_CORES_INTERNAL_H
#define AS_LIB_GEMM_CORES_INTERNAL_H

#include "device/cpu/barrier.h"
#include "gemm.h"
#include "lib/mma/instructions/cores.h"
#include "outer.h"

/* Size of an image: rows of A or columns of B, and words of K in each. */
enum { AS_PACKED_LINES = 16, AS_PACKED_WORDS = 16 };

/* One packed operand: consecutive panels. A panel has, for each step of K, the images of all its lines. */
struct as_packing {
    uint64_t lines; /* rows of A, columns of B */
    unsigned images, image_lines, image_words;
    unsigned place[AS_PACKED_LINES][AS_PACKED_WORDS]; /* position of each word of a line in the image */
    uint32_t flip; /* per word: added to signed bytes to make them unsigned, plus 128 */
};
struct as_gemm_cores {
    struct as_barrier meet;
    _Atomic uint64_t next; /* block of outer.c */
    const struct as_core *core;
    const struct as_matrix *matrix;
    const struct as_outer *outer; /* replaces these two, by SME */
    unsigned vector;              /* of outer: its words */
    char name[48];                /* of the instruction */
    enum as_gemm_type type;
    struct as_packing a, b;
    unsigned step_words;  /* bytes of K per step */
    uint64_t words;       /* of K */
    uint64_t steps, part; /* steps of all of K, and of one part of it */
    size_t tile_bytes;
};

struct as_share {
    uint64_t from, to;
};
/* A thread's share of n. */
struct as_share as_gemm_share(uint64_t n, unsigned which, unsigned of);
uint64_t as_gemm_panels(const struct as_packing *p);
/* Stores n accumulators of one row to d from element `at` on, in d's type. more: to subtract from integers. */
void as_gemm_store_row(const struct as_gemm_cores *c, const uint32_t *sums, uint64_t n, const int32_t *more, void *d,
                       uint64_t at);

/* ---- outer.c ---- */

/* The instruction, and its operand layout. */
void as_gemm_outer_set(struct as_gemm_cores *c, const struct as_outer *outer);
void as_gemm_outer_run(struct as_gemm_cores *c, const struct as_host_call *call);

#endif
