/* Launches of the scripted device: the kernel runs, the script says how long it took. */
#include "device/null/null.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 32, THREADS_MAX = 64 };

/* POSIX's barrier is optional, and macOS has none. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_there;
    size_t threads, there;
    unsigned phase;
};
struct team {
    const struct as_launch *launch;
    struct meeting *meet; /* NULL: one call does all repetitions */
    pthread_mutex_t gate; /* held while threads are created */
    bool cancelled;       /* not all could be created; those that could do nothing */
};
struct part {
    struct team *team;
    struct as_host_call call;
    pthread_t thread;
};

static void meet_all(struct meeting *m)
{
    pthread_mutex_lock(&m->lock);
    const unsigned phase = m->phase;
    if (++m->there == m->threads) {
        m->there = 0;
        m->phase++;
        pthread_cond_broadcast(&m->all_there);
    }
    while (m->phase == phase)
        pthread_cond_wait(&m->all_there, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static void *run_part(void *arg)
{
    struct part *p = arg;
    struct team *t = p->team;
    pthread_mutex_lock(&t->gate);
    bool cancelled = t->cancelled;
    pthread_mutex_unlock(&t->gate);
    uint64_t calls = cancelled ? 0 : t->meet ? t->launch->reps : 1;
    for (uint64_t i = 0; i < calls; i++) {
        if (t->meet)
            meet_all(t->meet);
        t->launch->kernel->host->run(&p->call);
    }
    return NULL;
}

/* Each workgroup on its own thread: kernels may wait for each other. */
static enum as_status run_parts(struct team *team, struct part *parts, size_t n, struct as_error *err)
{
    size_t started = 0;
    int e = 0;
    if (n == 1) {
        run_part(&parts[0]);
        return AS_OK;
    }
    pthread_mutex_lock(&team->gate);
    while (started < n && e == 0) {
        e = pthread_create(&parts[started].thread, NULL, run_part, &parts[started]);
        started += e == 0;
    }
    team->cancelled = e != 0;
    pthread_mutex_unlock(&team->gate);
    for (size_t i = 0; i < started; i++)
        pthread_join(parts[i].thread, NULL);
    return e ? as_fail(err, AS_FAILED, "cannot start thread %zu: %s", started + 1, strerror(e)) : AS_OK;
}

static enum as_status execute(const struct as_launch *launch, void *const *args, struct as_error *err)
{
    struct part parts[THREADS_MAX];
    struct meeting meet = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .all_there = PTHREAD_COND_INITIALIZER, .threads = launch->workgroups};
    struct team team = {.launch = launch, .gate = PTHREAD_MUTEX_INITIALIZER};
    if (launch->flags & AS_LAUNCH_BARRIER)
        team.meet = &meet;
    for (size_t i = 0; i < launch->workgroups; i++)
        parts[i] = (struct part){
            .team = &team,
            .call = {args, (unsigned)i, (unsigned)launch->workgroups, team.meet ? 1 : launch->reps},
        };
    enum as_status st = run_parts(&team, parts, launch->workgroups, err);
    pthread_mutex_destroy(&team.gate);
    pthread_cond_destroy(&meet.all_there);
    pthread_mutex_destroy(&meet.lock);
    return st;
}

/* Whether the kernel has to run: see "execute" in the script's description. */
static bool wanted(struct as_null_device *n, const struct as_launch *launch)
{
    bool same = n->last_run == launch->kernel->host->run && n->last_groups == launch->workgroups &&
                n->last_reps == launch->reps;
    n->last_run = launch->kernel->host->run;
    n->last_groups = launch->workgroups;
    n->last_reps = launch->reps;
    return n->script.execute == AS_NULL_ALWAYS || (n->script.execute == AS_NULL_ONCE && !same);
}

void as_null_damage(const struct as_memory *mem)
{
    unsigned char *p = as_null_address(mem);
    for (uint64_t at = 0; at < mem->bytes && at < 64; at++)
        p[at] ^= 0x55;
}

static void damage(const struct as_launch *launch)
{
    for (size_t i = 0; i < launch->args_n; i++) {
        const struct as_arg *a = &launch->args[i];
        if (a->kind != AS_ARG_MEMORY || !a->u.memory)
            continue;
        as_null_damage(a->u.memory);
        return;
    }
}

void as_null_pass_time(double seconds)
{
    double end = as_now() + seconds, now;
    while ((now = as_now()) < end)
        as_sleep(end - now);
}

static enum as_status check_launch(const struct as_launch *launch, struct as_error *err)
{
    if (launch->workgroups == 0 || launch->workgroups > THREADS_MAX)
        return as_fail(err, AS_USAGE, "%zu threads were requested; request 1 to %d", launch->workgroups,
                       (int)THREADS_MAX);
    if (launch->args_n > ARGS_MAX)
        return as_fail(err, AS_USAGE, "a kernel takes at most %d arguments, not %zu", (int)ARGS_MAX, launch->args_n);
    return AS_OK;
}

static enum as_status queue_launch(struct as_device *dev, const struct as_launch *launch, struct as_timing *out,
                                   struct as_error *err)
{
    struct as_null_device *n = as_null(dev);
    const struct as_host_kernel *host = launch->kernel->host;
    void *args[ARGS_MAX];
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = check_launch(launch, err);
    if (st)
        return st;
    for (size_t i = 0; i < launch->args_n; i++) {
        const struct as_arg *a = &launch->args[i];
        if (a->kind == AS_ARG_TENSOR)
            return as_fail(err, AS_UNSUPPORTED, "kernel '%s' takes a tensor, which the null device does not have",
                           host->name);
        bool memory = a->kind == AS_ARG_MEMORY;
        args[i] = !memory ? (void *)&a->u : a->u.memory ? as_null_address(a->u.memory) : NULL;
    }
    n->launches++;
    const struct as_null_fault *fault = as_null_strike(n, host->name, launch->kernel->program, launch->work.footprint);
    st = as_null_act(fault, host->name, err);
    if (!st && wanted(n, launch))
        st = execute(launch, args, err);
    if (st)
        return st;
    if (fault && fault->action == AS_NULL_CLOCK_HALF)
        n->clock_halved = true;
    if (fault && fault->action == AS_NULL_WRONG)
        damage(launch);
    out->host_s = as_null_seconds(n, launch) * (fault && fault->action == AS_NULL_SLOW ? fault->factor : 1);
    if (n->script.cycles)
        out->cycles = out->host_s * n->script.clock_hz * (n->clock_halved ? 0.5 : 1);
    if (n->script.sleep)
        as_null_pass_time(out->host_s);
    return AS_OK;
}

static void copy_bytes(const struct as_null_device *n, const struct as_memory *to, const struct as_memory *from,
                       uint64_t bytes)
{
    if (n->script.execute != AS_NULL_NEVER)
        memcpy(as_null_address(to), as_null_address(from), (size_t)bytes);
}

/* Seconds that the script has for the copies; draws as for a launch. */
static double copy_seconds(struct as_null_device *n, const struct as_copy *copy, const struct as_launch *as_launched)
{
    const struct as_null_copy *between =
        as_null_copy_between(n, as_null_allocator(copy->from), as_null_allocator(copy->to));
    const double general = as_null_seconds(n, as_launched);
    if (!between)
        return general;
    return (double)copy->reps * as_launched->work.bytes / (1e9 * (copy->back_to ? between->both_gbs : between->gbs)) *
           as_null_noise(n, n->script.sd) * as_null_device_factor(n);
}

/* For faults a copy counts as a launch of kernel "copy" of probe "engine". */
static enum as_status queue_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                                 struct as_error *err)
{
    struct as_null_device *n = as_null(dev);
    double ways = copy->back_to ? 2 : 1, bytes = ways * (double)copy->bytes;
    const struct as_arg to = {.kind = AS_ARG_MEMORY, .u.memory = copy->to};
    const struct as_launch as_launched = {
        .args = &to, .args_n = 1, .reps = copy->reps, .work = {.bytes = bytes, .footprint = 2 * bytes}};
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    if (copy->bytes > copy->to->bytes || copy->bytes > copy->from->bytes ||
        (copy->back_to && (copy->bytes > copy->back_to->bytes || copy->bytes > copy->back_from->bytes)))
        return as_fail(err, AS_USAGE, "a copy of %llu bytes is larger than its memory",
                       (unsigned long long)copy->bytes);
    n->launches++;
    const struct as_null_fault *fault = as_null_strike(n, "copy", "engine", as_launched.work.footprint);
    enum as_status st = as_null_act(fault, "copy", err);
    if (st)
        return st;
    copy_bytes(n, copy->to, copy->from, copy->bytes);
    if (copy->back_to)
        copy_bytes(n, copy->back_to, copy->back_from, copy->bytes);
    if (fault && fault->action == AS_NULL_CLOCK_HALF)
        n->clock_halved = true;
    if (fault && fault->action == AS_NULL_WRONG)
        damage(&as_launched);
    out->host_s = copy_seconds(n, copy, &as_launched) * (fault && fault->action == AS_NULL_SLOW ? fault->factor : 1);
    if (n->script.sleep)
        as_null_pass_time(out->host_s);
    return AS_OK;
}

static enum as_status queue_submit(struct as_device *dev, const struct as_launch *launch, struct as_error *err)
{
    struct as_timing t;
    return queue_launch(dev, launch, &t, err);
}

static enum as_status queue_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    (void)dev;
    (void)how;
    (void)err;
    return AS_OK;
}

const struct as_queue_ops as_null_queue_ops = {
    .launch = queue_launch,
    .submit = queue_submit,
    .wait = queue_wait,
    .copy = queue_copy,
};
