#include "worker/reference.h"

#include "base/chain.h"
#include "base/clock.h"
#include "device/device.h"
#include "device/shared_host.h"
#include "os/process.h"
#include "stats/estimate.h"

#include <math.h>

enum { CHAINS = 4, LONG_LOOPS = 180, SHORT_LOOPS = 18 };
/* A reading below this fraction of the fastest clock means contention, not a slow clock. */
static const double SLOWEST = 0.4;
/* Clocks closer than SAME are one; one that is lower than the fastest by LOW needs a second reading. */
static const double SAME = 0.01, LOW = 0.03;
/* A sample that lost no larger share of its time to others is not contended: long ones are always preempted. */
static const double LOST = 0.002;

/* Minimum over CHAINS runs, in seconds: an interrupt only lengthens one. */
static double reference_quickest(uint64_t loops)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < CHAINS; i++) {
        const uint64_t start = as_now_ns();
        as_add_chain(loops);
        const uint64_t took = as_now_ns() - start;
        best = took < best ? took : best;
    }
    return 1e-9 * (double)best;
}

/* The difference of a long and a short chain leaves out what reading the time costs. */
static double clock_here(void)
{
    const double took = reference_quickest(LONG_LOOPS) - reference_quickest(SHORT_LOOPS);
    return took > 0 ? (LONG_LOOPS - SHORT_LOOPS) * AS_CHAIN_LINKS / took : NAN;
}

/* Involuntary context switches: of the device's own threads, else of this one. Driver threads do not matter. */
static uint64_t preemptions(struct as_device *dev)
{
    return dev->device->preemptions ? dev->device->preemptions(dev) : as_thread_preemptions();
}

bool as_reference_applies(const struct as_device *dev)
{
    return as_info_shares_host(&dev->info) || dev->device->preemptions;
}

void as_reference_read(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out)
{
    const bool by_device = (dev->info.capabilities & AS_CAP_HOST_KERNELS) || dev->device->now;
    *out = (struct as_reference_reading){.hz = NAN, .preemptions = preemptions(dev)};
    if (!dev->device->preemptions) {
        out->now_s = as_now();
        out->cpu_s = as_thread_cpu_s();
    }
    if (by_device) {
        if (!dev->device->clock || dev->device->clock(dev, &out->hz, NULL) || !(out->hz > 0))
            out->hz = NAN;
    } else {
        out->hz = clock_here();
    }
    if (isfinite(out->hz))
        r->fastest_hz = fmax(r->fastest_hz, out->hz);
}

static bool is_same_clock(double a, double b)
{
    return fabs(a - b) <= SAME * b;
}

static bool is_clock_of_worker(const struct as_reference *r, double hz)
{
    bool same = false;
    for (size_t i = 0; i < AS_REFERENCE_TRIALS; i++)
        same |= is_same_clock(r->ended_hz[i], hz);
    return same;
}

/* Was the thread taken off its CPU for long? A clock of its time that moves in steps tells nothing of a short sample.
 */
static bool was_preempted(const struct as_reference_reading *before, const struct as_reference_reading *after)
{
    const double took = after->now_s - before->now_s, lost = took - (after->cpu_s - before->cpu_s);
    return after->preemptions > before->preemptions && !(took > 0 && fabs(lost) <= LOST * took);
}

/* Is reading i not low, or confirmed by a reading beside other samples, or by the worker's previous trials? */
static bool is_clock_of_trial(const struct as_reference *r, const struct as_reference_reading *readings, size_t n,
                              size_t i)
{
    const double hz = readings[i].hz;
    if (!(hz < (1 - LOW) * r->fastest_hz) || is_clock_of_worker(r, hz))
        return true;
    size_t others = 0; /* beside other samples one is enough, beside the same ones both */
    for (size_t k = 0; k <= n; k++)
        if (k != i && is_same_clock(readings[k].hz, hz))
            others += k > i + 1 || k + 1 < i ? 2 : 1;
    return others > 1;
}

void as_reference_weigh(const struct as_reference *r, const struct as_reference_reading *readings, size_t n,
                        double *clock_hz, double *weight)
{
    bool before = is_clock_of_trial(r, readings, n, 0);
    for (size_t i = 0; i < n; i++) {
        const struct as_reference_reading *a = &readings[i], *b = &readings[i + 1];
        const bool after = is_clock_of_trial(r, readings, n, i + 1),
                   contended = was_preempted(a, b) || !before || !after;
        weight[i] = as_sample_weight(a->hz, b->hz, SLOWEST * r->fastest_hz, contended, &clock_hz[i]);
        before = after;
    }
}

void as_reference_end_trial(struct as_reference *r, const struct as_reference_reading *last)
{
    r->ended_hz[r->trials++ % AS_REFERENCE_TRIALS] = last->hz;
}
