/* Launches on one chosen compute unit. */
#include "l2_latency.h"
#include "lib/buffers/buffers.h"

static enum as_status chase_on(struct l2_latency *u, uint32_t unit, uint64_t from, uint32_t turns, double *seconds,
                               struct as_error *err)
{
    struct as_arg args[] = {as_memory_arg(u->timer.memory), as_memory_arg(u->timer.choice), as_memory_arg(u->chain),
                            as_u64_arg(u->used[as_cycle_at(&u->cycle, from)]), as_u32_arg(turns)};
    const struct as_launch l = as_launch_of(u->chase, args, 5, 1, 1);
    enum as_status st = as_kernel_timer_pin_unit(&u->timer, unit, err);
    return st ? st : as_kernel_timer_launch(&u->timer, &l, seconds, err);
}

enum as_status as_l2_latency_run(struct l2_latency *u, uint32_t turns, double *ns, double *seconds,
                                 struct as_error *err)
{
    uint64_t steps = (uint64_t)turns * L2_STEPS;
    enum as_status st = as_kernel_timer_sweep(&u->timer, u->evicts ? u->other : u->chain, err);
    if (!st && u->fills)
        st = chase_on(u, u->filler, u->steps_done, turns, seconds, err);
    if (!st)
        st = chase_on(u, u->unit, u->steps_done, turns, seconds, err);
    if (st)
        return st;
    u->steps_done = (u->steps_done + steps) % u->cycle.lines;
    /* A wrong result must not become an address: the chase resumes at the expected position, and the check fails. */
    u->lost |= u->timer.record[0].value != u->used[as_cycle_at(&u->cycle, u->steps_done)];
    *ns = steps ? as_kernel_timer_seconds(&u->timer, *seconds) * 1e9 / (double)steps : 0;
    return AS_OK;
}
