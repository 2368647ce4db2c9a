/* Levels as the system lists them: one number from inside each, for those of which no curve or kernel says more. */
#include "facts/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last cache of known chips answers in at most two thirds of the time of the memory behind it. Where loads inside
 * one take nearly as long as there, most of them missed it. */
static const double CACHE_MOST = 0.8;

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && strcmp(s + n - m, tail) == 0;
}

/* Has an earlier rule said as much of the level? */
static bool is_known(const struct as_rule_context *c, const char *place, bool bandwidth)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        if (strcmp(f->device, c->device) == 0 && strcmp(f->object, place) == 0 &&
            (bandwidth ? strncmp(f->id, "bandwidth.", strlen("bandwidth.")) == 0 && strcmp(f->unit, "GB/s") == 0
                       : ends_with(f->id, ".latency")))
            return true;
    }
    return false;
}

/* A dependent load in memory, nanoseconds; NAN where nobody knows. */
static double memory_latency(const struct as_rule_context *c, const struct as_cell *const *cells, size_t n)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        if (strcmp(f->device, c->device) == 0 && strcmp(f->object, "memory") == 0 && ends_with(f->id, ".latency") &&
            strcmp(f->unit, "ns") == 0)
            return f->value;
    }
    for (size_t i = 0; i < n; i++)
        if (strcmp(as_cell_axis(cells[i], "place"), "memory") == 0 &&
            strcmp(as_cell_axis(cells[i], "what"), "latency") == 0 && strcmp(cells[i]->unit, "ns") == 0)
            return cells[i]->sum.median;
    return NAN;
}

/* Behind it there is only memory. */
static bool is_last_cache(const struct as_cell *const *cells, size_t n, const char *place)
{
    for (size_t i = 0; i < n; i++) {
        const char *other = as_cell_axis(cells[i], "place");
        if (other[0] == 'L' && strcmp(other, place) > 0)
            return false;
    }
    return place[0] == 'L';
}

static void say_missed(struct as_fact *f, const char *place, const char *value, double memory)
{
    char text[40];
    f->verdict = AS_UNDECIDED;
    if (isnan(memory)) {
        as_fact_say(f, "Loads within the listed size of %s take %s; it is unknown whether they hit it, %s", place,
                    value, "since there is no valid memory latency to compare");
        return;
    }
    as_fact_value_text(memory, AS_NO_INTERVAL, f->unit, text, sizeof text);
    as_fact_say(f, "Loads within the listed size of %s take %s, nearly as long as from memory (%s): %s", place, value,
                text, "most of them miss, as when a hypervisor gives a guest only part of a cache");
}

static void add_level(struct as_rule_context *c, const struct as_cell *cell, const char *place, bool bandwidth,
                      double memory, bool last)
{
    struct as_fact *f = as_fact_add(c, place, cell->unit, "listed.%.16s.%s", place, bandwidth ? "read" : "latency");
    char value[96];
    if (!f)
        return;
    const struct as_interval ci = as_cell_interval(cell);
    as_fact_number(f, cell->sum.median, ci);
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    as_fact_evidence(f, cell);
    if (!bandwidth && strcmp(place, "memory") != 0 && (ci.lo > CACHE_MOST * memory || (last && isnan(memory)))) {
        say_missed(f, place, value, memory);
        return;
    }
    as_fact_say(f, bandwidth ? "Sequential reads inside %s run at %s%s" : "A dependent load inside %s takes %s%s",
                strcmp(place, "memory") == 0 ? "memory" : place, value,
                !bandwidth || !c->info                        ? ""
                : c->info->capabilities & AS_CAP_HOST_KERNELS ? ", one thread"
                                                              : ", all units");
}

static void derive_listed(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "topology", &cells);
    const double memory = memory_latency(c, cells, n);
    for (size_t i = 0; i < n; i++) {
        const char *place = as_cell_axis(cells[i], "place"), *what = as_cell_axis(cells[i], "what");
        bool bandwidth = strcmp(what, "bandwidth") == 0;
        if (place[0] && strcmp(cells[i]->unit, bandwidth ? "GB/s" : "ns") == 0 && !is_known(c, place, bandwidth))
            add_level(c, cells[i], place, bandwidth, memory, is_last_cache(cells, n, place));
    }
    free(cells);
}

const struct as_rule as_rules_joint_listed[] = {
    {"levels as listed", derive_listed,
     "median within half of a level that the system lists, or in four times the last-level cache for memory, where "
     "neither a curve nor another kernel shows more; undecided where a load inside a cache takes more than four fifths "
     "of the memory latency, or, inside the last-level cache, where that latency is unknown",
     "a curve over the size with another plateau at that size"},
    {0},
};
