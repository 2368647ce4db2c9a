/* 64-bit atomic minima and maxima: latency and rate, what emulation by two words costs; and barriers by workgroup. */
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>

static const char *sync_memory(const struct as_rule_context *c, const struct as_cell *cell)
{
    return as_cell_is(cell, "memory", "shared") ? as_shared_memory_name(c) : "global memory";
}

static bool sync_is_loop(const struct as_cell *cell)
{
    return as_cell_note_is(cell, "instruction", "a loop of compare-and-swaps");
}

/* A loop whose values change no element ends at its first load: without the note the trial may have measured that. */
static bool sync_is_sound(const struct as_cell *cell)
{
    return !sync_is_loop(cell) || as_cell_note_is(cell, "values", "change at each turn");
}

/* "native 64-bit atomic max", "64-bit atomic max by two words" */
static const char *sync_name(const struct as_cell *cell, char out[static 64])
{
    const bool native = as_cell_is(cell, "path", "native"), loop = sync_is_loop(cell);
    snprintf(out, 64, "%s64-bit atomic %s%s", native && !loop ? "native " : "", as_cell_axis(cell, "op"),
             loop     ? " (a loop of compare-and-swaps)"
             : native ? ""
                      : " by two words");
    return out;
}

/* The dependent updates of one thread. */
static bool sync_is_latency(const struct as_cell *cell)
{
    return as_cell_is(cell, "result", "kept") && as_cell_is(cell, "threads", "1") &&
           as_cell_is(cell, "elements", "1024");
}

static void sync_add_latency(struct as_rule_context *c, const struct as_cell *cell)
{
    char name[64];
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_SYNC_LATENCY, cell, NULL);
    if (f)
        as_fact_say(f, "A %s in %s has a latency of {value}", sync_name(cell, name), sync_memory(c, cell));
}

static void sync_add_barrier(struct as_rule_context *c, const struct as_cell *cell)
{
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_SYNC_BARRIER, cell, NULL);
    if (f)
        as_fact_say(f, "A barrier of {threads} threads takes {value}");
}

/* All compute units; updates per second of all threads. */
static void sync_add_rate(struct as_rule_context *c, const struct as_cell *cell)
{
    const struct as_interval ns = as_cell_interval(cell);
    const double threads = as_cell_axis_number(cell, "threads") * (c->info ? c->info->compute_units : 0);
    char name[64];
    if (!(threads > 0) || !(ns.lo > 0))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_SYNC_RATE, cell, NULL);
    if (!f)
        return;
    as_fact_number(f, 1e9 * threads / cell->sum.median,
                   (struct as_interval){1e9 * threads / ns.hi, 1e9 * threads / ns.lo});
    as_fact_evidence(f, cell);
    as_fact_say(f, "With %s in %s, result %s, the device reaches {value} on {elements} elements", sync_name(cell, name),
                sync_memory(c, cell), as_cell_axis(cell, "result"));
}

static void sync_add_emulation(struct as_rule_context *c, const struct as_pair *pair)
{
    char ratio[96];
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_SYNC_EMULATED, pair->b, pair->a, NULL);
    if (!f)
        return;
    const char *times = as_fact_ratio_text(f, " slower", " faster", "", ratio, sizeof ratio),
               *native = sync_is_loop(pair->a) ? "a loop of compare-and-swaps" : "native";
    as_fact_say(
        f,
        f->verdict == AS_UNDECIDED
            ? "64-bit atomic {op} by two words in %s and %s {tied}: %s%s, result {result}, on {elements} elements"
            : "64-bit atomic {op} by two words in %s is %s than %s%s, result {result}, on {elements} elements",
        sync_memory(c, pair->a), f->verdict == AS_UNDECIDED ? native : times,
        f->verdict == AS_UNDECIDED ? times : native, as_cell_is(pair->a, "threads", "1") ? ", one thread" : "");
    as_fact_expects_nothing(f);
}

static void derive_sync(struct as_rule_context *c)
{
    const struct as_cell **cells;
    struct as_pair *pairs;
    size_t n = as_cells_of(c, "sync", &cells), pairs_n;
    for (size_t i = 0; i < n; i++) {
        if (!sync_is_sound(cells[i]))
            continue;
        if (as_cell_is(cells[i], "op", "barrier")) {
            if (as_cell_is(cells[i], "compute_units", "one"))
                sync_add_barrier(c, cells[i]);
        } else if (sync_is_latency(cells[i])) {
            sync_add_latency(c, cells[i]);
        } else if (as_cell_is(cells[i], "compute_units", "every")) {
            sync_add_rate(c, cells[i]);
        }
    }
    free(cells);
    as_pairs_make(c, "sync", "path", "native", "two_words", &pairs, &pairs_n);
    for (size_t i = 0; i < pairs_n; i++)
        if (sync_is_sound(pairs[i].a))
            sync_add_emulation(c, &pairs[i]);
    free(pairs);
}

const struct as_rule as_rules_sync[] = {
    {"64-bit atomics and barriers", derive_sync,
     "each valid measurement by itself; emulation: the time by two words over that of the native atomic, all else "
     "equal",
     "another time for the same operation, or a ratio on the other side of 1"},
    {0},
};
