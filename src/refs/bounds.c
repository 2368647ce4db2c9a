#include "refs/bounds.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A compute unit performs a power of two of operations per cycle. A specified rate up to this factor above one assumes
 * a clock above the reported maximum and is kept; others assume a lower clock and are scaled up. */
static const double ABOVE_POWER = 1.3;

static const char TO[] = "to device", FROM[] = "from device", BOTH[] = "bidirectional";

double as_reported_line(const struct as_device_info *info, const char *group, const char *label, const char *unit)
{
    if (!info || strcmp(unit, "GB/s") != 0)
        return NAN;
    if (strcmp(group, "Memory") == 0 && info->peak_bandwidth > 0)
        return info->peak_bandwidth * 1e-9;
    if (strcmp(group, "Host link") == 0 && info->bus_bandwidth > 0)
        return info->bus_bandwidth * (strcmp(label, BOTH) == 0 ? 2e-9 : 1e-9);
    return NAN;
}

static double at_highest_clock(const struct as_device_info *info, double printed)
{
    const double cycles = info->compute_units * info->clock_max_hz, each = printed / cycles;
    if (!(cycles > 0) || !(each >= 1))
        return printed;
    const double power = exp2(floor(log2(each)));
    return each / power < ABOVE_POWER ? printed : fmax(printed, 2 * power * cycles);
}

static void take_loosest(struct as_bound *b, double value, const char *why)
{
    if (!isfinite(value) || (isfinite(b->value) && b->value >= value))
        return;
    b->value = value;
    as_copy_text(b->why, sizeof b->why, why);
}

struct as_bound as_bound_of_line(const struct as_device_info *info, const struct as_refs *figures, const char *group,
                                 const char *label, const char *unit)
{
    struct as_bound b = {.value = NAN};
    char why[96];
    const struct as_ref *ref = as_refs_find_line(figures, "specified", group, label, unit);
    const bool rate = strcmp(group, "Compute") == 0 || strcmp(group, "Matrix") == 0;
    const double reported = as_reported_line(info, group, label, unit);
    if (strcmp(group, "Memory") == 0)
        take_loosest(&b, reported, "peak of the memory interface, as reported");
    else {
        snprintf(why, sizeof why, "%.24s%s", info->bus, strcmp(label, BOTH) == 0 ? ", both directions together" : "");
        take_loosest(&b, reported, why);
    }
    if (ref) {
        snprintf(why, sizeof why, "specified for %s%s", ref->chip, rate ? ", at the highest clock" : "");
        take_loosest(&b, rate ? at_highest_clock(info, ref->hi) : ref->hi, why);
    }
    return b;
}

/* ---- of a trial ---- */

/* A line that a trial's bytes or operations count for, and how many times each counts. */
struct demand {
    const char *group, *label;
    unsigned times;
};
enum { DEMANDS_MAX = 2 };

enum place { OWN, OF_HOST, ELSEWHERE };

/* Where a device with its own memory finds an allocator's. What a driver may move is elsewhere. */
static enum place bounds_place_of(const struct as_device_info *info, const char *allocator)
{
    const struct as_allocator *a = as_info_allocator(info, allocator);
    if (strcmp(allocator, "host") == 0)
        return OF_HOST;
    if (!a)
        return ELSEWHERE;
    if (as_role_is_pinned(a->role))
        return OF_HOST;
    return a == &info->allocators[0] || !a->host_access ? OWN : ELSEWHERE;
}

static bool axis_is(const struct as_bound_trial *t, const char *axis, const char *word)
{
    return strcmp(as_axes_text(t->axes, axis), word) == 0;
}

/* Every copied byte once. */
static size_t copy_demands(const struct as_device_info *info, const struct as_bound_trial *t, struct demand *out)
{
    const enum place from = bounds_place_of(info, as_axes_text(t->axes, "from")),
                     to = bounds_place_of(info, as_axes_text(t->axes, "to"));
    const bool both = axis_is(t, "direction", "both");
    if (from == OWN && to == OWN) { /* is read there and written there */
        out[0] = (struct demand){"Memory", "copy", 2};
        return as_info_is_memory(info, NULL, 1, (double)t->footprint);
    }
    out[0] = (struct demand){"Host link", both && from != to ? BOTH : to == OF_HOST ? FROM : TO, 1};
    /* The host may make a copy between its own memories itself. */
    return !info->is_host_memory && from != ELSEWHERE && to != ELSEWHERE && (from != to || axis_is(t, "how", "kernel"));
}

static size_t link_demands(const struct as_device_info *info, const struct as_bound_trial *t, struct demand *out)
{
    if (info->is_host_memory || !axis_is(t, "peer", "host"))
        return 0;
    out[0] = (struct demand){"Host link",
                             axis_is(t, "direction", "both") ? BOTH
                             : axis_is(t, "direction", "to") ? FROM
                                                             : TO,
                             1};
    return 1;
}

/* A device's streams over host memory also cross the link. */
static size_t stream_demands(const struct as_device_info *info, const struct as_bound_trial *t, struct demand *out)
{
    if (!t->claims_memory)
        return 0;
    out[0] = (struct demand){"Memory", "read", 1};
    if (info->is_host_memory || bounds_place_of(info, as_axes_text(t->axes, "allocator")) != OF_HOST)
        return 1;
    out[1] = (struct demand){"Host link",
                             axis_is(t, "op", "read") || axis_is(t, "op", "dot") ? TO
                             : axis_is(t, "op", "write")                         ? FROM
                                                                                 : BOTH,
                             1};
    return 2;
}

static const struct {
    const char *probe;
    size_t (*demands)(const struct as_device_info *info, const struct as_bound_trial *t, struct demand *out);
} transfers[] = {
    {"copy", copy_demands}, {"link", link_demands}, {"bandwidth", stream_demands}, {"topology", stream_demands}};

static size_t demands_of(const struct as_device_info *info, const struct as_bound_trial *t, struct demand *out)
{
    for (const struct as_bound_line *l = as_bound_lines; l->probe; l++)
        if (strcmp(l->probe, t->probe) == 0 && axis_is(t, l->axis, l->value)) {
            out[0] = (struct demand){l->group, l->label, 1};
            return 1;
        }
    for (size_t i = 0; i < sizeof transfers / sizeof *transfers && strcmp(t->unit, "GB/s") == 0; i++)
        if (strcmp(transfers[i].probe, t->probe) == 0)
            return transfers[i].demands(info, t, out);
    return 0;
}

enum as_status as_bound_of_trial(const struct as_device_info *info, const struct as_bound_trial *trial,
                                 struct as_bound *out, struct as_error *err)
{
    struct demand demands[DEMANDS_MAX];
    struct as_refs figures = {0};
    const size_t n = demands_of(info, trial, demands);
    *out = (struct as_bound){.value = NAN};
    const enum as_status st = n ? as_refs_of_device(info, &figures, err) : AS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        struct as_bound b = as_bound_of_line(info, &figures, demands[i].group, demands[i].label, trial->unit);
        b.value /= demands[i].times;
        if (demands[i].times > 1) {
            char why[sizeof b.why];
            as_copy_text(why, sizeof why, b.why);
            snprintf(b.why, sizeof b.why, "every byte crosses it %u times: %.60s", demands[i].times, why);
        }
        if (isfinite(b.value) && !(out->value <= b.value))
            *out = b;
    }
    as_refs_finish(&figures);
    return st;
}

enum as_status as_specified_cache(struct as_device_info *info, struct as_error *err)
{
    struct as_refs figures;
    if (info->is_host_memory || as_info_cache_at(info, 2) || info->caches_n == AS_CACHES_MAX)
        return AS_OK;
    const enum as_status st = as_refs_of_device(info, &figures, err);
    const struct as_ref *ref = st ? NULL : as_refs_find_line(&figures, "specified", "L2", "capacity", "B");
    if (ref)
        info->caches[info->caches_n++] =
            (struct as_cache){.level = 2, .kind = 'u', .size = (uint64_t)ref->lo, .source = "table"};
    as_refs_finish(&figures);
    return st;
}
