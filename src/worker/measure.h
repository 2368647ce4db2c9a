/* One trial of one cell, in the worker: prepare, calibrate, warm up, sample, check. */
#ifndef AS_WORKER_MEASURE_H
#define AS_WORKER_MEASURE_H

#include "probe/probe.h"
#include "sensor/sensor.h"
#include "worker/message.h"
#include "worker/reference.h"

/* Fills *out (as_trial_finish frees it). The device is watched by `sensing`, which may have no sensor; `reference`
 * carries the host's clocks over from earlier trials. Failures of the probe or device are in out->status and reason;
 * the return value is AS_OK unless memory ran out here. */
enum as_status as_measure_trial(struct as_device *dev, struct as_sensing *sensing, struct as_reference *reference,
                                const struct as_trial_order *order, struct as_trial *out, struct as_error *err);

/* Prepares a trial as far as a compile-only device can (as_backend.open_compiler). */
void as_measure_compile(struct as_device *compiler, const struct as_trial_order *order);

/* Seconds that a trial may exceed its share to reach the minimum number of samples for an interval. */
#define AS_FEWEST_S 0.4

enum {
    AS_SAMPLES_MAX = 2000, /* of one trial */
    AS_SAMPLES_MIN =
        3, /* one of several planned trials; short ones may have a single sample, since more trials beat longer ones */
    AS_SAMPLES_ALONE = 6, /* a lone trial: the minimum for an interval, even beyond its share */
};

#endif
