/* A pool of threads, each pinned to one logical CPU, grouped into teams by launches. Jobs run in submission order. One
 * thread at a time may call these functions; jobs run on the pool's threads. */
#ifndef AS_DEVICE_CPU_TEAM_H
#define AS_DEVICE_CPU_TEAM_H

#include "device/device.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_TEAM_THREADS_MAX = 4096, AS_TEAM_ARGS_MAX = 32 };

struct as_team;
/* pin binds the calling thread to a CPU; each new thread calls it, so it must be thread-safe. usable:
 * number of logical CPUs available; waiting threads spin only while they do not outnumber them. */
typedef bool (*as_team_pin_fn)(int cpu);
enum as_status as_team_create(as_team_pin_fn pin, unsigned usable, struct as_team **out, struct as_error *err);
void as_team_destroy(struct as_team *team); /* waits for queued jobs; accepts NULL */

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
    const bool *is_memory; /* true: the value is passed as it is; false: a pointer to it */
    size_t args_n;
    const int *cpus; /* one per thread */
    size_t threads;
    uint64_t reps;
    bool barrier; /* before each repetition */
};
/* Queues the job behind earlier ones and returns. Creates missing threads. */
enum as_status as_team_submit(struct as_team *team, const struct as_team_job *job, struct as_error *err);
/* Waits for all submitted jobs. *seconds (if not NULL): duration of the last job, from the first thread's start to the
 * last thread's end. */
void as_team_wait(struct as_team *team, enum as_wait how, double *seconds);
/* Involuntary context switches while kernels ran, and kernels in which a thread started late. */
uint64_t as_team_preemptions(const struct as_team *team);
/* When a thread ran its part of a kernel, in ns; each on cache lines of its own. */
struct as_team_span {
    alignas(128) uint64_t start, end;
};
/* Did a thread start so long after another that the kernel took notably longer? It then waited for its CPU, which no
 * involuntary switch shows, since it had slept before. */
bool as_team_started_late(const struct as_team_span *spans, size_t n);
size_t as_team_size(const struct as_team *team); /* number of threads */

#endif
