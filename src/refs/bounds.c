#include "refs/bounds.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A compute unit performs a power of two of operations per cycle. A specified rate up to this factor above one assumes
 * a clock above the reported maximum and is kept; others assume a lower clock and are scaled up. */
static const double ABOVE_POWER = 1.3;

static const char HOST_LINK[] = "Host link", PEER_LINK[] = "GPU to GPU", BOTH[] = "bidirectional";

/* Lines of one device's links, and how often its bandwidth of one direction counts: not those of all devices at once.
 */
static const struct {
    const char *group, *label;
    double directions;
    bool to_peer;
} links[] = {{HOST_LINK, "to device", 1, false}, {HOST_LINK, "from device", 1, false}, {HOST_LINK, BOTH, 2, false},
             {PEER_LINK, "write", 1, true},      {PEER_LINK, "read", 1, true},         {PEER_LINK, BOTH, 2, true}};

static double reported_link(const struct as_device_info *info, const char *group, const char *label)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        const double bandwidth = links[i].to_peer ? info->peer_bandwidth : info->bus_bandwidth;
        if (bandwidth > 0 && strcmp(group, links[i].group) == 0 && strcmp(label, links[i].label) == 0)
            return links[i].directions * 1e-9 * bandwidth;
    }
    return NAN;
}

double as_reported_line(const struct as_device_info *info, const char *group, const char *label, const char *unit)
{
    if (!info || strcmp(unit, "GB/s") != 0)
        return NAN;
    if (strcmp(group, "Memory") == 0 && info->peak_bandwidth > 0)
        return info->peak_bandwidth * 1e-9;
    return reported_link(info, group, label);
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

/* The bound of a line. Where sources differ, the loosest counts: a number is rejected only where every source excludes
 * it. Rates of arithmetic are specified at a boost clock; they hold for the highest clock that the device reports. */
static struct as_bound bound_of_line(const struct as_device_info *info, const struct as_refs *figures,
                                     const char *group, const char *label, const char *unit)
{
    struct as_bound b = {.value = NAN};
    char why[96];
    const struct as_ref *ref = as_refs_find_line(figures, "specified", group, label, unit);
    const bool rate = strcmp(group, "Compute") == 0 || strcmp(group, "Matrix") == 0;
    const double reported = as_reported_line(info, group, label, unit);
    if (strcmp(group, "Memory") == 0)
        take_loosest(&b, reported, "peak of the memory interface, as reported");
    else {
        snprintf(why, sizeof why, "%.24s%s", strcmp(group, PEER_LINK) == 0 ? info->peer_bus : info->bus,
                 strcmp(label, BOTH) == 0 ? ", both directions together" : "");
        take_loosest(&b, reported, why);
    }
    if (ref) {
        snprintf(why, sizeof why, "specified for %s%s", ref->chip, rate ? ", at the highest clock" : "");
        take_loosest(&b, rate ? at_highest_clock(info, ref->hi) : ref->hi, why);
    }
    return b;
}

/* ---- of a trial ---- */

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

/* Is the value of an axis, or what it names, the word of a bound? */
static bool is_bound_word(const struct as_device_info *info, const struct as_bound_trial *t, const char *axis,
                          const char *word)
{
    const char *have = as_axes_text(t->axes, axis);
    if (strcmp(word, "@memory") == 0)
        return as_info_is_memory(info, NULL, 1, (double)t->footprint);
    if (strcmp(word, "@own") == 0)
        return bounds_place_of(info, have) == OWN;
    if (strcmp(word, "@of_host") == 0)
        return bounds_place_of(info, have) == OF_HOST;
    if (strcmp(word, "@peer") == 0)
        return have[0] && !have[strspn(have, "0123456789")];
    return strcmp(have, word) == 0;
}

/* condition: "axis=value,value" of n letters */
static bool is_bound_condition(const struct as_device_info *info, const struct as_bound_trial *t, const char *condition,
                               size_t n)
{
    char axis[24], word[32];
    const size_t name = strcspn(condition, "=");
    as_copy_text(axis, name < sizeof axis ? name + 1 : sizeof axis, condition);
    for (size_t at = name + 1, len; at < n; at += len + 1) {
        len = strcspn(condition + at, ", ");
        as_copy_text(word, len < sizeof word ? len + 1 : sizeof word, condition + at);
        if (is_bound_word(info, t, axis, word))
            return true;
    }
    return false;
}

static bool is_bound_trial(const struct as_device_info *info, const struct as_bound_trial *t,
                           const struct as_bound_line *line)
{
    const char *at = line->cells;
    size_t n = strcspn(at, " ");
    if (strncmp(at, t->probe, n) != 0 || t->probe[n])
        return false;
    if (info->is_host_memory && strcmp(line->group, HOST_LINK) == 0)
        return false;
    for (at += n; *at; at += n) {
        at += strspn(at, " ");
        n = strcspn(at, " ");
        if (!is_bound_condition(info, t, at, n))
            return false;
    }
    return true;
}

static struct as_bound bound_by_line(const struct as_device_info *info, const struct as_refs *figures,
                                     const struct as_bound_line *line, const char *unit)
{
    struct as_bound b = bound_of_line(info, figures, line->group, line->label, unit);
    b.value /= line->times;
    if (line->times > 1) {
        char why[sizeof b.why];
        as_copy_text(why, sizeof why, b.why);
        snprintf(b.why, sizeof b.why, "every byte crosses it %u times: %.60s", line->times, why);
    }
    return b;
}

enum as_status as_bound_of_trial(const struct as_device_info *info, const struct as_bound_trial *trial,
                                 struct as_bound *out, struct as_error *err)
{
    struct as_refs figures = {0};
    bool have_figures = false;
    enum as_status st = AS_OK;
    *out = (struct as_bound){.value = NAN};
    for (const struct as_bound_line *line = as_bound_lines; line->cells && !st; line++) {
        if (!is_bound_trial(info, trial, line))
            continue;
        if (!have_figures)
            st = as_refs_of_device(info, &figures, err);
        have_figures = true;
        const struct as_bound b = st ? *out : bound_by_line(info, &figures, line, trial->unit);
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
