/* Links between the nodes of a fleet, measured by MPI: rank 0 says what is measured next, one pair or several at once,
 * or all ranks together. */
#ifndef AS_FLEET_FLEET_LINKS_H
#define AS_FLEET_FLEET_LINKS_H

#include "fleet/fleet_memory.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum as_link_what {
    AS_LINK_LATENCY,   /* ping-pong, one way, ns */
    AS_LINK_BANDWIDTH, /* windows of messages from the first to the second rank, GB/s */
    AS_LINK_BOTH,      /* in both directions, their sum */
    AS_LINK_BISECTION, /* the lower half of ranks with the upper half, both directions, the sum of all pairs */
    AS_LINK_ALLREDUCE, /* of doubles over all ranks, ns */
    AS_LINK_WHATS
}; /* in the order of the words of axis `what` of probe node_link */
/* Is it of a pair rather than of all ranks? */
bool as_link_is_of_pair(enum as_link_what what);

enum { AS_LINK_SAMPLES = 12 };
/* Trials as rank 0 plans them. All ranks get it; its bytes are sent as they are. */
struct as_link_task {
    int32_t what;
    int32_t pairs;   /* how many are measured at once; 0: all ranks take part */
    uint64_t size;   /* bytes of a message */
    double sample_s; /* target */
    double left_s;   /* until the budget ends; INFINITY: none */
    int32_t seed;
    int32_t memory; /* enum as_link_memory_kind */
};
struct as_link_result {
    double samples[AS_LINK_SAMPLES];
    double sample_s, took_s; /* seconds of the last sample, and of the trial */
    uint64_t reps;
    int32_t n;      /* 0: budget or interrupt came before the first sample */
    int32_t window; /* messages under way at once; 0: one after the other */
    int32_t wrong;  /* bytes that did not arrive as sent, in a message to each side over poison; all-reduce: sums */
};
/* What rank 0 tells all at the beginning. */
struct as_link_extent {
    uint64_t most;  /* bytes of the largest message; 0: nothing is measured */
    uint64_t kinds; /* bit of each memory that is used */
};
/* Buffers of a rank, and the pairs of a task. */
struct as_link_rank {
    const struct as_mpi *mpi;
    struct as_link_memory *memory;
    const volatile sig_atomic_t *stop; /* this process's; a trial ends early where any of its ranks is stopped */
    double deadline;                   /* of the trial, as_now() */
    unsigned char *out, *in;           /* of the task's memory */
    unsigned char *image;              /* owned; the host's view of a message */
    int32_t *pairs;                    /* owned; two ranks each, of up to half of all ranks */
};
/* On all ranks: rank 0's extent reaches the others, and buffers are made. AS_FAILED: another rank has none. */
enum as_status as_link_rank_make(struct as_link_rank *r, const struct as_mpi *m, struct as_link_memory *memory,
                                 const volatile sig_atomic_t *stop, struct as_link_extent *extent,
                                 struct as_error *err);
void as_link_rank_finish(struct as_link_rank *r);
/* Of rank 0: trials of pairs that share no rank, all at once; pairs: task->pairs times two ranks, the lower first. out:
 * the result of each. Without pairs, of all ranks: one result. */
void as_link_measure(struct as_link_rank *r, const struct as_link_task *task, const int32_t *pairs,
                     struct as_link_result *out);
/* Of the other ranks, where the extent is not empty: takes part in all trials, until rank 0 ends them. */
void as_link_serve(struct as_link_rank *r);
/* Of rank 0, at the end. */
void as_link_end(struct as_link_rank *r);

#endif
