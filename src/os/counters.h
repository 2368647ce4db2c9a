/* Counters of the processor and the kernel. */
#ifndef AS_OS_COUNTERS_H
#define AS_OS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* NULL if programs may be permitted to count, else why they are not. */
const char *as_counter_limit(void);

enum as_counter {
    AS_COUNT_CYCLES,
    AS_COUNT_TASK_NS, /* time on a CPU */
    AS_COUNT_DTLB_MISSES,
    AS_COUNT_L1D_MISSES,
    AS_COUNT_MINOR_FAULTS,
};
struct as_counter_reading {
    uint64_t value, enabled, running; /* ns enabled and ns counting */
};
/* Counts the calling thread and threads that it starts; reads give the value only. Returns a descriptor, or -1 with
 * errno. */
int as_counter_open(enum as_counter what);
/* Counts one thread in user mode; reads give an as_counter_reading. */
int as_counter_open_thread(enum as_counter what, int thread);
/* Counts a CPU's unit; type and config as in the kernel's files. */
int as_counter_open_unit(uint32_t unit, uint64_t event, int cpu);

#endif
