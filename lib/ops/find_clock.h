/* The clock of a device whose kernels have no cycle counter and whose rates are not published. Dependent chains of
 * different operations take whole cycles per step, so at the right clock all their times are whole numbers. */
#ifndef AS_LIB_OPS_FIND_CLOCK_H
#define AS_LIB_OPS_FIND_CLOCK_H

#include "lib/checks/checks.h"

enum { AS_CLOCK_CHAINS = 8 };

/* Where to look. */
struct as_clock_range {
    double low, high; /* Hz */
    double reported;  /* by the driver; 0: unknown, the lowest of several clocks counts */
};
struct as_clock_fit {
    double hz;       /* NAN: at no clock of the range do the chains take whole cycles */
    double off;      /* by this factor it may be wrong: what the chains leave open, and other clocks that fit */
    double miss;     /* cycles by which the chains miss whole numbers, in all */
    unsigned chains; /* that take whole cycles */
    unsigned cycles[AS_CLOCK_CHAINS]; /* of a step of each; 0: not whole */
};
/* seconds: per step of n chains, at most AS_CLOCK_CHAINS. At least three must fit: all of up to four, three quarters of
 * more. */
struct as_clock_fit as_clock_fit(const double *seconds, size_t n, const struct as_clock_range *range);
/* Do n chains decide, with `more` still to come: all fit one clock, or so many miss that none can be found? */
bool as_clock_is_decided(const double *seconds, size_t n, size_t more, const struct as_clock_range *range);

/* Fills tc->dev->found unless that is done: measures the chains, and f32 fused multiply-adds on full compute units
 * beside them. Without a fit the reported clock counts, without that one too the middle of all plausible ones, and the
 * factor says how far off they may be. */
enum as_status as_clock_find(struct as_trial_context *tc, struct as_error *err);

#endif
