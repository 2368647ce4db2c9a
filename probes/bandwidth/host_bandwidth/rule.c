/* What bandwidth CPU threads reach in other NUMA nodes and in a device's allocators. */
#include "facts/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void derive_bandwidths(struct as_rule_context *c)
{
    static const struct as_ends ends = {.probe = "host_bandwidth",
                                        .nodes = AS_FACT_NUMA_BANDWIDTH,
                                        .device = AS_FACT_HOST_BANDWIDTH,
                                        .cost = AS_FACT_HOST_BANDWIDTH_COST,
                                        .own = "CPUs of a NUMA node on local memory",
                                        .other = "CPUs of a NUMA node on the slowest other node",
                                        .in = "CPU threads on",
                                        .against = "of the bandwidth in"};
    as_facts_of_ends(c, &ends);
}

/* NAN: all CPUs of a node, and stores of earlier versions do not tell how many. */
static double host_threads(const struct as_cell *cell)
{
    const double asked = as_cell_axis_number(cell, "threads");
    return asked > 0 ? asked : as_cell_note(cell, "threads");
}

/* The same by all CPUs of the node, if it tells how many these are. */
static const struct as_cell *by_all_threads(const struct as_rule_context *c, const struct as_cell *cell)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, cell->probe) == 0 && as_cell_axis_number(c->cells[i], "threads") == 0 &&
            host_threads(c->cells[i]) >= 1 && as_cells_alike(c->cells[i], cell, "threads"))
            return c->cells[i];
    return NULL;
}

/* How many planned numbers of threads have no measurement beside this one. */
static size_t threads_left_out(const struct as_rule_context *c, const struct as_cell *cell)
{
    size_t at = 0, n = 0;
    for (const struct as_cell *left; (left = as_cells_left_out(c, cell->probe, &at));)
        n += as_cells_alike(left, cell, "threads");
    return n;
}

/* The best bandwidth counts as reached from here on; the fewest threads that surely do so, and fewer that may (NULL:
 * none does). */
static const double REACHED = 1.1;
struct reach {
    const struct as_cell *best, *fewest, *open;
    double most;
};

static const struct as_cell *thread_cell(const struct as_curve *curve, const struct as_cell *all, size_t i)
{
    return i < curve->n ? curve->cells[i] : all;
}

static bool has_fewer(const struct as_cell *a, const struct as_cell *b)
{
    return !b || host_threads(a) < host_threads(b);
}

static struct reach find_reach(const struct as_curve *curve, const struct as_cell *all)
{
    const size_t n = curve->n + (all != NULL);
    struct reach r = {.best = thread_cell(curve, all, 0)};
    for (size_t i = 1; i < n; i++)
        r.best = as_cell_is_faster(thread_cell(curve, all, i), r.best) ? thread_cell(curve, all, i) : r.best;
    r.fewest = r.best;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = thread_cell(curve, all, i);
        const struct as_interval slower = as_cells_ratio(r.best, cell);
        const bool reaches = cell == r.best || slower.hi <= REACHED;
        r.most = fmax(r.most, host_threads(cell));
        if (reaches && has_fewer(cell, r.fewest))
            r.fewest = cell;
        else if (!reaches && slower.lo <= 1 && has_fewer(cell, r.open))
            r.open = cell;
    }
    r.open = r.open && has_fewer(r.open, r.fewest) ? r.open : NULL;
    return r;
}

static void add_threads(struct as_rule_context *c, const struct as_curve *curve, const struct as_cell *all)
{
    const struct reach r = find_reach(curve, all);
    const struct as_cell *fewest = r.fewest;
    char object[64];
    as_allocator_object(as_cell_axis(fewest, "allocator"), object, sizeof object);
    struct as_fact *f = as_fact_add(c, AS_FACT_HOST_BANDWIDTH_THREADS, fewest, AS_BY(.object = object));
    if (!f)
        return;
    const char *allocator = as_cell_axis(fewest, "allocator");
    const char *touch = as_cell_is(fewest, "touch", "device") ? "device" : "CPU";
    const size_t left = threads_left_out(c, fewest);
    if (left) {
        as_fact_say(f,
                    "How many CPU threads reach the best {op} bandwidth in '%s' memory that the %s touched first is "
                    "inconclusive: %zu planned number%s of threads %s not measured",
                    allocator, touch, left, left == 1 ? "" : "s", left == 1 ? "was" : "were");
    } else if (r.open) {
        const double threads = host_threads(r.open);
        as_fact_say(f,
                    "How many CPU threads reach the best {op} bandwidth in '%s' memory that the %s touched first is "
                    "inconclusive: %.0f thread%s may reach it, too",
                    allocator, touch, threads, threads == 1 ? "" : "s");
    } else {
        as_fact_number(f, host_threads(fewest), AS_NO_INTERVAL);
        f->verdict = AS_SUPPORTED;
        as_fact_say(f,
                    "%.0f of %.0f CPU threads come within 10%% of the best {op} bandwidth in '%s' memory that the %s "
                    "touched first",
                    f->value, r.most, allocator, touch);
    }
    as_curve_evidence(f, curve, 0, curve->n - 1);
    if (all)
        as_fact_evidence(f, all);
}

/* Of a device's allocators: on CPUs of several nodes the numbers of threads differ from node to node. */
static void derive_threads(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    if (c->info && as_info_has_host_kernels(c->info))
        return;
    as_curves_make(c, "host_bandwidth", "threads", &curves, &n);
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *all = by_all_threads(c, curves[i].cells[0]);
        if (curves[i].n + (all != NULL) >= 2)
            add_threads(c, &curves[i], all);
    }
    as_curves_free(curves, n);
}

const struct as_rule as_rules_host_bandwidth[] = {
    {"CPU bandwidth in each kind of memory", derive_bandwidths,
     "the largest arrays of each pair of ends and operation, at the best number of threads; of nodes the median within "
     "a "
     "node and the slowest pair of two; of allocators the ratio to pageable memory that the CPU touched first, where "
     "it "
     "is surely beyond 5%",
     "a stream of the same size in the same memory with another bandwidth"},
    {"threads of the best CPU bandwidth", derive_threads,
     "the fewest of the planned numbers of threads whose bandwidth is surely within 10% of the best, where all were "
     "measured and all fewer are surely below it",
     "fewer threads that reach as much"},
    {0},
};
