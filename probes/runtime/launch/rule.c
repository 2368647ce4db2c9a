/* What launching an empty kernel costs. */
#include "facts/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 32 }; /* of one rule: a run of absurdly many kinds of cells stays readable */

/* How the host waits, where waiting is timed at all. */
static const char *wait_text(const struct as_cell *cell)
{
    static const struct {
        const char *word, *says;
    } waits[] = {
        {"block", ", with blocking synchronisation"}, {"spin", ", spinning"}, {"yield", ", spinning with yield"}};
    for (size_t i = 0; i < sizeof waits / sizeof *waits && !as_cell_is(cell, "what", "submit"); i++)
        if (strcmp(as_cell_axis(cell, "wait"), waits[i].word) == 0)
            return waits[i].says;
    return "";
}

static void derive_launch(struct as_rule_context *c)
{
    static const struct {
        const char *what, *says;
    } says[] = {{"roundtrip", "Launching an empty kernel and waiting for it takes"},
                {"submit", "Queueing a launch takes"},
                {"batch", "Each of many launches back to back takes"},
                {"graph-1", "A launch recorded as a graph takes"},
                {"graph-10", "Each of 10 launches recorded as a graph takes"},
                {"graph-100", "Each of 100 launches recorded as a graph takes"},
                {"graph-1000", "Each of 1000 launches recorded as a graph takes"}};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "launch", &cells), added = 0;
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, as_cell_axis_number(cells[i], "threads"));
    for (size_t i = 0; i < n && added < FACTS_MAX; i++) {
        double threads = as_cell_axis_number(cells[i], "threads");
        if (isfinite(threads) && threads > least)
            continue;
        const char *what = as_cell_axis(cells[i], "what"), *wait = as_cell_axis(cells[i], "wait");
        const char *text = "An empty kernel takes";
        for (size_t k = 0; k < sizeof says / sizeof *says; k++)
            text = strcmp(says[k].what, what) == 0 ? says[k].says : text;
        struct as_fact *f = as_fact_add(c, "launch", cells[i]->unit, "launch.%s.%s", what, wait);
        char value[96];
        if (!f)
            break;
        as_fact_number(f, cells[i]->sum.median, as_cell_interval(cells[i]));
        as_fact_say(f, "%s %s%s", text, as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value),
                    wait_text(cells[i]));
        as_fact_evidence(f, cells[i]);
        added++;
    }
    free(cells);
}

const struct as_rule as_rules_launch[] = {
    {"launch cost", derive_launch, "median time of an empty kernel, by what is timed and how the host waits",
     "an empty kernel of another shape with another cost"},
    {0},
};
