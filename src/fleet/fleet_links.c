#include "fleet/fleet_links.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2, REPS_MAX = 1 << 20 };
/* Closed by the receiver with a small message, as the sender must not run ahead of it. */
enum { CLOSING = 4 };

enum as_status as_link_rank_make(struct as_link_rank *r, const struct as_mpi *m, uint64_t most, struct as_error *err)
{
    *r = (struct as_link_rank){.mpi = m, .most = most};
    /* touched, and by more than a message, so that no end of a page is special */
    r->out = calloc(1, most + 4096);
    r->in = calloc(1, most + 4096);
    return r->out && r->in ? AS_OK : as_nomem(err, 2 * most, "messages");
}

void as_link_rank_finish(struct as_link_rank *r)
{
    free(r->out);
    free(r->in);
    *r = (struct as_link_rank){0};
}

/* What a rank sends in a trial. */
static unsigned char link_byte_at(const struct as_link_task *t, int rank, size_t i)
{
    return (unsigned char)((uint64_t)t->seed + 31u * (uint64_t)rank + i * 7u + (i >> 8));
}

static void link_fill(struct as_link_rank *r, const struct as_link_task *t)
{
    for (size_t i = 0; i < t->size; i++)
        r->out[i] = link_byte_at(t, r->mpi->rank, i);
    memset(r->in, 0, t->size);
}

static int32_t wrong_bytes(const struct as_link_rank *r, const struct as_link_task *t, int from)
{
    int32_t wrong = 0;
    for (size_t i = 0; i < t->size; i++)
        wrong += r->in[i] != link_byte_at(t, from, i);
    return wrong;
}

static void ping_pong(struct as_link_rank *r, const struct as_link_task *t, int peer, bool begins, uint64_t reps)
{
    const int n = (int)t->size;
    for (uint64_t i = 0; i < reps; i++) {
        if (begins)
            as_mpi_send(r->mpi, r->out, n, peer);
        as_mpi_recv(r->mpi, r->in, n, peer);
        if (!begins)
            as_mpi_send(r->mpi, r->out, n, peer);
    }
}

static void link_send_windows(struct as_link_rank *r, const struct as_link_task *t, int peer, bool sends, uint64_t reps)
{
    struct as_mpi_requests requests = {.n = 0};
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

static void all_reduce(struct as_link_rank *r, const struct as_link_task *t, uint64_t reps)
{
    const struct as_mpi *m = r->mpi;
    for (uint64_t i = 0; i < reps; i++)
        (void)m->all_reduce(r->out, r->in, (int)(t->size / sizeof(double)), m->real, m->sum, m->world);
}

/* The rank that this one exchanges messages with; -1: it waits. */
static int peer_of(const struct as_link_rank *r, const struct as_link_task *t)
{
    const int rank = r->mpi->rank, half = r->mpi->size / 2;
    if (t->what == AS_LINK_ALLREDUCE)
        return rank;
    if (t->what == AS_LINK_BISECTION)
        return rank < half ? rank + half : rank < 2 * half ? rank - half : -1;
    return rank == t->first ? t->second : rank == t->second ? t->first : -1;
}

/* Seconds of a block of repetitions: of a pair by its first rank, of a bisection by the slowest, of an all-reduce the
 * mean of all. */
static double link_time_block(struct as_link_rank *r, const struct as_link_task *t, int peer, uint64_t reps)
{
    const bool begins = r->mpi->rank < peer, is_pair = t->what <= AS_LINK_BOTH;
    (void)r->mpi->barrier(r->mpi->world);
    const double start = as_now();
    if (peer >= 0 && t->what == AS_LINK_LATENCY)
        ping_pong(r, t, peer, begins, reps);
    else if (peer >= 0 && t->what == AS_LINK_BANDWIDTH)
        link_send_windows(r, t, peer, begins, reps);
    else if (peer >= 0 && t->what != AS_LINK_ALLREDUCE)
        both_windows(r, t, peer, reps);
    else if (t->what == AS_LINK_ALLREDUCE)
        all_reduce(r, t, reps);
    const double took = as_now() - start;
    if (t->what == AS_LINK_ALLREDUCE)
        return as_mpi_sum(r->mpi, took) / r->mpi->size;
    return as_mpi_max(r->mpi, !is_pair || r->mpi->rank == t->first ? took : 0);
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

static int32_t link_check(const struct as_link_rank *r, const struct as_link_task *t, int peer)
{
    const bool receives = t->what != AS_LINK_BANDWIDTH || r->mpi->rank == t->second;
    const bool compares = peer >= 0 && receives && t->what != AS_LINK_ALLREDUCE;
    int32_t wrong = compares ? wrong_bytes(r, t, peer) : 0;
    if (t->what == AS_LINK_ALLREDUCE)
        for (size_t i = 0; i < t->size / sizeof(double); i++)
            wrong += ((const double *)(const void *)r->in)[i] != (double)(i % 1000) * r->mpi->size;
    return (int32_t)as_mpi_sum(r->mpi, wrong);
}

static void link_run_trial(struct as_link_rank *r, const struct as_link_task *t, struct as_link_result *out)
{
    const double began = as_now();
    const int peer = peer_of(r, t);
    uint64_t reps = 1;
    double seconds = 0;
    *out = (struct as_link_result){.n = 0};
    link_fill(r, t);
    for (size_t i = 0; t->what == AS_LINK_ALLREDUCE && i < t->size / sizeof(double); i++)
        ((double *)(void *)r->out)[i] = (double)(i % 1000);
    /* All ranks know the same seconds, and so draw the same conclusion. One slow block is no measure. */
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
    out->wrong = link_check(r, t, peer);
    out->took_s = as_now() - began;
}

void as_link_measure(struct as_link_rank *r, const struct as_link_task *task, struct as_link_result *out)
{
    struct as_link_task t = *task;
    as_mpi_broadcast(r->mpi, &t, sizeof t);
    link_run_trial(r, &t, out);
}

void as_link_end(struct as_link_rank *r)
{
    struct as_link_task last = {.what = -1};
    as_mpi_broadcast(r->mpi, &last, sizeof last);
}

void as_link_serve(struct as_link_rank *r)
{
    struct as_link_task t;
    struct as_link_result result;
    for (as_mpi_broadcast(r->mpi, &t, sizeof t); t.what >= 0; as_mpi_broadcast(r->mpi, &t, sizeof t))
        link_run_trial(r, &t, &result);
}

static int by_ranks(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

enum as_status as_link_pairs(int ranks, int all_up_to, uint64_t seed, int (**pairs)[2], size_t *n, struct as_error *err)
{
    const bool is_all = ranks <= all_up_to;
    const size_t most = is_all ? (size_t)ranks * (size_t)ranks / 2 + 1 : (size_t)all_up_to * (size_t)(ranks / 2) + 1;
    int *order = malloc(((size_t)ranks + 1) * sizeof *order);
    struct as_rng rng;
    *n = 0;
    *pairs = malloc(most * sizeof **pairs);
    if (!*pairs || !order) {
        free(order);
        return as_nomem(err, most * sizeof **pairs, "pairs of ranks");
    }
    for (int i = 0; i < ranks && is_all; i++)
        for (int k = i + 1; k < ranks; k++, ++*n)
            (*pairs)[*n][0] = i, (*pairs)[*n][1] = k;
    as_rng_seed(&rng, seed);
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int round = 0; round < all_up_to && !is_all; round++) {
        as_rng_shuffle(&rng, order, (size_t)ranks, sizeof *order);
        for (int i = 0; i + 1 < ranks; i += 2, ++*n) {
            (*pairs)[*n][0] = order[i] < order[i + 1] ? order[i] : order[i + 1];
            (*pairs)[*n][1] = order[i] < order[i + 1] ? order[i + 1] : order[i];
        }
    }
    if (*n)
        qsort(*pairs, *n, sizeof **pairs, by_ranks);
    size_t kept = 0; /* a matching may repeat a pair */
    for (size_t i = 0; i < *n; i++)
        if (!kept || by_ranks((*pairs)[i], (*pairs)[kept - 1]) != 0)
            memcpy((*pairs)[kept++], (*pairs)[i], sizeof **pairs);
    *n = kept;
    free(order);
    return AS_OK;
}
