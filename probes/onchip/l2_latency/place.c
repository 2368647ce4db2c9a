/* The words of the chase: random places in a block, and which of them are near a compute unit. */
#include "l2_latency.h"
#include "lib/buffers/buffers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BIND_THREADS = 256, LINE_WORDS = 32 }; /* places are at least 256 bytes apart, so in different lines */

static enum as_status bind_places(struct l2_latency *u, const uint64_t *places, uint64_t n, struct as_error *err)
{
    struct as_device *dev = u->timer.dev;
    struct as_arg args[] = {as_memory_arg(u->chain), as_memory_arg(u->places), as_u64_arg(n)};
    enum as_status st = dev->memory->write(dev, u->places, 0, places, n * sizeof *places, err);
    return st ? st : as_kernel_timer_once(&u->timer, "bind", args, 3, 16, BIND_THREADS, err);
}

enum as_status as_l2_latency_scatter(struct l2_latency *u, uint64_t seed, struct as_error *err)
{
    struct as_device *dev = u->timer.dev;
    struct as_bijection order;
    uint64_t lines = u->chain->bytes / 8 / LINE_WORDS;
    uint64_t *words = calloc(1, u->chain->bytes);
    u->place = calloc(L2_LINES, sizeof *u->place);
    u->used = calloc(L2_LINES, sizeof *u->used);
    if (!words || !u->place || !u->used) {
        free(words);
        return as_nomem(err, u->chain->bytes, "places");
    }
    as_bijection_init(&order, lines, seed);
    for (uint64_t i = 0; i < L2_LINES; i++) {
        u->place[i] = as_bijection_at(&order, i) * LINE_WORDS;
        words[u->place[i]] = u->place[i];
    }
    memcpy(u->used, u->place, L2_LINES * sizeof *u->used);
    u->used_n = L2_LINES;
    enum as_status st = dev->memory->write(dev, u->chain, 0, words, u->chain->bytes, err);
    free(words);
    return st ? st : bind_places(u, u->place, L2_LINES, err);
}

enum as_status as_l2_latency_link(struct l2_latency *u, uint64_t seed, struct as_error *err)
{
    struct as_device *dev = u->timer.dev;
    uint64_t *words = calloc(1, u->chain->bytes);
    if (!words)
        return as_nomem(err, u->chain->bytes, "places");
    as_cycle_init(&u->cycle, AS_PATTERN_RANDOM, u->used_n, 8, 4096, seed);
    for (uint64_t i = 0; i < u->used_n; i++)
        words[u->used[i]] = u->used[as_cycle_next(&u->cycle, i)];
    enum as_status st = dev->memory->write(dev, u->chain, 0, words, u->chain->bytes, err);
    free(words);
    return st ? st : bind_places(u, u->used, u->used_n, err);
}

static enum as_status time_each(struct l2_latency *u, uint64_t *took, struct as_error *err)
{
    struct as_device *dev = u->timer.dev;
    double seconds;
    struct as_arg args[] = {as_memory_arg(u->timer.memory), as_memory_arg(u->timer.choice), as_memory_arg(u->chain),
                            as_memory_arg(u->places),       as_memory_arg(u->took),         as_u64_arg(L2_LINES)};
    const struct as_launch l = as_launch_of(u->each, args, 6, 1, 1);
    enum as_status st = as_kernel_timer_sweep(&u->timer, u->chain, err);
    if (!st)
        st = as_kernel_timer_launch(&u->timer, &l, &seconds, err);
    if (!st)
        st = dev->memory->read(dev, u->took, 0, took, L2_LINES * sizeof *took, err);
    return st;
}

static void note_spread(struct as_trial_context *tc, const double *cycles)
{
    static const struct {
        const char *name;
        double p;
    } at[] = {
        {"cycles_p05", 0.05}, {"cycles_p25", 0.25}, {"cycles_p50", 0.5}, {"cycles_p75", 0.75}, {"cycles_p95", 0.95}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        as_note_number(tc, at[i].name, as_quantile(cycles, L2_LINES, at[i].p));
}

enum as_status as_l2_latency_choose(struct l2_latency *u, bool near, struct as_trial_context *tc, struct as_error *err)
{
    double mode[2], share;
    uint64_t *took = calloc(L2_LINES, sizeof *took);
    double *cycles = calloc(L2_LINES, sizeof *cycles);
    enum as_status st = took && cycles ? time_each(u, took, err) : as_nomem(err, L2_LINES * sizeof *took, "places");
    for (size_t i = 0; i < L2_LINES && !st; i++)
        cycles[i] = (double)took[i] / L2_STEPS;
    if (!st) {
        note_spread(tc, cycles);
        if (!as_two_modes(cycles, L2_LINES, mode, &share))
            st = as_fail(err, AS_UNSUPPORTED, "L2 latencies on this compute unit are unimodal: %.0f to %.0f cycles",
                         as_quantile(cycles, L2_LINES, 0.05), as_quantile(cycles, L2_LINES, 0.95));
    }
    if (!st) {
        u->used_n = 0;
        for (size_t i = 0; i < L2_LINES; i++)
            if ((fabs(cycles[i] - mode[0]) <= fabs(cycles[i] - mode[1])) == near)
                u->used[u->used_n++] = u->place[i];
        as_note_number(tc, "near_share", share);
        as_note_number(tc, "near_cycles", mode[0]);
        as_note_number(tc, "far_cycles", mode[1]);
        if (u->used_n < 2)
            st = as_fail(err, AS_UNSUPPORTED, "too few places of this kind");
    }
    free(took);
    free(cycles);
    return st;
}
