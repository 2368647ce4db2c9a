/* Driver errors: the call that fails reports the driver's own message, and nothing leaks. */
#include "conformance.h"

#include <math.h>
#include <stdio.h>

enum { BYTES = 4096 };

/* Calls every operation of the device once. */
static struct {
    struct ready ready;
    struct as_memory *memory, *other;
    struct as_arg arg;
    struct as_launch launch;
} s;

static enum as_status do_write(struct as_error *err)
{
    char bytes[BYTES] = {1};
    return gpu.dev.memory->write(&gpu.dev, s.memory, 0, bytes, BYTES, err);
}

static enum as_status do_read(struct as_error *err)
{
    char bytes[BYTES];
    return gpu.dev.memory->read(&gpu.dev, s.memory, 0, bytes, BYTES, err);
}

static enum as_status do_map(struct as_error *err)
{
    enum as_status st = gpu.dev.memory->map(&gpu.dev, s.memory, err);
    return st ? st : gpu.dev.memory->unmap(&gpu.dev, s.memory, err);
}

static enum as_status do_copy(struct as_error *err)
{
    const struct as_copy c = {.to = s.memory, .from = s.other, .bytes = BYTES, .reps = 3};
    struct as_timing t;
    return gpu.dev.queue->copy(&gpu.dev, &c, &t, err);
}

static enum as_status do_launch(struct as_error *err)
{
    struct as_timing t = {1, 1, 1};
    enum as_status st = gpu.dev.queue->launch(&gpu.dev, &s.launch, &t, err);
    assert_true(st == AS_OK || (isnan(t.host_s) && isnan(t.device_s)));
    return st;
}

static enum as_status do_graph(struct as_error *err)
{
    struct as_timing t;
    struct as_launch l = s.launch;
    l.flags = AS_LAUNCH_GRAPH;
    return gpu.dev.queue->launch(&gpu.dev, &l, &t, err);
}

static enum as_status do_wait(struct as_error *err)
{
    enum as_status st = gpu.dev.queue->submit(&gpu.dev, &s.launch, err);
    return st ? st : gpu.dev.queue->wait(&gpu.dev, AS_WAIT_BLOCK, err);
}

static enum as_status do_poll(struct as_error *err)
{
    enum as_status st = gpu.dev.queue->submit(&gpu.dev, &s.launch, err);
    return st ? st : gpu.dev.queue->wait(&gpu.dev, AS_WAIT_YIELD, err);
}

static enum as_status do_queue(struct as_error *err)
{
    enum as_status st = gpu.dev.queue->queues(&gpu.dev, 1, 0, err);
    struct as_launch l = s.launch;
    l.queue = 1;
    if (!st)
        st = gpu.dev.queue->submit(&gpu.dev, &l, err);
    if (!st)
        st = gpu.dev.queue->wait_queue(&gpu.dev, 1, err);
    if (st)
        (void)gpu.dev.queue->wait_queue(&gpu.dev, 1, NULL); /* else the kernel still runs while its memory is freed */
    return st;
}

static enum as_status do_allocate(struct as_error *err)
{
    struct as_memory *m = NULL;
    enum as_status st = gpu_get(conformance_plain(), BYTES, NULL, &m, err);
    assert_true((st == AS_OK) == (m != NULL));
    gpu.dev.memory->free(&gpu.dev, m);
    return st;
}

static enum as_status do_build(struct as_error *err)
{
    struct as_program_desc desc = conformance_program("-DMORE=2 -DLATE");
    struct as_program *p = NULL;
    enum as_status st = gpu.dev.program->build(&gpu.dev, &desc, &p, err);
    assert_true((st == AS_OK) == (p != NULL));
    gpu.dev.program->destroy(&gpu.dev, p);
    return st;
}

static const struct {
    const char *name;
    unsigned does; /* the kernel that it waits for */
    enum as_status (*act)(struct as_error *err);
} ways[] = {{"write", DOES_COPIES, do_write},
            {"read", DOES_COPIES, do_read},
            {"map", DOES_COPIES, do_map},
            {"copy", DOES_COPIES, do_copy},
            {"launch", DOES_KERNELS, do_launch},
            {"graph", DOES_KERNELS, do_graph},
            {"wait", DOES_KERNELS, do_wait},
            {"poll", DOES_KERNELS, do_poll},
            {"queue", DOES_KERNELS, do_queue},
            {"allocate", 0, do_allocate},
            {"build", 0, do_build}};
enum { WAYS = sizeof ways / sizeof *ways };

static bool has_graphs(void)
{
    return gpu.dev.info.capabilities & AS_CAP_GRAPHS && stand_in.runs == RUNS_ALL;
}

static bool has_way(size_t i)
{
    return (ways[i].act != do_copy || gpu.dev.queue->copy) && (ways[i].act != do_queue || gpu.dev.queue->queues) &&
           (ways[i].act != do_graph || has_graphs());
}

static void get_ready(void)
{
    const struct as_device_info *info = &gpu.dev.info;
    size_t last = info->allocators_n - 1;
    while (info->allocators[last].why_not[0] || info->allocators[last].role == AS_ROLE_MANAGED_STATIC)
        last--;
    s.ready = conformance_ready("conform_tick");
    s.memory = conformance_memory(conformance_plain(), BYTES);
    s.other = conformance_memory(info->allocators[last].name, BYTES);
    s.arg = (struct as_arg){AS_ARG_MEMORY, {.memory = s.other}};
    s.launch = conformance_launch(&s.ready, &s.arg, 1, 1);
}

static void give_back(void)
{
    gpu.dev.memory->free(&gpu.dev, s.memory);
    gpu.dev.memory->free(&gpu.dev, s.other);
    conformance_done(&s.ready);
}

static void all_work(void)
{
    for (size_t i = 0; i < WAYS; i++) {
        struct as_error err = {0};
        if (has_way(i))
            check_ok(ways[i].act(&err), &err);
    }
}

static void check_way(size_t i, const struct driver_fault *f, const char *part)
{
    struct as_error err = {0};
    enum as_status st = ways[i].act(&err);
    if (st != f->code || !strstr(err.text, part))
        fail_msg("%s during \"%s\": %s: \"%s\", expected %s: \"%s\"", ways[i].name, f->words, as_status_word(st),
                 err.text, as_status_word(f->code), part);
}

/* After the first failure no call succeeds or hangs, and a newly opened device works. */
static void check_lost(const struct driver_fault *f, size_t first)
{
    struct as_error err = {0};
    conformance_machine(0);
    if (!has_way(first)) {
        close_gpu(&gpu);
        return;
    }
    get_ready();
    conformance_fake(f->words);
    check_way(first, f, f->part);
    conformance_fake("");
    for (size_t i = 0; i < WAYS; i++)
        if (has_way(i) && ways[i].act != do_build)
            check_way(i, f, f->after);
    if (gpu.dev.device->alive)
        check_fails(gpu.dev.device->alive(&gpu.dev, &err), f->code, &err, f->after);
    give_back();
    close_backend(&gpu);
    fake_reset();
    conformance_machine(0);
    get_ready();
    all_work();
    give_back();
    close_gpu(&gpu);
}

static void check_survived(const struct driver_fault *f)
{
    conformance_machine(0);
    get_ready();
    for (size_t i = 0; i < WAYS; i++) {
        struct as_error err = {0};
        if (!has_way(i) || !(ways[i].does & f->does))
            continue;
        conformance_fake(f->words);
        check_way(i, f, f->part);
        conformance_fake("");
        check_ok(gpu.dev.queue->wait(&gpu.dev, AS_WAIT_SPIN, &err), &err);
        assert_null(s.memory->host);
    }
    all_work();
    give_back();
    close_gpu(&gpu);
}

void conformance_faults(void **state)
{
    (void)state;
    if (!stand_in.faults)
        skip();
    for (const struct driver_fault *f = stand_in.faults; f->words; f++) {
        if (!f->lost)
            check_survived(f);
        for (size_t i = 0; i < WAYS && f->lost; i++)
            if (ways[i].does & f->does)
                check_lost(f, i);
    }
}

static bool makes_graphs; /* the device has them, and a call of the driver for one was seen */

/* A whole trial in which one driver call fails: each step reports it or succeeds. Returns whether a call failed. */
static bool live_with(unsigned call)
{
    char words[24];
    struct as_error err = {0};
    size_t failures = 0;
    conformance_machine(0);
    get_ready();
    snprintf(words, sizeof words, "fail=%u", call);
    conformance_fake(words);
    for (size_t i = 0; i < WAYS; i++) {
        enum as_status st = has_way(i) ? ways[i].act(&err) : AS_OK;
        failures += st != AS_OK;
        if (st != AS_OK && !strstr(err.text, "(801)") && !strstr(err.text, fake_failed()))
            fail_msg("%s: the message is lost: \"%s\" after %s failed", ways[i].name, err.text, fake_failed());
    }
    const bool failed = fake_failed()[0];
    makes_graphs |= !has_graphs() || strstr(fake_failed(), "Graph");
    /* Freeing memory synchronizes, and cannot report a failure. */
    if (failed && !failures && !strstr(fake_failed(), "Synchronize"))
        fail_msg("no call reported that %s failed", fake_failed());
    assert_true(failures <= 1);
    conformance_fake("");
    all_work();
    give_back();
    close_gpu(&gpu);
    return failed;
}

/* Each driver call fails once. */
void conformance_each_call_fails(void **state)
{
    unsigned n = 1;
    (void)state;
    if (!stand_in.failed)
        skip();
    while (live_with(n))
        n++;
    assert_true(n > 15);
    assert_true(makes_graphs);
}
