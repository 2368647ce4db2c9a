/* Checks that requested axes, "axis=expression", exist in the probes of the suites. */
#include "base/text.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* Finds an axis by name in the probes of the suites; sets near to the nearest name if there is none. */
static const struct as_axis *find_axis(const struct as_suite *suites, size_t suites_n, const char *probe,
                                       const char *name, const char **near)
{
    const char *names[128];
    size_t n = 0;
    for (size_t i = 0; i < suites_n; i++)
        for (size_t j = 0; j < suites[i].grids_n; j++) {
            const struct as_probe *p = suites[i].grids[j].probe;
            if (probe[0] && strcmp(probe, p->name) != 0)
                continue;
            const struct as_axis *axis = as_probe_axis(p, name);
            if (axis)
                return axis;
            for (size_t k = 0; p->axes[k].name && n < 127; k++)
                names[n++] = p->axes[k].name;
        }
    names[n] = NULL;
    *near = as_nearest(name, names);
    return NULL;
}

static bool asks_for(const struct as_suite *suites, size_t suites_n, const char *probe)
{
    for (size_t i = 0; i < suites_n; i++)
        for (size_t j = 0; j < suites[i].grids_n; j++)
            if (strcmp(suites[i].grids[j].probe->name, probe) == 0)
                return true;
    return false;
}

/* Refuses a word that no probe knows, even if no device can run the probe. */
static enum as_status plan_check_words(const struct as_suite *suites, size_t suites_n, const char *probe,
                                       const char *name, const char *words, struct as_error *err)
{
    static const struct as_device_info none = {0};
    enum as_status first = AS_OK;
    for (size_t i = 0; i < suites_n; i++)
        for (size_t j = 0; j < suites[i].grids_n; j++) {
            const struct as_probe *p = suites[i].grids[j].probe;
            const struct as_axis *axis = probe[0] && strcmp(probe, p->name) != 0 ? NULL : as_probe_axis(p, name);
            struct as_axis_values values = {0};
            struct as_error why = {0};
            if (!axis)
                continue;
            if (axis->type != AS_AXIS_WORD || axis->domain != AS_DOMAIN_NONE)
                return AS_OK;
            const enum as_status st = as_axis_parse(axis, words, &none, &values, &why);
            as_axis_values_finish(&values);
            if (!st)
                return AS_OK;
            if (!first) {
                first = st;
                as_fail(err, st, "%s: %s", p->name, why.text);
            }
        }
    return first;
}

static enum as_status not_requested(const char *set, const char *probe, struct as_error *err)
{
    const char *near = as_probe_find(probe) ? NULL : as_nearest(probe, as_probe_names());
    return as_fail(err, AS_USAGE, "'%s': probe '%s' is not among those requested%s%s%s", set, probe,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Refuses duplicates, of which the last would win silently. sets[i] has a '='. */
static enum as_status plan_check_once(const char *const *sets, size_t i, struct as_error *err)
{
    const size_t axis = strcspn(sets[i], "=") + 1;
    for (size_t k = 0; k < i; k++)
        if (strncmp(sets[k], sets[i], axis) == 0)
            return as_fail(err, AS_USAGE, "'%s' and '%s' are for the same axis: write '%s,%s'", sets[k], sets[i],
                           sets[k], sets[i] + axis);
    return AS_OK;
}

/* A valid list of process states, of which one device at least can have one. */
static enum as_status check_states(const char *states, const struct as_device_info *infos, size_t infos_n,
                                   struct as_error *err)
{
    struct as_state_list list = {0};
    enum as_status st = as_states_add(&list, NULL, states, err);
    for (size_t i = 0; i < infos_n && !st; i++)
        st = as_states_add(&list, infos[i].id, states, err);
    if (!st && infos_n && list.n == 0)
        st = as_fail(err, AS_USAGE, "state '%s': no device of this run has a runtime that reads it; see --device",
                     states);
    return st;
}

enum as_status as_plan_check_sets(const struct as_suite *suites, size_t suites_n, const struct as_device_info *infos,
                                  size_t infos_n, const char *const *sets, size_t sets_n, struct as_error *err)
{
    for (size_t i = 0; i < sets_n; i++) {
        char probe[32] = "", name[32] = "";
        const char *eq = strchr(sets[i], '='), *dot = strchr(sets[i], '.');
        if (!eq || eq == sets[i] || eq[1] == 0)
            return as_fail(err, AS_USAGE, "'%s' is not of the form axis=values", sets[i]);
        const char *start = sets[i];
        if (dot && dot < eq) {
            snprintf(probe, sizeof probe, "%.*s", (int)(dot - sets[i]), sets[i]);
            start = dot + 1;
        }
        snprintf(name, sizeof name, "%.*s", (int)(eq - start), start);
        if (probe[0] && !asks_for(suites, suites_n, probe))
            return not_requested(sets[i], probe, err);
        const char *near = NULL;
        const bool state = strcmp(name, AS_STATE_AXIS) == 0;
        const struct as_axis *axis = state ? NULL : find_axis(suites, suites_n, probe, name, &near);
        if (!axis && !state)
            return as_fail(err, AS_USAGE, "none of the requested probes has an axis '%s'%s%s%s", name,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        enum as_status st = plan_check_once(sets, i, err);
        if (!st && state)
            st = check_states(eq + 1, infos, infos_n, err);
        else if (!st && axis->domain == AS_DOMAIN_ALLOCATOR)
            st = as_plan_check_allocators(axis, eq + 1, infos, infos_n, err);
        else if (!st)
            st = plan_check_words(suites, suites_n, probe, name, eq + 1, err);
        if (st)
            return st;
    }
    return AS_OK;
}
