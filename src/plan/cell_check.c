/* Checks whether a cell can be measured on a device, for the plan, replay and the worker. */
#include "plan/plan.h"

#include "base/text.h"
#include "probe/main_memory.h"

#include <math.h>
#include <string.h>

static enum as_status has_capabilities(const struct as_probe *probe, const struct as_device_info *info,
                                       struct as_error *err)
{
    const unsigned missing = probe->needs & ~info->capabilities;
    if (!missing)
        return AS_OK;
    struct as_buf phrases = AS_BUF_INIT;
    as_capability_phrases(missing, ", no ", &phrases);
    enum as_status st = as_fail(err, AS_UNSUPPORTED, "the device has no %s", as_buf_get(&phrases));
    as_buf_finish(&phrases);
    return st;
}

/* The expression must name one value, not a list, a range or "all". */
static enum as_status check_value(const struct as_axis *axis, const struct as_axis_value *value,
                                  const struct as_device_info *info, struct as_error *err)
{
    struct as_axis_values values;
    enum as_status st = as_axis_parse(axis, value->text, info, &values, err);
    if (st)
        return st;
    if (values.n == 0)
        st = as_fail(err, AS_UNSUPPORTED, "axis '%s': the device has no '%s'", axis->name, value->text);
    else if (values.n > 1 || strcmp(values.v[0].text, value->text) != 0 ||
             isnan(values.v[0].number) != isnan(value->number))
        st = as_fail(err, AS_USAGE, "axis '%s': '%s' is not one of its values; see 'assay explain' of the probe",
                     axis->name, value->text);
    as_axis_values_finish(&values);
    return st;
}

static enum as_status check_state(const char *state, const struct as_device_info *info, struct as_error *err)
{
    if (strcmp(state, info->state) == 0)
        return AS_OK;
    return as_fail(err, AS_UNSUPPORTED, "it was measured %s%s, and this is a process %s%s",
                   state[0] ? "with " : "in no process state", state, info->state[0] ? "with " : "in none",
                   info->state);
}

static enum as_status cell_check_axes(const struct as_probe *probe, const struct as_axes *axes,
                                      const struct as_device_info *info, struct as_error *err)
{
    enum as_status st = check_state(as_axes_text(axes, AS_STATE_AXIS), info, err);
    if (st)
        return st;
    for (size_t i = 0; i < axes->n; i++)
        if (!as_probe_axis(probe, axes->v[i].name) && strcmp(axes->v[i].name, AS_STATE_AXIS) != 0)
            return as_fail(err, AS_USAGE, "probe '%s' of this build has no axis '%s'; measure it anew with 'assay run'",
                           probe->name, axes->v[i].name);
    for (const struct as_axis *axis = probe->axes; axis && axis->name; axis++) {
        const struct as_axis_value *value = as_axes_get(axes, axis->name);
        if (!value)
            return as_fail(err, AS_USAGE, "axis '%s' of probe '%s' has no value; measure it anew with 'assay run'",
                           axis->name, probe->name);
        st = check_value(axis, value, info, err);
        if (st)
            return st;
    }
    return AS_OK;
}

static const char *allocator_reason(const struct as_device_info *info, const struct as_probe *probe,
                                    const struct as_axes *axes)
{
    for (size_t i = 0; i < axes->n; i++) {
        const struct as_axis *axis = as_probe_axis(probe, axes->v[i].name);
        if (!axis || axis->domain != AS_DOMAIN_ALLOCATOR)
            continue;
        const struct as_allocator *a = as_info_allocator(info, axes->v[i].text);
        if (a && a->why_not[0])
            return a->why_not;
        if (a && a->moves[0] && probe->kernel_reaches && probe->kernel_reaches(axes))
            return a->moves;
    }
    return NULL;
}

/* A size that does not fit the device is reported as unsupported, not attempted. */
static enum as_status check_sizes(const struct as_device_info *info, const struct as_probe *probe,
                                  const struct as_axes *axes, struct as_error *err)
{
    for (size_t i = 0; i < axes->n; i++) {
        const struct as_axis *axis = as_probe_axis(probe, axes->v[i].name);
        if (!axis || axis->type != AS_AXIS_SIZE)
            continue;
        double room = 0.75 * (double)info->memory_free;
        int single = info->max_alloc && axes->v[i].number > (double)info->max_alloc;
        if (axes->v[i].number <= room && !single)
            continue;
        struct as_buf b = AS_BUF_INIT;
        as_buf_printf(&b, "axis '%s' requests ", axis->name);
        as_format_value(&b, axes->v[i].number, "B");
        single &= axes->v[i].number <= room;
        as_buf_str(&b, single ? ", the largest allocation is " : ", free for it are ");
        as_format_value(&b, single ? (double)info->max_alloc : room, "B");
        if (!single && info->memory_by[0])
            as_buf_printf(&b, " by %s; raise that limit", info->memory_by);
        enum as_status st = as_fail(err, AS_UNSUPPORTED, "%s", as_buf_get(&b));
        as_buf_finish(&b);
        return st;
    }
    return AS_OK;
}

/* More than an allocator of the cell gives, as managed memory that migrates or evicts other pages. */
static enum as_status check_caps(const struct as_device_info *info, const struct as_probe *probe,
                                 const struct as_axes *axes, struct as_error *err)
{
    const double size = as_axes_number(axes, "size");
    for (size_t i = 0; i < axes->n && isfinite(size); i++) {
        const struct as_axis *axis = as_probe_axis(probe, axes->v[i].name);
        const bool names = axis && axis->domain == AS_DOMAIN_ALLOCATOR;
        const struct as_allocator *a = names ? as_info_allocator(info, axes->v[i].text) : NULL;
        if (!a || !a->most || size <= (double)a->most)
            continue;
        struct as_buf b = AS_BUF_INIT;
        as_buf_printf(&b, "'%s' gives at most ", a->name);
        as_format_size(&b, a->most);
        enum as_status st = as_fail(err, AS_UNSUPPORTED, "%s", as_buf_get(&b));
        as_buf_finish(&b);
        return st;
    }
    return AS_OK;
}

/* A claim that the footprint gate would always reject. */
static enum as_status check_claim(const struct as_device_info *info, const struct as_probe *probe,
                                  const struct as_axes *axes, struct as_error *err)
{
    const uint64_t claim = probe->memory_claim ? probe->memory_claim(info, axes) : 0;
    const struct as_memory_path path = as_main_memory_path(info, probe->name, axes);
    const char *allocator = path.allocator;
    const double threads = path.threads;
    if (claim == 0 || as_info_is_memory(info, allocator, threads, (double)claim))
        return AS_OK;
    const uint64_t cache = as_info_largest_cache(info, allocator, threads);
    struct as_buf b = AS_BUF_INIT, least = AS_BUF_INIT;
    as_format_sizes(&b, claim, &least, as_info_memory_least(info, allocator, threads));
    as_buf_printf(&b, " is too small to measure main memory: at least %s needed (", as_buf_get(&least));
    as_buf_finish(&least);
    if (cache) {
        as_buf_printf(&b, "%s: ", as_info_largest_cache_name(info, allocator, threads));
        as_format_size(&b, cache);
    } else
        as_buf_str(&b, "cache sizes unknown");
    as_buf_printf(&b, "); set size=DRAM%s", as_probe_axis(probe, "level") ? ", or level=sweep for any size" : "");
    enum as_status st = as_fail(err, AS_UNSUPPORTED, "%s", as_buf_get(&b));
    as_buf_finish(&b);
    return st;
}

enum as_applies as_plan_applies(const struct as_probe *probe, const struct as_axes *axes,
                                const struct as_device_info *info, struct as_error *err)
{
    if (has_capabilities(probe, info, err))
        return AS_INAPPLICABLE;
    const enum as_applies applies = probe->applies ? probe->applies(info, axes, err) : AS_APPLIES;
    const char *allocator = applies == AS_APPLIES ? allocator_reason(info, probe, axes) : NULL;
    if (allocator)
        as_fail(err, AS_UNSUPPORTED, "%s", allocator);
    if (allocator ||
        (applies == AS_APPLIES && (check_sizes(info, probe, axes, err) || check_caps(info, probe, axes, err) ||
                                   check_claim(info, probe, axes, err))))
        return AS_INAPPLICABLE;
    return applies;
}

enum as_status as_plan_check(const char *name, const struct as_axes *axes, const struct as_device_info *info,
                             struct as_error *err)
{
    const struct as_probe *probe = as_probe_find(name);
    if (!probe)
        return as_fail(err, AS_USAGE, "this build of assay has no probe '%s'; see 'assay list probes'", name);
    /* First, since a cell of a device without the capabilities has no axes. */
    enum as_status st = has_capabilities(probe, info, err);
    if (!st)
        st = cell_check_axes(probe, axes, info, err);
    if (st)
        return st;
    struct as_error why = {0};
    if (as_plan_applies(probe, axes, info, &why) == AS_APPLIES)
        return AS_OK;
    return as_fail(err, AS_UNSUPPORTED, "%s",
                   why.text[0] ? why.text : "this combination of axes does not apply to this device");
}

enum as_status as_plan_check_cell(const struct as_cell *cell, const struct as_device_info *info, struct as_error *err)
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    if (strcmp(cell->device, info->id) != 0)
        return as_fail(err, AS_UNSUPPORTED, "it belongs to device '%s', not '%s'", cell->device, info->id);
    const struct as_metric metric = probe ? as_probe_metric(probe, &cell->axes) : (struct as_metric){0};
    if (probe && (strcmp(cell->metric, metric.name) != 0 || strcmp(cell->unit, metric.unit) != 0 ||
                  !cell->lower_is_better != !metric.lower_is_better))
        return as_fail(err, AS_USAGE, "probe '%s' of this build measures %s in %s, not %s in %s", probe->name,
                       metric.name, metric.unit, cell->metric, cell->unit);
    return as_plan_check(cell->probe, &cell->axes, info, err);
}
