/* onchip_lines: bytes fetched per miss, and associativity. See method.md. */
#include "lib/chase/chase.h"
#include "lib/kernel_timer/kernel_timer.h"

#include "device/dialect/dialect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_onchip_lines[];

static const char *const what_words[] = {"fetch", "ways", NULL};
static const char *const level_words[] = {"L1", "L2", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("what", what_words, "fetch",
                 "fetch: a cold load, then one `distance` behind it; ways: a pointer chase over `lines` lines that are "
                 "`distance` apart"),
    AS_WORD_AXIS("level", level_words, "L1", "which cache is cold: L1, or also L2"),
    AS_SIZE_AXIS("distance", 8, 1 << 20, "32", "bytes"),
    AS_COUNT_AXIS("lines", 0, 4096, "0", "lines of the chase; ways only"),
    {0},
};
static const char *const quick[] = {"what=fetch level=all distance=16,32,64", NULL};
static const char *const full[] = {"what=fetch level=all "
                                   "distance=8,16,24,32,48,64,96,128,192,256,384,512,768,1024",
                                   "what=ways lines=2..64 x2 distance=1KiB..64KiB x1", NULL};

enum { STEPS = 16, BLOCK_BYTES = 4096, BLOCKS = 4096, BIND_THREADS = 256, FETCH_MAX = BLOCK_BYTES / 2 };

static enum as_applies onchip_lines_applies(const struct as_device_info *info, const struct as_axes *a,
                                            struct as_error *err)
{
    bool fetch = as_word_is(a, "what", "fetch");
    double distance = as_axes_number(a, "distance"), lines = as_axes_number(a, "lines");
    if (fmod(distance, 8) != 0)
        return as_inapplicable(err, "a distance of %.0f bytes is not a multiple of 8", distance);
    if (info->is_host_cpu)
        return as_inapplicable(err, "a launch does not begin with an empty L1 on a CPU");
    if (fetch && as_word_is(a, "level", "L2") && !as_dialect_has_shared_load(as_dialect_find(info->dialect)))
        return as_inapplicable(err, "kernels of this device have no load that bypasses L1");
    if (fetch)
        return lines == 0 && distance <= FETCH_MAX ? AS_APPLIES : AS_PRUNED;
    return lines >= 2 && as_word_is(a, "level", "L1") ? AS_APPLIES : AS_PRUNED;
}

struct state {
    struct as_kernel_timer timer; /* first: the record's finish casts to it */
    struct as_kernel *chase;
    struct as_cycle cycle; /* over blocks or lines */
    struct as_memory *chain, *other;
    uint64_t block, second; /* in words; second 0: the experiment on ways */
    uint64_t steps_done;    /* modulo the steps of the cycle */
    bool cold_shared;       /* L2 is cold too */
    int lost;
};

static uint64_t steps_of_cycle(const struct state *s)
{
    return s->cycle.lines * (s->second ? 2 : 1);
}

/* The position of the chase after this many steps. */
static uint64_t onchip_lines_position(const struct state *s, uint64_t steps)
{
    steps %= steps_of_cycle(s);
    if (!s->second)
        return as_cycle_at(&s->cycle, steps) * s->block;
    return as_cycle_at(&s->cycle, steps / 2) * s->block + (steps % 2 ? s->second : 0);
}

/* Brings the caches into the experiment's state before each chase. L1 is empty at the start of a launch. */
static enum as_status onchip_lines_chase(struct state *s, uint32_t before, uint32_t turns, double *ns, double *seconds,
                                         struct as_error *err)
{
    struct as_arg args[] = {as_memory_arg(s->timer.memory),
                            as_memory_arg(s->timer.choice),
                            as_memory_arg(s->chain),
                            as_u64_arg(onchip_lines_position(s, s->steps_done)),
                            as_u32_arg(before),
                            as_u32_arg(turns)};
    struct as_launch l = as_launch_of(s->chase, args, 6, 1, 1);
    l.work.accesses = (double)turns * STEPS;
    enum as_status st = as_kernel_timer_sweep(&s->timer, s->cold_shared ? s->other : s->chain, err);
    if (!st)
        st = as_kernel_timer_launch(&s->timer, &l, seconds, err);
    if (st)
        return st;
    s->steps_done = (s->steps_done + ((uint64_t)before + turns) * STEPS) % steps_of_cycle(s);
    /* A wrong result must not become an address: the chase resumes at the expected position, and the check fails. */
    s->lost |= s->timer.record[0].value != onchip_lines_position(s, s->steps_done);
    *ns = turns ? as_kernel_timer_seconds(&s->timer, *seconds) * 1e9 / ((double)turns * STEPS) : 0;
    return AS_OK;
}

static enum as_status onchip_lines_write_chain(struct state *s, struct as_error *err)
{
    struct as_device *dev = s->timer.dev;
    uint64_t bytes = s->cycle.lines * s->block * 8;
    uint64_t *words = calloc(1, bytes);
    if (!words)
        return as_nomem(err, bytes, "a chase");
    for (uint64_t i = 0; i < s->cycle.lines; i++) {
        uint64_t next = as_cycle_next(&s->cycle, i) * s->block;
        words[i * s->block] = s->second ? i * s->block + s->second : next;
        if (s->second)
            words[i * s->block + s->second] = next;
    }
    enum as_status st = dev->memory->write(dev, s->chain, 0, words, bytes, err);
    free(words);
    return st;
}

static enum as_status bind_addresses(struct state *s, struct as_error *err)
{
    size_t compute_units = s->timer.dev->info.compute_units ? s->timer.dev->info.compute_units : 1;
    struct as_arg args[] = {as_memory_arg(s->chain), as_u64_arg(s->cycle.lines), as_u64_arg(s->block),
                            as_u64_arg(s->second)};
    return as_kernel_timer_once(&s->timer, "bind", args, 4, 8 * compute_units, BIND_THREADS, err);
}

/* Competing lines are chased several times before the clock starts; cold ones are not. */
static uint32_t turns_before(const struct state *s)
{
    return s->second ? 0 : (uint32_t)(4 * s->cycle.lines / STEPS + 1);
}

/* The overhead is the launch without its timed turns. */
static enum as_status onchip_lines_first_launches(struct state *s, uint32_t turns, struct as_trial_context *tc,
                                                  struct as_error *err)
{
    double ns, seconds, nothing[3];
    enum as_status st = AS_OK;
    for (int i = 0; i < 3 && !st; i++)
        st = onchip_lines_chase(s, turns_before(s), 0, &ns, &nothing[i], err);
    if (!st) {
        s->timer.overhead_s = as_median(nothing, 3);
        st = onchip_lines_chase(s, 0, turns, &ns, &seconds, err);
    }
    if (!st)
        as_limit_one_cycle(tc, as_kernel_timer_clock(&s->timer));
    return st;
}

static enum as_status onchip_lines_build(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    enum as_status st =
        as_kernel_timer_prepare(&s->timer, tc->dev, "onchip_lines", as_kernel_sweep, as_kernel_onchip_lines,
                                s->cold_shared ? "-DPAST_OWN_CACHE" : NULL, 1, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, "walk", &s->chase, err);
    if (st)
        return st;
    as_expect_code(tc, s->chase, "load.global", STEPS);
    st = as_kernel_timer_pin_unit(&s->timer, AS_TIMER_UNIT, err);
    as_kernel_timer_note(tc, &s->timer);
    return st;
}

static enum as_status onchip_lines_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    bool fetch = as_word_is(tc->axes, "what", "fetch");
    uint64_t distance = as_axes_u64(tc->axes, "distance"), lines = as_axes_u64(tc->axes, "lines");
    s->cold_shared = fetch && as_word_is(tc->axes, "level", "L2");
    s->block = (fetch ? BLOCK_BYTES : distance) / 8;
    s->second = fetch ? distance / 8 : 0;
    as_cycle_init(&s->cycle, AS_PATTERN_RANDOM, fetch ? BLOCKS : lines, s->block * 8, 4096, tc->seed);
    tc->footprint = s->cycle.lines * s->block * 8;
    enum as_status st = onchip_lines_build(s, tc, err);
    if (!st)
        st = as_kernel_timer_keep_memory(&s->timer, tc->footprint, &s->chain, err);
    if (!st)
        st = onchip_lines_write_chain(s, err);
    if (!st)
        st = bind_addresses(s, err);
    if (!st && s->cold_shared)
        st = as_kernel_timer_evictor(&s->timer, &s->other, err);
    /* Cold blocks are used once: each chase covers half of them, the next one the other half. */
    uint32_t once = (uint32_t)(steps_of_cycle(s) / STEPS / 2);
    if (fetch)
        tc->min_reps = tc->max_reps = once;
    else
        tc->max_reps = UINT32_MAX / 2;
    tc->sample_s = 2e-3;
    return st ? st : onchip_lines_first_launches(s, fetch ? once : 256, tc, err);
}

static enum as_status onchip_lines_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    enum as_status st = onchip_lines_chase(s, turns_before(s), (uint32_t)reps, &out->value, &out->seconds, err);
    if (!st)
        out->clock_hz = as_kernel_timer_clock(&s->timer);
    return st;
}

static bool onchip_lines_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size,
             s->lost ? "a chase ended at an unexpected element" : "every chase ended at the expected element");
    return !s->lost;
}

const struct as_probe as_probe_onchip_lines = {
    .name = "onchip_lines",
    .title = "Cache lines and ways",
    .question = "How many bytes does a cache miss fetch, and how many ways does the cache have?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of one dependent load: mean of the pair (fetch), mean over the pointer chase (ways)",
    .needs = AS_CAP_SOURCE,
    AS_CELLS(axes, quick, full, onchip_lines_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct state, onchip_lines_prepare, onchip_lines_sample, onchip_lines_check, as_kernel_timer_finish),
};
