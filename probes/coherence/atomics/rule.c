/* Atomic updates: rate per agent, and the share that CPU and device keep when both update the same array. */
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool atomics_by_cpu(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "agent"), "cpu") == 0;
}

static const char *own_threads(const struct as_cell *cell)
{
    return atomics_by_cpu(cell) ? "cpu_threads" : "device_threads";
}

/* ---- alone ---- */

static void atomics_add_rate(struct as_rule_context *c, const struct as_cell *cell)
{
    char value[96], array[64];
    const char *threads = as_cell_axis(cell, own_threads(cell));
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_ATOMICS, cell, NULL);
    if (!f)
        return;
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    as_fact_say(f, "Atomic updates by the %s reach %s on %s (%s thread%s, '%s')",
                atomics_by_cpu(cell) ? "CPU" : "device", value, as_array_text(cell, array), threads,
                strcmp(threads, "1") == 0 ? "" : "s", as_cell_axis(cell, "allocator"));
}

static bool is_same_array(const struct as_cell *a, const struct as_cell *b)
{
    return as_cells_same(a, b, "agent") && as_cells_same(a, b, "elements") && as_cells_same(a, b, "type");
}

/* The fastest cell on the array of cells[at]; NULL if an earlier cell has the same array. */
static const struct as_cell *best_alone(const struct as_cell *const *cells, size_t n, size_t at)
{
    const struct as_cell *best = cells[at];
    if (as_cell_both_work(best))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (as_cell_both_work(cells[i]) || !is_same_array(cells[i], cells[at]))
            continue;
        if (i < at)
            return NULL;
        best = cells[i]->sum.median > best->sum.median ? cells[i] : best;
    }
    return best;
}

/* The fastest of the other type by the same agent on as many elements. */
static const struct as_cell *best_of_type(const struct as_cell *const *cells, size_t n, const struct as_cell *like,
                                          const char *type)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (!as_cell_both_work(cells[i]) && as_cell_is(cells[i], "type", type) &&
            as_cells_same(cells[i], like, "agent") && as_cells_same(cells[i], like, "elements") &&
            (!best || cells[i]->sum.median > best->sum.median))
            best = cells[i];
    return best;
}

/* Integers against floating point of the same width. */
static void atomics_add_types(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                              const struct as_cell *integers)
{
    const struct as_cell *floats = as_cell_is(integers, "type", "u64") ? best_of_type(cells, n, integers, "f64") : NULL;
    struct as_fact *f = floats ? as_fact_add_ratio(c, AS_FACT_ATOMICS_TYPES, integers, floats, NULL) : NULL;
    const char *elements = as_cell_axis(integers, "elements");
    if (!f)
        return;
    const enum as_fact_stands stands = as_fact_compare(f);
    as_fact_say(f,
                as_fact_is_open(f) ? "Atomic additions by the %s of u64 against f64 are inconclusive (%s element%s)"
                : stands == AS_STANDS_OPEN
                    ? "Atomic additions by the %s of u64 against f64 are inconclusive: {value} the rate (%s element%s)"
                    : "Atomic additions by the %s of u64 run at {value} the rate of f64 (%s element%s)",
                atomics_by_cpu(integers) ? "CPU" : "device", elements, strcmp(elements, "1") == 0 ? "" : "s");
}

/* ---- together ---- */

/* The cell of the same agent alone, otherwise equal; a CPU has no scope. */
static const struct as_cell *atomics_alone_of(const struct as_cell *const *cells, size_t n, const struct as_cell *cell)
{
    for (size_t i = 0; i < n; i++)
        if (!as_cell_both_work(cells[i]) && is_same_array(cells[i], cell) && as_cells_same(cells[i], cell, "order") &&
            as_cells_same(cells[i], cell, "allocator") && as_cells_same(cells[i], cell, own_threads(cell)) &&
            (atomics_by_cpu(cell) || as_cells_same(cells[i], cell, "scope")))
            return cells[i];
    return NULL;
}

static const char *plural(const char *threads)
{
    return strcmp(threads, "1") == 0 ? "" : "s";
}

/* ---- what both together reach ---- */

struct together {
    const struct as_cell *cpu, *device; /* at once, with the numbers of threads that update most together */
    const struct as_cell *best;         /* the fastest of one side alone, with any number of threads */
    double rate;
    struct as_interval ci;
    size_t pairs;
};

static const struct as_cell *other_side_of(const struct as_cell *const *cells, size_t n, const struct as_cell *cell)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_both_work(cells[i]) && as_cells_alike(cells[i], cell, "agent") && cells[i] != cell)
            return cells[i];
    return NULL;
}

/* The same array: elements, type and allocator. */
static bool atomics_same_array(const struct as_cell *a, const struct as_cell *b)
{
    return as_cells_same(a, b, "elements") && as_cells_same(a, b, "type") && as_cells_same(a, b, "allocator");
}

/* Alone, of one agent, with as strict an order as both have together; the scope is a choice of its own. */
static const struct as_cell *fastest_alone(const struct as_cell *const *cells, size_t n, const struct as_cell *like,
                                           bool by_cpu)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (!as_cell_both_work(cells[i]) && atomics_by_cpu(cells[i]) == by_cpu && atomics_same_array(cells[i], like) &&
            as_cells_same(cells[i], like, "order") && (!best || as_cell_is_faster(cells[i], best)))
            best = cells[i];
    return best;
}

/* False where not both sides are measured, together and alone. */
static bool look_at_both(const struct as_cell *const *cells, size_t n, const struct as_cell *like, struct together *t)
{
    *t = (struct together){0};
    for (size_t i = 0; i < n; i++) {
        const bool is_of =
            as_cell_both_work(cells[i]) && atomics_by_cpu(cells[i]) && atomics_same_array(cells[i], like);
        const struct as_cell *device = is_of ? other_side_of(cells, n, cells[i]) : NULL;
        if (!device)
            continue;
        const double rate = cells[i]->sum.median + device->sum.median;
        t->pairs++;
        if (rate > t->rate) {
            const struct as_interval a = as_cell_interval(cells[i]), b = as_cell_interval(device);
            *t = (struct together){cells[i], device, NULL, rate, {a.lo + b.lo, a.hi + b.hi}, t->pairs};
        }
    }
    const struct as_cell *cpu = t->cpu ? fastest_alone(cells, n, t->cpu, true) : NULL;
    const struct as_cell *device = t->cpu ? fastest_alone(cells, n, t->cpu, false) : NULL;
    t->best = cpu && device ? as_cell_is_faster(cpu, device) ? cpu : device : NULL;
    return t->best != NULL;
}

static struct as_interval over_best(const struct together *t)
{
    return as_ratio_interval(t->rate, t->ci, t->best->sum.median, as_cell_interval(t->best));
}

/* "; 88% of the sum of the rates alone", with the same threads; "" where a rate alone is missing. */
static const char *sum_text(const struct as_cell *const *cells, size_t n, const struct together *t, char out[static 64])
{
    const struct as_cell *cpu = atomics_alone_of(cells, n, t->cpu), *device = atomics_alone_of(cells, n, t->device);
    out[0] = '\0';
    if (cpu && device)
        snprintf(out, 64, "; %.0f%% of the sum of the rates alone",
                 100 * t->rate / (cpu->sum.median + device->sum.median));
    return out;
}

/* One call, whether the sum or one side shows it: it is listed once. */
#define ONE_SIDE "Do not let CPU and device update the same array"

static void add_together(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                         const struct together *t)
{
    const char *who = atomics_by_cpu(t->best) ? "CPU" : "device", *allocator = as_cell_axis(t->cpu, "allocator");
    const char *cpu = as_cell_axis(t->cpu, "cpu_threads"), *gpu = as_cell_axis(t->cpu, "device_threads");
    char array[64], rate[96], ratio[300], above[64], below[64], of[64] = "", note[200], sum[64];
    struct as_fact *f = as_fact_add(c, AS_FACT_ATOMICS_TOGETHER, t->cpu, NULL);
    if (!f)
        return;
    as_fact_number(f, t->rate / t->best->sum.median, over_best(t));
    f->verdict = as_verdict_above(f->ci, 1);
    as_array_text(t->cpu, array);
    snprintf(above, sizeof above, " as fast as the %s alone", who);
    snprintf(below, sizeof below, " slower than the %s alone", who);
    if (t->pairs > 1)
        snprintf(of, sizeof of, ", fastest of %zu pairs of thread counts", t->pairs);
    snprintf(note, sizeof note, "%s CPU thread%s and %s device thread%s%s%s", cpu, plural(cpu), gpu, plural(gpu), of,
             sum_text(cells, n, t, sum));
    as_fact_say(f, "CPU and device together update %s ('%s') at %s: %s", array, allocator,
                as_fact_value_text(t->rate, t->ci, "updates/s", rate, sizeof rate),
                as_fact_ratio_text(f, above, below, note, ratio, sizeof ratio));
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) < 0) /* that both pay depends on lost updates, too: advice */
        as_fact_act(f, ONE_SIDE ": together they are {gain} slower than the %s alone (%s, '%s')", who, array,
                    allocator);
    as_fact_evidence(f, t->cpu);
    as_fact_evidence(f, t->device);
    as_fact_evidence(f, t->best);
}

/* ---- what each side keeps ---- */

struct kept {
    const struct as_cell *cell, *alone;
    double share, highest; /* share kept: median of the chosen cell, and upper bound over all */
    size_t n, significant; /* pairs; those that surely keep less than all, which take precedence */
};

static void look_at_shared(const struct as_cell *const *cells, size_t n, const struct as_cell *like, struct kept *k)
{
    *k = (struct kept){.share = INFINITY};
    for (size_t i = 0; i < n; i++) {
        if (!as_cell_both_work(cells[i]) || !is_same_array(cells[i], like) ||
            !as_cells_same(cells[i], like, "allocator"))
            continue;
        const struct as_cell *alone = atomics_alone_of(cells, n, cells[i]);
        if (!alone)
            continue;
        double share = cells[i]->sum.median / alone->sum.median;
        k->n++;
        k->highest = fmax(k->highest, share);
        const bool significant = as_verdict_above(as_cells_ratio(cells[i], alone), 1) == AS_REFUTED;
        const bool first_significant = significant && k->significant == 0;
        k->significant += significant;
        if (first_significant || (significant == (k->significant > 0) && share < k->share)) {
            k->share = share;
            k->cell = cells[i];
            k->alone = alone;
        }
    }
}

static void add_kept(struct as_rule_context *c, const struct kept *k, bool both_pay)
{
    const struct as_cell *cell = k->cell;
    const char *cpu = as_cell_axis(cell, "cpu_threads");
    const char *gpu = as_cell_axis(cell, "device_threads");
    char array[64], range[96] = "", ratio[96], kept[160];
    struct as_fact *f = as_fact_add(c, AS_FACT_ATOMICS_SHARED, cell, NULL);
    if (!f)
        return;
    as_fact_ratio(f, cell, k->alone);
    if (as_fact_is_open(f)) {
        f->verdict = AS_UNDECIDED;
        snprintf(kept, sizeof kept, "'s rate relative to running alone is inconclusive");
    } else if (as_verdict_above(f->ci, 1) == AS_UNDECIDED) {
        f->verdict = AS_UNDECIDED;
        snprintf(kept, sizeof kept, "'s rate is statistically tied with its rate alone, %s",
                 as_fact_value_text(f->value, f->ci, "x", ratio, sizeof ratio));
    } else
        snprintf(kept, sizeof kept, " keeps %s",
                 as_noted_text(100 * k->share, (struct as_interval){100 * f->ci.lo, 100 * f->ci.hi}, "%",
                               " of its rate alone", "", ratio, sizeof ratio));
    if (k->n > 1 && (k->significant == 0 || k->significant == k->n))
        snprintf(range, sizeof range, " (lowest of %zu pairs; highest %.0f%%)", k->n, 100 * k->highest);
    else if (k->significant == 1)
        snprintf(range, sizeof range, " (the only significant one of %zu pairs)", k->n);
    else if (k->n > 1)
        snprintf(range, sizeof range, " (lowest of the %zu significant of %zu pairs; highest %.0f%%)", k->significant,
                 k->n, 100 * k->highest);
    as_fact_say(f, "While the %s updates the same %s ('%s'), the %s%s with %s CPU thread%s and %s device thread%s%s",
                atomics_by_cpu(cell) ? "device" : "CPU", as_array_text(cell, array), as_cell_axis(cell, "allocator"),
                atomics_by_cpu(cell) ? "CPU" : "device", kept, cpu, plural(cpu), gpu, plural(gpu), range);
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) < 0 && !both_pay)
        as_fact_act(f, ONE_SIDE ": the %s is {gain} slower (%s, '%s')", atomics_by_cpu(cell) ? "CPU" : "device", array,
                    as_cell_axis(cell, "allocator"));
    as_fact_evidence(f, cell);
    as_fact_evidence(f, k->alone);
}

static bool shared_before(const struct as_cell *const *cells, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (as_cell_both_work(cells[i]) && is_same_array(cells[i], cells[at]) &&
            as_cells_same(cells[i], cells[at], "allocator"))
            return true;
    return false;
}

/* ---- memory requested on a node ---- */

static void atomics_add_node(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *near)
{
    char array[64], ratio[200], note[96];
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_ATOMICS_NODE, cell, near, NULL);
    if (!f)
        return;
    const char *threads = as_cell_axis(cell, own_threads(cell));
    snprintf(note, sizeof note, "'%.40s', %.12s thread%s", as_cell_axis(cell, "allocator"), threads,
             strcmp(threads, "1") == 0 ? "" : "s");
    as_fact_say(f,
                f->verdict == AS_UNDECIDED
                    ? "Atomic updates by the %s of %s on node %s and by default placement {tied}: %s"
                    : "Atomic updates by the %s of %s on node %s are %s",
                atomics_by_cpu(cell) ? "CPU" : "device", as_array_text(cell, array), as_cell_axis(cell, "node"),
                as_fact_ratio_text(f, " as fast as by default placement", " slower than by default placement", note,
                                   ratio, sizeof ratio));
}

/* Moves the cells whose memory was requested on no node to the front; returns how many. */
static size_t keep_near(const struct as_cell **cells, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "node", "near")) {
            const struct as_cell *near = cells[i];
            cells[i] = cells[kept];
            cells[kept++] = near;
        }
    return kept;
}

/* Each array and node once, by the fastest cell: against the same cell on the nearest node. */
static void atomics_nodes(struct as_rule_context *c, const struct as_cell **cells, size_t near_n, size_t n)
{
    static const char *const kind[] = {"agent", "elements", "type", "allocator", "node", NULL};
    const struct as_cell **far = cells + near_n;
    const size_t far_n = as_cells_keep_best(far, n - near_n, kind, as_cell_is_faster);
    for (size_t i = 0; i < far_n; i++)
        for (size_t k = 0; k < near_n; k++)
            if (!as_cell_both_work(far[i]) && as_cells_alike(cells[k], far[i], "node")) {
                atomics_add_node(c, far[i], cells[k]);
                break;
            }
}

static void derive_atomics(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t all = as_cells_of(c, "atomics", &cells);
    const size_t n = keep_near(cells, all);
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *best = best_alone(cells, n, i);
        if (best) {
            atomics_add_rate(c, best);
            atomics_add_types(c, cells, n, best);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct kept k;
        struct together t;
        if (!as_cell_both_work(cells[i]) || shared_before(cells, i))
            continue;
        const bool are_both = look_at_both(cells, n, cells[i], &t);
        look_at_shared(cells, n, cells[i], &k);
        if (k.cell)
            add_kept(c, &k, are_both && over_best(&t).lo > 1);
        if (are_both && atomics_by_cpu(cells[i]))
            add_together(c, cells, n, &t);
    }
    atomics_nodes(c, cells, n, all);
    free(cells);
}

const struct as_rule as_rules_atomics[] = {
    {"atomic updates", derive_atomics,
     "the best valid measurement of an agent alone, by elements and type; the fraction it keeps is the minimum ratio "
     "of a "
     "valid measurement with the other agent active to the one without, all else equal; the best measurement of u64 "
     "over that of f64; what both reach together is the largest sum of the two concurrent rates at one pair of "
     "thread counts, divided by the best rate of one agent alone at any thread count",
     "a faster measurement, or a pair of concurrent agents that keeps less or reaches more"},
    {0},
};
