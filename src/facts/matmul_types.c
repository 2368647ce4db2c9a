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

/* Integer operations of the probe alu that set the peak of s8, the first that the device has. */
static const struct integer_roof {
    const char *op;
    double operations; /* counted as in GEMMs */
} integer_roofs[] = {{"idp4a32", 8}, {"imad32", 2}};
enum { INTEGER_ROOFS = sizeof integer_roofs / sizeof *integer_roofs };

/* Its rate per cycle and unit, as operations per second of the device. */
static bool scale_integers(const struct as_rule_context *c, const struct as_cell *rate, double operations,
                           struct as_cell *out)
{
    if (!c->info || !c->info->compute_units || !(rate->clock_hz > 0))
        return false;
    const double each = operations * rate->clock_hz * c->info->compute_units;
    const struct as_interval ci = as_cell_interval(rate);
    *out = *rate;
    out->sum.median *= each;
    out->sum.ci = (struct as_interval){ci.lo * each, ci.hi * each};
    out->limit *= each;
    return true;
}

/* Was it tried and found unsupported? A cell that was left out proves nothing. */
static bool lacks_op(const struct as_rule_context *c, const char *op)
{
    for (size_t i = 0; i < c->all_n; i++)
        if (c->all[i].status == AS_CELL_UNSUPPORTED && strcmp(c->all[i].device, c->device) == 0 &&
            strcmp(c->all[i].probe, "alu") == 0 && as_cell_is(&c->all[i], "op", op))
            return true;
    return false;
}

static void make_integer_roof(struct as_rule_context *c, struct as_matmul_roofs *out)
{
    const struct as_cell **alu;
    const size_t n = as_cells_of(c, "alu", &alu);
    for (size_t i = 0; i < INTEGER_ROOFS && !out->has_integers; i++) {
        const struct as_cell *best = as_cells_best(alu, n, "op", integer_roofs[i].op);
        out->has_integers = best && scale_integers(c, best, integer_roofs[i].operations, &out->integers);
        if (best || !lacks_op(c, integer_roofs[i].op))
            break;
    }
    free(alu);
}

void as_matmul_roofs_make(struct as_rule_context *c, struct as_matmul_roofs *out)
{
    *out = (struct as_matmul_roofs){.n = 0};
    out->n = as_cells_of(c, "roofline", &out->cells);
    make_integer_roof(c, out);
}

void as_matmul_roofs_free(struct as_matmul_roofs *roofs)
{
    free(roofs->cells);
}

const struct as_cell *as_matmul_ceiling(const struct as_matmul_roofs *roofs, const struct as_matmul_type *t)
{
    const struct as_cell *best = NULL;
    const bool is_integer = strcmp(t->word, "s8") == 0 && roofs->has_integers;
    const bool by_floats = is_integer && as_cell_is(&roofs->integers, "op", "imad32"); /* which multiply bytes too */
    if (is_integer)
        best = &roofs->integers;
    for (size_t i = 0; i < roofs->n && (!is_integer || by_floats); i++)
        if ((!t->vector || by_floats || strcmp(as_cell_axis(roofs->cells[i], "type"), t->vector) == 0) &&
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
