/* c2c: core-to-core latency of a CPU, between compute units, and between host and device. See
 * method.md. */
#include "c2c.h"

#include "os/cpus.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const op_words[] = {"cas", "load", "pause", "relaxed", NULL};
static const char *const peer_words[] = {"cpu", "device", "compute_unit", NULL};
static const char *const pairs_words[] = {"every", "some", NULL};
static const struct c2c_peer *const peers[] = {&c2c_cpu, &c2c_device, &c2c_unit}; /* in the order of the words */

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "peer", peer_words, "all",
        "the other side: cpu, another core; device, a device thread; compute_unit, a second compute unit of the "
        "device"),
    AS_COUNT_AXIS("from", 0, 65535, "all", "CPU or compute unit that starts the exchange", .domain = AS_DOMAIN_CPU),
    AS_COUNT_AXIS("to", 0, 65535, "all",
                  "CPU or compute unit that answers (0 for a device); each pair is measured once, from < to",
                  .domain = AS_DOMAIN_CPU, .zero = "device"),
    AS_WORD_AXIS("op", op_words, "cas,load",
                 "how a side waits and passes: compare-and-swap, load then store, the same with a pause; device: "
                 "load-acquire and store-release (load) or relaxed"),
    AS_WORD_AXIS("pairs", pairs_words, "every", "every pair, or those of at most 11 CPUs, near and far",
                 .all = "every"),
    AS_ALLOCATOR_AXIS("allocator", "first,pinned,shared_fine",
                      "device: how the lines are allocated; a CPU uses its first allocator"),
    {0},
};
static const char *const quick[] = {
    "peer=cpu from=all to=all op=cas pairs=some allocator=first",
    "peer=device from=all to=0 op=load pairs=some allocator=pinned,shared_fine",
    "peer=compute_unit from=0 to=1,2,16,64 op=load pairs=every allocator=first",
    NULL,
};
static const char *const full[] = {
    "peer=cpu from=all to=all op=cas pairs=every allocator=first",
    "peer=cpu from=all to=all op=all pairs=some allocator=first",
    "peer=device from=all to=0 op=load pairs=every allocator=pinned,shared_fine",
    "peer=device from=all to=0 op=all pairs=some allocator=all",
    "peer=compute_unit from=0,1 to=1,2,3,4,5,6,7,8,12,16,24,32,48,64,80,96,112,128 op=load pairs=every allocator=first",
    "peer=compute_unit from=0 to=1,64 op=all pairs=every allocator=all",
    NULL,
};

static const struct c2c_peer *c2c_peer_of(const struct as_axes *a)
{
    size_t i = as_word_index(a, "peer", peer_words);
    return i < sizeof peers / sizeof *peers ? peers[i] : NULL;
}

static enum as_applies c2c_probe_applies(const struct as_device_info *info, const struct as_axes *a,
                                         struct as_error *err)
{
    const struct c2c_peer *peer = c2c_peer_of(a);
    return peer ? peer->applies(info, a, err) : AS_PRUNED;
}

static enum as_status c2c_probe_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct c2c *s = state;
    s->dev = tc->dev;
    s->peer = c2c_peer_of(tc->axes);
    if (!s->peer)
        return as_fail(err, AS_USAGE, "unknown peer '%s'", as_axes_text(tc->axes, "peer"));
    tc->host_work |= !as_word_is(tc->axes, "peer", "compute_unit");
    s->pair[0] = (int)as_axes_u64(tc->axes, "from");
    s->pair[1] = (int)as_axes_u64(tc->axes, "to");
    s->patience = 1u << (tc->dev->info.is_host_memory ? 27 : 22);
    tc->min_reps = C2C_ROUNDS;
    tc->max_reps = (uint64_t)C2C_ROUNDS << 10;
    as_note_number(tc, "lines", C2C_LINES);
    return s->peer->prepare(s, tc, err);
}

static enum as_status c2c_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct c2c *s = state;
    uint64_t cycles = reps / C2C_ROUNDS ? reps / C2C_ROUNDS : 1;
    enum as_status st = s->peer->play(s, cycles, out, err);
    if (st)
        return st;
    s->cycles += cycles;
    out->value = out->seconds * 1e9 / (2.0 * (double)(cycles * C2C_ROUNDS));
    return AS_OK;
}

/* Each line counts its passes; the host's count is the reference. */
static bool c2c_check(void *state, char *why, size_t why_size)
{
    struct c2c *s = state;
    struct as_error err = {0};
    uint32_t got[C2C_LINES], want = (uint32_t)(2 * C2C_BURST * s->cycles);
    if (s->peer->passes(s, got, &err)) {
        snprintf(why, why_size, "%s", err.text);
        return false;
    }
    for (unsigned l = 0; l < C2C_LINES; l++) {
        if (got[l] == want)
            continue;
        snprintf(why, why_size, "line %u was passed %u times, not %u", l, got[l], want);
        return false;
    }
    snprintf(why, why_size, "each of %d lines was passed %u times", C2C_LINES, want);
    return true;
}

static void c2c_finish(void *state)
{
    struct c2c *s = state;
    if (s->memory && s->memory->host)
        s->dev->memory->unmap(s->dev, s->memory, NULL);
    as_buffers_finish(&s->own);
    as_kernel_timer_finish(&s->timer);
}

const struct as_probe as_probe_c2c = {
    .name = "c2c",
    .title = "Core-to-core latency",
    .question = "What is the core-to-core latency of a cache line: between CPUs, between compute units, between host "
                "and device?",
    .metric = "latency",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "one-way time: half of a round trip of a cache line",
    AS_CELLS(axes, quick, full, c2c_probe_applies),
    .patience = as_compile_patience,
    AS_TRIAL(struct c2c, c2c_probe_prepare, c2c_sample, c2c_check, c2c_finish),
};
