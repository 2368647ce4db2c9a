/* One word of each page, stored or loaded by CPU threads or by the device; and what the system counts of it. */
#ifndef AS_LIB_PAGES_PAGES_H
#define AS_LIB_PAGES_PAGES_H

#include "probe/probe.h"

/* Who touches the memory of dev. */
struct as_pages {
    struct as_device *dev, *agent; /* agent: dev, or the host's CPU beside a device that runs no native kernels */
    struct as_opened cpu;          /* that CPU; zero where dev is the agent */
    struct as_program *program;
    struct as_kernel *kernel;
    struct as_memory *sums; /* by the device: what each of its threads loaded */
    uint64_t *host_sums;    /* by the CPU: a line a thread; beside the first one's, on which CPU it ran */
    unsigned threads;       /* of the CPU; 0: the device touches */
    uint64_t page;          /* base page of the host */
};
/* threads: of the CPU, 0 for the device. What is left in p after a failure is the caller's too. */
enum as_status as_pages_prepare(struct as_pages *p, struct as_device *dev, unsigned threads, struct as_error *err);
void as_pages_finish(struct as_pages *p); /* takes one of zeros */

struct as_span {
    struct as_memory *memory; /* mapped when the CPU touches, not mapped when the device does */
    uint64_t start;           /* bytes before the first page */
    uint64_t pages;
    uint64_t mark; /* page i gets mark + i */
    bool load;     /* instead: what is there is added up */
};
/* *seconds: by the host's clock, from the first thread's start to the last one's end on the CPU, from before the launch
 * to after the wait on a device. */
enum as_status as_pages_touch(struct as_pages *p, const struct as_span *span, double *seconds, struct as_error *err);
/* The CPU on which the first thread of the last touch ran; -1 where a device touched. */
int as_pages_cpu(const struct as_pages *p);
/* The sum that the last touch with load = true gave. */
enum as_status as_pages_sum(struct as_pages *p, const struct as_span *span, uint64_t *sum, struct as_error *err);
/* The calling thread stores the marks; the memory is mapped. */
void as_pages_store_here(const struct as_pages *p, const struct as_span *span);
/* Does each page hold its mark? The memory is mapped. */
bool as_pages_hold(const struct as_pages *p, const struct as_span *span, char *why, size_t why_size);

double as_minor_faults(void); /* of this process until now; NAN unknown */

#endif
