/* Samples a sensor before, during (by a thread of its own) and after one trial. */
#ifndef AS_SENSOR_WATCH_H
#define AS_SENSOR_WATCH_H

#include "sensor/sensor.h"

#include <pthread.h>

/* The median of some clocks and their range. A single reading that an interrupt spoiled says nothing of the clock; a
 * tenth of many, a quarter of few does. All NAN when n is 0. */
void as_clock_range(const double *hz, size_t n, double *middle, double *lo, double *hi);

/* Seconds from reading to reading. */
#define AS_WATCH_EVERY_S 0.05
enum { AS_WATCH_CLOCKS = 512 };

struct as_mean {
    double sum;
    size_t n;
};
struct as_watch {
    struct as_sensing *sensing;
    double every_s;
    struct as_sensor_reading before;
    double energy_j, energy_at; /* where the energy counts from: the mark, without one the beginning; as_now() */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;
    bool stop, marked;
    double marked_at; /* as_now() */
    struct as_mean power, utilisation;
    double clock[AS_WATCH_CLOCKS];
    size_t clock_n, reads;
    struct as_readings seen;
    struct as_demand_seen demand; /* set by as_watch_end: of the time since the mark */
};
/* Before a trial: waits up to AS_WATCH_SETTLE_S for throttling caused by earlier trials to end (recovery from a power
 * cap takes half a second). After one failure it does not wait again until throttling has ended.
 */
#define AS_WATCH_SETTLE_S 0.7
void as_watch_settle(struct as_sensing *sensing);
/* Starts a trial. Without a thread there are only the readings before and after. every_s 0: the default. */
void as_watch_begin(struct as_watch *w, struct as_sensing *sensing, double every_s);
/* From here on samples are taken: what is read before says nothing of them, and power that is read before the sensor's
 * lag has passed neither: it stays unknown in shorter trials. A clock or throttling that lingers from before is kept,
 * as devices recover from both slowly. */
void as_watch_mark(struct as_watch *w);
/* The trial is over: the thread ends, and *out is what was seen. Also without a mark. */
void as_watch_end(struct as_watch *w, struct as_readings *out);

#endif
