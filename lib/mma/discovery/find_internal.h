/* Shared by the experiments. */
#ifndef AS_LIB_MMA_DISCOVERY_FIND_INTERNAL_H
#define AS_LIB_MMA_DISCOVERY_FIND_INTERNAL_H

#include "dots.h"
#include "find.h"

enum { LEAVES_MOST = AS_MATRIX_K_MOST + 1 };

struct as_finder {
    const struct as_matrix_unit *unit;
    struct as_matrix_found *out;
    struct as_dots dots;
    bool subnormal_results;
    /* The tree of additions: summands below the node where leaf i meets leaf j. The accumulator is leaf k. */
    uint16_t size[LEAVES_MOST][LEAVES_MOST];
    uint16_t own[LEAVES_MOST]; /* summands below the node where a leaf is added */
    bool tree;                 /* size is known */
    bool fused;                /* three or more summands are added at once */
};

void as_found_number(struct as_finder *f, enum as_property what, double value, double at_most, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void as_found_unseen(struct as_finder *f, enum as_property what, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

enum as_status as_find_subnormal(struct as_finder *f, struct as_error *err);
enum as_status as_find_order(struct as_finder *f, struct as_error *err);
enum as_status as_find_widths(struct as_finder *f, struct as_error *err);
enum as_status as_find_rounding(struct as_finder *f, struct as_error *err);
enum as_status as_find_limits(struct as_finder *f, struct as_error *err);

/* Three leaves of which the first two meet no later than the third: a large number, a small one, and the negated large
 * one. False: there is none for this small one. */
struct as_triple {
    unsigned large, small, minus;
    bool at_once; /* all three are */
};
bool as_find_triple(const struct as_finder *f, unsigned small, struct as_triple *out);
/* The minimum exponent of a leaf: accumulators may be smaller than products. */
int as_find_low(const struct as_finder *f, const struct as_dots_range *range, unsigned leaf);
/* Up to `leaves_max` leaves added at once, the accumulator first if included. */
unsigned as_find_together(const struct as_finder *f, unsigned *leaves, unsigned leaves_max);

#endif
