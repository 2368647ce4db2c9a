/* The persistent chase: a running kernel increments a counter every 200 accesses, and a host thread times the counts
 * with its own clock. It validates launch times and device clocks, since it uses neither. */
#include "chase_internal.h"
#include "lib/buffers/buffers.h"

#include <stdatomic.h>
#include <string.h>

extern const char as_kernel_chase[];

/* Shared by chase and reader. Count and stop are in separate cache lines; the device kernel knows the layout. */
struct shared {
    _Atomic uint32_t count;
    char pad[252];
    _Atomic uint32_t stop;
    char pad_too[252];
    /* of a CPU kernel; a device's has its record */
    uint64_t line, counted;
    struct reading {
        enum { READ, MISSED, STILL } outcome; /* MISSED: the chase had already ended; STILL: the counter did not move */
        uint64_t counts;
        double seconds;
    } reading;
};

/* Counts before the time starts, and timed counts. The chase ends by itself after `counts_max`. */
struct plan {
    uint32_t before, timed, counts_max;
};
static const double PATIENCE_S = 2;

static struct plan chase_persistent_make_plan(const struct as_chase *c, uint64_t reps)
{
    /* A reader that waits for a CPU may miss a short chase: then the next one is longer. */
    const uint64_t slack = UINT64_C(4096) << 4 * c->missed;
    return (struct plan){
        .before = (uint32_t)c->before, .timed = (uint32_t)reps, .counts_max = (uint32_t)(c->before + 4 * reps + slack)};
}

/* Waits until the counter reaches `target`, as long as it moves. *at: when that was observed. */
static bool chase_persistent_await(struct shared *s, uint32_t target, uint32_t *count, double *at)
{
    uint32_t last = 0;
    double moved = as_now();
    for (;;) {
        *count = atomic_load_explicit(&s->count, memory_order_acquire);
        *at = as_now();
        if (*count >= target)
            return true;
        if (*count != last)
            moved = *at;
        else if (*at - moved > PATIENCE_S)
            return false;
        last = *count;
    }
}

/* Between two observed counts, so that visibility latency cancels. The very last count may be old when observed. */
static struct reading read_counter(struct shared *s, const struct plan *p)
{
    struct reading r = {.outcome = STILL};
    uint32_t from, to;
    double start, end;
    if (chase_persistent_await(s, p->before + 1, &from, &start)) {
        r.outcome = MISSED;
        if (from < p->counts_max - p->timed && chase_persistent_await(s, from + p->timed, &to, &end) &&
            to < p->counts_max)
            r = (struct reading){.outcome = READ, .counts = to - from, .seconds = end - start};
    }
    atomic_store_explicit(&s->stop, 1, memory_order_release);
    return r;
}

static enum as_status chase_persistent_judge(const struct reading *r, uint64_t counted, struct as_chase_result *out,
                                             struct as_error *err)
{
    if (r->outcome == STILL)
        return as_fail(err, AS_UNSUPPORTED, "the counter does not move while the chase runs");
    *out = (struct as_chase_result){.line = out->line,
                                    .seconds = r->seconds,
                                    .timed = r->counts * AS_CHASE_COUNTED,
                                    .untimed = (counted - r->counts) * AS_CHASE_COUNTED};
    return AS_OK;
}

static enum as_status chase_persistent_share(struct as_chase *c, const char *allocator, struct as_error *err)
{
    struct as_memory_desc desc = {.allocator = allocator, .bytes = sizeof(struct shared), .node = -1};
    enum as_status st = c->dev->memory->alloc(c->dev, &desc, &c->result, err);
    return st ? st : c->dev->memory->map(c->dev, c->result, err);
}

static struct shared *chase_persistent_begin(struct as_chase *c)
{
    struct shared *s = c->result->host;
    memset(s, 0, sizeof *s);
    return s;
}

/* ---- a CPU: thread 0 chases, thread 1 reads ---- */

#define TIMES5(x) x x x x x
#define TIMES50(x) TIMES5(AS_CHASE_TIMES10(x))

static void *chase_persistent_follow(struct shared *s, void *p, uint32_t counts_max)
{
    uint32_t counted = 0;
    while (counted < counts_max && !atomic_load_explicit(&s->stop, memory_order_relaxed)) {
#ifdef AS_CHASE_STEP4
        __asm__ volatile(TIMES50(AS_CHASE_STEP4) : "+r"(p) : : "memory");
#else
        for (int i = 0; i < AS_CHASE_COUNTED; i++)
            p = *(void *volatile *)p;
#endif
        atomic_store_explicit(&s->count, ++counted, memory_order_relaxed);
    }
    s->counted = counted;
    return p;
}

/* args: 0 shared, 1 buffer, 2 start line (u64), 3 stride (u64), 4 the address of the plan */
static void host_persist(const struct as_host_call *call)
{
    struct shared *s = call->args[0];
    char *base = call->args[1];
    uint64_t start, stride;
    const struct plan *plan;
    memcpy(&start, call->args[2], sizeof start);
    memcpy(&stride, call->args[3], sizeof stride);
    memcpy(&plan, call->args[4], sizeof plan);
    if (call->thread == 0)
        s->line =
            (uint64_t)((char *)chase_persistent_follow(s, base + start * stride, plan->counts_max) - base) / stride;
    else
        s->reading = read_counter(s, plan);
}
static const struct as_host_kernel host_kernels[] = {
    {"persist", host_persist}, {"fill", as_chase_host_fill}, {"link", as_chase_host_link}, {NULL, NULL}};

static enum as_status chase_persistent_build_native(struct as_chase *c, const struct as_chase_desc *desc,
                                                    struct as_error *err)
{
    struct as_program_desc program = {.name = "latency", .host = host_kernels};
    enum as_status st = chase_persistent_share(c, desc->allocator, err);
    if (!st)
        st = c->dev->program->build(c->dev, &program, &c->program, err);
    return st ? st : c->dev->program->kernel(c->dev, c->program, "persist", &c->kernel, err);
}

static uint64_t steps_max_native(const struct as_chase *c, uint64_t reps)
{
    return (uint64_t)chase_persistent_make_plan(c, reps).counts_max * AS_CHASE_COUNTED;
}

static enum as_status run_native(struct as_chase *c, uint64_t reps, struct as_chase_result *out, struct as_error *err)
{
    struct as_timing unused;
    struct shared *s = chase_persistent_begin(c);
    const struct plan plan = chase_persistent_make_plan(c, reps);
    struct as_arg args[] = {as_memory_arg(c->result), as_memory_arg(c->memory), as_u64_arg(c->at),
                            as_u64_arg(c->stride), as_u64_arg((uint64_t)(uintptr_t)&plan)};
    struct as_launch l = {
        .kernel = c->kernel,
        .args = args,
        .args_n = 5,
        .workgroups = 2,
        .workgroup_size = 1,
        .reps = 1,
        .work = {.accesses = (double)(c->before + reps) * AS_CHASE_COUNTED, .footprint = (double)c->footprint}};
    enum as_status st = c->dev->queue->launch(c->dev, &l, &unused, err);
    if (st)
        return st;
    out->line = s->line;
    return chase_persistent_judge(&s->reading, s->counted, out, err);
}

const struct as_chase_method as_chase_native_persistent = {.steps = AS_CHASE_COUNTED,
                                                           .loads = AS_CHASE_COUNTED,
                                                           .warms = true,
                                                           .build = chase_persistent_build_native,
                                                           .fill = as_chase_fill_native,
                                                           .steps_max = steps_max_native,
                                                           .run = run_native};

/* ---- a device: its kernel chases, this thread reads ---- */

static enum as_status chase_persistent_build_device(struct as_chase *c, const struct as_chase_desc *desc,
                                                    struct as_error *err)
{
    (void)desc;
    const char *allocator = as_chase_shared_allocator(&c->dev->info);
    if (!allocator)
        return as_fail(err, AS_UNSUPPORTED, "%s", AS_CHASE_NOT_SHARED);
    enum as_status st = chase_persistent_share(c, allocator, err);
    if (!st)
        st = as_kernel_timer_prepare(&c->timer, c->dev, "latency", as_kernel_sweep, as_kernel_chase, "-DPERSISTENT", 1,
                                     err);
    if (!st)
        st = as_kernel_timer_pin_unit(&c->timer, AS_TIMER_UNIT, err);
    return st ? st : as_kernel_timer_kernel(&c->timer, "persist", &c->kernel, err);
}

static enum as_status launch_and_read(struct as_chase *c, const struct as_launch *l, const struct plan *plan,
                                      struct reading *reading, struct as_error *err)
{
    struct as_device *dev = c->dev;
    struct shared *s = chase_persistent_begin(c);
    enum as_status st = dev->queue->submit(dev, l, err);
    if (st)
        return st;
    *reading = read_counter(s, plan);
    st = dev->queue->wait(dev, AS_WAIT_BLOCK, err);
    return st ? st : dev->memory->read(dev, c->timer.memory, 0, c->timer.record, sizeof *c->timer.record, err);
}

static enum as_status run_device(struct as_chase *c, uint64_t reps, struct as_chase_result *out, struct as_error *err)
{
    const struct as_record *record = &c->timer.record[0];
    const struct plan plan = chase_persistent_make_plan(c, reps);
    struct as_arg args[] = {as_memory_arg(c->timer.memory),    as_memory_arg(c->timer.choice),
                            as_memory_arg(c->memory),          as_memory_arg(c->result),
                            as_u64_arg(c->at * c->stride / 8), as_u32_arg(plan.counts_max)};
    struct as_launch wanted = as_launch_of(c->kernel, args, 6, 1, 1), aimed;
    wanted.work.accesses = (double)(c->before + reps) * AS_CHASE_COUNTED;
    wanted.work.footprint = (double)c->footprint;
    for (int i = 0; i < AS_TIMER_TRIES; i++) {
        struct reading reading;
        enum as_status st = as_kernel_timer_aim(&c->timer, &wanted, &aimed, err);
        if (!st)
            st = launch_and_read(c, &aimed, &plan, &reading, err);
        if (st)
            return st;
        if (!as_kernel_timer_hit(&c->timer, &wanted) && reading.outcome != STILL)
            continue;
        c->clock_hz = as_kernel_timer_clock(&c->timer);
        out->line = record->value * 8 / c->stride;
        return chase_persistent_judge(&reading, record->more, out, err);
    }
    return as_kernel_timer_gave_up(&c->timer, err);
}

/* Unrolled 40 times. */
const struct as_chase_method as_chase_device_persistent = {.steps = AS_CHASE_COUNTED,
                                                           .loads = AS_CHASE_COUNTED / 5,
                                                           .warms = true,
                                                           .build = chase_persistent_build_device,
                                                           .fill = as_chase_fill_device,
                                                           .run = run_device};

const char *as_chase_shared_allocator(const struct as_device_info *info)
{
    for (size_t i = 0; (info->capabilities & AS_CAP_ASYNC) && i < info->allocators_n; i++)
        if (info->allocators[i].coherent && !info->allocators[i].why_not[0])
            return info->allocators[i].name;
    return NULL;
}
