/* The reference loop: work whose length in cycles is known, done around every sample in which a core of the host takes
 * part. It tells the clock of that core during the sample, and whether a hypervisor or another thread took the core
 * away. */
#ifndef AS_CORE_REFERENCE_H
#define AS_CORE_REFERENCE_H

#include "device/device.h"

struct as_reference;
struct as_reference_reading {
    double hz;        /* NAN unknown */
    long preemptions; /* of the threads that work, so far */
};
/* On the cores that work: those of the device where it is the host's CPU, else that of the calling thread. About 50 us.
 */
void as_reference_read(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out);

/* What a worker learned from its readings so far. */
struct as_reference {
    void (*read)(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out);
    double fastest_hz; /* 0: none yet */
};
#define AS_REFERENCE_INIT                                                                                              \
    {                                                                                                                  \
        as_reference_read, 0                                                                                           \
    }

/* Clock and weight of each of n samples; readings[i] and readings[i + 1] stand around sample i. */
void as_reference_weigh(const struct as_reference *r, const struct as_reference_reading *readings, size_t n,
                        double *clock_hz, double *weight);

#endif
