#include "worker/conditions.h"

#include "base/text.h"
#include "base/throttle.h"
#include "device/device.h"
#include "model/metrics.h"
#include "refs/bounds.h"
#include "sensor/sensor.h"

#include <math.h>
#include <string.h>

enum as_status as_trial_take_bound(struct as_trial_context *tc, const struct as_probe *probe, struct as_error *err)
{
    const struct as_bound_trial trial = {.probe = probe->name,
                                         .axes = tc->axes,
                                         .unit = as_probe_metric(probe, tc->axes).unit,
                                         .footprint = tc->footprint};
    struct as_bound bound;
    const enum as_status st = as_bound_of_trial(&tc->dev->info, &trial, &bound, err);
    if (!st && isfinite(bound.value) && !(tc->limit >= bound.value)) {
        tc->limit = bound.value;
        as_copy_text(tc->limit_why, sizeof tc->limit_why, bound.why);
    }
    return st;
}

double as_trial_bound_at(const struct as_trial_context *tc, const struct as_probe *probe, double clock_hz)
{
    const double highest = tc->dev->info.clock_max_hz;
    const char *unit = as_probe_metric(probe, tc->axes).unit;
    static const double sure = 1.03; /* of the clock: readings err by two percent */
    const bool of_arithmetic = strcmp(unit, "FLOP/s") == 0 || strcmp(unit, "OP/s") == 0;
    return of_arithmetic && highest > 0 && clock_hz > sure * highest ? tc->limit * clock_hz / highest : tc->limit;
}

enum as_status as_trial_check_pages(const struct as_trial_context *tc, struct as_error *err)
{
    const struct as_device_info *info = &tc->dev->info;
    const struct as_allocator *a = as_info_allocator(info, as_axes_text(tc->axes, "allocator"));
    if (!a || a->role != AS_ROLE_HUGE_PAGES || !tc->detail.len)
        return AS_OK;
    struct as_buf notes = AS_BUF_INIT;
    as_buf_printf(&notes, "%s}", as_buf_get(&tc->detail));
    const double page = as_detail_number(as_buf_get(&notes), "page_size");
    as_buf_finish(&notes);
    if (!(page > 0) || page > (double)info->page_size)
        return AS_OK;
    return as_fail(err, AS_UNSUPPORTED, "\"%s\" got pages of %.0f bytes: the system had no huge pages left", a->name,
                   page);
}

static double power_now(const struct as_trial_context *tc)
{
    struct as_sensor_reading now;
    as_sensing_read(tc->sensing, AS_SENSOR_QUICK, &now);
    return now.power_w;
}

void as_trial_offer_power(struct as_trial_context *tc, struct as_sensing *sensing)
{
    if (!sensing->sensor || !sensing->sensor->background || sensing->sensor->is_mean)
        return;
    tc->sensing = sensing;
    tc->power_now = power_now;
}

void as_trial_note_readings(struct as_trial_context *tc, const struct as_readings *r)
{
    struct as_buf words = AS_BUF_INIT;
    if (isfinite(r->power_w))
        as_note_number(tc, "power_w", r->power_w);
    if (isfinite(r->counted_w))
        as_note_number(tc, "counted_w", r->counted_w);
    if (r->throttle > 0 && r->throttle & ~(int)AS_THROTTLE_HARMLESS) {
        as_throttle_text(r->throttle & ~(int)AS_THROTTLE_HARMLESS, &words);
        as_note(tc, "throttled_by", as_buf_get(&words));
    }
    as_buf_finish(&words);
}

void as_trial_note_links(struct as_trial_context *tc, const struct as_readings *r)
{
    const struct {
        const char *name, *name_new;
        double after, grown;
    } counters[] = {{"link_errors", "link_errors_new", r->link_errors, r->link_errors_new},
                    {"link_replays", "link_replays_new", r->link_replays, r->link_replays_new},
                    {"pcie_replays", "pcie_replays_new", r->pcie_replays, r->pcie_replays_new}};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (isfinite(counters[i].after))
            as_note_number(tc, counters[i].name, counters[i].after);
        if (counters[i].grown > 0)
            as_note_number(tc, counters[i].name_new, counters[i].grown);
    }
}
