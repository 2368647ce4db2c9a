#include "sampled.h"

#include "base/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct counter_samples {
    const char *root;
    struct as_device *dev;
    double period_s;
    pthread_t thread;
    pthread_mutex_t lock;          /* of what follows */
    struct counter_reading before; /* at the start */
    double driver;                 /* its last count */
    struct counter_peaks peaks;
    atomic_bool stop;
};

static void samples_raise(double *peak, double now, double before)
{
    if (isfinite(now - before))
        *peak = fmax(*peak, now - before); /* fmax ignores NAN */
}

/* Where the memory that the device uses is counted. */
static double samples_in_use(const struct as_device_info *info, const double bytes[COUNTERS])
{
    if (info->is_host_cpu)
        return bytes[COUNTER_RSS];
    return bytes[COUNTER_AVAILABLE] + (info->is_host_memory ? 0 : bytes[COUNTER_DRIVER]);
}

static void samples_read(struct counter_samples *s)
{
    struct counter_reading now;
    as_counters_read_files(s->root, &s->dev->info, &now);
    pthread_mutex_lock(&s->lock);
    now.bytes[COUNTER_DRIVER] = s->driver;
    for (size_t k = 0; k < COUNTERS; k++)
        samples_raise(&s->peaks.bytes[k], now.bytes[k], s->before.bytes[k]);
    samples_raise(&s->peaks.in_use, samples_in_use(&s->dev->info, now.bytes),
                  samples_in_use(&s->dev->info, s->before.bytes));
    for (size_t k = 0; k < now.nodes_n && k < s->before.nodes_n; k++)
        if (now.node[k] == s->before.node[k])
            samples_raise(&s->peaks.node_bytes[k], now.node_bytes[k], s->before.node_bytes[k]);
    s->peaks.readings++;
    pthread_mutex_unlock(&s->lock);
}

static void *samples_run(void *user)
{
    struct counter_samples *s = user;
    while (!atomic_load(&s->stop)) {
        samples_read(s);
        as_sleep(s->period_s);
    }
    return NULL;
}

static void samples_nothing(struct counter_peaks *out)
{
    *out = (struct counter_peaks){.in_use = NAN};
    for (size_t k = 0; k < COUNTERS; k++)
        out->bytes[k] = NAN;
    for (size_t k = 0; k < COUNTER_NODES_MAX; k++)
        out->node_bytes[k] = NAN;
}

enum as_status as_samples_start(const char *root, struct as_device *dev, double period_s, struct counter_samples **out,
                                struct as_error *err)
{
    struct counter_samples *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return as_nomem(err, sizeof *s, "samples of memory in use");
    s->root = root;
    s->dev = dev;
    s->period_s = period_s;
    samples_nothing(&s->peaks);
    as_counters_read(root, dev, &s->before);
    s->driver = s->before.bytes[COUNTER_DRIVER];
    s->peaks.nodes_n = s->before.nodes_n;
    memcpy(s->peaks.node, s->before.node, sizeof s->peaks.node);
    pthread_mutex_init(&s->lock, NULL);
    const int code = pthread_create(&s->thread, NULL, samples_run, s);
    if (code) {
        pthread_mutex_destroy(&s->lock);
        free(s);
        return as_fail(err, AS_FAILED, "no thread to sample memory in use: %s", strerror(code));
    }
    *out = s;
    return AS_OK;
}

void as_samples_step(struct counter_samples *s)
{
    struct counter_reading now;
    as_counters_read(s->root, s->dev, &now);
    pthread_mutex_lock(&s->lock);
    s->driver = now.bytes[COUNTER_DRIVER];
    pthread_mutex_unlock(&s->lock);
    samples_read(s);
}

void as_samples_stop(struct counter_samples *s, struct counter_peaks *out)
{
    samples_nothing(out);
    if (!s)
        return;
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    samples_read(s);
    *out = s->peaks;
    pthread_mutex_destroy(&s->lock);
    free(s);
}
