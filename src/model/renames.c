#include "model/renames.h"

#include "base/text.h"

#include <string.h>

/* Units that another replaced, by probe. */
static const struct {
    const char *probe, *before, *now;
} units[] = {
    {"atomics", AS_UNIT_RATE, "updates/s"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *unit_of(const struct as_cell *cell)
{
    for (size_t i = 0; i < COUNT(units); i++)
        if (strcmp(units[i].probe, cell->probe) == 0 && strcmp(units[i].before, cell->unit) == 0)
            return units[i].now;
    return as_axes_rate_unit(&cell->axes, cell->unit);
}

/* Copies the name when it is another. */
static bool take(char *at, size_t size, const char *now)
{
    if (strcmp(at, now) == 0)
        return false;
    as_copy_text(at, size, now);
    return true;
}

bool as_rename_cell(struct as_cell *cell)
{
    return take(cell->unit, sizeof cell->unit, unit_of(cell));
}
