/* Thread 0 chases, all others load. */
#include "base/clock.h"
#include "device/shared_host.h"
#include "lib/buffers/buffers.h"
#include "loaded.h"

#include <stdatomic.h>

/* Shared by the threads of a launch. */
struct plan {
    const struct load *load;
    uint64_t start, stride; /* chase: byte offset of its start, and distance of its lines */
    char pad[128];
    _Atomic uint32_t ready; /* number of loading threads */
    char pad_too[128];
    _Atomic uint32_t stop;
};

static void *loaded_latency_follow(void *p, uint64_t reps)
{
    for (uint64_t r = reps; r; r--) {
#ifdef AS_CHASE_STEP4
        __asm__ volatile(AS_CHASE_TIMES16(AS_CHASE_STEP4) : "+r"(p) : : "memory");
#else
        for (int i = 0; i < AS_CHASE_STEPS; i++)
            p = *(void *volatile *)p;
#endif
    }
    return p;
}

static void loaded_latency_chase(struct plan *plan, char *base, uint64_t reps, struct as_record *record)
{
    while (atomic_load_explicit(&plan->ready, memory_order_acquire) < plan->load->loaders)
        as_relax();
    const uint64_t from = as_now_ns();
    char *end = loaded_latency_follow(base + plan->start, reps);
    const uint64_t to = as_now_ns();
    atomic_store_explicit(&plan->stop, 1, memory_order_release);
    *record =
        (struct as_record){.value = (uint64_t)(end - base) / plan->stride, .nanos = to - from, .has = AS_HAS_NANOS};
}

typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));

static uint64_t read_block(const uint64_t *p)
{
    pair a = {0}, b = {0}, c = {0}, d = {0};
    for (size_t i = 0; i < LOAD_WORDS; i += 8) {
        a += *(const pair *)(p + i);
        b += *(const pair *)(p + i + 2);
        c += *(const pair *)(p + i + 4);
        d += *(const pair *)(p + i + 6);
    }
    a += b + c + d;
    return a[0] + a[1];
}

static uint64_t update_block(uint64_t *p)
{
    pair a = {0}, b = {0};
    for (size_t i = 0; i < LOAD_WORDS; i += 4) {
        const pair x = *(const pair *)(p + i), y = *(const pair *)(p + i + 2);
        a += x;
        b += y;
        *(pair *)(p + i) = x + 1;
        *(pair *)(p + i + 2) = y + 1;
    }
    a += b;
    return a[0] + a[1];
}

static void loaded_latency_think(uint32_t steps)
{
    uint32_t x = 1;
    for (uint32_t i = 0; i < steps; i++) {
        x ^= x >> 15;
        x *= 0x2c1b3c6du;
    }
    __asm__ volatile("" : : "r"(x));
}

/* The first block signals that the thread runs; it and its delay are not timed. */
static void add_load(struct plan *plan, uint64_t *memory, size_t loader, uint64_t *progress, struct as_record *record)
{
    const struct load *l = plan->load;
    uint64_t *slice = memory + loader * l->lead * LOAD_WORDS;
    uint64_t place = progress[0] % l->blocks, sum = 0, made = 0, from = 0;
    do {
        uint64_t *block = slice + place * l->step * LOAD_WORDS;
        sum += l->update ? update_block(block) : read_block(block);
        place = place + 1 < l->blocks ? place + 1 : 0;
        const bool first = made++ == 0;
        if (first)
            atomic_fetch_add_explicit(&plan->ready, 1, memory_order_release);
        loaded_latency_think(l->delay);
        if (first)
            from = as_now_ns();
    } while (!atomic_load_explicit(&plan->stop, memory_order_relaxed));
    *record = (struct as_record){.value = made - 1, .nanos = as_now_ns() - from, .has = AS_HAS_NANOS};
    progress[0] += made;
    progress[1] += sum;
}

/* args: 0 records, 1 buffer of the chase, 2 blocks, 3 progress, 4 the address of the plan */
static void host_loaded(const struct as_host_call *call)
{
    struct as_record *record = (struct as_record *)call->args[0] + call->thread;
    struct plan *plan = as_pointer_in(call->args[4]);
    const size_t loader = call->thread - 1;
    if (call->thread == 0)
        loaded_latency_chase(plan, call->args[1], call->reps, record);
    else
        add_load(plan, call->args[2], loader, (uint64_t *)call->args[3] + 2 * loader, record);
}

/* Each loader fills its own slice, so it touches it first. args: 0 blocks, 1 the address of the load */
static void loaded_latency_host_fill(const struct as_host_call *call)
{
    const struct load *l = as_pointer_in(call->args[1]);
    for (uint64_t k = 0; k < l->blocks; k++) {
        const uint64_t block = call->thread * l->lead + k * l->step;
        uint64_t *p = (uint64_t *)call->args[0] + block * LOAD_WORDS;
        for (size_t j = 0; j < LOAD_WORDS; j++)
            p[j] = as_load_word(l, block, j);
    }
}
static const struct as_host_kernel host_kernels[] = {
    {"loaded", host_loaded}, {"fill", loaded_latency_host_fill}, {NULL, NULL}};

static uint64_t loaded_latency_steps_max(const struct as_chase *c, uint64_t reps)
{
    (void)c;
    return reps * AS_CHASE_STEPS;
}

static enum as_status loaded_latency_run(struct as_chase *c, uint64_t reps, struct as_chase_result *out,
                                         struct as_error *err)
{
    struct loaded *s = (struct loaded *)(void *)c;
    struct plan plan = {.load = &s->load, .start = as_chase_offset(c, c->at), .stride = c->stride};
    const struct as_arg args[] = {as_memory_arg(s->timer.memory), as_memory_arg(c->memory),
                                  as_memory_arg(s->load.memory), as_memory_arg(s->load.progress),
                                  as_pointer_arg(&plan)};
    struct as_launch l = as_launch_of(s->kernel, args, 5, s->load.loaders + 1, 1);
    l.reps = reps;
    l.work = (struct as_work){.accesses = AS_CHASE_STEPS, .footprint = (double)c->footprint};
    double launch_s;
    enum as_status st = as_kernel_timer_launch(&s->timer, &l, &launch_s, err);
    if (st)
        return st;
    const bool counted = as_info_runs_native(&c->dev->info);
    *out = (struct as_chase_result){.line = s->timer.record[0].value,
                                    .seconds = counted ? as_kernel_timer_seconds(&s->timer, launch_s) : launch_s,
                                    .timed = reps * AS_CHASE_STEPS};
    if (counted)
        as_loaded_count(s, launch_s);
    return AS_OK;
}

static const struct as_chase_method native = {
    .steps = AS_CHASE_STEPS, .loads = AS_CHASE_STEPS, .steps_max = loaded_latency_steps_max, .run = loaded_latency_run};

enum as_status as_loaded_native(struct loaded *s, const struct load_desc *desc, struct as_error *err)
{
    struct as_device *dev = s->chase.dev;
    struct as_kernel *fill = NULL;
    enum as_status st = as_load_prepare(&s->load, dev, desc, err);
    if (!st)
        st = as_kernel_timer_prepare_host(&s->timer, dev, "loaded_latency", host_kernels, s->load.loaders + 1, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, "loaded", &s->kernel, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&s->timer, "fill", &fill, err);
    const struct as_arg args[] = {as_memory_arg(s->load.memory), as_pointer_arg(&s->load)};
    const struct as_launch l = as_launch_of(fill, args, 2, s->load.loaders, 1);
    struct as_timing unused;
    if (!st)
        st = dev->queue->launch(dev, &l, &unused, err);
    s->chase.method = &native;
    return st;
}
