#include "blocks.h"

void as_blocks_start(struct as_blocks *b, size_t arms, size_t first, uint64_t seed)
{
    *b = (struct as_blocks){.arms = arms, .first = first};
    as_rng_seed(&b->rng, seed);
    for (size_t i = 0; i < arms; i++)
        b->order[i] = i;
}

enum as_status as_blocks_run(struct as_blocks *b, as_arm_fn measure, void *user, double *value, struct as_error *err)
{
    const size_t turn = b->done % b->arms;
    enum as_status st = AS_OK;
    if (turn == 0 && b->done)
        as_rng_shuffle(&b->rng, b->order, b->arms, sizeof *b->order);
    for (size_t i = 0; i < b->arms && !st; i++) {
        const size_t arm = b->order[(i + turn + b->first) % b->arms];
        st = measure(user, arm, &value[arm], err);
    }
    b->done += st == AS_OK; /* one that failed is repeated in the same order */
    return st;
}
