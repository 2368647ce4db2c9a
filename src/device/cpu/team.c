#include "device/cpu/team.h"

#include "base/clock.h"
#include "device/cpu/barrier.h"
#include "os/process.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_INDEX_MAX = 1 << 16 };
/* Spin time at the start barrier; longer than a wake-up takes. */
#define MEET_SPIN_NS 1000000u
/* Spin time between jobs: covers the gap between samples, so that the core does not idle. */
#define IDLE_SPIN_NS 50000u

enum mail { MAIL_NONE, MAIL_JOB, MAIL_ASLEEP, MAIL_QUIT };
enum pinned { PIN_UNKNOWN, PIN_DONE, PIN_FAILED };

struct job;
struct member {
    alignas(128) _Atomic uint32_t mail;
    struct job *job; /* valid with MAIL_JOB */
    size_t index;
    uint64_t idle_spin_ns;
    int cpu;
    _Atomic uint32_t pinned;
    struct as_team *team;
    struct member *next; /* on the same CPU */
    pthread_t thread;
};

struct job {
    struct as_barrier meet;
    _Atomic uint32_t unfinished;
    void (*run)(const struct as_host_call *call);
    void *args[AS_TEAM_ARGS_MAX];
    union as_team_value values[AS_TEAM_ARGS_MAX];
    size_t threads, cap;
    uint64_t reps, idle_spin_ns;
    bool barrier;
    struct job *next;
    struct member **members;
    struct as_team_span *stamps;
};

struct on_cpu {
    struct member *first, *last, *cursor;
    uint64_t generation; /* the submission that last set cursor */
};

struct as_team {
    as_team_pin_fn pin;
    unsigned usable;
    size_t size;
    struct on_cpu *cpus;
    size_t cpus_n;
    uint64_t generation;
    pthread_mutex_t lock; /* protects the members below */
    struct job *running, *tail, *spare;
    double seconds; /* duration of the last finished job */
    _Atomic uint64_t preemptions;
    alignas(128) _Atomic uint32_t pending;
    _Atomic uint32_t waiting;
};

static void job_free(struct job *job)
{
    if (!job)
        return;
    free(job->members);
    free(job->stamps);
    free(job);
}

/* Dispatches the job to its members. */
static void dispatch(struct job *job)
{
    /* The job may complete and be replaced as soon as the last member is signalled. */
    size_t n = job->threads;
    for (size_t i = 0; i < n; i++) {
        struct member *m = job->members[i];
        m->job = job;
        m->index = i;
        if (atomic_exchange(&m->mail, MAIL_JOB) == MAIL_ASLEEP)
            as_word_wake_all(&m->mail);
    }
}

static struct as_team_span team_span(const struct as_team_span *spans, size_t n, uint64_t *last_start)
{
    struct as_team_span all = spans[0];
    *last_start = spans[0].start;
    for (size_t i = 1; i < n; i++) {
        all.start = spans[i].start < all.start ? spans[i].start : all.start;
        all.end = spans[i].end > all.end ? spans[i].end : all.end;
        *last_start = spans[i].start > *last_start ? spans[i].start : *last_start;
    }
    return all;
}

static double job_seconds(const struct job *job)
{
    uint64_t last;
    const struct as_team_span all = team_span(job->stamps, job->threads, &last);
    return 1e-9 * (double)(all.end - all.start);
}

bool as_team_started_late(const struct as_team_span *spans, size_t n)
{
    enum { NS_MIN = 20000, SHARE = 20 }; /* a barrier lets threads go within a microsecond or two */
    uint64_t last;
    const struct as_team_span all = team_span(spans, n, &last);
    return last - all.start > NS_MIN && last - all.start > (all.end - all.start) / SHARE;
}

/* Called by the last member to finish. */
static void job_ended(struct as_team *team, struct job *job)
{
    pthread_mutex_lock(&team->lock);
    team->seconds = job_seconds(job);
    if (as_team_started_late(job->stamps, job->threads))
        atomic_fetch_add(&team->preemptions, 1);
    team->running = job->next;
    struct job *old = team->spare;
    team->spare = job;
    if (team->running)
        dispatch(team->running);
    pthread_mutex_unlock(&team->lock);
    job_free(old);
    if (atomic_fetch_sub(&team->pending, 1) == 1 && atomic_load(&team->waiting))
        as_word_wake_all(&team->pending);
}

static void team_run_part(struct as_team *team, struct job *job, size_t index)
{
    struct as_host_call call = {
        .args = job->args,
        .thread = (unsigned)index,
        .threads = (unsigned)job->threads,
        .reps = job->barrier ? 1 : job->reps,
    };
    uint64_t calls = job->barrier ? job->reps : 1;
    /* Threads may wake late from the first barrier; at the second all are awake and leave it together. */
    as_barrier_wait(&job->meet);
    const uint64_t before = as_thread_preemptions();
    as_barrier_wait(&job->meet);
    job->stamps[index].start = as_now_ns();
    for (uint64_t i = 0; i < calls; i++) {
        if (i)
            as_barrier_wait(&job->meet);
        job->run(&call);
    }
    job->stamps[index].end = as_now_ns();
    const uint64_t preempted = as_thread_preemptions() - before;
    if (preempted)
        atomic_fetch_add(&team->preemptions, preempted);
}

static enum mail next_mail(struct member *m)
{
    as_spin_while(&m->mail, MAIL_NONE, m->idle_spin_ns);
    uint32_t seen = MAIL_NONE;
    if (atomic_compare_exchange_strong(&m->mail, &seen, MAIL_ASLEEP)) {
        while ((seen = atomic_load(&m->mail)) == MAIL_ASLEEP)
            as_word_wait(&m->mail, MAIL_ASLEEP);
    }
    if (seen == MAIL_JOB)
        atomic_store(&m->mail, MAIL_NONE);
    return seen;
}

static void *team_member_main(void *arg)
{
    struct member *m = arg;
    char name[16];
    snprintf(name, sizeof name, "assay-cpu%d", m->cpu);
    as_thread_name(name);
    bool good = m->team->pin(m->cpu);
    atomic_store(&m->pinned, good ? PIN_DONE : PIN_FAILED);
    as_word_wake_all(&m->pinned);
    if (!good)
        return NULL;
    while (next_mail(m) == MAIL_JOB) {
        struct job *job = m->job;
        m->idle_spin_ns = job->idle_spin_ns;
        team_run_part(m->team, job, m->index);
        if (atomic_fetch_sub(&job->unfinished, 1) == 1)
            job_ended(m->team, job);
    }
    return NULL;
}

/* Blocks asynchronous signals; faults are delivered to their thread. */
static int create_thread(struct member *m)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int e = pthread_create(&m->thread, NULL, team_member_main, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e;
}

static enum as_status add_member(struct as_team *team, int cpu, struct as_error *err)
{
    struct member *m = aligned_alloc(alignof(struct member), sizeof *m);
    if (!m)
        return as_nomem(err, sizeof *m, "a thread");
    memset(m, 0, sizeof *m);
    m->cpu = cpu;
    m->team = team;
    int e = create_thread(m);
    if (e) {
        free(m);
        return as_fail(err, AS_FAILED,
                       "cannot start thread %zu of the CPU team: %s; allow more threads or request fewer",
                       team->size + 1, strerror(e));
    }
    while (atomic_load(&m->pinned) == PIN_UNKNOWN)
        as_word_wait(&m->pinned, PIN_UNKNOWN);
    if (atomic_load(&m->pinned) == PIN_FAILED) {
        pthread_join(m->thread, NULL);
        free(m);
        return as_fail(err, AS_UNSUPPORTED, "cannot pin a thread to CPU %d; choose one that this process may use", cpu);
    }
    struct on_cpu *c = &team->cpus[cpu];
    if (c->last)
        c->last->next = m;
    else
        c->first = m;
    c->last = m;
    team->size++;
    return AS_OK;
}

static enum as_status grow_cpus(struct as_team *team, int cpu, struct as_error *err)
{
    if (cpu < 0 || cpu >= CPU_INDEX_MAX)
        return as_fail(err, AS_USAGE, "there is no CPU %d", cpu);
    size_t cap = team->cpus_n, need = (size_t)cpu + 1;
    if (need <= team->cpus_n)
        return AS_OK;
    enum as_status st = as_grow((void **)&team->cpus, &cap, need, sizeof *team->cpus, err);
    if (st)
        return st;
    memset(team->cpus + team->cpus_n, 0, (cap - team->cpus_n) * sizeof *team->cpus);
    team->cpus_n = cap;
    return AS_OK;
}

/* One member per thread; a CPU listed several times has several members. */
static enum as_status choose_members(struct as_team *team, struct job *job, const int *cpus, struct as_error *err)
{
    team->generation++;
    for (size_t i = 0; i < job->threads; i++) {
        enum as_status st = grow_cpus(team, cpus[i], err);
        if (st)
            return st;
        struct on_cpu *c = &team->cpus[cpus[i]];
        if (c->generation != team->generation)
            c->cursor = c->first;
        else
            job->meet.spin_ns = 0; /* of two threads on one CPU, a spinning one delays the other */
        c->generation = team->generation;
        if (!c->cursor) {
            st = add_member(team, cpus[i], err);
            if (st)
                return st;
            c->cursor = c->last;
        }
        job->members[i] = c->cursor;
        c->cursor = c->cursor->next;
    }
    return AS_OK;
}

static struct job *job_create(struct as_team *team, size_t threads, struct as_error *err)
{
    pthread_mutex_lock(&team->lock);
    struct job *job = team->spare;
    team->spare = NULL;
    pthread_mutex_unlock(&team->lock);
    if (job && job->cap >= threads)
        return job;
    job_free(job);
    job = aligned_alloc(alignof(struct job), sizeof *job);
    if (job) {
        memset(job, 0, sizeof *job);
        job->cap = threads;
        job->members = calloc(threads, sizeof(struct member *));
        job->stamps = aligned_alloc(alignof(struct as_team_span), threads * sizeof *job->stamps);
    }
    if (!job || !job->members || !job->stamps) {
        job_free(job);
        as_nomem(err, sizeof *job + threads * (sizeof(struct member *) + sizeof *job->stamps), "a launch");
        return NULL;
    }
    return job;
}

static void job_fill(const struct as_team *team, struct job *job, const struct as_team_job *from)
{
    bool enough = from->threads <= team->usable;
    job->threads = from->threads;
    job->run = from->run;
    job->reps = from->reps;
    job->barrier = from->barrier;
    job->next = NULL;
    atomic_store_explicit(&job->unfinished, (uint32_t)from->threads, memory_order_relaxed);
    job->meet.threads = (uint32_t)from->threads;
    job->meet.spin_ns = enough ? MEET_SPIN_NS : 0;
    /* With a thread on each CPU, a spinning one would block the caller. */
    job->idle_spin_ns = from->threads < team->usable ? IDLE_SPIN_NS : 0;
    for (size_t i = 0; i < from->args_n; i++) {
        job->values[i] = from->values[i];
        job->args[i] = from->is_memory[i] ? from->values[i].memory : (void *)&job->values[i];
    }
}

enum as_status as_team_submit(struct as_team *team, const struct as_team_job *from, struct as_error *err)
{
    if (from->threads == 0 || from->threads > AS_TEAM_THREADS_MAX)
        return as_fail(err, AS_USAGE, "%zu threads were requested; request 1 to %d", from->threads,
                       (int)AS_TEAM_THREADS_MAX);
    if (from->args_n > AS_TEAM_ARGS_MAX)
        return as_fail(err, AS_USAGE, "a kernel takes at most %d arguments, not %zu", (int)AS_TEAM_ARGS_MAX,
                       from->args_n);
    struct job *job = job_create(team, from->threads, err);
    if (!job)
        return AS_NOMEM;
    job_fill(team, job, from);
    enum as_status st = choose_members(team, job, from->cpus, err);
    if (st) {
        job_free(job);
        return st;
    }
    atomic_fetch_add(&team->pending, 1);
    pthread_mutex_lock(&team->lock);
    if (team->running)
        team->tail->next = job;
    else
        team->running = job;
    bool first = team->running == job;
    team->tail = job;
    if (first)
        dispatch(job);
    pthread_mutex_unlock(&team->lock);
    return AS_OK;
}

void as_team_wait(struct as_team *team, enum as_wait how, double *seconds)
{
    uint32_t n;
    if (how == AS_WAIT_BLOCK)
        atomic_store(&team->waiting, 1);
    while ((n = atomic_load(&team->pending)) != 0) {
        if (how == AS_WAIT_BLOCK)
            as_word_wait(&team->pending, n);
        else if (how == AS_WAIT_YIELD)
            sched_yield();
        else
            as_pause();
    }
    atomic_store(&team->waiting, 0);
    pthread_mutex_lock(&team->lock);
    if (seconds)
        *seconds = team->seconds;
    pthread_mutex_unlock(&team->lock);
}

enum as_status as_team_create(as_team_pin_fn pin, unsigned usable, struct as_team **out, struct as_error *err)
{
    struct as_team *team = aligned_alloc(alignof(struct as_team), sizeof *team);
    if (!team)
        return as_nomem(err, sizeof *team, "a team of threads");
    memset(team, 0, sizeof *team);
    team->pin = pin;
    team->usable = usable;
    int e = pthread_mutex_init(&team->lock, NULL);
    if (e) {
        free(team);
        return as_fail(err, AS_FAILED, "cannot create a lock: %s", strerror(e));
    }
    *out = team;
    return AS_OK;
}

void as_team_destroy(struct as_team *team)
{
    if (!team)
        return;
    as_team_wait(team, AS_WAIT_BLOCK, NULL);
    for (size_t i = 0; i < team->cpus_n; i++) {
        for (struct member *m = team->cpus[i].first; m;) {
            struct member *next = m->next;
            if (atomic_exchange(&m->mail, MAIL_QUIT) == MAIL_ASLEEP)
                as_word_wake_all(&m->mail);
            pthread_join(m->thread, NULL);
            free(m);
            m = next;
        }
    }
    job_free(team->spare);
    pthread_mutex_destroy(&team->lock);
    free(team->cpus);
    free(team);
}

size_t as_team_size(const struct as_team *team)
{
    return team->size;
}

uint64_t as_team_preemptions(const struct as_team *team)
{
    return atomic_load(&team->preemptions);
}
