#include "arms.h"

void as_arms_start(struct as_arms *b, size_t arms, size_t first, uint64_t seed)
{
    *b = (struct as_arms){.n = arms, .first = first};
    as_rng_seed(&b->rng, seed);
    for (size_t i = 0; i < arms; i++)
        b->order[i] = i;
}

enum as_status as_arms_run(struct as_arms *b, as_arm_fn measure, void *user, double *value, struct as_error *err)
{
    const size_t turn = b->done % b->n;
    enum as_status st = AS_OK;
    if (turn == 0 && b->done)
        as_rng_shuffle(&b->rng, b->order, b->n, sizeof *b->order);
    for (size_t i = 0; i < b->n && !st; i++) {
        const size_t arm = b->order[(i + turn + b->first) % b->n];
        st = measure(user, arm, &value[arm], err);
    }
    b->done += st == AS_OK; /* a failed block is repeated in the same order */
    return st;
}
