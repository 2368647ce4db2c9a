#include "fleet/fleet_links.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2, REPS_MAX = 1 << 20, BEYOND = 4096 };
/* Closed by the receiver with a small message, as the sender must not run ahead of it. */
enum { CLOSING = 4 };

bool as_link_is_of_pair(enum as_link_what what)
{
    return what <= AS_LINK_BOTH;
}

static enum as_status make_buffers(struct as_link_rank *r, const struct as_link_extent *extent, struct as_error *err)
{
    /* more than a message, so that no end of a page is special */
    const uint64_t bytes = extent->most + BEYOND;
    r->image = calloc(1, bytes);
    r->pairs = calloc((size_t)r->mpi->size + 1, sizeof *r->pairs);
    enum as_status st = r->image && r->pairs ? AS_OK : as_nomem(err, bytes, "messages");
    for (int kind = 0; kind < AS_LINK_MEMORIES && !st; kind++)
        if (extent->kinds >> kind & 1)
            st = as_link_memory_alloc(r->memory, (enum as_link_memory_kind)kind, bytes, err);
    return st;
}

enum as_status as_link_rank_make(struct as_link_rank *r, const struct as_mpi *m, struct as_link_memory *memory,
                                 struct as_link_extent *extent, struct as_error *err)
{
    *r = (struct as_link_rank){.mpi = m, .memory = memory};
    as_mpi_broadcast(m, extent, sizeof *extent);
    if (!extent->most)
        return AS_OK;
    const enum as_status st = make_buffers(r, extent, err);
    const int failed = (int)as_mpi_max(m, st ? m->rank : -1);
    return st || failed < 0 ? st : as_fail(err, AS_FAILED, "rank %d could not allocate messages", failed);
}

void as_link_rank_finish(struct as_link_rank *r)
{
    free(r->image);
    free(r->pairs);
    *r = (struct as_link_rank){0};
}

/* What a rank sends in a trial. */
static unsigned char link_byte_at(const struct as_link_task *t, int rank, size_t i)
{
    return (unsigned char)((uint64_t)t->seed + 31u * (uint64_t)rank + i * 7u + (i >> 8));
}

/* Poisons what is received, and fills what is sent. What a device refuses, the comparison finds. */
static void link_fill(struct as_link_rank *r, const struct as_link_task *t)
{
    const struct as_link_buffer *const out = &r->memory->out[t->memory], *const in = &r->memory->in[t->memory];
    r->out = out->address;
    r->in = in->address;
    memset(r->image, 0, t->size);
    (void)as_link_memory_write(r->memory, in, r->image, t->size, NULL);
    for (size_t i = 0; i < t->size; i++)
        r->image[i] = link_byte_at(t, r->mpi->rank, i);
    for (size_t i = 0; t->what == AS_LINK_ALLREDUCE && i < t->size / sizeof(double); i++)
        ((double *)(void *)r->image)[i] = (double)(i % 1000);
    (void)as_link_memory_write(r->memory, out, r->image, t->size, NULL);
}

static int32_t wrong_bytes(const struct as_link_rank *r, const struct as_link_task *t, int from)
{
    int32_t wrong = 0;
    for (size_t i = 0; i < t->size; i++)
        wrong += r->image[i] != link_byte_at(t, from, i);
    return wrong;
}

static int32_t wrong_sums(const struct as_link_rank *r, const struct as_link_task *t)
{
    int32_t wrong = 0;
    for (size_t i = 0; i < t->size / sizeof(double); i++)
        wrong += ((const double *)(const void *)r->image)[i] != (double)(i % 1000) * r->mpi->size;
    return wrong;
}

static void ping_pong(struct as_link_rank *r, const struct as_link_task *t, int peer, uint64_t reps)
{
    const int n = (int)t->size;
    const bool begins = r->mpi->rank < peer;
    for (uint64_t i = 0; i < reps; i++) {
        if (begins)
            as_mpi_send(r->mpi, r->out, n, peer);
        as_mpi_recv(r->mpi, r->in, n, peer);
        if (!begins)
            as_mpi_send(r->mpi, r->out, n, peer);
    }
}

static void one_way_windows(struct as_link_rank *r, const struct as_link_task *t, int peer, uint64_t reps)
{
    struct as_mpi_requests requests = {.n = 0};
    const bool sends = r->mpi->rank < peer;
    char closing[CLOSING] = {0};
    for (uint64_t i = 0; i < reps; i++) {
        for (int k = 0; k < AS_MPI_WINDOW; k++)
            if (sends)
                as_mpi_start_send(r->mpi, r->out, (int)t->size, peer, &requests);
            else
                as_mpi_start_recv(r->mpi, r->in, (int)t->size, peer, &requests);
        as_mpi_wait(r->mpi, &requests);
        if (sends)
            as_mpi_recv(r->mpi, closing, CLOSING, peer);
        else
            as_mpi_send(r->mpi, closing, CLOSING, peer);
    }
}

static void both_windows(struct as_link_rank *r, const struct as_link_task *t, int peer, uint64_t reps)
{
    struct as_mpi_requests requests = {.n = 0};
    for (uint64_t i = 0; i < reps; i++) {
        for (int k = 0; k < AS_MPI_WINDOW; k++)
            as_mpi_start_recv(r->mpi, r->in, (int)t->size, peer, &requests);
        for (int k = 0; k < AS_MPI_WINDOW; k++)
            as_mpi_start_send(r->mpi, r->out, (int)t->size, peer, &requests);
        as_mpi_wait(r->mpi, &requests);
    }
}

static void all_reduce(struct as_link_rank *r, const struct as_link_task *t, int peer, uint64_t reps)
{
    const struct as_mpi *m = r->mpi;
    (void)peer;
    for (uint64_t i = 0; i < reps; i++)
        (void)m->all_reduce(r->out, r->in, (int)(t->size / sizeof(double)), m->real, m->sum, m->world);
}

static void (*const exchanges[AS_LINK_WHATS])(struct as_link_rank *, const struct as_link_task *, int, uint64_t) = {
    [AS_LINK_LATENCY] = ping_pong,      [AS_LINK_BANDWIDTH] = one_way_windows, [AS_LINK_BOTH] = both_windows,
    [AS_LINK_BISECTION] = both_windows, [AS_LINK_ALLREDUCE] = all_reduce,
};

/* Both ranks of a pair begin a block together: the lower one says how many repetitions it has, 0 for the end. */
static uint64_t pair_agree(const struct as_link_rank *r, int peer, uint64_t reps)
{
    char ready[CLOSING] = {0};
    if (r->mpi->rank < peer) {
        as_mpi_send(r->mpi, &reps, sizeof reps, peer);
        as_mpi_recv(r->mpi, ready, CLOSING, peer);
    } else {
        as_mpi_recv(r->mpi, &reps, sizeof reps, peer);
        as_mpi_send(r->mpi, ready, CLOSING, peer);
    }
    return reps;
}

/* Seconds of a block of repetitions: of a pair by its lower rank, of a bisection by the slowest, of an all-reduce the
 * mean of all. */
static double link_time_block(struct as_link_rank *r, const struct as_link_task *t, int peer, uint64_t reps)
{
    if (t->pairs)
        (void)pair_agree(r, peer, reps);
    else
        (void)r->mpi->barrier(r->mpi->world);
    const double start = as_now();
    if (peer >= 0)
        exchanges[t->what](r, t, peer, reps);
    const double took = as_now() - start;
    if (t->pairs)
        return took;
    if (t->what != AS_LINK_ALLREDUCE)
        return as_mpi_max(r->mpi, took);
    double mean = as_mpi_sum(r->mpi, took) / r->mpi->size;
    as_mpi_broadcast(r->mpi, &mean, sizeof mean); /* a sum may differ in its last bit from rank to rank */
    return mean;
}

static double value_of(const struct as_link_rank *r, const struct as_link_task *t, double seconds, uint64_t reps)
{
    const double messages = (double)reps * AS_MPI_WINDOW, bytes = (double)t->size * messages;
    const int pairs = r->mpi->size / 2;
    switch ((enum as_link_what)t->what) {
    case AS_LINK_LATENCY:
        return seconds / (double)reps / 2 * 1e9;
    case AS_LINK_ALLREDUCE:
        return seconds / (double)reps * 1e9;
    case AS_LINK_BANDWIDTH:
        return bytes / seconds / 1e9;
    case AS_LINK_BISECTION:
        return 2 * pairs * bytes / seconds / 1e9;
    default:
        return 2 * bytes / seconds / 1e9;
    }
}

/* Bytes that this rank got wrong. */
static int32_t link_wrong(const struct as_link_rank *r, const struct as_link_task *t, int peer)
{
    const struct as_link_buffer *const in = &r->memory->in[t->memory];
    if (as_link_memory_read(r->memory, in, r->image, t->size, NULL))
        return (int32_t)t->size;
    if (t->what == AS_LINK_ALLREDUCE)
        return wrong_sums(r, t);
    const bool receives = t->what != AS_LINK_BANDWIDTH || r->mpi->rank > peer;
    return peer >= 0 && receives ? wrong_bytes(r, t, peer) : 0;
}

/* The blocks of a trial, of the rank that decides or, without pairs, of all: they know the same seconds, and so draw
 * the same conclusion. One slow block is no measure. */
static void link_sample(struct as_link_rank *r, const struct as_link_task *t, int peer, struct as_link_result *out)
{
    uint64_t reps = 1;
    double seconds = 0;
    while ((seconds = fmin(link_time_block(r, t, peer, reps), link_time_block(r, t, peer, reps))) < t->sample_s / 2 &&
           reps < REPS_MAX)
        reps *= seconds < t->sample_s / 16 ? 8 : 2;
    for (int i = -WARM_UP; i < AS_LINK_SAMPLES; i++) {
        seconds = link_time_block(r, t, peer, reps);
        if (i >= 0)
            out->samples[out->n++] = value_of(r, t, seconds, reps);
    }
    out->reps = reps;
    out->sample_s = seconds;
}

/* A rank of a pair. The lower one has the result. */
static void pair_run_trial(struct as_link_rank *r, const struct as_link_task *t, int peer, struct as_link_result *out)
{
    const bool leads = r->mpi->rank < peer;
    int32_t wrong = 0;
    if (leads) {
        link_sample(r, t, peer, out);
        (void)pair_agree(r, peer, 0);
        as_mpi_recv(r->mpi, &wrong, sizeof wrong, peer);
        out->wrong = wrong + link_wrong(r, t, peer);
        return;
    }
    for (uint64_t reps; (reps = pair_agree(r, peer, 0)) > 0;)
        exchanges[t->what](r, t, peer, reps);
    wrong = link_wrong(r, t, peer);
    as_mpi_send(r->mpi, &wrong, sizeof wrong, peer);
}

/* The pair of the task that this rank is in; task->pairs: none. */
static int pair_of(const struct as_link_rank *r, const struct as_link_task *t)
{
    int i = 0;
    while (i < t->pairs && r->pairs[2 * i] != r->mpi->rank && r->pairs[2 * i + 1] != r->mpi->rank)
        i++;
    return i;
}

/* The rank of the other half in a bisection; this one in an all-reduce; -1: none. */
static int peer_among_all(const struct as_link_rank *r, const struct as_link_task *t)
{
    const int rank = r->mpi->rank, half = r->mpi->size / 2;
    if (t->what == AS_LINK_ALLREDUCE)
        return rank;
    return rank < half ? rank + half : rank < 2 * half ? rank - half : -1;
}

/* Of any rank. out: of rank 0 all results, of another at least one. */
static void link_run_trials(struct as_link_rank *r, const struct as_link_task *t, struct as_link_result *out)
{
    const double began = as_now();
    struct as_link_result own = {.n = 0};
    const int at = pair_of(r, t);
    link_fill(r, t);
    if (!t->pairs) {
        const int peer = peer_among_all(r, t);
        link_sample(r, t, peer, &own);
        own.wrong = (int32_t)as_mpi_sum(r->mpi, link_wrong(r, t, peer));
    } else if (at < t->pairs)
        pair_run_trial(r, t, r->pairs[2 * at] == r->mpi->rank ? r->pairs[2 * at + 1] : r->pairs[2 * at], &own);
    own.took_s = as_now() - began;
    if (r->mpi->rank && at < t->pairs && r->pairs[2 * at] == r->mpi->rank)
        as_mpi_send(r->mpi, &own, sizeof own, 0);
    for (int i = 0; i < t->pairs && !r->mpi->rank; i++)
        if (i != at)
            as_mpi_recv(r->mpi, &out[i], sizeof *out, r->pairs[2 * i]);
    if (!r->mpi->rank && (!t->pairs || at < t->pairs))
        out[t->pairs ? at : 0] = own;
}

static void link_announce(struct as_link_rank *r, struct as_link_task *t)
{
    as_mpi_broadcast(r->mpi, t, sizeof *t);
    if (t->pairs)
        as_mpi_broadcast(r->mpi, r->pairs, 2 * t->pairs * (int)sizeof *r->pairs);
}

void as_link_measure(struct as_link_rank *r, const struct as_link_task *task, const int32_t *pairs,
                     struct as_link_result *out)
{
    struct as_link_task t = *task;
    if (t.pairs)
        memcpy(r->pairs, pairs, 2 * (size_t)t.pairs * sizeof *pairs);
    link_announce(r, &t);
    link_run_trials(r, &t, out);
}

void as_link_end(struct as_link_rank *r)
{
    struct as_link_task last = {.what = -1};
    as_mpi_broadcast(r->mpi, &last, sizeof last);
}

void as_link_serve(struct as_link_rank *r)
{
    struct as_link_task t;
    struct as_link_result own;
    for (link_announce(r, &t); t.what >= 0; link_announce(r, &t))
        link_run_trials(r, &t, &own);
}
