#include "model/judge_state.h"

#include "base/text.h"
#include "base/throttle.h"
#include "model/gates.h"

#include <math.h>

/* Contention and throttling affect all samples, so scatter understates the error; the interval spans all samples. */
static void judge_state_widen(struct as_cell *cell, const struct as_estimate *e, const struct as_disturbance *d)
{
    if (!d->throttled && !d->shared)
        return;
    cell->sum.ci.lo = fmin(cell->sum.ci.lo, e->min);
    cell->sum.ci.hi = fmax(cell->sum.ci.hi, e->max);
    cell->causes |= (d->throttled ? AS_WIDE_CLOCK : 0) | (d->shared ? AS_WIDE_CONTENTION : 0);
}

/* A clock by calibration may be off in all trials alike, which their scatter does not show. */
static bool judge_state_unsure(struct as_cell *cell, const struct as_disturbance *d)
{
    cell->sum.ci.lo /= d->clock_off;
    cell->sum.ci.hi *= d->clock_off;
    return d->clock_off > 1 && 2 * as_cell_width(cell) > cell->precision;
}

enum { MODE_DIGITS = 3 }; /* centres of clusters, also of counts */

/* "interval width 12%, 2% requested: time, modes" */
static void say_wide(struct as_cell *cell, int trials_asked, const struct as_estimate *e,
                     const struct as_disturbance *d)
{
    struct as_buf b = AS_BUF_INIT;
    const bool is_wide = e->wide || d->clock_off > 1;
    const double width = 200 * as_cell_width(cell);
    if (e->causes & AS_WIDE_BUSY)
        as_buf_str(&b, "other work in every trial: ");
    else if (is_wide && isfinite(width))
        as_buf_printf(&b, "interval width %.3g%%, %.3g%% requested: ", width, 100 * cell->precision);
    else if (is_wide)
        as_buf_str(&b, "relative interval width is undefined, the median is 0: ");
    as_causes_text(cell->causes, &b);
    if (d->throttled) {
        as_buf_str(&b, "; throttled: ");
        as_throttle_text(d->throttled, &b);
    }
    if (d->shared)
        as_buf_printf(&b, "; another process on the device in %zu of %zu trials", d->shared, d->trials);
    if (e->causes & AS_WIDE_TIME)
        as_buf_printf(&b, "; %zu trial%s of %d", e->trials, e->trials == 1 ? "" : "s", trials_asked);
    if ((e->causes & AS_WIDE_CONTENTION) && e->left_out)
        as_buf_printf(&b, "; %zu of %zu samples left out", e->left_out, e->n + e->left_out);
    if (e->modes == 2) {
        as_buf_str(&b, "; modes ");
        as_format_value_to(&b, e->mode[0], cell->unit, MODE_DIGITS);
        as_buf_printf(&b, " (%.0f%%) and ", 100 * e->mode_share0);
        as_format_value_to(&b, e->mode[1], cell->unit, MODE_DIGITS);
    }
    as_copy_text(cell->reason, sizeof cell->reason, as_buf_get(&b));
    as_buf_finish(&b);
}

void as_judge_set_state(struct as_cell *cell, int trials_asked, const struct as_estimate *e,
                        const struct as_disturbance *d, const struct as_trial *broken)
{
    struct as_buf why = AS_BUF_INIT;
    const bool unsure = judge_state_unsure(cell, d);
    cell->reason[0] = 0;
    if (as_gates_failed(cell)) {
        cell->status = AS_CELL_REJECTED;
        cell->causes = 0;
        as_gates_reason(cell, &why);
        as_copy_text(cell->reason, sizeof cell->reason, as_buf_get(&why));
    } else if ((e->wide || unsure || d->throttled || d->shared) && isfinite(cell->precision)) {
        cell->status = AS_CELL_WIDE;
        cell->causes |= unsure ? AS_WIDE_CLOCK : 0;
        judge_state_widen(cell, e, d);
        say_wide(cell, trials_asked, e, d);
    } else {
        cell->status = AS_CELL_OK;
        cell->causes = 0;
    }
    if (broken) {
        as_buf_clear(&why);
        as_buf_printf(&why, "%s%sone trial %s: %s", cell->reason, cell->reason[0] ? "; " : "",
                      broken->status == AS_CELL_TIMEOUT       ? "timed out"
                      : broken->status == AS_CELL_UNSUPPORTED ? "was unsupported"
                                                              : as_cell_status_said(broken->status),
                      broken->reason);
        as_copy_text(cell->reason, sizeof cell->reason, as_buf_get(&why));
    }
    as_buf_finish(&why);
}
