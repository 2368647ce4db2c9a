/* A pool of threads, each pinned to one logical CPU, grouped into teams by launches. Jobs run in submission order. Used
 * by one thread at a time, except for as_team_run's functions. */
#ifndef AS_DEVICE_CPU_TEAM_H
#define AS_DEVICE_CPU_TEAM_H

#include "device/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_TEAM_THREADS_MAX = 4096, AS_TEAM_ARGS_MAX = 32 };

struct as_team;
/* pin puts the calling thread on a CPU and is called in each new thread; it may be called by several at once. usable:
 * how many logical CPUs there are to run on at the same time; waiting threads spin only while there are enough. */
typedef bool (*as_team_pin_fn)(void *user, int cpu);
enum as_status as_team_create(as_team_pin_fn pin, void *user, unsigned usable, struct as_team **out,
                              struct as_error *err);
void as_team_destroy(struct as_team *team); /* waits for what is queued; takes NULL */

/* An argument's value, copied into the job. */
union as_team_value {
    void *memory;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
};
struct as_team_job {
    void (*run)(const struct as_host_call *call);
    const union as_team_value *values;
    const bool *is_memory; /* the value itself is the argument; else a pointer to it */
    size_t args_n;
    const int *cpus; /* one of each thread */
    size_t threads;
    uint64_t reps;
    bool barrier; /* all threads meet before each repetition */
};
/* Starts the job when those before it are done, and returns. Creates threads that are missing. */
enum as_status as_team_submit(struct as_team *team, const struct as_team_job *job, struct as_error *err);
/* Until all that was submitted is done. *seconds (when not NULL): of the last job, from the first thread's start to the
 * last thread's end. */
void as_team_wait(struct as_team *team, enum as_wait how, double *seconds);
uint64_t as_team_preemptions(const struct as_team *team); /* involuntary context switches while kernels ran */
size_t as_team_size(const struct as_team *team);          /* threads that exist */

#endif
