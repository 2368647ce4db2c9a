/* Kernels that time themselves: each group writes one record of what it did, when, and on which unit. Where a device's
 * kernels have no clock the time is that of the launch, less that of a launch that does nothing. */
#ifndef AS_LIB_TIMED_TIMED_H
#define AS_LIB_TIMED_TIMED_H

#include "lib/prepare/prepare.h"

#include <string.h>

/* The same layout as in the kernels: see timed_record in timed.kernel. */
enum { AS_RECORD_WORDS = 8 };
struct as_record {
    uint64_t value;         /* what the group came to: a position, a sum */
    uint64_t cycles, nanos; /* between start and end */
    uint64_t unit;          /* 1 + number of the unit, 0 where it is not told */
    uint64_t has;           /* AS_HAS_... */
    uint64_t start, end;    /* cycle counter of the unit */
    uint64_t more;
};
enum { AS_HAS_CYCLES = 1, AS_HAS_NANOS = 2, AS_HAS_UNIT = 4, AS_HAS_LOCAL = 8 }; /* LOCAL: a launch may ask for it */

enum { AS_TIMED_KEPT = 24 };
struct as_timed {
    struct as_device *dev;
    struct as_program *program;
    struct as_memory *memory; /* the records */
    struct as_record *record; /* as read after a launch */
    size_t records;
    double overhead_s;        /* of a launch that does nothing */
    struct as_memory *choice; /* set by as_timed_stand, which all kernels that ask for their PART need */
    bool tells_unit;
    uint32_t unit; /* 1 + number of the one on which launches of one group run, 0: whichever */
    struct as_kernel *kernels[AS_TIMED_KEPT], *sweep, *alone;
    struct as_memory *blocks[AS_TIMED_KEPT];
    size_t kernels_n, blocks_n;
};
/* Builds `head` and then `source` behind the words that the kernels share. records: groups of the largest launch. */
enum as_status as_timed_prepare(struct as_timed *t, struct as_device *dev, const char *name, const char *head,
                                const char *source, const char *defines, size_t records, struct as_error *err);
/* The same of a CPU's native kernels, which write such records too. */
enum as_status as_timed_prepare_host(struct as_timed *t, struct as_device *dev, const char *name,
                                     const struct as_host_kernel *kernels, size_t records, struct as_error *err);
enum as_status as_timed_kernel(struct as_timed *t, const char *name, struct as_kernel **out, struct as_error *err);
/* A kernel, and a block of the device's own memory, that as_timed_finish gives back. */
enum as_status as_timed_keep_kernel(struct as_timed *t, const char *name, struct as_kernel **out, struct as_error *err);
enum as_status as_timed_keep_memory(struct as_timed *t, uint64_t bytes, struct as_memory **out, struct as_error *err);
/* Runs a kernel that is needed once and writes no record. */
enum as_status as_timed_once(struct as_timed *t, const char *name, const struct as_arg *args, size_t n,
                             size_t workgroups, size_t threads, struct as_error *err);
/* Launches once, waits, reads the records of the launch's groups. *seconds as the host or the device's events see it.
 */
enum as_status as_timed_launch(struct as_timed *t, const struct as_launch *launch, double *seconds,
                               struct as_error *err);
/* From here on a launch of one group by as_timed_launch runs on this unit, alone, wherever kernels can tell on which
 * one they run; elsewhere nothing changes. A launch of more groups is on all units as ever. The kernels take t->choice
 * as their argument 1 and ask for their PART (timed.kernel). Units differ in how far they are from a cache that they
 * share: so what is compared runs on the same one. */
enum { AS_TIMED_UNIT = 0 }; /* where nothing else is asked for: the same in all probes */
enum as_status as_timed_stand(struct as_timed *t, uint32_t unit, struct as_error *err);
/* Into the cell: the unit, where one is chosen. */
void as_timed_note(struct as_trial_context *vc, const struct as_timed *t);
/* For launches that do not go through as_timed_launch. What is launched for `wanted`; after it and once record[0] is
 * read, whether it came to run on the unit; and after AS_TIMED_TRIES that did not, words. */
enum { AS_TIMED_TRIES = 8 };
enum as_status as_timed_aim(struct as_timed *t, const struct as_launch *wanted, struct as_launch *aimed,
                            struct as_error *err);
bool as_timed_hit(const struct as_timed *t, const struct as_launch *wanted);
enum as_status as_timed_gave_up(const struct as_timed *t, struct as_error *err);
/* The same launch with nothing to do, several times: the overhead. */
enum as_status as_timed_overhead(struct as_timed *t, const struct as_launch *nothing, struct as_error *err);
/* AS_UNSUPPORTED with words where kernels of the device lack one of these, as the last launch says. */
enum as_status as_timed_need(const struct as_timed *t, unsigned has, struct as_error *err);
/* Seconds that group 0 measured inside, or those of the launch without its overhead; and its clock, NAN unknown. */
double as_timed_seconds(const struct as_timed *t, double launch_s);
double as_timed_clock(const struct as_timed *t);
/* Cycles from the first group's start to the last one's end on a unit, of the unit that took longest, as the last
 * launch of so many groups recorded them; 0 where there were not resident_workgroups of them on each unit. */
double as_timed_longest(const struct as_timed *t, size_t workgroups, size_t resident_workgroups);
void as_timed_finish(struct as_timed *t);

/* A block of the device's own memory. */
enum as_status as_timed_memory(struct as_device *dev, uint64_t bytes, struct as_memory **out, struct as_error *err);
/* as_check_room for one block. */
enum as_status as_timed_room(struct as_device *dev, uint64_t bytes, struct as_error *err);
static inline struct as_arg as_memory_arg(struct as_memory *m)
{
    return (struct as_arg){.kind = AS_ARG_MEMORY, .u.memory = m};
}
static inline struct as_arg as_u32_arg(uint64_t v) /* v: below 2^32 */
{
    return (struct as_arg){.kind = AS_ARG_U32, .u.u32 = (uint32_t)v};
}
/* A native kernel's argument that points at the host's memory, and back. */
static inline struct as_arg as_pointer_arg(const void *p)
{
    return (struct as_arg){.kind = AS_ARG_U64, .u.u64 = (uint64_t)(uintptr_t)p};
}
static inline void *as_pointer_in(const void *arg)
{
    uint64_t p;
    memcpy(&p, arg, sizeof p);
    return (void *)(uintptr_t)p;
}
/* One group of `threads`, and n arguments. */
struct as_launch as_timed_group(struct as_kernel *kernel, const struct as_arg *args, size_t n, size_t workgroups,
                                size_t threads);

/* For programs with as_kernel_sweep as their head: all units read all of a block, so that the cache which they share
 * holds it, or its end. No word of it may be 1. */
extern const char as_kernel_sweep[];
enum as_status as_timed_sweep(struct as_timed *t, struct as_memory *block, struct as_error *err);
/* The unit on which launches of one group stand reads the first word of elements, `stride` bytes apart (a multiple of
 * 8), so many times: a cache in parts keeps what a unit reads from the far part in the near one as well, and that is
 * where it is found from then on. After as_timed_stand. */
enum as_status as_timed_sweep_alone(struct as_timed *t, struct as_memory *block, uint64_t elements, uint64_t stride,
                                    int times, struct as_error *err);
/* A block so large that a sweep over it drives all else out of that cache. Kept. */
enum as_status as_timed_evictor(struct as_timed *t, struct as_memory **out, struct as_error *err);
/* One such sweep, over a block that is given back at once. */
enum as_status as_timed_evict(struct as_timed *t, struct as_error *err);

#endif
