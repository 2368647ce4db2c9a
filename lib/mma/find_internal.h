/* Shared by the experiments. */
#ifndef AS_LIB_MMA_FIND_INTERNAL_H
#define AS_LIB_MMA_FIND_INTERNAL_H

#include "base/clock.h"
#include "dots.h"
#include "find.h"

enum { LEAVES_MOST = AS_MATRIX_K_MOST + 1 };

struct finder {
    const struct as_matrix_unit *unit;
    struct as_matrix_found *out;
    struct dots dots;
    bool subnormal_results;
    /* The tree of additions: summands below the node where leaf i meets leaf j. The accumulator is leaf k. */
    uint16_t size[LEAVES_MOST][LEAVES_MOST];
    uint16_t own[LEAVES_MOST]; /* summands below the node where a leaf is added */
    bool tree;                 /* size is known */
    bool fused;                /* three or more summands are added at once */
};

void found_number(struct finder *f, enum as_property what, double value, double at_most, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void found_unseen(struct finder *f, enum as_property what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

enum as_status find_consistent(struct finder *f, struct as_rng *rng, struct as_error *err);
enum as_status find_subnormal(struct finder *f, struct as_error *err);
enum as_status find_order(struct finder *f, struct as_error *err);
enum as_status find_widths(struct finder *f, struct as_error *err);
enum as_status find_rounding(struct finder *f, struct as_error *err);
enum as_status find_limits(struct finder *f, struct as_error *err);
enum as_status find_explained(struct finder *f, struct as_rng *rng, struct as_error *err);

/* Three leaves of which the first two meet no later than the third: a large number, a small one, and the negated large
 * one. False: none for this small one. */
struct triple {
    unsigned large, small, minus;
    bool at_once; /* all three are */
};
bool find_triple(const struct finder *f, unsigned small, struct triple *out);
/* The minimum exponent of a leaf: accumulators may be smaller than products. */
int find_low(const struct finder *f, const struct dots_range *range, unsigned leaf);
/* Up to `leaves_max` leaves added at once, the accumulator first if included. */
unsigned find_together(const struct finder *f, unsigned *leaves, unsigned leaves_max);

#endif
