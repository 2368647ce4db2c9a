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
    if (by_device) {
        if (!dev->device->clock || dev->device->clock(dev, &out->hz, NULL) || !(out->hz > 0))
            out->hz = NAN;
    } else {
        out->hz = clock_here();
    }
    if (isfinite(out->hz))
        r->fastest_hz = fmax(r->fastest_hz, out->hz);
}

void as_reference_weigh(const struct as_reference *r, const struct as_reference_reading *readings, size_t n,
                        double *clock_hz, double *weight)
{
    for (size_t i = 0; i < n; i++) {
        const struct as_reference_reading *a = &readings[i], *b = &readings[i + 1];
        const bool preempted = b->preemptions > a->preemptions;
        weight[i] = as_sample_weight(a->hz, b->hz, SLOWEST * r->fastest_hz, preempted, &clock_hz[i]);
    }
}
