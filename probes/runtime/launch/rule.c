/* Cost of launching an empty kernel. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the host waits, if the wait is timed. */
static const char *wait_text(const struct as_cell *cell, char *out, size_t size)
{
    static const struct {
        const char *word, *says;
    } waits[] = {{"block", "with blocking synchronisation"}, {"spin", "spinning"}, {"yield", "spinning with yield"}};
    const char *wait = as_cell_is(cell, "what", "submit") ? "" : as_cell_axis(cell, "wait"), *says = wait;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        says = strcmp(wait, waits[i].word) == 0 ? waits[i].says : says;
    snprintf(out, size, "%s%.40s", says[0] ? ", " : "", says);
    return out;
}

static void say_launch(struct as_fact *f, const struct as_cell *cell)
{
    static const struct {
        const char *what, *says, *per;
    } ways[] = {{"roundtrip", "Launching an empty kernel and waiting for it takes", ""},
                {"submit", "Submitting a launch takes", ""},
                {"batch", "Back-to-back launches take", " each"}};
    static const char graph[] = "graph-";
    const char *what = as_cell_axis(cell, "what"), *text = "An empty kernel takes", *per = "";
    char value[96], wait[48], of_graph[64];
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        if (strcmp(ways[k].what, what) == 0) {
            text = ways[k].says;
            per = ways[k].per;
        }
    if (strncmp(what, graph, strlen(graph)) == 0) {
        const char *nodes = what + strlen(graph);
        const bool one = strcmp(nodes, "1") == 0;
        snprintf(of_graph, sizeof of_graph, "A graph of %.8s kernel node%s takes", one ? "one" : nodes, one ? "" : "s");
        text = of_graph;
        per = one ? "" : " per node";
    }
    as_fact_say(f, "%s %s%s", text, as_fact_noted_text(f, per, "", value, sizeof value),
                wait_text(cell, wait, sizeof wait));
}

/* The cell that differs in one axis only. */
static const struct as_cell *launch_beside(const struct as_cell *const *cells, size_t n, const struct as_cell *cell,
                                           const char *axis, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], axis, text) && as_cells_alike(cells[i], cell, axis))
            return cells[i];
    return NULL;
}

/* A blocking wait against spinning, and single launches against the nodes of a graph. */
static void launch_add_act(const struct as_rule_context *c, struct as_fact *f, const struct as_cell *const *cells,
                           size_t n, const struct as_cell *cell)
{
    const bool waits = as_cell_is(cell, "what", "roundtrip") && as_cell_is(cell, "wait", "block");
    const bool in_graph = strncmp(as_cell_axis(cell, "what"), "graph-", strlen("graph-")) == 0;
    const struct as_cell *other = waits      ? launch_beside(cells, n, cell, "wait", "spin")
                                  : in_graph ? launch_beside(cells, n, cell, "what", "batch")
                                             : NULL;
    if (!other)
        return;
    as_fact_gain(f, cell->sum.median / other->sum.median, as_cells_ratio(cell, other));
    if (waits && as_fact_side(f) > 0)
        as_fact_act(f, "Spin while waiting for short %s: blocking synchronisation takes {gain} as long",
                    c->info && as_info_has_host_kernels(c->info) ? "work of other threads" : "kernels");
    else if (in_graph && as_fact_side(f) < 0)
        as_fact_act(f, "Launch sequences of small kernels as a graph: separate launches take {gain} as long");
}

static void derive_launch(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "launch", &cells);
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, as_cell_axis_number(cells[i], "threads"));
    for (size_t i = 0; i < n; i++) {
        double threads = as_cell_axis_number(cells[i], "threads");
        if (isfinite(threads) && threads > least)
            continue;
        struct as_fact *f = as_fact_add_cell(c, AS_FACT_LAUNCH, cells[i], NULL);
        if (!f)
            break;
        say_launch(f, cells[i]);
        launch_add_act(c, f, cells, n, cells[i]);
    }
    free(cells);
}

const struct as_rule as_rules_launch[] = {
    {"launch cost", derive_launch, "median time of an empty kernel, by what is timed and how the host waits",
     "an empty kernel of another shape with another cost"},
    {0},
};
