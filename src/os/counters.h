/* Counters of the processor and the kernel. */
#ifndef AS_OS_COUNTERS_H
#define AS_OS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* NULL where programs may be allowed to count, else why none is. */
const char *as_counter_limit(void);

enum as_counter {
    AS_COUNT_CYCLES,
    AS_COUNT_TASK_NS, /* time on a CPU */
    AS_COUNT_DTLB_MISSES,
    AS_COUNT_L1D_MISSES,
    AS_COUNT_MINOR_FAULTS,
};
struct as_counter_reading {
    uint64_t value, enabled, running; /* ns that it was wanted, and that it counted */
};
/* Of the calling thread and those that it starts; what is read is the value alone. A descriptor, -1 with errno. */
int as_counter_open(enum as_counter what);
/* Of one thread in user code; what is read is an as_counter_reading. */
int as_counter_open_thread(enum as_counter what, int thread);
/* Of a CPU, by number of the unit and event as the kernel's files tell them. */
int as_counter_open_unit(uint32_t unit, uint64_t event, int cpu);

#endif
