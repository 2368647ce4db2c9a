#include "facts/matmul_types.h"

#include "base/text.h"
#include "quantity/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct as_matmul_type as_matmul_types[] = {
    {"e4m3", {"f16", "bf16"}, NULL, 1},
    {"e5m2", {"f16", "bf16"}, NULL, 1},
    {"e4m3fnuz", {"f16", "bf16"}, NULL, 1},
    {"e5m2fnuz", {"f16", "bf16"}, NULL, 1},
    {"s8", {"f16", "bf16"}, "s8", 1},
    {"f16", {"tf32", "f32"}, NULL, 2},
    {"bf16", {"tf32", "f32"}, NULL, 2},
    {"tf32", {"f32", NULL}, "f32", 4},
    {"f32", {"f64", NULL}, "f32", 4},
    {"f64", {NULL, NULL}, "f64", 8},
    {0},
};

const struct as_cell *as_matmul_ceiling(const struct as_cell *const *roofs, size_t n, const struct as_matmul_type *t)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if ((!t->vector || strcmp(as_cell_axis(roofs[i], "type"), t->vector) == 0) &&
            as_is_higher_roof(roofs[i], best, t->word))
            best = roofs[i];
    return best;
}

/* The size that the data sheet takes of this device's GEMMs, from the table of quantities; NAN: none. */
static double matmul_sheet_size(const struct as_rule_context *c)
{
    const struct as_quantity_subject subject = {.info = c->info};
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (const struct as_quantity_source *s = q->sources; s->from; s++) {
            const char *size = strncmp(s->from, "matmul ", 7) == 0 ? strstr(s->from, " size=") : NULL;
            if (size && as_quantity_is_of_side(&subject, s->side))
                return strtod(size + 6, NULL);
        }
    return NAN;
}

double as_matmul_rank(const struct as_rule_context *c, const struct as_cell *cell)
{
    const double size = as_cell_axis_number(cell, "size");
    return size == matmul_sheet_size(c) ? INFINITY : size;
}
