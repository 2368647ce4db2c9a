/* The core clock, as all cells saw it. */
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_CELLS = 20 }; /* of so many it is worth saying what 90% do */

/* A clock counts as above the maximum from here on: reported ones are rounded. */
static const double ABOVE = 1.02;

/* " (3.66 to 3.69 GHz in 5 cells)"; " in 5 cells" where both ends read the same. */
static void seen_text(double low, double high, double median, size_t n, char *out, size_t size)
{
    enum { DIGITS = 3 };
    struct as_buf lo = AS_BUF_INIT, hi = AS_BUF_INIT, range = AS_BUF_INIT;
    char where[32] = "90% of measurements";
    if (n < MANY_CELLS)
        snprintf(where, sizeof where, "%zu measurement%s", n, n == 1 ? "" : "s");
    as_format_value_to(&lo, low, "Hz", DIGITS);
    as_format_value_to(&hi, high, "Hz", DIGITS);
    as_format_range(&range, low, high, median, "Hz", DIGITS);
    if (strcmp(as_buf_get(&lo), as_buf_get(&hi)) == 0)
        snprintf(out, size, " in %s", where);
    else
        snprintf(out, size, " (%s in %s)", as_buf_get(&range), where);
    as_buf_finish(&lo);
    as_buf_finish(&hi);
    as_buf_finish(&range);
}

/* Where launches tell the clock: what no fit explains is taken from the driver, or assumed. */
static void say_calibration(double off, char *out, size_t size)
{
    static const double sure = 1.3; /* below the factors between clocks that fit alike, and of assumed ones */
    if (off < sure)
        snprintf(out, size, ", by calibration");
    else
        snprintf(out, size, ", known within a factor of %.2g", off);
}

static void say_clock(struct as_fact *f, double median, const char *seen)
{
    char value[96], claim[32];
    as_fact_value_text(median, AS_NO_INTERVAL, "Hz", value, sizeof value);
    as_fact_value_text(f->claimed, AS_NO_INTERVAL, "Hz", claim, sizeof claim);
    if (!(f->claimed > 0))
        as_fact_say(f, "The core runs at %s%s", value, seen);
    else if (f->verdict == AS_UNDECIDED)
        as_fact_say(f, "The core runs at %s%s; whether this exceeds its reported maximum of %s is inconclusive", value,
                    seen, claim);
    else
        as_fact_say(f, "The core runs at %s%s, %s %s", value, seen,
                    f->verdict == AS_REFUTED ? "above its reported maximum of" : "reported maximum", claim);
}

static void derive_clock(struct as_rule_context *c)
{
    double *hz = malloc(c->n * sizeof *hz), off;
    if (!hz) {
        c->status = as_nomem(c->err, c->n * sizeof *hz, "clocks");
        return;
    }
    const size_t n = as_cells_clocks(c->cells, c->n, hz, &off);
    struct as_fact *f = n ? as_fact_add(c, AS_FACT_CLOCK, NULL, NULL) : NULL;
    if (f) {
        double median = as_median(hz, n), low = as_quantile(hz, n, 0.05), high = as_quantile(hz, n, 0.95);
        const struct as_interval seen_ci = as_spread_interval(hz, n);
        as_fact_number(f, median, (struct as_interval){seen_ci.lo / off, seen_ci.hi * off});
        if (c->info && c->info->clock_max_hz > 0 && isfinite(c->info->clock_max_hz))
            f->claimed = c->info->clock_max_hz;
        char seen[160];
        seen_text(low, high, median, n, seen, sizeof seen);
        if (c->info && (c->info->capabilities & (AS_CAP_SOURCE | AS_CAP_CYCLES | AS_CAP_HOST_KERNELS)) == AS_CAP_SOURCE)
            say_calibration(off, seen + strlen(seen), sizeof seen - strlen(seen));
        if (f->claimed > 0)
            f->verdict = f->ci.lo > ABOVE * f->claimed    ? AS_REFUTED
                         : f->ci.hi <= ABOVE * f->claimed ? AS_SUPPORTED
                                                          : AS_UNDECIDED;
        say_clock(f, median, seen);
        for (size_t i = 0, step = n / AS_EVIDENCE_MAX + 1, found = 0; i < c->n; i++)
            if (isfinite(c->cells[i]->clock_hz) && c->cells[i]->clock_hz > 0 && found++ % step == 0)
                as_fact_evidence(f, c->cells[i]);
    }
    free(hz);
}

const struct as_rule as_rules_joint_clock[] = {
    {"core clock", derive_clock,
     "median of the clocks read by cycle counters, or calibrated by operations of known rate, in the measurements; "
     "compared "
     "with the maximum clock that the OS or driver reports",
     "a cycle counter at another rate than the core, operations at another rate than the known one, or a clock that "
     "changed within the measurements"},
    {0},
};
