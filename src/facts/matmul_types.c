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

static bool scale_dots(const struct as_rule_context *c, const struct as_cell *dots, struct as_cell *out)
{
    enum { OPERATIONS = 8 }; /* four multiply-adds */
    if (!dots || !c->info || !c->info->compute_units || !(dots->clock_hz > 0))
        return false;
    const double each = OPERATIONS * dots->clock_hz * c->info->compute_units;
    const struct as_interval ci = as_cell_interval(dots);
    *out = *dots;
    out->sum.median *= each;
    out->sum.ci = (struct as_interval){ci.lo * each, ci.hi * each};
    out->limit *= each;
    return true;
}

void as_matmul_roofs_make(struct as_rule_context *c, struct as_matmul_roofs *out)
{
    const struct as_cell **alu;
    const size_t n = as_cells_of(c, "alu", &alu);
    out->n = as_cells_of(c, "roofline", &out->cells);
    out->has_dots = scale_dots(c, as_cells_best(alu, n, "op", "idp4a32"), &out->dots);
    free(alu);
}

void as_matmul_roofs_free(struct as_matmul_roofs *roofs)
{
    free(roofs->cells);
}

const struct as_cell *as_matmul_ceiling(const struct as_matmul_roofs *roofs, const struct as_matmul_type *t)
{
    const struct as_cell *best = NULL;
    if (strcmp(t->word, "s8") == 0 && roofs->has_dots)
        return &roofs->dots;
    for (size_t i = 0; i < roofs->n; i++)
        if ((!t->vector || strcmp(as_cell_axis(roofs->cells[i], "type"), t->vector) == 0) &&
            as_is_higher_roof(roofs->cells[i], best, t->word))
            best = roofs->cells[i];
    return best;
}

const char *as_matmul_roof_name(const struct as_cell *roof)
{
    const char *type = as_cell_axis(roof, "type");
    return type[0] ? type : as_cell_axis(roof, "op");
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
