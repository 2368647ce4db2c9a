/* Launches, queues and copies: everything runs as often as requested, in the order of submission. */
#include "conformance.h"

#include <math.h>

static struct as_memory *zeroed(const char *allocator)
{
    static const uint32_t zeros[16];
    struct as_memory *m = conformance_memory(allocator, sizeof zeros);
    struct as_error err = {0};
    check_ok(gpu.dev.memory->write(&gpu.dev, m, 0, zeros, sizeof zeros, &err), &err);
    return m;
}

/* Reads the count and resets it. */
static void check_count(struct as_memory *m, uint64_t expected)
{
    struct as_error err = {0};
    uint32_t n = 0;
    check_ok(gpu.dev.memory->read(&gpu.dev, m, 0, &n, sizeof n, &err), &err);
    assert_int_equal(n, expected);
    n = 0;
    check_ok(gpu.dev.memory->write(&gpu.dev, m, 0, &n, sizeof n, &err), &err);
}

static void check_graph(struct as_launch l, struct as_memory *m)
{
    struct as_error err = {0};
    struct as_timing t;
    l.flags = AS_LAUNCH_GRAPH;
    check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
    check_count(m, l.reps * conformance_items());
}

/* As many branches, or commands in any order, as there are queues. */
static void check_together(struct as_launch l, struct as_memory *m)
{
    struct as_error err = {0};
    struct as_timing t;
    l.flags = AS_LAUNCH_TOGETHER;
    check_ok(gpu.dev.queue->queues(&gpu.dev, l.reps, 0, &err), &err);
    for (int i = 0; i < 2; i++) {
        check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
        assert_true(t.host_s > 0);
        check_count(m, l.reps * conformance_items());
    }
    check_ok(gpu.dev.queue->queues(&gpu.dev, 0, 0, &err), &err);
}

/* Each launch counts once per work-item: few, many, queued, with every kind of wait. */
void conformance_counts(void **state)
{
    static const uint64_t reps[] = {1, 7, 5000};
    struct as_error err = {0};
    struct as_timing t;
    (void)state;
    if (stand_in.runs == RUNS_NONE)
        skip();
    struct ready r = conformance_ready("conform_tick");
    struct as_memory *m = zeroed(conformance_plain());
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = m}}};
    for (size_t i = 0; i < sizeof reps / sizeof *reps; i++) {
        struct as_launch l = conformance_launch(&r, args, 1, reps[i]);
        l.workgroup_size = 1;
        check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
        check_count(m, reps[i] * GROUPS);
    }
    struct as_launch l = conformance_launch(&r, args, 1, 5);
    for (enum as_wait how = AS_WAIT_BLOCK; how <= AS_WAIT_YIELD; how++) {
        check_ok(gpu.dev.queue->submit(&gpu.dev, &l, &err), &err);
        check_ok(gpu.dev.queue->submit(&gpu.dev, &l, &err), &err);
        check_ok(gpu.dev.queue->wait(&gpu.dev, how, &err), &err);
        check_count(m, 2 * 5 * conformance_items());
    }
    check_ok(gpu.dev.queue->wait(&gpu.dev, AS_WAIT_BLOCK, &err), &err); /* nothing outstanding */
    if (conformance_runs_on_host()) {
        l.flags = AS_LAUNCH_BARRIER;
        check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
        check_count(m, 5 * conformance_items());
    } else if (gpu.dev.info.capabilities & AS_CAP_GRAPHS && stand_in.runs == RUNS_ALL) {
        check_graph(l, m);
    }
    if (gpu.dev.info.capabilities & AS_CAP_TOGETHER && stand_in.runs == RUNS_ALL)
        check_together(l, m);
    gpu.dev.memory->free(&gpu.dev, m);
    conformance_done(&r);
}

static void check_queue_numbers(void)
{
    const struct as_queue_ops *q = gpu.dev.queue;
    struct as_error err = {0};
    check_fails(q->wait_queue(&gpu.dev, 4, &err), AS_USAGE, &err, "there is no queue 4, the last is 3");
    check_fails(q->queues(&gpu.dev, 1, 2, &err), AS_USAGE, &err, "2 are urgent");
    check_fails(q->queues(&gpu.dev, AS_QUEUES_MAX + 1, 0, &err), AS_USAGE, &err, "at most 128");
    conformance_fake("equal");
    enum as_status st = q->queues(&gpu.dev, 2, 1, &err);
    assert_true(st == AS_UNSUPPORTED || (st == AS_OK && !stand_in.words));
    conformance_fake("");
    check_ok(q->queues(&gpu.dev, AS_QUEUES_MAX, 0, &err), &err);
    check_ok(q->wait_queue(&gpu.dev, AS_QUEUES_MAX, &err), &err);
    check_ok(q->queues(&gpu.dev, 0, 0, &err), &err);
    check_fails(q->wait_queue(&gpu.dev, 1, &err), AS_USAGE, &err, "there is no queue 1");
}

/* Each further queue runs its own work. */
void conformance_queues(void **state)
{
    struct as_memory *m[4];
    struct as_error err = {0};
    (void)state;
    if (!(gpu.dev.info.capabilities & AS_CAP_QUEUES))
        skip();
    struct ready r = conformance_ready("conform_tick");
    check_ok(gpu.dev.queue->queues(&gpu.dev, 3, 0, &err), &err);
    for (unsigned q = 1; q <= 4; q++) {
        m[q - 1] = zeroed(conformance_plain());
        const struct as_arg arg = {AS_ARG_MEMORY, {.memory = m[q - 1]}};
        struct as_launch l = conformance_launch(&r, &arg, 1, q);
        l.queue = q;
        if (q == 4)
            check_fails(gpu.dev.queue->submit(&gpu.dev, &l, &err), AS_USAGE, &err, "there is no queue 4");
        else
            check_ok(gpu.dev.queue->submit(&gpu.dev, &l, &err), &err);
    }
    for (unsigned q = 1; q <= 4; q++) {
        if (q < 4)
            check_ok(gpu.dev.queue->wait_queue(&gpu.dev, q, &err), &err);
        if (stand_in.runs != RUNS_NONE)
            check_count(m[q - 1], q < 4 ? q * conformance_items() : 0);
        gpu.dev.memory->free(&gpu.dev, m[q - 1]);
    }
    check_queue_numbers();
    conformance_done(&r);
}

static void put_hear(const struct as_arg *arg, unsigned queue, struct ready *r)
{
    struct as_error err = {0};
    struct as_launch l = conformance_launch(r, arg, 1, 1);
    l.workgroups = l.workgroup_size = 1, l.queue = queue;
    check_ok(gpu.dev.queue->submit(&gpu.dev, &l, &err), &err);
}

/* The host continues while a kernel runs, and both see each other's stores. No queue waits for another: the first one's
 * kernel ends when the second's has run. */
void conformance_beside_host(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (stand_in.runs != RUNS_ALL || conformance_runs_on_host() || !stand_in.library || !conformance_shared())
        skip();
    struct ready hear = conformance_ready("conform_hear"), tick = conformance_ready("conform_tick");
    struct as_memory *m = zeroed(conformance_shared());
    const struct as_arg arg = {AS_ARG_MEMORY, {.memory = m}};
    check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
    put_hear(&arg, 0, &hear);
    __atomic_store_n((uint32_t *)m->host, 41, __ATOMIC_RELEASE);
    check_ok(gpu.dev.queue->wait(&gpu.dev, AS_WAIT_BLOCK, &err), &err);
    assert_int_equal(__atomic_load_n((uint32_t *)m->host, __ATOMIC_ACQUIRE), 42);
    check_ok(gpu.dev.memory->unmap(&gpu.dev, m, &err), &err);
    check_count(m, 42);
    check_ok(gpu.dev.queue->queues(&gpu.dev, 3, 0, &err), &err);
    put_hear(&arg, 1, &hear);
    put_hear(&arg, 3, &tick);
    check_ok(gpu.dev.queue->wait_queue(&gpu.dev, 3, &err), &err);
    check_ok(gpu.dev.queue->wait_queue(&gpu.dev, 1, &err), &err);
    check_count(m, 2);
    check_ok(gpu.dev.queue->queues(&gpu.dev, 0, 0, &err), &err);
    gpu.dev.memory->free(&gpu.dev, m);
    conformance_done(&hear);
    conformance_done(&tick);
}

static void check_refused(const struct as_launch *l)
{
    struct as_error err = {0};
    struct as_timing t = {1, 1, 1};
    const enum as_status st = gpu.dev.queue->launch(&gpu.dev, l, &t, &err);
    if (st == AS_OK || !err.text[0] || err.code != st)
        fail_msg("%zu workgroups of %zu, %zu arguments, %zu bytes: %s: %s", l->workgroups, l->workgroup_size, l->args_n,
                 l->shared_bytes, as_status_word(st), err.text);
    assert_true(isnan(t.host_s) && isnan(t.device_s) && isnan(t.cycles));
    assert_int_equal(gpu.dev.queue->submit(&gpu.dev, l, &err), st);
}

/* Launch shapes that no device supports. */
void conformance_shapes(void **state)
{
    (void)state;
    struct ready r = conformance_ready("conform_tick");
    struct as_memory *m = zeroed(conformance_plain());
    static struct as_arg args[1000];
    for (size_t i = 1; i < sizeof args / sizeof *args; i++)
        args[i].kind = AS_ARG_U32;
    args[0] = (struct as_arg){AS_ARG_MEMORY, {.memory = m}};
    const struct as_launch good = conformance_launch(&r, args, 1, 1);
    struct as_launch l = good;
    l.workgroups = 0;
    check_refused(&l);
    l = good, l.args_n = sizeof args / sizeof *args;
    check_refused(&l);
    l = good, l.workgroups = SIZE_MAX;
    check_refused(&l);
    if (!conformance_runs_on_host()) {
        l = good, l.workgroup_size = (size_t)gpu.dev.info.threads + 1;
        check_refused(&l);
        l = good, l.shared_bytes = (size_t)gpu.dev.info.workgroup_shared + 1;
        check_refused(&l);
        l = good, l.flags = AS_LAUNCH_GRAPH;
        if (!(gpu.dev.info.capabilities & AS_CAP_GRAPHS))
            check_refused(&l);
    }
    static const struct as_tensor none = {.element_bytes = 1};
    args[0] = (struct as_arg){AS_ARG_TENSOR, {.tensor = &none}};
    struct as_error err = {0};
    struct as_timing t;
    enum as_status st = gpu.dev.queue->launch(&gpu.dev, &good, &t, &err);
    assert_true((st == AS_UNSUPPORTED || st == AS_USAGE) && err.text[0]);
    gpu.dev.memory->free(&gpu.dev, m);
    conformance_done(&r);
}

/* ---- copies ---- */

enum { BYTES = 4096 };

static struct as_memory *filled(const char *allocator, unsigned seed)
{
    struct as_memory *m = conformance_memory(allocator, BYTES);
    struct as_error err = {0};
    unsigned char bytes[BYTES];
    conformance_fill(bytes, BYTES, seed);
    check_ok(gpu.dev.memory->write(&gpu.dev, m, 0, bytes, BYTES, &err), &err);
    return m;
}

static void check_holds(struct as_memory *m, unsigned seed, size_t n)
{
    struct as_error err = {0};
    unsigned char bytes[BYTES], expected[BYTES];
    check_ok(gpu.dev.memory->read(&gpu.dev, m, 0, bytes, BYTES, &err), &err);
    conformance_fill(expected, BYTES, seed);
    assert_memory_equal(bytes, expected, n);
}

/* Copies half of it one way, then both ways concurrently; false: no command copies between these allocators. */
static bool copy_between(const char *from, const char *to)
{
    struct as_memory *m[4] = {filled(from, 1), filled(to, 2), filled(to, 3), filled(from, 4)};
    struct as_copy c = {.from = m[0], .to = m[1], .bytes = BYTES / 2, .reps = 3};
    struct as_error err = {0};
    struct as_timing t;
    enum as_status st = gpu.dev.queue->copy(&gpu.dev, &c, &t, &err);
    if (st == AS_UNSUPPORTED) {
        assert_true(err.text[0]);
    } else {
        check_ok(st, &err);
        assert_true(t.host_s >= 0 && (isnan(t.device_s) || t.device_s > 0));
        check_holds(m[1], 1, BYTES / 2);
        check_holds(m[2], 3, BYTES);
        c.back_from = m[2], c.back_to = m[3], c.bytes = BYTES;
        check_ok(gpu.dev.queue->copy(&gpu.dev, &c, &t, &err), &err);
        check_holds(m[0], 1, BYTES);
        check_holds(m[1], 1, BYTES);
        check_holds(m[3], 3, BYTES);
        c.bytes = BYTES + 1;
        assert_int_equal(gpu.dev.queue->copy(&gpu.dev, &c, &t, &err), AS_USAGE);
    }
    for (size_t i = 0; i < 4; i++)
        gpu.dev.memory->free(&gpu.dev, m[i]);
    return st == AS_OK;
}

void conformance_copies(void **state)
{
    const struct as_device_info *info = &gpu.dev.info;
    size_t done = 0;
    (void)state;
    if (!gpu.dev.queue->copy)
        skip();
    for (size_t i = 0; i < info->allocators_n; i++)
        for (size_t k = 0; k < info->allocators_n; k++)
            if (!info->allocators[i].why_not[0] && !info->allocators[k].why_not[0])
                done += copy_between(info->allocators[i].name, info->allocators[k].name);
    assert_true(done > 0);
}
