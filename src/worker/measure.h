/* One trial of one cell, in the worker: prepare, calibrate, warm up, sample, check. */
#ifndef AS_WORKER_MEASURE_H
#define AS_WORKER_MEASURE_H

#include "probe/probe.h"
#include "sensor/sensor.h"
#include "worker/message.h"
#include "worker/reference.h"

/* Fills *out (as_trial_finish frees it). The device is watched by `sensing`, which may have no sensor; `reference`
 * knows the host's cores from the trials before. What the probe or device could not do is in out->status and reason,
 * not in the return value, which is not AS_OK only when memory ran out here. */
enum as_status as_measure_trial(struct as_device *dev, struct as_sensing *sensing, struct as_reference *reference,
                                const struct as_trial_order *order, struct as_trial *out, struct as_error *err);

/* Goes so far with the preparation of a trial as a device that only compiles does (as_backend.open_compiler). */
void as_measure_compile(struct as_device *compiler, const struct as_trial_order *order);

/* Seconds: even a trial whose share is smaller goes on so long for the fewest samples that make an interval. */
#define AS_FEWEST_S 0.4

enum {
    AS_SAMPLES_MAX = 2000, /* of one trial */
    AS_SAMPLES_MIN = 3, /* of one of several trials, for which time is planned; one does where it is short, since more
                           trials tell more than longer ones */
    AS_SAMPLES_ALONE =
        6, /* of a trial that is alone: the fewest that make an interval, also when its share is used up */
};

#endif
