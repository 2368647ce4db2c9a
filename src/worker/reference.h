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
    double now_s, cpu_s;  /* time, and how much of it the working thread was on a CPU; 0 or NAN unknown */
};
/* Runs on the cores that do the work: the device's where it is the host's CPU or has a time of its own, else the
 * calling thread's. About 30 us. */
void as_reference_read(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out);

/* Does the loop tell anything of this device's work? Of a simulated one only where it plays the loop as well, as it
 * then does preemptions. */
bool as_reference_applies(const struct as_device *dev);

enum { AS_REFERENCE_TRIALS = 8 };
struct as_reference {
    void (*read)(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out);
    double fastest_hz;                    /* fastest clock that this worker has read; 0: none yet */
    double ended_hz[AS_REFERENCE_TRIALS]; /* at the ends of its last trials; 0: none yet, NAN unknown */
    size_t trials;
};
#define AS_REFERENCE_INIT                                                                                              \
    {                                                                                                                  \
        .read = as_reference_read                                                                                      \
    }

/* Clock and weight of each of n samples; readings[i] and readings[i + 1] are taken before and after sample i.
 * Contention is a preemption, unless the thread is known to have been on a CPU for all but 0.2% of the time, and a
 * reading 3% below the fastest that is no clock of another sample, nor of the worker's trials before. */
void as_reference_weigh(const struct as_reference *r, const struct as_reference_reading *readings, size_t n,
                        double *clock_hz, double *weight);
void as_reference_end_trial(struct as_reference *r, const struct as_reference_reading *last);

#endif
