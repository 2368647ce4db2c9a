/* One word per page, stored or loaded by CPU threads or by the device, and the system's fault count. */
#ifndef AS_LIB_PAGES_PAGES_H
#define AS_LIB_PAGES_PAGES_H

#include "device/device.h"
#include "lib/buffers/buffers.h"

/* The agent that touches the memory. */
struct as_pages {
    struct as_device *dev, *agent; /* agent: dev, or the host CPU beside a device without native kernels */
    struct as_opened cpu;          /* that CPU; zero if dev is the agent */
    struct as_buffers own;         /* of the agent */
    struct as_kernel *kernel;
    struct as_memory *sums; /* by the device: the sum of each thread's loads */
    uint64_t *host_sums;    /* by the CPU: a line per thread; the first one's also has its CPU */
    unsigned threads;       /* CPU threads; 0: the device touches */
    uint64_t page;          /* base page of the host */
};
/* threads: of the CPU, 0 for the device. After a failure the caller still finishes p. */
enum as_status as_pages_prepare(struct as_pages *p, struct as_device *dev, unsigned threads, struct as_error *err);
void as_pages_finish(struct as_pages *p); /* accepts a zeroed one */

struct as_span {
    struct as_memory *memory; /* mapped when the CPU touches, not mapped when the device does */
    uint64_t start;           /* bytes before the first page */
    uint64_t pages;
    uint64_t mark; /* page i gets mark + i */
    bool load;     /* loads instead: sums the words */
};
/* *seconds: by the host's clock, from first start to last end of the CPU threads, or around launch and wait on a
 * device. */
enum as_status as_pages_touch(struct as_pages *p, const struct as_span *span, double *seconds, struct as_error *err);
/* The CPU of the last touch's first thread; -1 if a device touched. */
int as_pages_cpu(const struct as_pages *p);
/* The sum of the last touch with load = true. */
enum as_status as_pages_sum(struct as_pages *p, const struct as_span *span, uint64_t *sum, struct as_error *err);
/* The calling thread stores the marks; the memory is mapped. */
void as_pages_store_here(const struct as_pages *p, const struct as_span *span);
/* Does each page hold its mark? The memory is mapped. */
bool as_pages_hold(const struct as_pages *p, const struct as_span *span, char *why, size_t why_size);

/* Faults of this process so far, all threads; NAN unknown. Drivers may count pages that they fetch from a device as
 * major faults, as if read from a disk. */
struct as_fault_count {
    double minor, major;
};
struct as_fault_count as_faults_now(void);
/* Adds the faults counted after `since`. */
void as_faults_add(struct as_fault_count *sum, struct as_fault_count since);
double as_faults_total(const struct as_fault_count *count);

#endif
