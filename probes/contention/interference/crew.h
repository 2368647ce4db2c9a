/* CPU threads that work beside the calling thread, each pinned to a CPU. They end with the trial, so that a low
 * priority, which many systems do not let a thread raise again, stays with them. Between two runs they sleep. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_CREW_H
#define AS_PROBES_CONTENTION_INTERFERENCE_CREW_H

#include "priority.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct crew;
struct crew_desc {
    unsigned threads;
    const int *cpus; /* one per thread */
    const struct priority *priority;
    unsigned load; /* percent of the time in which a thread works; 100: without pauses */
    /* Does one piece of work, a few to some 100 microseconds long; returns the amount of work. */
    uint64_t (*piece)(void *user, unsigned thread);
    void *user;
    double patience_s; /* how long a piece may take before the thread counts as stopped */
};
/* Returns when all threads run and have their priority; AS_UNSUPPORTED where the system refuses it. */
enum as_status as_crew_create(const struct crew_desc *desc, struct crew **out, struct as_error *err);
void as_crew_destroy(struct crew *c); /* accepts NULL */

/* Each thread does this many pieces; 0: until as_crew_stop. */
void as_crew_begin(struct crew *c, uint64_t pieces);
bool as_crew_ended(struct crew *c);
/* Waits until all threads sleep again. from, to: the first thread's start and the last thread's end, by as_now. */
void as_crew_wait(struct crew *c, double *from, double *to);
void as_crew_stop(struct crew *c);
uint64_t as_crew_work(const struct crew *c); /* of all threads until now */
/* Waits until each thread has completed another piece; AS_FAILED if one does not. */
enum as_status as_crew_progress(struct crew *c, struct as_error *err);

#endif
