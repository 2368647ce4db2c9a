/* Watching a device through one trial: a sensor is read before it, after it, and by a thread of its own in between. */
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
    double began; /* as_now() */
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
};
/* Before a trial: a device that was slowed down by what ran before (one that drew too much power takes half a second to
 * recover) gets at most AS_WATCH_SETTLE_S to come back. Where that was in vain it is not tried again until it is back.
 */
#define AS_WATCH_SETTLE_S 0.7
void as_watch_settle(struct as_sensing *sensing);
/* A trial begins. Where no thread can be had there are only the readings before and after. every_s 0: as usual. */
void as_watch_begin(struct as_watch *w, struct as_sensing *sensing, double every_s);
/* From here on samples are taken: what is read before says nothing of them, and power that is read before the sensor's
 * lag has passed neither: it stays unknown in shorter trials. A clock or throttling that lingers from before is kept,
 * as devices recover from both slowly. */
void as_watch_mark(struct as_watch *w);
/* The trial is over: the thread ends, and *out is what was seen. Also without a mark. */
void as_watch_end(struct as_watch *w, struct as_readings *out);

#endif
