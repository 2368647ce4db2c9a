/* f64 GEMM from slices: rate against native arithmetic, and bits that are right. */
#include "facts/rule.h"

#include "base/text.h"
#include "model/metrics.h"

#include <stdlib.h>

/* By plain kernels, and by the device's best GEMM path. */
static const struct {
    const char *sliced, *native;
    enum as_relation relation;
    const char *by;
} ways[] = {{"s8_slices", "f64", AS_FACT_EMULATED_GEMM, ""},
            {"s8_gemm", "f64_gemm", AS_FACT_EMULATED_GEMM_UNIT, ", both by the fastest GEMM path"}};
enum { WAYS = sizeof ways / sizeof *ways };

static const struct as_cell *native_of(const struct as_cell *const *cells, size_t n, const struct as_cell *like,
                                       const char *op)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "op", op) && as_cell_is(cells[i], "input", as_cell_axis(like, "input")) &&
            as_cell_is(cells[i], "size", as_cell_axis(like, "size")))
            return cells[i];
    return NULL;
}

static void add_slices(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *native, size_t way)
{
    struct as_metric_value bits = {.value = NAN}, of_native = {.value = NAN};
    char what[24];
    as_copy_text(what, sizeof what, as_cell_axis(cell, "input"));
    (void)as_cell_metric(cell, "accuracy", &bits);
    (void)as_cell_metric(native, "accuracy", &of_native);
    struct as_fact *f = as_fact_add_ratio(c, ways[way].relation, cell, native,
                                          AS_BY(.elements = as_cell_axis(cell, "slices"), .what = what));
    if (!f)
        return;
    as_fact_say(f,
                "f64 GEMM from %s slices of 8-bit integers runs at {value} the rate of f64%s (%s, size %s), with %.1f "
                "correct bits (f64: %.1f)",
                as_cell_axis(cell, "slices"), ways[way].by, what, as_cell_axis(cell, "size"), bits.value,
                of_native.value);
}

static void emulated_gemm_derive(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "emulated_gemm", &cells);
    for (size_t i = 0; i < n; i++)
        for (size_t way = 0; way < WAYS; way++) {
            const bool is = as_cell_is(cells[i], "op", ways[way].sliced);
            const struct as_cell *native = is ? native_of(cells, n, cells[i], ways[way].native) : NULL;
            if (native)
                add_slices(c, cells[i], native, way);
        }
    free(cells);
}

const struct as_rule as_rules_emulated_gemm[] = {
    {"f64 GEMM from integers", emulated_gemm_derive,
     "valid GEMMs of the same inputs by f64 arithmetic and by integer products of slices; bits from the largest "
     "error over the sum of the products' magnitudes",
     "a GEMM by either with another rate that passes the same gates"},
    {0},
};
