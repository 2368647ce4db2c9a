/* Messages between nodes: the median of all pairs and the slowest one, or what all ranks reach together. */
#include "facts/rule.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[][2] = {{"latency", "latency"},
                                       {"bandwidth", "bandwidth"},
                                       {"both", "bidirectional bandwidth"},
                                       {"bisection", "bisection bandwidth"},
                                       {"allreduce", "all-reduce time"}};

static const char *node_link_word(const struct as_cell *cell)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (as_cell_is(cell, "what", words[i][0]))
            return words[i][1];
    return "";
}

static const char *node_link_memory(const struct as_cell *cell)
{
    const char *memory = as_cell_axis(cell, "memory");
    return memory[0] ? memory : "pageable"; /* stored before there was a choice */
}

static bool is_same_message(const struct as_cell *a, const struct as_cell *b)
{
    static const char *const axes[] = {"what", "size", "pairs", "memory"};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (!as_cells_same(a, b, axes[i]))
            return false;
    return true;
}

/* Of the cells of the first one's kind: the one at the median, and the slowest. Takes them out of the list. */
static size_t take_kind(const struct as_cell **cells, size_t n, double *values, const struct as_cell **middle,
                        const struct as_cell **slowest)
{
    const struct as_cell *first = NULL;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        first = first ? first : cells[i];
        if (cells[i] && is_same_message(first, cells[i]))
            values[found++] = cells[i]->sum.median;
    }
    const double median = as_median(values, found);
    *middle = *slowest = first;
    for (size_t i = 0; i < n; i++) {
        if (!cells[i] || !is_same_message(first, cells[i]))
            continue;
        if (fabs(cells[i]->sum.median - median) < fabs((*middle)->sum.median - median))
            *middle = cells[i];
        if (as_cell_is_better(*slowest, cells[i]))
            *slowest = cells[i];
        if (cells[i] != first)
            cells[i] = NULL;
    }
    for (size_t i = 0; i < n; i++)
        cells[i] = cells[i] == first ? NULL : cells[i];
    return found;
}

static void node_link_say(struct as_rule_context *c, const struct as_cell *middle, const struct as_cell *slowest,
                          size_t n)
{
    char size[48], slow[96];
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_NODE_LINK, middle, AS_BY(.allocator = node_link_memory(middle)));
    if (!f)
        return;
    as_fact_value_text(as_cell_size(middle), AS_NO_INTERVAL, "B", size, sizeof size);
    if (n < 2) {
        as_fact_say(f, "Messages of %s between nodes from %s memory: %s {value}", size, node_link_memory(middle),
                    node_link_word(middle));
        return;
    }
    as_fact_evidence(f, slowest);
    as_fact_value_text(slowest->sum.median, slowest->sum.ci, slowest->unit, slow, sizeof slow);
    as_fact_say(
        f,
        "Messages of %s between nodes from %s memory: %s {value}, the median of %zu pairs; the slowest, ranks %s "
        "and %s, has %s",
        size, node_link_memory(middle), node_link_word(middle), n, as_cell_axis(slowest, "from"),
        as_cell_axis(slowest, "to"), slow);
}

static void derive_node_links(struct as_rule_context *c)
{
    const struct as_cell **cells, *middle, *slowest;
    size_t n = as_cells_of(c, "node_link", &cells), found;
    double *values = n ? malloc(n * sizeof *values) : NULL;
    while (values && (found = take_kind(cells, n, values, &middle, &slowest)))
        node_link_say(c, middle, slowest, found);
    free(values);
    free(cells);
}

const struct as_rule as_rules_node_link[] = {
    {"links between nodes", derive_node_links,
     "median over the pairs of ranks that were measured with the same message",
     "another MPI benchmark, such as osu_latency, with another result between the same nodes"},
    {0},
};
