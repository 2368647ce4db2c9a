/* Samples a sensor before, during (in a separate thread) and after one trial. */
#ifndef AS_SENSOR_WATCH_H
#define AS_SENSOR_WATCH_H

#include "sensor/sensor.h"

#include <pthread.h>

/* Median and range of clock readings. The range ignores outliers, such as readings disturbed by an interrupt: a
 * tenth of many, a quarter of few. All NAN if n is 0. */
void as_clock_range(const double *hz, size_t n, double *middle, double *lo, double *hi);

/* Seconds between readings. */
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
    double energy_j, energy_at; /* start of the energy interval (as_now()): the mark, or the beginning without one */
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
    struct as_demand_seen demand; /* set by as_watch_end, for the time since the mark */
};
/* Before a trial: waits up to AS_WATCH_SETTLE_S for throttling caused by earlier trials to end (recovery from a power
 * cap takes half a second). After one timeout it does not wait again until throttling has ended. */
#define AS_WATCH_SETTLE_S 0.7
void as_watch_settle(struct as_sensing *sensing);
/* Starts a trial. Without a thread, reads only before and after. every_s 0: the default. */
void as_watch_begin(struct as_watch *w, struct as_sensing *sensing, double every_s);
/* Marks the first sample. Earlier readings do not describe the samples, nor does power read before the sensor's
 * lag has passed: it stays unknown in shorter trials. Clock and throttling that persist from before are kept,
 * since devices recover slowly. */
void as_watch_mark(struct as_watch *w);
/* Ends the trial and its thread, and sets *out. Valid without a mark. */
void as_watch_end(struct as_watch *w, struct as_readings *out);

#endif
