/* CPU threads that update the array. They belong to the CPU device, which places them: the measured one, or one opened
 * beside it. */
#include "atomics.h"
#include "lib/buffers/buffers.h"

#include "device/cpu/features.h"

#include <stdlib.h>
#include <string.h>

/* Updates between polls of the stop flag; polls of the start flag before a thread yields. */
enum { BATCH = 64, LOOKS = 1 << 18 };
static const double BETWEEN_LOOKS_S = 50e-6;

struct as_atomics_cpu {
    struct as_opened opened; /* beside another device */
    struct as_device *dev;
    struct as_buffers own;
    struct as_kernel *kernel;
    struct as_atomics_line *lines;
    void (*batch)(void *elements, uint64_t n, uint64_t updates, struct as_atomics_draw *r);
    struct as_atomics_cpu_desc desc;
    uint64_t seed, each;
    _Alignas(128) _Atomic uint32_t go;
    _Alignas(128) _Atomic uint32_t stop;
};

/* ---- one batch, by type and kind of update ---- */

#define ADD_INTEGER(p, order) ((void)__atomic_fetch_add(p, 1, order))
/* No known CPU has atomic float additions. */
#define ADD_FLOATING(p, order)                                                                                         \
    do {                                                                                                               \
        __typeof__(*(p)) seen_, sum_;                                                                                  \
        __atomic_load(p, &seen_, __ATOMIC_RELAXED);                                                                    \
        do                                                                                                             \
            sum_ = seen_ + 1;                                                                                          \
        while (!__atomic_compare_exchange(p, &seen_, &sum_, 1, order, __ATOMIC_RELAXED));                              \
    } while (0)
/* The control: separate load, addition and store, with an intended data race. */
#define ADD_PLAIN(p, order) (*(volatile __typeof__(*(p)) *)(p) = *(volatile __typeof__(*(p)) *)(p) + 1)

#define DEFINE_BATCH(name, type, add, order, attribute)                                                                \
    attribute static void name(void *elements, uint64_t n, uint64_t updates, struct as_atomics_draw *r)                \
    {                                                                                                                  \
        type *array = elements;                                                                                        \
        for (uint64_t i = 0; i < updates; i++) {                                                                       \
            type *p = &array[atomics_draw_next(r, n)];                                                                 \
            add(p, order);                                                                                             \
        }                                                                                                              \
    }
enum { RELAXED, SEQ_CST, PLAIN, KINDS };
typedef void (*batch_of[ATOMICS_TYPES][KINDS])(void *, uint64_t, uint64_t, struct as_atomics_draw *);

#define DEFINE_BATCHES(set, word, type, add, attribute)                                                                \
    DEFINE_BATCH(set##_relaxed_##word, type, add, __ATOMIC_RELAXED, attribute)                                         \
    DEFINE_BATCH(set##_seq_cst_##word, type, add, __ATOMIC_SEQ_CST, attribute)                                         \
    DEFINE_BATCH(set##_plain_##word, type, ADD_PLAIN, , __attribute__((no_sanitize("thread"))))
#define DEFINE_SET(set, attribute)                                                                                     \
    DEFINE_BATCHES(set, u32, uint32_t, ADD_INTEGER, attribute)                                                         \
    DEFINE_BATCHES(set, u64, uint64_t, ADD_INTEGER, attribute)                                                         \
    DEFINE_BATCHES(set, f32, float, ADD_FLOATING, attribute)                                                           \
    DEFINE_BATCHES(set, f64, double, ADD_FLOATING, attribute)                                                          \
    static const batch_of set = {[ATOMICS_U32] = {set##_relaxed_u32, set##_seq_cst_u32, set##_plain_u32},              \
                                 [ATOMICS_U64] = {set##_relaxed_u64, set##_seq_cst_u64, set##_plain_u64},              \
                                 [ATOMICS_F32] = {set##_relaxed_f32, set##_seq_cst_f32, set##_plain_f32},              \
                                 [ATOMICS_F64] = {set##_relaxed_f64, set##_seq_cst_f64, set##_plain_f64}};

#if defined(__aarch64__)
/* Both inline: by default the compiler calls, for every update, a function that tests the CPU's features. */
#ifdef __clang__
DEFINE_SET(by_lse, __attribute__((target("lse"))))
#else
DEFINE_SET(by_lse, __attribute__((target("+lse"))))
#endif
DEFINE_SET(by_default, __attribute__((target("no-outline-atomics"))))
#else
DEFINE_SET(by_default, )
#endif

#if defined(__aarch64__)
static bool has_lse(void)
{
    char missing[64];
    return as_cpu_has(AS_CPU_LSE, missing, sizeof missing);
}

static const batch_of *batches(void)
{
    return has_lse() ? &by_lse : &by_default;
}

void as_atomics_cpu_note(struct as_trial_context *tc)
{
    as_note_number(tc, "lse", has_lse());
}
#else
static const batch_of *batches(void)
{
    return &by_default;
}

void as_atomics_cpu_note(struct as_trial_context *tc)
{
    (void)tc;
}
#endif

/* args: 0 the address of the struct as_atomics_cpu */
static void host_histogram(const struct as_host_call *call)
{
    struct as_atomics_cpu *c;
    struct as_atomics_draw draw;
    memcpy(&c, call->args[0], sizeof c);
    struct as_atomics_line *line = &c->lines[call->thread];
    as_atomics_draw_start(&draw, c->seed, ATOMICS_CPU_THREAD + call->thread);
    for (unsigned looks = 0; !atomic_load_explicit(&c->go, memory_order_acquire);)
        if (looks < LOOKS) {
            looks++;
            as_relax();
        } else {
            as_sleep(BETWEEN_LOOKS_S);
        }
    for (uint64_t done = 0; done < c->each && !atomic_load_explicit(&c->stop, memory_order_relaxed);) {
        uint64_t now = c->each - done < BATCH ? c->each - done : BATCH;
        c->batch(c->desc.elements, c->desc.n, now, &draw);
        done += now;
        atomic_store_explicit(&line->count, done, memory_order_relaxed);
    }
}
static const struct as_host_kernel host_kernels[] = {{"histogram", host_histogram}, {NULL, NULL}};

/* ---- the side ---- */

static enum as_status set_up(struct as_atomics_cpu *c, struct as_device *dev, struct as_error *err)
{
    struct as_program_desc program = {.name = "atomics", .host = host_kernels};
    const enum as_status st = as_cpu_beside(dev, &c->opened, &c->dev, err);
    if (st)
        return st;
    as_buffers_open(&c->own, c->dev, &program, err);
    c->kernel = as_buffers_kernel(&c->own, "histogram", err);
    if (c->own.status)
        return c->own.status;
    c->lines = aligned_alloc(_Alignof(struct as_atomics_line), c->desc.threads * sizeof *c->lines);
    return c->lines ? AS_OK : as_nomem(err, c->desc.threads * sizeof *c->lines, "counters");
}

enum as_status as_atomics_cpu_create(struct as_device *dev, const struct as_atomics_cpu_desc *desc,
                                     struct as_atomics_cpu **out, struct as_error *err)
{
    struct as_atomics_cpu *c = *out = aligned_alloc(_Alignof(struct as_atomics_cpu), sizeof *c);
    if (!c)
        return as_nomem(err, sizeof *c, "threads of the CPU");
    memset(c, 0, sizeof *c);
    c->desc = *desc;
    c->batch = (*batches())[desc->type][desc->plain ? PLAIN : desc->seq_cst ? SEQ_CST : RELAXED];
    return set_up(c, dev, err);
}

void as_atomics_cpu_destroy(struct as_atomics_cpu *c)
{
    if (!c)
        return;
    as_buffers_finish(&c->own);
    as_device_close(&c->opened);
    free(c->lines);
    free(c);
}

enum as_status as_atomics_cpu_start(struct as_atomics_cpu *c, uint64_t seed, uint64_t each, struct as_error *err)
{
    const struct as_arg arg = as_pointer_arg(c);
    const struct as_launch l = as_launch_of(c->kernel, &arg, 1, c->desc.threads, 1);
    c->seed = seed;
    c->each = each;
    for (unsigned i = 0; i < c->desc.threads; i++)
        atomic_store_explicit(&c->lines[i].count, 0, memory_order_relaxed);
    atomic_store_explicit(&c->go, 0, memory_order_relaxed);
    atomic_store_explicit(&c->stop, 0, memory_order_relaxed);
    return c->dev->queue->submit(c->dev, &l, err);
}

void as_atomics_cpu_go(struct as_atomics_cpu *c)
{
    atomic_store_explicit(&c->go, 1, memory_order_release);
}

void as_atomics_cpu_stop(struct as_atomics_cpu *c)
{
    atomic_store_explicit(&c->stop, 1, memory_order_relaxed);
    as_atomics_cpu_go(c);
}

enum as_status as_atomics_cpu_wait(struct as_atomics_cpu *c, struct as_error *err)
{
    return c->dev->queue->wait(c->dev, AS_WAIT_BLOCK, err);
}

uint64_t as_atomics_cpu_count(const struct as_atomics_cpu *c)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < c->desc.threads; i++)
        sum += atomic_load_explicit(&c->lines[i].count, memory_order_relaxed);
    return sum;
}
