/* Finding probes, and what every probe's record must hold. */
#include "probe/probe.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const struct as_probe *as_probe_find(const char *name)
{
    for (size_t i = 0; as_probes[i]; i++)
        if (strcmp(as_probes[i]->name, name) == 0)
            return as_probes[i];
    return NULL;
}

const struct as_axis *as_probe_axis(const struct as_probe *probe, const char *name)
{
    for (size_t i = 0; probe->axes[i].name; i++)
        if (strcmp(probe->axes[i].name, name) == 0)
            return &probe->axes[i];
    return NULL;
}

static enum as_status registry_check_axis(const struct as_probe *probe, const struct as_axis *axis,
                                          struct as_error *err)
{
    if (!axis->help || !axis->def)
        return as_fail(err, AS_FAILED, "probe '%s': axis '%s' lacks help or a default", probe->name, axis->name);
    if (axis->type == AS_AXIS_WORD && axis->domain == AS_DOMAIN_NONE && !axis->words)
        return as_fail(err, AS_FAILED, "probe '%s': axis '%s' has no words", probe->name, axis->name);
    for (size_t i = 0; axis->type == AS_AXIS_WORD && axis->words && axis->words[i]; i++)
        if (strcmp(axis->words[i], "all") == 0)
            return as_fail(err, AS_FAILED, "probe '%s': 'all' is every word of axis '%s' and cannot be one of them",
                           probe->name, axis->name);
    if (strlen(axis->name) >= sizeof((struct as_axis_value *)0)->name)
        return as_fail(err, AS_FAILED, "probe '%s': the name of axis '%s' is too long", probe->name, axis->name);
    return AS_OK;
}

enum as_status as_probe_prepare(const struct as_probe *probe, struct as_trial_context *tc, void **state,
                                struct as_error *err)
{
    *state = calloc(1, probe->state_bytes);
    return *state ? probe->prepare(tc, *state, err) : as_nomem(err, probe->state_bytes, probe->name);
}

void as_probe_finish(const struct as_probe *probe, void *state)
{
    if (state)
        probe->finish(state);
    free(state);
}

enum as_status as_probe_check(const struct as_probe *probe, struct as_error *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } required[] = {
        {"name", offsetof(struct as_probe, name)},         {"title", offsetof(struct as_probe, title)},
        {"question", offsetof(struct as_probe, question)}, {"metric", offsetof(struct as_probe, metric)},
        {"unit", offsetof(struct as_probe, unit)},         {"counts", offsetof(struct as_probe, counts)},
        {"axes", offsetof(struct as_probe, axes)},         {"quick", offsetof(struct as_probe, quick)},
        {"full", offsetof(struct as_probe, full)},         {"prepare", offsetof(struct as_probe, prepare)},
        {"sample", offsetof(struct as_probe, sample)},     {"finish", offsetof(struct as_probe, finish)},
    };
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        void *slot;
        memcpy(&slot, (const char *)probe + required[i].offset, sizeof slot);
        if (!slot)
            return as_fail(err, AS_FAILED, "probe '%s' lacks '%s'", probe->name ? probe->name : "", required[i].name);
    }
    size_t n = 0;
    enum as_status st = AS_OK;
    for (; probe->axes[n].name && !st; n++)
        st = registry_check_axis(probe, &probe->axes[n], err);
    if (!st && n > AS_AXES_MAX)
        st = as_fail(err, AS_FAILED, "probe '%s' has more than %d axes", probe->name, AS_AXES_MAX);
    return st;
}

const struct as_metric *as_further_metrics(const struct as_cell *cell)
{
    static const struct as_metric none;
    const struct as_probe *probe = as_probe_find(cell->probe);
    return probe && probe->further ? probe->further : &none;
}

bool as_varies_by_process(const struct as_cell *cell)
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    if (!probe || probe->varies_by_process)
        return probe != NULL;
    for (const struct as_axis *a = probe->axes; a->name; a++)
        if (a->domain == AS_DOMAIN_ALLOCATOR &&
            as_role_is_pinned(as_allocator_role(cell->device, as_axes_text(&cell->axes, a->name))))
            return true;
    return false;
}

bool as_is_untimed(const struct as_cell *cell)
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    return probe && probe->untimed;
}
