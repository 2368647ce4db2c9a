#include "model/renames.h"

#include "base/text.h"

#include <string.h>

/* Units that another replaced, by probe. */
static const struct {
    const char *probe, *former, *current;
} units[] = {
    {"atomics", AS_UNIT_RATE, "updates/s"},
    {"occupancy", "groups", "workgroups"},
};

static const struct {
    const char *former, *current;
} probes[] = {
    {"onchip_groups", "occupancy"},
    {"onchip_units", "l2_latency"},
};

static const struct {
    const char *probe, *former, *current;
} axes[] = {
    {"accounting", "moment", "step"}, {"l2_latency", "unit", "compute_unit"},         {"occupancy", "local", "shared"},
    {"onchip", "local", "shared"},    {"onchip_bandwidth", "units", "compute_units"},
};

static const struct {
    const char *probe, *axis, *former, *current;
} words[] = {
    {"c2c", "peer", "unit", "compute_unit"},
    {"concurrency", "what", "behind", "queued"},
    {"onchip", "what", "code", "ifetch"},
    {"onchip", "what", "local", "shared"},
    {"onchip_bandwidth", "what", "local", "shared"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *unit_of(const struct as_cell *cell)
{
    for (size_t i = 0; i < COUNT(units); i++)
        if (strcmp(units[i].probe, cell->probe) == 0 && strcmp(units[i].former, cell->unit) == 0)
            return units[i].current;
    return as_axes_rate_unit(&cell->axes, cell->unit);
}

const char *as_renamed_probe(const char *former)
{
    for (size_t i = 0; i < COUNT(probes); i++)
        if (strcmp(probes[i].former, former) == 0)
            return probes[i].current;
    return NULL;
}

const char *as_renamed_axis(const char *probe, const char *former)
{
    for (size_t i = 0; i < COUNT(axes); i++)
        if (strcmp(axes[i].probe, probe) == 0 && strcmp(axes[i].former, former) == 0)
            return axes[i].current;
    return NULL;
}

const char *as_renamed_word(const char *probe, const char *axis, const char *former)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].probe, probe) == 0 && strcmp(words[i].axis, axis) == 0 &&
            strcmp(words[i].former, former) == 0)
            return words[i].current;
    return NULL;
}

static bool take(char *at, size_t size, const char *current)
{
    const bool other = current && strcmp(at, current) != 0;
    if (other)
        as_copy_text(at, size, current);
    return other;
}

bool as_rename_cell(struct as_cell *cell)
{
    bool renamed = take(cell->probe, sizeof cell->probe, as_renamed_probe(cell->probe));
    for (size_t i = 0; i < cell->axes.n; i++) {
        struct as_axis_value *v = &cell->axes.v[i];
        renamed |= take(v->name, sizeof v->name, as_renamed_axis(cell->probe, v->name));
        renamed |= take(v->text, sizeof v->text, as_renamed_word(cell->probe, v->name, v->text));
    }
    if (strcmp(cell->probe, "occupancy") == 0)
        renamed |= take(cell->metric, sizeof cell->metric, "workgroups");
    if (renamed)
        cell->key = as_cell_key(cell->probe, cell->metric, &cell->axes);
    return take(cell->unit, sizeof cell->unit, unit_of(cell)) || renamed;
}
