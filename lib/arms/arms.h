/* Matched blocks: each block measures every arm once, close together. Drift between blocks affects all arms alike and
 * cancels in their ratios (randomized complete blocks: Fisher 1935). Over every `arms` consecutive blocks each arm
 * takes each position once, so position effects cancel too. */
#ifndef AS_LIB_ARMS_ARMS_H
#define AS_LIB_ARMS_ARMS_H

#include "base/clock.h"
#include "base/error.h"

enum { AS_ARMS_MAX = 8 };
struct as_arms {
    size_t n, done, first;
    struct as_rng rng;
    size_t order[AS_ARMS_MAX]; /* of the first block of a cycle; later blocks rotate it */
};
/* arms: 2 to AS_ARMS_MAX. first: rotates all orders, for example by the trial number, so that across trials, too, each
 * arm takes each position equally often. */
void as_arms_start(struct as_arms *b, size_t arms, size_t first, uint64_t seed);
/* Measures an arm: a number above 0. */
typedef enum as_status (*as_arm_fn)(void *user, size_t arm, double *value, struct as_error *err);
/* Measures one block; value: one per arm, in the order of the arms. */
enum as_status as_arms_run(struct as_arms *b, as_arm_fn measure, void *user, double *value, struct as_error *err);

#endif
