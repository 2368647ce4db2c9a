/* One trial of probe fault: memory is mapped anew, touched, and touched again. */
#ifndef PROBES_FAULT_TRIAL_H
#define PROBES_FAULT_TRIAL_H

#include "lib/pages/fresh.h"
#include "os/cpus.h"

/* In the order of the axis `scenario`. */
enum fault_scenario {
    FAULT_CPU_ONE,
    FAULT_CPU_TEAM,
    FAULT_CPU_ALL,
    FAULT_DEVICE_MAJOR,
    FAULT_DEVICE_MINOR,
    FAULT_CPU_AFTER_DEVICE,
    FAULT_CPU_THEN_DEVICE,
};
extern const char *const as_fault_scenario_words[];
enum { FAULT_TEAM = 12 }; /* CPU threads of a team that does not yet contend for the locks of the process */

enum fault_what { FAULT_AGAIN, FAULT_FIRST, FAULT_CONTROL }; /* in the order of the axis `what` */

struct trials {
    struct as_trial_context *tc;
    struct as_device *dev;
    struct as_pages toucher;
    enum fault_what what;
    struct as_pages device; /* for scenarios in which the device touches before the CPU, or after it */
    enum fault_scenario scenario;
    bool by_device, load;
    int node;               /* of the memory, -1 near */
    struct as_fresh kept;   /* blocks that the heap would cache, kept allocated */
    struct as_fresh blocks; /* the last one belongs to the last trial; only FAULT_FIRST has several */
    void *locked;           /* the control's block, with locked_bytes */
    size_t locked_bytes;
    uint64_t pages, start; /* start: bytes before the block's first whole page */
    uint64_t mark;
    struct as_cpus home; /* affinity of the calling thread, while moved */
    bool moved;
    struct as_fault_count faults; /* by the kernel, over all timed touches */
    double *ns, *again_ns;        /* per page and trial: first and second touch */
    size_t n, n_cap, again_cap;
};
/* After a failure the caller still finishes t. */
enum as_status as_fault_prepare(struct trials *t, struct as_trial_context *tc, struct as_error *err);
/* *seconds: total timed; *ns: per page. AS_TIMEOUT: no memory that is new to this process is left. */
enum as_status as_fault_sample(struct trials *t, double *seconds, double *ns, struct as_error *err);
/* Once pages were touched: notes their node, and fails where another was requested. */
enum as_status as_fault_look(struct trials *t, struct as_error *err);
/* Do pages hold their values, and did the kernel count the expected faults? */
bool as_fault_check(struct trials *t, char *why, size_t why_size);
void as_fault_finish(void *state);

#endif
