/* Collectives of the scripted device: all ranks are the one device, and the result is right. */
#include "device/null/null.h"

#include <math.h>
#include <string.h>

static const char *const collective_names[AS_COLLECTIVES_N] = {[AS_ALL_REDUCE] = "all_reduce",
                                                               [AS_ALL_GATHER] = "all_gather",
                                                               [AS_REDUCE_SCATTER] = "reduce_scatter",
                                                               [AS_ALL_TO_ALL] = "all_to_all",
                                                               [AS_BROADCAST] = "broadcast"};

static enum as_status null_join(struct as_device *dev, struct as_ranks *out, struct as_error *err)
{
    struct as_null_device *n = as_null(dev);
    *out = (struct as_ranks){0};
    if (dev->info.siblings < 2 || dev->info.siblings > AS_NULL_RANKS_MAX)
        return as_fail(err, AS_UNSUPPORTED, "the script has %u devices; a collective needs 2 to %d", dev->info.siblings,
                       (int)AS_NULL_RANKS_MAX);
    for (size_t i = 0; i < AS_NULL_RANKS_MAX; i++)
        n->ranks[i] = dev;
    *out = (struct as_ranks){.device = n->ranks, .n = dev->info.siblings};
    return AS_OK;
}

static float *floats(const struct as_memory *mem)
{
    return as_null_address(mem);
}

/* Element i of the sum over the ranks. */
static float null_sum(const struct as_collective_call *c, size_t ranks, uint64_t i)
{
    float sum = 0;
    for (size_t k = 0; k < ranks; k++)
        sum += floats(c->send[k])[i];
    return sum;
}

static void null_do_rank(const struct as_collective_call *c, size_t ranks, size_t rank)
{
    const uint64_t n = c->elements;
    float *to = floats(c->receive[rank]);
    const bool sums = c->what == AS_ALL_REDUCE || c->what == AS_REDUCE_SCATTER;
    const uint64_t at = c->what == AS_REDUCE_SCATTER || c->what == AS_ALL_TO_ALL ? rank * n : 0;
    for (uint64_t i = 0; i < n && sums; i++)
        to[i] = null_sum(c, ranks, at + i);
    if (c->what == AS_BROADCAST)
        memcpy(to, floats(c->send[0]), n * sizeof *to);
    for (size_t k = 0; k < ranks && !sums && c->what != AS_BROADCAST; k++)
        memcpy(to + k * n, floats(c->send[k]) + at, n * sizeof *to);
}

/* What each rank sends and receives at least. */
static double null_bytes(const struct as_collective_call *c, double ranks)
{
    const double bytes = (double)c->elements * sizeof(float);
    if (c->what == AS_BROADCAST)
        return bytes;
    return c->what == AS_ALL_REDUCE ? bytes * 2 * (ranks - 1) / ranks : bytes * (ranks - 1);
}

static enum as_status null_run(struct as_device *dev, const struct as_collective_call *call, struct as_timing *out,
                               struct as_error *err)
{
    struct as_null_device *n = as_null(dev);
    const size_t ranks = dev->info.siblings;
    const double bytes = null_bytes(call, (double)ranks);
    const struct as_launch as_launched = {.reps = call->reps,
                                          .work = {.bytes = bytes, .accesses = 1, .footprint = bytes}};
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    n->launches++;
    const struct as_null_fault *fault = as_null_strike(n, collective_names[call->what], "collective", bytes);
    enum as_status st = as_null_act(fault, collective_names[call->what], err);
    if (st)
        return st;
    for (size_t r = 0; r < ranks && n->script.execute != AS_NULL_NEVER; r++)
        if (r != 1 || !fault || fault->action != AS_NULL_STALE)
            null_do_rank(call, ranks, r);
    if (fault && fault->action == AS_NULL_WRONG)
        as_null_damage(call->receive[ranks - 1]);
    out->host_s = as_null_seconds(n, &as_launched) * (fault && fault->action == AS_NULL_SLOW ? fault->factor : 1);
    if (n->script.sleep)
        as_null_pass_time(out->host_s);
    return AS_OK;
}

const struct as_collective_ops as_null_collective_ops = {.join = null_join, .run = null_run};
