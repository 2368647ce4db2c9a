/* Kernels that time themselves: each workgroup writes a record of its result, time and compute unit. If kernels have no
 * clock, the time is that of the launch minus that of an empty launch. */
#ifndef AS_LIB_KERNEL_TIMER_KERNEL_TIMER_H
#define AS_LIB_KERNEL_TIMER_KERNEL_TIMER_H

#include "lib/buffers/buffers.h"

#include <string.h>

/* The same layout as in the kernels: see timed_record in record.kernel. */
struct as_record {
    uint64_t value;         /* the workgroup's result: a position, a sum */
    uint64_t cycles, nanos; /* between start and end */
    uint64_t unit;          /* 1 + unit id, 0 if unknown */
    uint64_t has;           /* AS_HAS_... */
    uint64_t start, end;    /* cycle counter of the compute unit */
    uint64_t more;
};
enum { AS_HAS_CYCLES = 1, AS_HAS_NANOS = 2, AS_HAS_UNIT = 4, AS_HAS_SHARED = 8 }; /* SHARED: launches may request it */

struct as_kernel_timer {
    struct as_device *dev;
    struct as_buffers own;    /* released by as_kernel_timer_finish */
    struct as_memory *memory; /* the records */
    struct as_record *record; /* as read after a launch */
    size_t records;
    double overhead_s;        /* of an empty launch */
    struct as_memory *choice; /* set by as_kernel_timer_pin_unit, needed by all kernels that use PART */
    bool tells_unit;
    uint32_t unit; /* 1 + id of the compute unit for launches of one workgroup, 0: any */
    struct as_kernel *sweep, *alone;
};
/* Builds `head` and `source` after the common definitions. records: workgroups of the largest launch. */
enum as_status as_kernel_timer_prepare(struct as_kernel_timer *t, struct as_device *dev, const char *name,
                                       const char *head, const char *source, const char *defines, size_t records,
                                       struct as_error *err);
/* The same for native CPU kernels, which write such records too. */
enum as_status as_kernel_timer_prepare_host(struct as_kernel_timer *t, struct as_device *dev, const char *name,
                                            const struct as_host_kernel *kernels, size_t records, struct as_error *err);
enum as_status as_kernel_timer_kernel(struct as_kernel_timer *t, const char *name, struct as_kernel **out,
                                      struct as_error *err);
/* A kernel, and a block of device memory; as_kernel_timer_finish frees them. */
enum as_status as_kernel_timer_keep_kernel(struct as_kernel_timer *t, const char *name, struct as_kernel **out,
                                           struct as_error *err);
enum as_status as_kernel_timer_keep_memory(struct as_kernel_timer *t, uint64_t bytes, struct as_memory **out,
                                           struct as_error *err);
/* Runs a one-off kernel that writes no record. */
enum as_status as_kernel_timer_once(struct as_kernel_timer *t, const char *name, const struct as_arg *args, size_t n,
                                    size_t workgroups, size_t threads, struct as_error *err);
/* Launches once, waits, reads the records of the launch's workgroups. *seconds: by the host or the device's events.
 */
enum as_status as_kernel_timer_launch(struct as_kernel_timer *t, const struct as_launch *launch, double *seconds,
                                      struct as_error *err);
/* After this, as_kernel_timer_launch runs launches of one workgroup alone on this compute unit, if kernels have unit
 * ids. Larger launches use all compute units. The kernels take t->choice as argument 1 and use PART (record.kernel).
 * Compute units differ in their distance from L2, so comparable numbers use the same one. */
enum { AS_TIMER_UNIT = 0 }; /* the default of all probes */
enum as_status as_kernel_timer_pin_unit(struct as_kernel_timer *t, uint32_t unit, struct as_error *err);
/* Notes the compute unit, if one is chosen. */
void as_kernel_timer_note(struct as_trial_context *tc, const struct as_kernel_timer *t);
/* For launches without as_kernel_timer_launch. aim: the grid for `wanted` workgroups. hit: after the launch, and with
 * record[0] read, whether it ran on the compute unit. gave_up: the error after AS_TIMER_TRIES misses. */
enum { AS_TIMER_TRIES = 8 };
enum as_status as_kernel_timer_aim(struct as_kernel_timer *t, const struct as_launch *wanted, struct as_launch *aimed,
                                   struct as_error *err);
bool as_kernel_timer_hit(const struct as_kernel_timer *t, const struct as_launch *wanted);
enum as_status as_kernel_timer_gave_up(const struct as_kernel_timer *t, struct as_error *err);
/* Empty launches, several times: the overhead. */
enum as_status as_kernel_timer_overhead(struct as_kernel_timer *t, const struct as_launch *nothing,
                                        struct as_error *err);
/* AS_UNSUPPORTED if the last launch shows that the device's kernels lack one of these. */
enum as_status as_kernel_timer_need(const struct as_kernel_timer *t, unsigned has, struct as_error *err);
/* Seconds measured by workgroup 0, or those of the launch without its overhead; and its clock, NAN if unknown. */
double as_kernel_timer_seconds(const struct as_kernel_timer *t, double launch_s);
double as_kernel_timer_clock(const struct as_kernel_timer *t);
/* Cycles from first start to last end on the slowest compute unit of the last launch; 0 unless each compute unit had
 * resident_workgroups workgroups. */
double as_kernel_timer_longest(const struct as_kernel_timer *t, size_t workgroups, size_t resident_workgroups);
void as_kernel_timer_finish(void *state);

/* For programs with as_kernel_sweep as their head: all compute units read a whole block into L2 (or the end of it). No
 * word of it may be 1. */
extern const char as_kernel_sweep[];
enum as_status as_kernel_timer_sweep(struct as_kernel_timer *t, struct as_memory *block, struct as_error *err);
/* The chosen compute unit reads the first word of elements `stride` bytes apart (a multiple of 8), `times` times: a
 * partitioned L2 then copies far lines into the near partition. Call as_kernel_timer_pin_unit before. */
enum as_status as_kernel_timer_sweep_alone(struct as_kernel_timer *t, struct as_memory *block, uint64_t elements,
                                           uint64_t stride, int times, struct as_error *err);
/* A block so large that sweeping it evicts everything else from L2. It is kept. */
enum as_status as_kernel_timer_evictor(struct as_kernel_timer *t, struct as_memory **out, struct as_error *err);
/* One such sweep, over a block that is freed right after. */
enum as_status as_kernel_timer_evict(struct as_kernel_timer *t, struct as_error *err);

#endif
