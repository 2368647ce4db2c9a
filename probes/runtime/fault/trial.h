/* One trial of probe fault: memory mapped anew, touched, touched again. */
#ifndef PROBES_FAULT_TRIAL_H
#define PROBES_FAULT_TRIAL_H

#include "lib/pages/blocks.h"

#include <sched.h>

enum fault_what { FAULT_AGAIN, FAULT_FIRST, FAULT_CONTROL }; /* in the order of the words of the axis `what` */

struct trials {
    struct as_trial_context *vc;
    struct as_device *dev;
    struct as_pages toucher;
    enum fault_what what;
    bool by_device, minor, load;
    struct as_blocks kept;   /* whose pages the heap kept when they were freed: held, so that others come */
    struct as_blocks blocks; /* the last one is that of the last trial; only FAULT_FIRST has several */
    void *locked;            /* of the control's block, with locked_bytes */
    size_t locked_bytes;
    uint64_t pages, start; /* start: bytes of a block before the first page */
    uint64_t mark;
    cpu_set_t home; /* of the calling thread, while it is moved */
    bool moved;
    double faults;         /* the kernel's count over all timed touches */
    double *ns, *again_ns; /* a page, of each trial: with the fault, and touched again */
    size_t n, n_cap, again_cap;
};
/* What is left in t after a failure is the caller's too. */
enum as_status trials_prepare(struct trials *t, struct as_trial_context *vc, struct as_error *err);
/* *seconds: all that was timed; *ns: what a page cost. AS_TIMEOUT: no memory is left that this process never had. */
enum as_status trials_one(struct trials *t, double *seconds, double *ns, struct as_error *err);
/* Is what was touched there, did the kernel count faults where there must be some, and none where there are none? */
bool trials_check(struct trials *t, char *why, size_t why_size);
void trials_finish(struct trials *t);

#endif
