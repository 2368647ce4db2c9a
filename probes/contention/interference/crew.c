#include "crew.h"

#include "base/clock.h"
#include "os/cpus.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const double LOOK_S = 20e-6;

struct member {
    _Alignas(128) _Atomic uint64_t pieces;
    _Atomic uint64_t work;
    double from, to; /* of the last run */
    struct crew *crew;
    unsigned index;
    pthread_t thread;
};

struct crew {
    struct crew_desc desc;
    unsigned started;     /* threads that were created */
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t wake, asleep;
    uint64_t run, pieces; /* number of the run; pieces per thread */
    unsigned sleeping;
    int refused; /* errno of the priority */
    bool unpinned, quit;
    _Alignas(128) _Atomic bool stop;
    _Atomic unsigned arrived;
    struct member *members;
};

static void make_pieces(struct member *m, uint64_t pieces)
{
    struct crew *c = m->crew;
    const double gap = 100.0 / c->desc.load - 1;
    atomic_fetch_add(&c->arrived, 1);
    while (atomic_load_explicit(&c->arrived, memory_order_acquire) < c->desc.threads)
        as_relax();
    m->from = as_now();
    double before = m->from;
    for (uint64_t k = 0; (pieces == 0 || k < pieces) && !atomic_load_explicit(&c->stop, memory_order_relaxed); k++) {
        const uint64_t work = c->desc.piece(c->desc.user, m->index);
        atomic_fetch_add_explicit(&m->work, work, memory_order_relaxed);
        atomic_fetch_add_explicit(&m->pieces, 1, memory_order_release);
        if (c->desc.load < 100) {
            const double now = as_now(), until = now + (now - before) * gap;
            while (as_now() < until)
                as_relax();
            before = as_now();
        }
    }
    m->to = as_now();
}

static bool interference_settle(const struct crew_desc *d, unsigned index, int *refused)
{
    struct as_cpus one = {{0}};
    as_cpus_add(&one, d->cpus[index]);
    *refused = d->priority->set ? d->priority->set() : 0;
    return as_thread_keep_on(&one);
}

static void *member_main(void *arg)
{
    struct member *m = arg;
    struct crew *c = m->crew;
    int refused;
    const bool pinned = interference_settle(&c->desc, m->index, &refused);
    pthread_mutex_lock(&c->lock);
    c->unpinned |= !pinned;
    c->refused = refused ? refused : c->refused;
    for (uint64_t seen = 0;;) {
        if (++c->sleeping == c->desc.threads)
            pthread_cond_broadcast(&c->asleep);
        while (c->run == seen && !c->quit)
            pthread_cond_wait(&c->wake, &c->lock);
        if (c->quit)
            break;
        seen = c->run;
        const uint64_t pieces = c->pieces;
        pthread_mutex_unlock(&c->lock);
        make_pieces(m, pieces);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static enum as_status start_threads(struct crew *c, struct as_error *err)
{
    for (unsigned i = 0; i < c->desc.threads; i++) {
        struct member *m = &c->members[i];
        m->crew = c;
        m->index = i;
        const int e = pthread_create(&m->thread, NULL, member_main, m);
        if (e)
            return as_fail(err, AS_FAILED, "cannot start thread %u: %s", i + 1, strerror(e));
        c->started++;
    }
    double unused;
    as_crew_wait(c, &unused, &unused);
    if (c->refused)
        return as_fail(err, AS_UNSUPPORTED, "this process may not use %s: %s", c->desc.priority->title,
                       strerror(c->refused));
    if (c->unpinned)
        return as_fail(err, AS_UNSUPPORTED, "a thread cannot be bound to its CPU");
    return AS_OK;
}

enum as_status as_crew_create(const struct crew_desc *desc, struct crew **out, struct as_error *err)
{
    struct crew *c = *out = aligned_alloc(_Alignof(struct crew), sizeof *c);
    if (!c)
        return as_nomem(err, sizeof *c, "threads");
    memset(c, 0, sizeof *c);
    c->desc = *desc;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    pthread_cond_init(&c->asleep, NULL);
    c->members = aligned_alloc(_Alignof(struct member), desc->threads * sizeof *c->members);
    if (!c->members)
        return as_nomem(err, desc->threads * sizeof *c->members, "threads");
    memset(c->members, 0, desc->threads * sizeof *c->members);
    return start_threads(c, err);
}

void as_crew_destroy(struct crew *c)
{
    if (!c)
        return;
    atomic_store(&c->stop, true);
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
    for (unsigned i = 0; i < c->started; i++)
        pthread_join(c->members[i].thread, NULL);
    pthread_cond_destroy(&c->asleep);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    free(c->members);
    free(c);
}

void as_crew_begin(struct crew *c, uint64_t pieces)
{
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->stop, false);
    atomic_store(&c->arrived, 0);
    c->sleeping = 0;
    c->pieces = pieces;
    c->run++;
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

bool as_crew_ended(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    const bool ended = c->sleeping == c->desc.threads;
    pthread_mutex_unlock(&c->lock);
    return ended;
}

void as_crew_wait(struct crew *c, double *from, double *to)
{
    pthread_mutex_lock(&c->lock);
    while (c->sleeping < c->desc.threads)
        pthread_cond_wait(&c->asleep, &c->lock);
    *from = c->members[0].from;
    *to = c->members[0].to;
    for (unsigned i = 1; i < c->desc.threads; i++) {
        *from = c->members[i].from < *from ? c->members[i].from : *from;
        *to = c->members[i].to > *to ? c->members[i].to : *to;
    }
    pthread_mutex_unlock(&c->lock);
}

void as_crew_stop(struct crew *c)
{
    double unused;
    atomic_store(&c->stop, true);
    as_crew_wait(c, &unused, &unused);
}

uint64_t as_crew_work(const struct crew *c)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < c->desc.threads; i++)
        sum += atomic_load_explicit(&c->members[i].work, memory_order_relaxed);
    return sum;
}

enum as_status as_crew_progress(struct crew *c, struct as_error *err)
{
    const double end = as_now() + c->desc.patience_s;
    uint64_t seen[1024];
    const unsigned n = c->desc.threads < 1024 ? c->desc.threads : 1024;
    for (unsigned i = 0; i < n; i++)
        seen[i] = atomic_load_explicit(&c->members[i].pieces, memory_order_acquire);
    for (unsigned i = 0; i < n; i++)
        while (atomic_load_explicit(&c->members[i].pieces, memory_order_acquire) == seen[i]) {
            if (as_now() > end)
                return as_fail(err, AS_FAILED, "thread %u of the aggressor made no progress for %.1f s", i + 1,
                               c->desc.patience_s);
            as_sleep(LOOK_S);
        }
    return AS_OK;
}
