/* A chase over one trial: the buffer, the runs, and the check of their ends. */
#include "chase_internal.h"
#include "lib/ops/tick.h"

#include "lib/checks/checks.h"

#include <math.h>
#include <stdio.h>

/* Cycles of up to this many lines are chased once as a warm-up. At 64 bytes this is eight times the largest L1: in
 * longer cycles lines are evicted before they repeat, so a warm-up gains nothing and takes longer than the sample.
 * There, one repetition warms the instruction cache. */
enum { WARM_LINES = 1 << 15, TRIES = 3 };

static const struct as_chase_method *const methods[2][2] = {{&as_chase_device, &as_chase_device_persistent},
                                                            {&as_chase_native, &as_chase_native_persistent}};

static enum as_status chase_run_once(struct as_chase *c, uint64_t reps, struct as_chase_result *r, struct as_error *err)
{
    enum as_status st = c->method->steps_max ? as_chase_link_native(c, c->method->steps_max(c, reps), err) : AS_OK;
    if (!st)
        st = c->method->run(c, reps, r, err);
    if (st)
        return st;
    c->steps_done = (c->steps_done + r->timed + r->untimed) % c->cycle.lines;
    /* A wrong result must not become an address: the chase resumes at the expected position, and the check fails. */
    uint64_t expected = as_cycle_at(&c->cycle, c->steps_done);
    c->lost |= r->line != expected;
    c->at = expected;
    return AS_OK;
}

enum as_status as_chase_prepare(struct as_chase *c, struct as_device *dev, const struct as_chase_desc *desc,
                                struct as_error *err)
{
    bool native = (dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    *c = (struct as_chase){
        .dev = dev, .stride = desc->stride, .method = methods[native][desc->persistent], .clock_hz = NAN};
    const uint64_t spread = desc->spread;
    if (spread && (spread < 8 || (spread & (spread - 1)) || (desc->stride & (desc->stride - 1)) ||
                   spread > desc->stride || desc->persistent))
        return as_fail(err, AS_USAGE,
                       "a chase spreads its elements over cache lines of a power of two bytes, by a "
                       "stride that is a power of two, and times itself");
    if (desc->stride < 8 || desc->stride % 8 || desc->size < 2 * desc->stride)
        return as_fail(err, AS_USAGE, "a chase needs a stride that is a multiple of 8 bytes and a size of two of them");
    as_cycle_init(&c->cycle, desc->pattern, desc->size / desc->stride, desc->stride, as_info_page(&dev->info),
                  desc->seed);
    c->spread = spread;
    c->cpu = desc->cpu - 1;
    c->cpus = desc->cpu ? &c->cpu : NULL;
    c->footprint = c->cycle.lines * (spread ? spread : c->stride);
    c->at = as_cycle_at(&c->cycle, 0);
    if (c->method->warms)
        c->before = c->cycle.lines <= WARM_LINES ? (c->cycle.lines + c->method->steps - 1) / c->method->steps : 1;
    const struct as_arena_desc memory = {.memory = {.allocator = desc->allocator,
                                                    .bytes = desc->size,
                                                    .node = -1,
                                                    .fresh = desc->fresh,
                                                    .at = desc->at,
                                                    .owner = desc->owner},
                                         .use = "chase",
                                         .touch = dev->info.numa_nodes > 1 ? AS_TOUCH_THREAD : AS_TOUCH_ANY};
    enum as_status st = as_arena_take(dev, &memory, &c->memory, err);
    if (!st)
        st = c->method->build(c, desc, err);
    return st ? st : c->method->fill(c, err);
}

uint64_t as_chase_offset(const struct as_chase *c, uint64_t element)
{
    const uint64_t lines = c->spread ? c->stride / c->spread : 1;
    uint64_t sum = 0;
    for (uint64_t rest = lines > 1 ? element : 0; rest; rest /= lines)
        sum += rest % lines;
    return element * c->stride + sum % lines * c->spread;
}

double as_chase_sample_s(const struct as_chase *c)
{
    return c->before ? fmax(5e-3, 2 * c->timer.overhead_s) : 0;
}

void as_chase_expect(struct as_trial_context *tc, const struct as_chase *c)
{
    as_expect_code(tc, c->kernel, "load.global", c->method->loads);
}

void as_chase_note(struct as_trial_context *tc, const struct as_chase *c)
{
    as_note_number(tc, "lines", (double)c->cycle.lines);
    if (c->memory->page_size)
        as_note_number(tc, "page_size", (double)c->memory->page_size);
    (void)as_note_node(tc, c->memory, -1, NULL);
    if (c->before)
        as_note_number(tc, "steps_before", (double)(c->before * c->method->steps));
    if (c->laps)
        as_note_number(tc, "laps_before", c->laps);
    if (c->past_own)
        as_note_number(tc, "bypasses_own_caches", 1);
    if (c->timer.overhead_s > 0 && !(c->timer.record[0].has & AS_HAS_NANOS))
        as_note_number(tc, "control_ns", c->timer.overhead_s * 1e9);
    as_kernel_timer_note(tc, &c->timer);
}

enum as_status as_chase_run(struct as_chase *c, uint64_t reps, double *ns, double *seconds, struct as_error *err)
{
    struct as_chase_result r = {0};
    enum as_status st = chase_run_once(c, reps, &r, err);
    for (int again = 1; again < TRIES && !st && r.timed == 0; again++) {
        c->missed = c->missed < 2 ? c->missed + 1 : 2;
        st = chase_run_once(c, reps, &r, err);
    }
    if (!st && r.timed == 0)
        return as_fail(err, AS_FAILED,
                       "the thread that reads the counter did not run concurrently with the chase, %d times in a row; "
                       "leave a CPU free for it",
                       (int)TRIES);
    *seconds = r.seconds;
    *ns = r.seconds / (double)r.timed * 1e9;
    return st;
}

bool as_chase_check(const struct as_chase *c, char *why, size_t size)
{
    snprintf(why, size, c->lost ? "the chase ended at an unexpected line" : "every chase ended at the expected line");
    return !c->lost;
}

void as_chase_finish(void *chase)
{
    struct as_chase *c = chase;
    if (!c->dev)
        return;
    c->dev->program->kernel_destroy(c->dev, c->kernel);
    c->dev->program->destroy(c->dev, c->program);
    c->dev->memory->free(c->dev, c->result);
    as_arena_give(c->dev, c->memory);
    as_tick_finish(c->tick);
    as_kernel_timer_finish(&c->timer);
    *c = (struct as_chase){0};
}
