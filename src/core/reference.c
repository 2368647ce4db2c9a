#include "core/reference.h"

#include "base/chain.h"
#include "base/clock.h"
#include "stats/estimate.h"

#include <math.h>
#include <sys/resource.h>

enum { CHAINS = 4, LONG_LOOPS = 180, SHORT_LOOPS = 18, WIDE_LOOPS = 4000 };
/* A busy SMT sibling takes 15% of the issue slots or more. */
static const double SHARED = 1.12;
/* A reading below this fraction of the fastest clock is a delayed loop, not a clock. */
static const double SLOWEST = 0.4;

/* Four independent xorshift chains saturate the issue slots, so a busy SMT sibling slows them. */
static void wide(uint64_t loops)
{
    uint64_t a = 88172645463325252U, b = a + 1, c = a + 2, d = a + 3;
    for (uint64_t i = 0; i < loops; i++) {
        a ^= a << 7, b ^= b << 7, c ^= c << 7, d ^= d << 7;
        a ^= a >> 9, b ^= b >> 9, c ^= c >> 9, d ^= d >> 9;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    }
}

/* Minimum over CHAINS runs, in seconds: an interrupt only lengthens one. */
static double quickest(void (*work)(uint64_t), uint64_t loops)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < CHAINS; i++) {
        const uint64_t start = as_now_ns();
        work(loops);
        const uint64_t took = as_now_ns() - start;
        best = took < best ? took : best;
    }
    return 1e-9 * (double)best;
}

/* The difference of a long and a short chain cancels the cost of reading the time. */
static double clock_here(void)
{
    const double took = quickest(as_add_chain, LONG_LOOPS) - quickest(as_add_chain, SHORT_LOOPS);
    return took > 0 ? (LONG_LOOPS - SHORT_LOOPS) * AS_CHAIN_LINKS / took : NAN;
}

static long preemptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nivcsw;
}

void as_reference_read(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out)
{
    *out = (struct as_reference_reading){.hz = NAN, .preemptions = preemptions()};
    if (dev->info.capabilities & AS_CAP_HOST_KERNELS) {
        if (!dev->device->clock || dev->device->clock(dev, &out->hz, NULL) || !(out->hz > 0))
            out->hz = NAN;
    } else {
        out->hz = clock_here();
        const double cycles = quickest(wide, WIDE_LOOPS) * out->hz;
        r->least_cycles = fmin(r->least_cycles, cycles);
        out->is_shared = cycles > SHARED * r->least_cycles;
    }
    if (isfinite(out->hz))
        r->fastest_hz = fmax(r->fastest_hz, out->hz);
}

void as_reference_weigh(const struct as_reference *r, const struct as_reference_reading *readings, size_t n,
                        double *clock_hz, double *weight)
{
    for (size_t i = 0; i < n; i++) {
        const struct as_reference_reading *a = &readings[i], *b = &readings[i + 1];
        const bool contended = a->is_shared || b->is_shared || b->preemptions > a->preemptions;
        weight[i] = as_sample_weight(a->hz, b->hz, SLOWEST * r->fastest_hz, contended, &clock_hz[i]);
    }
}
