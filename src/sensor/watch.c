#include "sensor/watch.h"

#include "base/clock.h"
#include "base/text.h"
#include "os/process.h"
#include "os/wait.h"
#include "stats/stats.h"

#include <math.h>
#include <signal.h>

void as_clock_range(const double *hz, size_t n, double *middle, double *lo, double *hi)
{
    double tail = n > 10 ? 0.1 : n > 3 ? 0.25 : 0;
    *middle = n ? as_median(hz, n) : NAN;
    *lo = n ? as_quantile(hz, n, tail) : NAN;
    *hi = n ? as_quantile(hz, n, 1 - tail) : NAN;
}

static void add_mean(struct as_mean *m, double v)
{
    if (!isfinite(v))
        return;
    m->sum += v;
    m->n++;
}

static double watch_mean(const struct as_mean *m)
{
    return m->n ? m->sum / (double)m->n : NAN;
}

static void add_throttle(struct as_readings *seen, int bits)
{
    if (bits >= 0)
        seen->throttle = (seen->throttle > 0 ? seen->throttle : 0) | bits;
}

/* Merges a reading under load; fmin and fmax skip NAN. */
static void watch_add_load(struct as_watch *w, const struct as_sensor_reading *r, double read_at)
{
    struct as_readings *seen = &w->seen;
    bool is_fresh = w->sensing->sensor && read_at - w->marked_at >= w->sensing->sensor->lag_s;
    w->reads++;
    add_mean(&w->power, is_fresh ? r->power_w : NAN);
    add_mean(&w->utilisation, is_fresh ? r->utilisation : NAN);
    if (r->clock_hz > 0 && w->clock_n < AS_WATCH_CLOCKS)
        w->clock[w->clock_n++] = r->clock_hz;
    seen->memory_clock_lo = fmin(seen->memory_clock_lo, r->memory_clock_hz);
    seen->memory_clock_hi = fmax(seen->memory_clock_hi, r->memory_clock_hz);
    seen->pcie_generation = fmax(seen->pcie_generation, r->pcie_generation);
    seen->pcie_width = fmax(seen->pcie_width, r->pcie_width);
    add_throttle(seen, r->throttle);
}

/* Waits for every_s or until the trial's next step, with the lock held. */
static void watch_nap(struct as_watch *w)
{
    const double end = as_condition_after(w->every_s);
    bool marked = w->marked;
    while (!w->stop && marked == w->marked && as_condition_wait_until(&w->wake, &w->lock, end))
        ;
}

static void *watch_run(void *user)
{
    struct as_watch *w = user;
    as_thread_name("assay-sensor");
    const bool is_mean = w->sensing->sensor->is_mean;
    bool was_marked = false;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        struct as_sensor_reading now;
        /* A reading that began before the mark does not cover the samples; an average right after it covers hardly any.
         */
        const bool counts = w->marked && (was_marked || !is_mean);
        was_marked = w->marked;
        if (counts) {
            pthread_mutex_unlock(&w->lock);
            double read_at = as_now();
            as_sensing_read(w->sensing, AS_SENSOR_QUICK, &now);
            as_demand_tick(&w->sensing->demand);
            pthread_mutex_lock(&w->lock);
            watch_add_load(w, &now, read_at);
        }
        watch_nap(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Leaves signals to the other threads. */
static bool watch_start(struct as_watch *w)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&w->thread, NULL, watch_run, w) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* Time of a reading: its middle, since it can take as long as a sample. */
static double timed_reading(struct as_sensing *s, enum as_sensor_part part, struct as_sensor_reading *out)
{
    const double start = as_now();
    as_sensing_read(s, part, out);
    return start + (as_now() - start) / 2;
}

static bool is_slowed(struct as_sensing *s)
{
    struct as_sensor_reading now;
    as_sensing_read(s, AS_SENSOR_QUICK, &now);
    return now.throttle > 0 && now.throttle & ~(int)AS_THROTTLE_HARMLESS;
}

void as_watch_settle(struct as_sensing *s)
{
    const double nap_s = 0.02;
    if (!s->sensor || !s->sensor->background)
        return;
    double start = as_now();
    bool slowed = is_slowed(s);
    while (slowed && !s->stays_slow && as_now() - start < AS_WATCH_SETTLE_S) {
        as_sleep(nap_s);
        slowed = is_slowed(s);
    }
    s->stays_slow = slowed;
}

void as_watch_begin(struct as_watch *w, struct as_sensing *sensing, double every_s)
{
    *w = (struct as_watch){.sensing = sensing, .every_s = every_s > 0 ? every_s : AS_WATCH_EVERY_S};
    as_readings_clear(&w->seen);
    pthread_mutex_init(&w->lock, NULL);
    (void)as_condition_init(&w->wake);
    w->energy_at = timed_reading(sensing, AS_SENSOR_ALL, &w->before);
    w->energy_j = w->before.energy_j;
    w->has_thread = sensing->sensor && sensing->sensor->background && watch_start(w);
}

void as_watch_mark(struct as_watch *w)
{
    struct as_sensor_reading now = {.throttle = -1};
    const struct as_sensor *sensor = w->sensing->sensor;
    const bool counts_energy = isfinite(w->before.energy_j); /* the energy of preparation does not count */
    const bool starts = counts_energy || (sensor && sensor->is_mean);
    const double at = starts ? timed_reading(w->sensing, AS_SENSOR_QUICK, &now) : NAN;
    pthread_mutex_lock(&w->lock);
    if (counts_energy) {
        w->energy_j = now.energy_j;
        w->energy_at = at;
    }
    add_throttle(&w->seen, now.throttle);
    w->marked = true;
    as_demand_begin(&w->sensing->demand);
    w->marked_at = as_now();
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

static void end_thread(struct as_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->has_thread)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
}

/* Difference of two counter readings; unknown if the counter was reset. */
static double watch_grown(double before, double after)
{
    return after >= before ? after - before : NAN;
}

void as_watch_end(struct as_watch *w, struct as_readings *out)
{
    struct as_sensor_reading after, rest;
    end_thread(w);
    as_demand_end(&w->sensing->demand, &w->demand);
    /* Timed like the mark, since the slow part of a full reading can take longer than the samples. */
    const double ended = as_now(), passed = timed_reading(w->sensing, AS_SENSOR_QUICK, &after) - w->energy_at;
    as_sensing_read(w->sensing, AS_SENSOR_ALL, &rest); /* its averages cover no time */
    struct as_readings *seen = &w->seen;
    if (w->marked)
        watch_add_load(w, &after, ended); /* the last sample has just ended */
    seen->power_w = watch_mean(&w->power);
    const double counted_w = passed > 0 ? watch_grown(w->energy_j, after.energy_j) / passed : NAN;
    if (!isfinite(after.power_w))
        seen->power_w = counted_w;
    else if (w->sensing->sensor && passed > w->sensing->sensor->lag_s) /* a counter may be as old as a reading */
        seen->counted_w = counted_w;
    seen->utilisation = watch_mean(&w->utilisation);
    as_clock_range(w->clock, w->clock_n, &seen->clock_hz, &seen->clock_lo, &seen->clock_hi);
    seen->temperature_before = w->before.temperature;
    seen->temperature_after = rest.temperature;
    seen->pcie_generation_max = rest.pcie_generation_max;
    seen->pcie_width_max = rest.pcie_width_max;
    seen->ecc_corrected = watch_grown(w->before.ecc_corrected, rest.ecc_corrected);
    seen->ecc_uncorrected = watch_grown(w->before.ecc_uncorrected, rest.ecc_uncorrected);
    seen->link_errors = rest.link_errors;
    seen->link_errors_new = watch_grown(w->before.link_errors, rest.link_errors);
    seen->link_replays = rest.link_replays;
    seen->link_replays_new = watch_grown(w->before.link_replays, rest.link_replays);
    seen->pcie_replays = rest.pcie_replays;
    seen->pcie_replays_new = watch_grown(w->before.pcie_replays, rest.pcie_replays);
    seen->users = fmax(w->before.users, rest.users);
    seen->reads = (double)w->reads;
    if (w->sensing->sensor)
        as_copy_text(seen->sensor, sizeof seen->sensor, w->sensing->sensor->name);
    *out = *seen;
}
