/* The reference loop: work whose length in cycles is known, done around every sample in which a core of the host takes
 * part. It tells the clock of that core during the sample, and whether somebody else was on it: a hypervisor or another
 * thread took the core away, or the other hardware thread of the core was busy. */
#ifndef AS_CORE_REFERENCE_H
#define AS_CORE_REFERENCE_H

#include "device/device.h"

#include <stdbool.h>

struct as_reference;
struct as_reference_reading {
    double hz;        /* NAN unknown */
    bool is_shared;   /* another thread used the core's issue slots */
    long preemptions; /* of this process so far */
};
/* On the cores that work: those of the device where it is the host's CPU, else that of the calling thread. About 50 us.
 */
void as_reference_read(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out);

/* What a worker learned from its readings so far. */
struct as_reference {
    void (*read)(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out);
    double fastest_hz;   /* 0: none yet */
    double least_cycles; /* of the loop that fills all issue slots; INFINITY: none yet */
};
#define AS_REFERENCE_INIT                                                                                              \
    {                                                                                                                  \
        as_reference_read, 0, INFINITY                                                                                 \
    }

/* Clock and weight of each of n samples; readings[i] and readings[i + 1] stand around sample i. */
void as_reference_weigh(const struct as_reference *r, const struct as_reference_reading *readings, size_t n,
                        double *clock_hz, double *weight);

#endif
