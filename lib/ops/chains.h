/* Chains of operations on a device: built, checked against the host, run and timed. See ops.kernel. */
#ifndef AS_LIB_OPS_CHAINS_H
#define AS_LIB_OPS_CHAINS_H

#include "lib/timed/timed.h"
#include "sequence.h"

enum { AS_CHAINS_MOST = 16 }; /* of a thread */

struct as_chains_desc {
    struct as_op_sequence sequence;
    unsigned ilp;     /* chains of a thread for each operation of the sequence, 1 to 8 */
    unsigned steps;   /* of a chain in the long body, a multiple of 24; 0: what suits the operations */
    unsigned threads; /* of a unit */
    bool every_unit;  /* else one */
    unsigned share;   /* percent of the units, with every_unit; 0: all */
};

/* As ops.kernel calls them. */
enum as_chains_kernel { AS_CHAINS_WALK, AS_CHAINS_HALF, AS_CHAINS_WHOLE, AS_CHAINS_ONCE, AS_CHAINS_KERNELS };

struct as_chains {
    struct as_chains_desc desc;
    struct as_timed timed;
    enum as_dialect dialect;
    struct as_kernel *kernels[AS_CHAINS_KERNELS]; /* all the same where a compiler takes long over each */
    struct as_memory *starts, *seconds, *thirds, *ends, *words;
    size_t workgroups, workgroup_size, resident_workgroups;
    size_t ends_bytes;
    void *end[2];           /* host's copies: of what is checked, of what it is compared with */
    struct as_chains *tick; /* chain of adds that tells the clock, where nothing else does */
    char wrong[200];        /* why the last sample does not count, "" it does */
};

/* One measurement: of the long body less that of the short one, so that what belongs to neither falls out; of the long
 * one alone where a counter of cycles shows that the compiler did not make the same of both. */
struct as_chains_time {
    double seconds;    /* of both launches */
    double cycles;     /* a step of all chains of a thread, the loop around them not counted */
    double raw;        /* the same with it */
    double clock_hz;   /* by the device's own counter, NAN where it has none */
    double operations; /* of one unit in such a step of all its threads; two in each pair of 16 bits */
    double sequences;  /* of one unit in such a step: of each of its warps so many as a thread has chains of each */
    double rate;       /* results a second of all units, over both launches */
};

/* AS_INAPPLICABLE with the reason where the device cannot do it by its dialect, architecture or size. */
enum as_applies as_chains_apply(const struct as_device_info *info, const struct as_chains_desc *desc,
                                struct as_error *err);
/* Bound of results a cycle by what a unit can issue; none where that is not published. */
void as_limit_issue(struct as_trial_context *vc, const struct as_chains_desc *desc);
/* The same of cycles for one sequence of a warp. */
void as_limit_issue_cost(struct as_trial_context *vc, const struct as_chains_desc *desc);
/* Lanes of a group of threads that go together; 1 where each thread is a core's. */
unsigned as_chains_warp(const struct as_device_info *info);
/* Threads of a unit when it is full as one group. */
unsigned as_chains_full(const struct as_device_info *info);
enum as_status as_chains_prepare(struct as_chains *c, struct as_trial_context *vc, const struct as_chains_desc *desc,
                                 struct as_error *err);
enum as_status as_chains_measure(struct as_chains *c, uint32_t turns, struct as_chains_time *out, struct as_error *err);
/* Each operation once on all operands against its reference, and a short run of the chains against a loop of twelve
 * steps. */
bool as_chains_check(struct as_chains *c, char *why, size_t size);
void as_chains_finish(struct as_chains *c);

#endif
