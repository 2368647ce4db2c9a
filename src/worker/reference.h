/* The reference loop: a known number of cycles, run around every sample that a core of the host takes part in. It gives
 * the core clock during the sample and detects contention: a hypervisor or another thread took the core. */
#ifndef AS_WORKER_REFERENCE_H
#define AS_WORKER_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_device;
struct as_reference;
struct as_reference_reading {
    double hz;            /* NAN unknown */
    uint64_t preemptions; /* involuntary context switches of the working threads so far */
};
/* Runs on the cores that do the work: the device's where it is the host's CPU or has a time of its own, else the
 * calling thread's. About 30 us. */
void as_reference_read(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out);

/* Does the loop tell anything of this device's work? Of a simulated one only where it plays the loop as well, as it
 * then does preemptions. */
bool as_reference_applies(const struct as_device *dev);

struct as_reference {
    void (*read)(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out);
    double fastest_hz; /* fastest clock that this worker has read; 0: none yet */
    double last_hz;    /* at the end of its last trial; 0: none yet, NAN unknown */
};
#define AS_REFERENCE_INIT                                                                                              \
    {                                                                                                                  \
        as_reference_read, 0, 0                                                                                        \
    }

/* Clock and weight of each of n samples; readings[i] and readings[i + 1] are taken before and after sample i. A reading
 * 3% below the fastest that is no clock of another sample, nor of the worker's trial before, is contention. */
void as_reference_weigh(const struct as_reference *r, const struct as_reference_reading *readings, size_t n,
                        double *clock_hz, double *weight);
void as_reference_end_trial(struct as_reference *r, const struct as_reference_reading *last);

#endif
