#include "blocks.h"

void as_blocks_start(struct as_blocks *b, size_t arms, uint64_t seed)
{
    *b = (struct as_blocks){.arms = arms};
    as_rng_seed(&b->rng, seed);
    for (size_t i = 0; i < arms; i++)
        b->order[i] = i;
}

enum as_status as_blocks_run(struct as_blocks *b, as_arm_fn measure, void *user, double *value, struct as_error *err)
{
    const size_t turn = b->done++ % b->arms;
    enum as_status st = AS_OK;
    if (turn == 0)
        as_rng_shuffle(&b->rng, b->order, b->arms, sizeof *b->order);
    for (size_t i = 0; i < b->arms && !st; i++) {
        const size_t arm = b->order[(i + turn) % b->arms];
        st = measure(user, arm, &value[arm], err);
    }
    return st;
}
