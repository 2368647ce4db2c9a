#include "fleet/fleet_links.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2, REPS_MAX = 1 << 20, BEYOND = 4096, SAMPLES_MIN = 3 };
/* Closed by the receiver with a small message, as the sender must not run ahead of it. */
enum { CLOSING = 4 };
/* Seconds of a slow link's repetition, beyond which its window is smaller than AS_MPI_WINDOW, and of its samples, of
 * which there are then fewer. */
static const double REPETITION_S = 0.25, SAMPLES_S = 1;

/* What the ranks of a trial do next, as its leader says. */
struct link_block {
    uint64_t reps; /* 0: the trial is over */
    int32_t window;
    int32_t fresh; /* 1: over poison, with contents of its own, which are compared */
};

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
                                 const volatile sig_atomic_t *stop, struct as_link_extent *extent, struct as_error *err)
{
    *r = (struct as_link_rank){.mpi = m, .memory = memory, .stop = stop};
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

/* What a rank sends: in a trial, or in the block that is compared. */
static unsigned char link_byte_at(const struct as_link_task *t, int fresh, int rank, size_t i)
{
    return (unsigned char)((uint64_t)t->seed + 101u * (unsigned)fresh + 31u * (uint64_t)rank + i * 7u + (i >> 8));
}

/* Sums of such whole numbers are exact. */
static double link_number_at(const struct as_link_task *t, int fresh, size_t i)
{
    return (double)((i + (size_t)t->seed + (size_t)fresh) % 1000 + 1);
}

/* Poisons what is received, and fills what is sent. What a device refuses, the comparison finds. */
static void link_fill(struct as_link_rank *r, const struct as_link_task *t, int fresh)
{
    const struct as_link_buffer *const out = &r->memory->out[t->memory], *const in = &r->memory->in[t->memory];
    r->out = out->address;
    r->in = in->address;
    for (size_t i = 0; i < t->size; i++)
        r->image[i] = (unsigned char)~link_byte_at(t, fresh, r->mpi->rank, i);
    (void)as_link_memory_write(r->memory, in, r->image, t->size, NULL);
    for (size_t i = 0; i < t->size; i++)
        r->image[i] = (unsigned char)~r->image[i];
    for (size_t i = 0; t->what == AS_LINK_ALLREDUCE && i < t->size / sizeof(double); i++)
        ((double *)(void *)r->image)[i] = link_number_at(t, fresh, i);
    (void)as_link_memory_write(r->memory, out, r->image, t->size, NULL);
}

static int32_t wrong_bytes(const struct as_link_rank *r, const struct as_link_task *t, int from)
{
    int32_t wrong = 0;
    for (size_t i = 0; i < t->size; i++)
        wrong += r->image[i] != link_byte_at(t, 1, from, i);
    return wrong;
}

static int32_t wrong_sums(const struct as_link_rank *r, const struct as_link_task *t)
{
    int32_t wrong = 0;
    for (size_t i = 0; i < t->size / sizeof(double); i++)
        wrong += ((const double *)(const void *)r->image)[i] != link_number_at(t, 1, i) * r->mpi->size;
    return wrong;
}

static void ping_pong(struct as_link_rank *r, const struct as_link_task *t, int peer, const struct link_block *b)
{
    const int n = (int)t->size;
    const bool begins = r->mpi->rank < peer;
    for (uint64_t i = 0; i < b->reps; i++) {
        if (begins)
            as_mpi_send(r->mpi, r->out, n, peer);
        as_mpi_recv(r->mpi, r->in, n, peer);
        if (!begins)
            as_mpi_send(r->mpi, r->out, n, peer);
    }
}

static void one_way_windows(struct as_link_rank *r, const struct as_link_task *t, int peer, const struct link_block *b)
{
    struct as_mpi_requests requests = {.n = 0};
    const bool sends = r->mpi->rank < peer;
    char closing[CLOSING] = {0};
    for (uint64_t i = 0; i < b->reps; i++) {
        for (int k = 0; k < b->window; k++)
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

static void both_windows(struct as_link_rank *r, const struct as_link_task *t, int peer, const struct link_block *b)
{
    struct as_mpi_requests requests = {.n = 0};
    for (uint64_t i = 0; i < b->reps; i++) {
        for (int k = 0; k < b->window; k++)
            as_mpi_start_recv(r->mpi, r->in, (int)t->size, peer, &requests);
        for (int k = 0; k < b->window; k++)
            as_mpi_start_send(r->mpi, r->out, (int)t->size, peer, &requests);
        as_mpi_wait(r->mpi, &requests);
    }
}

static void all_reduce(struct as_link_rank *r, const struct as_link_task *t, int peer, const struct link_block *b)
{
    const struct as_mpi *m = r->mpi;
    (void)peer;
    for (uint64_t i = 0; i < b->reps; i++)
        (void)m->all_reduce(r->out, r->in, (int)(t->size / sizeof(double)), m->real, m->sum, m->world);
}

static void (*const exchanges[AS_LINK_WHATS])(struct as_link_rank *, const struct as_link_task *, int,
                                              const struct link_block *) = {
    [AS_LINK_LATENCY] = ping_pong,      [AS_LINK_BANDWIDTH] = one_way_windows, [AS_LINK_BOTH] = both_windows,
    [AS_LINK_BISECTION] = both_windows, [AS_LINK_ALLREDUCE] = all_reduce,
};

static bool has_windows(const struct as_link_task *t)
{
    return t->what != AS_LINK_LATENCY && t->what != AS_LINK_ALLREDUCE;
}

static bool is_stopped(const struct as_link_rank *r)
{
    return *r->stop || as_now() >= r->deadline;
}

/* Both ranks of a pair begin a block together: the lower one says what it is. Returns whether either is stopped, which
 * only the lower one acts on. */
static bool pair_agree(const struct as_link_rank *r, int peer, struct link_block *b)
{
    int32_t stopped = is_stopped(r);
    if (r->mpi->rank < peer) {
        int32_t other = 0;
        as_mpi_send(r->mpi, b, sizeof *b, peer);
        as_mpi_recv(r->mpi, &other, sizeof other, peer);
        return stopped || other;
    }
    as_mpi_recv(r->mpi, b, sizeof *b, peer);
    as_mpi_send(r->mpi, &stopped, sizeof stopped, peer);
    return stopped;
}

/* Seconds of a block: of a pair by its lower rank, of a bisection by the slowest, of an all-reduce the mean of all.
 * *stopped is set where the trial must end, on all ranks that decide. */
static double link_time_block(struct as_link_rank *r, const struct as_link_task *t, int peer, struct link_block b,
                              bool *stopped)
{
    *stopped = t->pairs ? is_stopped(r) : as_mpi_max(r->mpi, is_stopped(r)) > 0; /* and so all begin together */
    if (*stopped)
        return NAN;
    if (t->pairs)
        *stopped = pair_agree(r, peer, &b);
    const double start = as_now();
    if (peer >= 0)
        exchanges[t->what](r, t, peer, &b);
    const double took = as_now() - start;
    if (t->pairs)
        return took;
    if (t->what != AS_LINK_ALLREDUCE)
        return as_mpi_max(r->mpi, took);
    double mean = as_mpi_sum(r->mpi, took) / r->mpi->size;
    as_mpi_broadcast(r->mpi, &mean, sizeof mean); /* a sum may differ in its last bit from rank to rank */
    return mean;
}

static double value_of(const struct as_link_rank *r, const struct as_link_task *t, double seconds,
                       const struct link_block *b)
{
    const double messages = (double)b->reps * b->window, bytes = (double)t->size * messages;
    const int pairs = r->mpi->size / 2;
    switch ((enum as_link_what)t->what) {
    case AS_LINK_LATENCY:
        return seconds / (double)b->reps / 2 * 1e9;
    case AS_LINK_ALLREDUCE:
        return seconds / (double)b->reps * 1e9;
    case AS_LINK_BANDWIDTH:
        return bytes / seconds / 1e9;
    case AS_LINK_BISECTION:
        return 2 * pairs * bytes / seconds / 1e9;
    default:
        return 2 * bytes / seconds / 1e9;
    }
}

/* Bytes that this rank got wrong in the block that is compared. */
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

/* A block that fits the link, by a message first: one that takes seconds is no reason to send 64 of them. *seconds of
 * it. One slow block is no measure, unless blocks are long. */
static struct link_block fit_block(struct as_link_rank *r, const struct as_link_task *t, int peer, double *seconds,
                                   bool *stopped)
{
    struct link_block b = {.reps = 1, .window = 1};
    *seconds = link_time_block(r, t, peer, b, stopped);
    if (*stopped || !(*seconds < REPETITION_S))
        return b;
    *seconds = link_time_block(r, t, peer, b, stopped); /* the first one sets the connection up */
    if (has_windows(t))
        b.window = (int32_t)fmax(1, fmin(AS_MPI_WINDOW, REPETITION_S / *seconds));
    while (!*stopped) {
        *seconds = link_time_block(r, t, peer, b, stopped);
        if (*seconds < t->sample_s && !*stopped)
            *seconds = fmin(*seconds, link_time_block(r, t, peer, b, stopped));
        if (!(*seconds < t->sample_s / 2) || b.reps >= REPS_MAX)
            break;
        b.reps *= *seconds < t->sample_s / 16 ? 8 : 2;
    }
    return b;
}

/* The blocks of a trial, of the rank that decides or, without pairs, of all: they know the same seconds, and so draw
 * the same conclusion. */
static void link_sample(struct as_link_rank *r, const struct as_link_task *t, int peer, struct as_link_result *out)
{
    double seconds = 0;
    bool stopped = false;
    const struct link_block b = fit_block(r, t, peer, &seconds, &stopped);
    const int samples = (int)fmax(SAMPLES_MIN, fmin(AS_LINK_SAMPLES, SAMPLES_S / fmax(seconds, 1e-9)));
    const int warm_up = samples < AS_LINK_SAMPLES ? 0 : WARM_UP;
    for (int i = -warm_up; i < samples && !stopped; i++) {
        seconds = link_time_block(r, t, peer, b, &stopped);
        if (i >= 0 && isfinite(seconds)) {
            out->samples[out->n++] = value_of(r, t, seconds, &b);
            out->sample_s = seconds;
        }
    }
    out->reps = b.reps;
    out->window = has_windows(t) ? b.window : 0;
}

/* A rank of a pair. The lower one has the result. */
static void pair_run_trial(struct as_link_rank *r, const struct as_link_task *t, int peer, struct as_link_result *out)
{
    struct link_block b = {.reps = 1, .window = 1, .fresh = 1};
    int32_t wrong = 0;
    if (r->mpi->rank > peer) {
        for ((void)pair_agree(r, peer, &b); b.reps; (void)pair_agree(r, peer, &b)) {
            if (b.fresh)
                link_fill(r, t, b.fresh);
            exchanges[t->what](r, t, peer, &b);
        }
        wrong = link_wrong(r, t, peer);
        as_mpi_send(r->mpi, &wrong, sizeof wrong, peer);
        return;
    }
    link_sample(r, t, peer, out);
    if (out->n) {
        link_fill(r, t, b.fresh);
        (void)pair_agree(r, peer, &b);
        exchanges[t->what](r, t, peer, &b);
    }
    b.reps = 0;
    (void)pair_agree(r, peer, &b);
    as_mpi_recv(r->mpi, &wrong, sizeof wrong, peer);
    out->wrong = wrong + link_wrong(r, t, peer);
}

/* A rank of all. */
static void all_run_trial(struct as_link_rank *r, const struct as_link_task *t, int peer, struct as_link_result *out)
{
    const struct link_block b = {.reps = 1, .window = 1, .fresh = 1};
    link_sample(r, t, peer, out);
    if (!out->n)
        return;
    link_fill(r, t, b.fresh);
    if (peer >= 0)
        exchanges[t->what](r, t, peer, &b);
    out->wrong = (int32_t)as_mpi_sum(r->mpi, link_wrong(r, t, peer));
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
    r->deadline = began + t->left_s;
    link_fill(r, t, 0);
    if (!t->pairs)
        all_run_trial(r, t, peer_among_all(r, t), &own);
    else if (at < t->pairs)
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
