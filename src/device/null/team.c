/* Several scripted devices that work at the same time: their work is done one after the other, and the script says what
 * they share. */
#include "device/null/null.h"

#include <math.h>

static enum as_status null_member(struct as_device *dev, size_t index, struct as_device **out, struct as_error *err)
{
    struct as_null_device *n = as_null(dev);
    *out = dev;
    if (index >= dev->info.siblings || index >= AS_NULL_DEVICES_MAX)
        return as_fail(err, AS_NOTFOUND, "there is no device 'null:%zu'; the script has %u", index, dev->info.siblings);
    if (index == n->index)
        return AS_OK;
    *out = &n->members[index];
    return (*out)->ctx ? AS_OK : as_null_open_member(dev, index, *out, err);
}

static double part_bytes(const struct as_part *part)
{
    return part->copy ? (double)part->copy->reps * (double)part->copy->bytes * (part->copy->back_to ? 2 : 1)
                      : (double)part->launch->reps * part->launch->work.bytes;
}

static enum as_status null_run_parts(struct as_part *parts, size_t n, struct as_timing *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    double longest = 0, bytes = 0;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    for (size_t k = 0; k < n && !st; k++) {
        struct as_device *dev = parts[k].dev;
        struct as_timing timing;
        st = parts[k].copy ? dev->queue->copy(dev, parts[k].copy, &timing, err)
                           : dev->queue->launch(dev, parts[k].launch, &timing, err);
        if (st)
            return st;
        parts[k].seconds = timing.host_s;
        longest = fmax(longest, timing.host_s);
        bytes += part_bytes(&parts[k]);
    }
    const double limit = n ? as_null(parts[0].dev)->script.together_gbs : 0;
    const double factor = limit > 0 ? fmax(1, bytes / (limit * 1e9) / longest) : 1;
    for (size_t k = 0; k < n; k++)
        parts[k].seconds *= factor;
    out->host_s = longest * factor;
    return AS_OK;
}

const struct as_team_ops as_null_team_ops = {.member = null_member, .run = null_run_parts};
