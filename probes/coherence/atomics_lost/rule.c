/* Whether atomic updates are lost: one sentence per kind of memory and set of agents. */
#include "facts/rule.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 64 }; /* per rule */

static const char *sides_id(const struct as_cell *cell)
{
    return as_cell_both_work(cell) ? "both" : as_cell_works(cell, "cpu_threads") ? "cpu" : "device";
}

static const char *sides_text(const struct as_cell *cell)
{
    return as_cell_both_work(cell)              ? "CPU and device concurrently"
           : as_cell_works(cell, "cpu_threads") ? "CPU threads"
                                                : "device threads";
}

static bool atomics_lost_is_plain(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "op"), "plain") == 0;
}

static bool lost_any(const struct as_cell *cell)
{
    return cell->sum.max > 0;
}

/* Cells of one sentence: the same memory and agents; if updates are lost also the same type and scope. */
static bool is_one_story(const struct as_cell *a, const struct as_cell *b)
{
    if (atomics_lost_is_plain(a) != atomics_lost_is_plain(b) || lost_any(a) != lost_any(b) ||
        !as_cells_same(a, b, "allocator") || strcmp(sides_id(a), sides_id(b)) != 0)
        return false;
    return atomics_lost_is_plain(a) || !lost_any(a) || (as_cells_same(a, b, "type") && as_cells_same(a, b, "scope"));
}

static bool lost_elsewhere(const struct as_cell *const *cells, size_t n, const struct as_cell *cell)
{
    for (size_t i = 0; i < n; i++)
        if (!atomics_lost_is_plain(cells[i]) && lost_any(cells[i]) && as_cells_same(cells[i], cell, "allocator") &&
            strcmp(sides_id(cells[i]), sides_id(cell)) == 0)
            return true;
    return false;
}

/* The types and scopes of the cells of one sentence, each once: "u32 system, u64 device". */
static void list_kinds(const struct as_cell *const *cells, size_t n, size_t at, struct as_buf *out)
{
    for (size_t i = at; i < n; i++) {
        bool seen = !is_one_story(cells[i], cells[at]);
        for (size_t k = at; k < i && !seen; k++)
            seen = is_one_story(cells[k], cells[at]) && as_cells_same(cells[k], cells[i], "type") &&
                   as_cells_same(cells[k], cells[i], "scope");
        if (!seen)
            as_buf_printf(out, "%s%s %s", out->len ? ", " : "", as_cell_axis(cells[i], "type"),
                          as_cell_axis(cells[i], "scope"));
    }
}

/* If the same memory loses updates of another type or scope, names the types and scopes that lose none. */
static void say_kept(struct as_fact *f, const struct as_cell *const *cells, size_t n, size_t at, size_t many,
                     double updates)
{
    struct as_buf kinds = AS_BUF_INIT;
    char count[32];
    bool some = lost_elsewhere(cells, n, cells[at]);
    if (some)
        list_kinds(cells, n, at, &kinds);
    as_fact_say(f, "%s on '%s' memory by %s: no update lost in about %s, in %zu measurement%s%s%s%s",
                some ? "Some kinds of atomics" : "Atomics", as_cell_axis(cells[at], "allocator"), sides_text(cells[at]),
                as_rounded_count(updates, count, sizeof count), many, many == 1 ? "" : "s", some ? " (" : "",
                as_buf_get(&kinds), some ? ")" : "");
    as_buf_finish(&kinds);
}

static const struct as_cell *worst_of(const struct as_cell *const *cells, size_t n, size_t at, size_t *many,
                                      double *updates)
{
    const struct as_cell *worst = cells[at];
    *many = 0;
    *updates = 0;
    for (size_t i = at; i < n; i++) {
        if (!is_one_story(cells[i], cells[at]))
            continue;
        double made = as_cell_note(cells[i], "updates_by_cpu") + as_cell_note(cells[i], "updates_by_device");
        ++*many;
        *updates += made > 0 ? made * (double)cells[i]->sum.n : 0;
        worst = cells[i]->sum.max > worst->sum.max ? cells[i] : worst;
    }
    return worst;
}

/* The driver's statement that CPU and device do not share atomics in this memory; "" for other memory. */
static const char *unshared_why(const struct as_rule_context *c, const struct as_cell *cell)
{
    const struct as_allocator *memory = c->info ? as_info_allocator(c->info, as_cell_axis(cell, "allocator")) : NULL;
    return memory && as_cell_both_work(cell) ? memory->no_sharing : "";
}

static void say_lost(const struct as_rule_context *c, struct as_fact *f, const struct as_cell *worst, size_t many)
{
    char array[64], most[32];
    as_rounded_count(worst->sum.max, most, sizeof most);
    if (atomics_lost_is_plain(worst)) {
        f->verdict = AS_SUPPORTED;
        as_fact_say(f, "Control: plain updates by %s are lost in '%s', up to %s per sample, so losses are detected",
                    sides_text(worst), as_cell_axis(worst, "allocator"), most);
        return;
    }
    const bool narrow = as_cell_is(worst, "scope", "device") && as_cell_both_work(worst);
    const char *why = narrow ? "" : unshared_why(c, worst);
    const bool expected = narrow || why[0];
    f->verdict = expected ? AS_SUPPORTED : AS_REFUTED;
    as_fact_say(f, "%s in '%s' where %s increment %s, scope %s%s: up to %s per sample, in %zu measurement%s%s%s",
                expected ? "Updates are lost" : "UPDATES ARE LOST", as_cell_axis(worst, "allocator"), sides_text(worst),
                as_array_text(worst, array), as_cell_axis(worst, "scope"),
                narrow ? ", which does not cover the CPU" : "", most, many, many == 1 ? "" : "s",
                why[0] ? "; the driver says: " : "", why);
    if (!expected)
        as_fact_act(f, "Do not use %s atomics by %s on '%s': up to %s updates per sample are lost",
                    as_cell_axis(worst, "type"), sides_text(worst), as_cell_axis(worst, "allocator"), most);
}

static void add_story(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, size_t at)
{
    size_t many;
    double updates;
    const struct as_cell *worst = worst_of(cells, n, at, &many, &updates);
    bool lost = lost_any(worst), plain = atomics_lost_is_plain(worst);
    const char *allocator = as_cell_axis(worst, "allocator");
    const bool one_kind = lost && !plain;
    struct as_fact *f =
        as_fact_add(c, plain ? AS_FACT_LOST_CONTROL : AS_FACT_LOST, worst,
                    AS_BY(.sides = sides_id(worst), .type = one_kind ? NULL : "", .scope = one_kind ? NULL : ""));
    if (!f)
        return;
    f->matter = "lost updates"; /* its own matter, so that update rates of the same object do not hide it */
    as_fact_number(f, worst->sum.max, AS_NO_INTERVAL);
    if (lost)
        say_lost(c, f, worst, many);
    else if (plain) {
        f->verdict = AS_UNDECIDED;
        as_fact_say(f, "Control: plain updates by %s are not lost in '%s', so the absence of losses proves little",
                    sides_text(worst), allocator);
    } else
        say_kept(f, cells, n, at, many, updates);
    for (size_t i = at; i < n; i++)
        if (is_one_story(cells[i], cells[at]))
            as_fact_evidence(f, cells[i]);
}

static void derive_lost(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "atomics_lost", &cells), added = 0;
    for (size_t i = 0; i < n && added < FACTS_MAX; i++) {
        size_t before = 0;
        while (before < i && !is_one_story(cells[before], cells[i]))
            before++;
        if (before < i)
            continue;
        add_story(c, cells, n, i);
        added++;
    }
    free(cells);
}

const struct as_rule as_rules_atomics_lost[] = {
    {"lost updates", derive_lost,
     "a fixed number of additions of 1 compared with the sum of the array: a single lost one is enough; expected where "
     "the scope or, as the driver says, the memory is not shared by CPU and device",
     "a run with the same memory, type and scope in which an update is lost; for a verdict of lost, runs without any "
     "loss"},
    {0},
};
