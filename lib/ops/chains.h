/* Dependent chains of operations on a device: build, check against the host, launch, time. See ops.kernel. */
#ifndef AS_LIB_OPS_CHAINS_H
#define AS_LIB_OPS_CHAINS_H

#include "lib/kernel_timer/kernel_timer.h"
#include "sequence.h"
#include "tick.h"

enum { AS_CHAINS_MOST = 16 }; /* of a thread */

struct as_chains_desc {
    struct as_op_sequence sequence;
    unsigned ilp;     /* chains per thread and operation of the sequence, 1 to 8 */
    unsigned steps;   /* per chain in the long body, a multiple of 24; 0: default of the operations */
    unsigned threads; /* per compute unit */
    bool every_unit;  /* else one */
    unsigned share;   /* percent of the compute units, with every_unit; 0: all */
};

/* Kernels of ops.kernel. */
enum as_chains_kernel { AS_CHAINS_WALK, AS_CHAINS_HALF, AS_CHAINS_WHOLE, AS_CHAINS_ONCE, AS_CHAINS_KERNELS };

struct as_chains {
    struct as_chains_desc desc;
    struct as_kernel_timer timer;
    enum as_dialect dialect;
    struct as_kernel *kernels[AS_CHAINS_KERNELS]; /* all the same if each compiles slowly */
    struct as_memory *starts, *seconds, *thirds, *ends, *words;
    size_t workgroups, workgroup_size, resident_workgroups;
    size_t ends_bytes;
    void *end[2];         /* host copies: results, and their reference */
    struct as_tick *tick; /* the clock, where kernels have no cycle counter; else NULL */
    double empty_s;       /* of a launch without turns; 0 with a counter, NAN where it does not count */
    char wrong[200];      /* why the last sample is invalid; "": it is valid */
};

/* One measurement: long body less short body, so that overhead cancels; only the long one if a cycle counter shows that
 * their code is not equivalent. */
struct as_chains_time {
    double seconds;    /* of both launches */
    double cycles;     /* per step of all chains of a thread, without loop overhead */
    double raw;        /* the same with loop overhead */
    double clock_hz;   /* by the device's counter or by calibration (tick.h) */
    double operations; /* results per compute unit and step of all its threads; two per packed 16-bit operation */
    double sequences;  /* sequences per compute unit and step: chains per thread times warps */
    double rate;       /* results per second of all compute units, over both launches */
};

/* AS_INAPPLICABLE with the reason if dialect, architecture or size prevent it. */
enum as_applies as_chains_apply(const struct as_device_info *info, const struct as_chains_desc *desc,
                                struct as_error *err);
/* Do compilers of the device pack two chains of it into one operation? Then one chain only is measured. Apple's GPUs
 * have no packed operations. */
bool as_chains_packs(const struct as_device_info *info, const struct as_op *op);
/* Issue bound of results per cycle; none if unpublished. */
void as_limit_issue(struct as_trial_context *tc, const struct as_chains_desc *desc);
/* Issue bound of cycles per sequence of a warp. */
void as_limit_issue_cost(struct as_trial_context *tc, const struct as_chains_desc *desc);
/* Lanes per warp; 1 if each thread has a core. */
unsigned as_chains_warp(const struct as_device_info *info);
/* Threads of the largest workgroup of a compute unit. */
unsigned as_chains_full(const struct as_device_info *info);
enum as_status as_chains_prepare(struct as_chains *c, struct as_trial_context *tc, const struct as_chains_desc *desc,
                                 struct as_error *err);
/* Without a cycle counter: the number of turns at which device timestamps resolve the difference of the bodies; else
 * 1. */
enum as_status as_chains_enough(struct as_chains *c, uint32_t *turns, struct as_error *err);
enum as_status as_chains_measure(struct as_chains *c, uint32_t turns, struct as_chains_time *out, struct as_error *err);
/* Checks each operation once on all operands against its reference, and a short run of the chains against a loop of
 * twelve steps. */
bool as_chains_check(struct as_chains *c, char *why, size_t size);
void as_chains_finish(struct as_chains *c);

#endif
