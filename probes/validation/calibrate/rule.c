/* One sentence per rule, like the table that the tool prints. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tool {
    const char *word, *name, *ops[6];
    double iterations;
} tools[] = {
    {"stream", "STREAM", {"copy", "scale", "add", "triad", NULL}, 9},
    {"babelstream", "BabelStream", {"copy", "mul", "add", "triad", "dot", NULL}, 99},
};
/* A smaller array may stay in the caches in part. */
static const double BEYOND_CACHE = 4;

static bool calibrate_is_of(const struct as_cell *cell, const struct tool *tool, const char *op)
{
    return as_cell_is(cell, "rule", tool->word) && as_cell_is(cell, "op", op) && as_cell_is(cell, "store", "regular");
}

static void add_table(struct as_rule_context *c, const struct tool *tool, const struct as_cell *const *cells, size_t n)
{
    const struct as_cell *triad = NULL, *used[6];
    struct as_metric_value best, of_triad = {.value = 0};
    struct as_buf text = AS_BUF_INIT;
    char rate[96];
    size_t used_n = 0;
    for (size_t o = 0; tool->ops[o]; o++)
        for (size_t i = 0; i < n; i++) {
            if (!calibrate_is_of(cells[i], tool, tool->ops[o]) || !as_cell_metric(cells[i], "best_rate", &best))
                continue;
            if (strcmp(tool->ops[o], "triad") == 0) {
                triad = cells[i];
                of_triad = best;
            }
            as_buf_printf(&text, "%s%s %s", used_n ? ", " : "", tool->ops[o],
                          as_fact_value_text(best.value, best.ci, "GB/s", rate, sizeof rate));
            used[used_n++] = cells[i];
            break; /* the first in the grid */
        }
    struct as_fact *f = triad ? as_fact_add(c, AS_FACT_CALIBRATE, NULL, AS_BY(.tool = tool->word)) : NULL;
    if (f) {
        const double size = as_cell_axis_number(triad, "size");
        const uint64_t cache =
            c->info ? as_info_largest_cache(c->info, NULL, as_cell_axis_number(triad, "threads")) : 0;
        char arrays[32];
        as_fact_value_text(size, AS_NO_INTERVAL, "B", arrays, sizeof arrays);
        as_fact_number(f, of_triad.value, of_triad.ci);
        for (size_t i = 0; i < used_n; i++)
            as_fact_evidence(f, used[i]);
        as_fact_say(f, "By the rules of %s with arrays of %s, the best of %.0f: %s%s", tool->name, arrays,
                    tool->iterations, as_buf_get(&text),
                    size < BEYOND_CACHE * (double)cache ? "; an array is under 4 times the last-level caches" : "");
    }
    as_buf_finish(&text);
}

static void calibrate_derive(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "calibrate", &cells);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        add_table(c, &tools[i], cells, n);
    free(cells);
}

const struct as_rule as_rules_calibrate[] = {
    {"rules of STREAM and BabelStream", calibrate_derive,
     "the best of the iterations without the first, a median over trials; the value is that of triad",
     "the tool itself, in turn with assay on the same cores, with another number"},
    {0},
};
