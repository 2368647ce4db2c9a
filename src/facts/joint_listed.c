/* Levels as the system lists them: one number from inside each, for those of which no curve or kernel says more. */
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last cache of known chips answers in at most two thirds of the time of the memory behind it. Where loads inside
 * one take nearly as long as there, most of them missed it. */
static const double CACHE_MAX = 0.8;
/* A miss takes as long as a load from memory, not longer than this. */
static const double LONGER = 1.2;

/* Has an earlier rule said as much of the level? */
static bool joint_listed_is_known(const struct as_rule_context *c, const char *place, bool bandwidth)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        if (strcmp(f->device, c->device) == 0 && strcmp(f->object, place) == 0 &&
            (bandwidth ? as_fact_is(f, AS_FACT_BANDWIDTH, AS_BY(.unit = "GB/s"))
                       : as_fact_states(f) == AS_STATES_LATENCY))
            return true;
    }
    return false;
}

/* A dependent load in memory, nanoseconds; NAN where nobody knows. */
struct known {
    double value;
    struct as_interval ci;
    const struct as_cell *cell; /* a fact's first */
};

static struct known memory_latency(const struct as_rule_context *c, const struct as_cell *const *cells, size_t n)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        if (strcmp(f->device, c->device) == 0 && strcmp(f->object, "memory") == 0 &&
            as_fact_states(f) == AS_STATES_LATENCY && strcmp(f->unit, "ns") == 0)
            return (struct known){f->value, f->ci, f->evidence_n ? as_rule_cell(c, f->evidence[0]) : NULL};
    }
    for (size_t i = 0; i < n; i++)
        if (strcmp(as_cell_axis(cells[i], "place"), "memory") == 0 &&
            strcmp(as_cell_axis(cells[i], "what"), "latency") == 0 && strcmp(cells[i]->unit, "ns") == 0)
            return (struct known){cells[i]->sum.median, as_cell_interval(cells[i]), cells[i]};
    return (struct known){NAN, AS_NO_INTERVAL, NULL};
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

/* Does it take as long as a load from memory? Supported and inconclusive: whether it hits is not known. */
static enum as_fact_verdict takes_as_long(const struct as_cell *cell, const struct known *memory, bool last)
{
    if (isnan(memory->value))
        return last ? AS_UNDECIDED : AS_REFUTED;
    return as_verdict_above(as_ratio_interval(cell->sum.median, as_cell_interval(cell), memory->value, memory->ci),
                            CACHE_MAX);
}

static void say_missed(struct as_fact *f, const char *place, const char *value, const struct known *memory, bool surely)
{
    const bool longer =
        as_verdict_above(as_ratio_interval(f->value, f->ci, memory->value, memory->ci), LONGER) == AS_SUPPORTED;
    char text[96];
    f->verdict = AS_UNDECIDED;
    if (isnan(memory->value)) {
        as_fact_say(
            f,
            "Loads within the listed size of %s take %s; whether they hit is inconclusive: memory latency is unknown",
            place, value);
        return;
    }
    if (memory->cell)
        as_fact_evidence(f, memory->cell);
    as_fact_value_text(memory->value, surely ? AS_NO_INTERVAL : memory->ci, f->unit, text, sizeof text);
    as_fact_say(f,
                longer ? "Loads within the listed size of %s take %s, longer than from memory (%s): %s"
                : surely && f->value >= memory->value
                    ? "Loads within the listed size of %s take %s, at least as long as from memory (%s): %s"
                : surely ? "Loads within the listed size of %s take %s, nearly as long as from memory (%s): %s"
                         : "Loads within the listed size of %s take %s, those from memory %s; %s",
                place, value, text,
                longer   ? "misses alone do not explain it"
                : surely ? "most of them seem to miss, as when a hypervisor gives a guest a part of a cache"
                         : "whether most of them hit is inconclusive");
}

static void add_level(struct as_rule_context *c, const struct as_cell *cell, const char *place, bool bandwidth,
                      const struct known *memory, bool last)
{
    char value[96], key[16], title[32];
    const struct as_cache *known =
        c->info && place[0] == 'L' ? as_info_cache_at(c->info, (unsigned)(place[1] - '0')) : NULL;
    as_copy_text(key, sizeof key, place);
    as_copy_text(title, sizeof title, place);
    if (known) {
        as_cache_key(known, key);
        as_cache_label(known, title);
        if (known->memory_side) /* it has a name, not a number */
            snprintf(title, sizeof title, "the %s", known->name[0] ? known->name : "memory-side cache");
    }
    struct as_fact *f = as_fact_add_cell(c, bandwidth ? AS_FACT_LISTED_READ : AS_FACT_LISTED_LATENCY, cell,
                                         AS_BY(.object = place, .level = key));
    if (!f)
        return;
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    const bool cache = !bandwidth && strcmp(place, "memory") != 0;
    const enum as_fact_verdict missed = cache ? takes_as_long(cell, memory, last) : AS_REFUTED;
    if (missed != AS_REFUTED) {
        say_missed(f, title, value, memory, missed == AS_SUPPORTED);
        return;
    }
    as_fact_say(f, bandwidth ? "Sequential reads in %s run at %s%s" : "A dependent load in %s takes %s%s", title, value,
                !bandwidth || !c->info                        ? ""
                : c->info->capabilities & AS_CAP_HOST_KERNELS ? ", one thread"
                                                              : ", all units");
}

static void derive_listed(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "topology", &cells);
    const struct known memory = memory_latency(c, cells, n);
    for (size_t i = 0; i < n; i++) {
        const char *place = as_cell_axis(cells[i], "place"), *what = as_cell_axis(cells[i], "what");
        bool bandwidth = strcmp(what, "bandwidth") == 0;
        if (place[0] && strcmp(cells[i]->unit, bandwidth ? "GB/s" : "ns") == 0 &&
            !joint_listed_is_known(c, place, bandwidth))
            add_level(c, cells[i], place, bandwidth, &memory, is_last_cache(cells, n, place));
    }
    free(cells);
}

const struct as_rule as_rules_joint_listed[] = {
    {"levels as listed", derive_listed,
     "median within half of a level that the system lists, or in a working set in main memory, where neither a curve "
     "nor another kernel shows more; inconclusive unless a load inside a cache takes less than four fifths of the "
     "memory "
     "latency, and inside the last-level cache where that latency is unknown",
     "a curve over the size with another plateau at that size"},
    {0},
};
