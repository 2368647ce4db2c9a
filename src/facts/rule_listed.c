/* Levels as the system lists them: one number from inside each, for those of which no curve or kernel says more. */
#include "base/text.h"
#include "facts/rules.h"

#include <stdlib.h>
#include <string.h>

static const double LINE = 64; /* bytes that a cell's time is for */

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && strcmp(s + n - m, tail) == 0;
}

/* Has an earlier rule said as much of the level? */
static bool is_known(const struct rule_context *c, const char *place, bool bandwidth)
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

static void add_level(struct rule_context *c, const struct as_cell *cell, const char *place, bool bandwidth)
{
    struct as_fact *f =
        fact_add(c, place, bandwidth ? "GB/s" : cell->unit, "listed.%.16s.%s", place, bandwidth ? "read" : "latency");
    char value[96];
    if (!f)
        return;
    struct as_interval ns = cell_interval(cell);
    if (bandwidth)
        fact_number(f, LINE / cell->sum.median, (struct as_interval){LINE / ns.hi, LINE / ns.lo});
    else
        fact_number(f, cell->sum.median, ns);
    fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    fact_say(f, bandwidth ? "Reading in a row inside %s runs at %s%s" : "A dependent load inside %s takes %s%s",
             strcmp(place, "memory") == 0 ? "memory" : place, value,
             !bandwidth || !c->info                        ? ""
             : c->info->capabilities & AS_CAP_HOST_KERNELS ? ", one thread"
                                                           : ", all units");
    fact_evidence(f, cell);
}

void rule_listed(struct rule_context *c)
{
    const struct as_cell **cells;
    size_t n = cells_of(c, "topology", &cells);
    for (size_t i = 0; i < n; i++) {
        const char *place = cell_axis(cells[i], "place"), *what = cell_axis(cells[i], "what");
        bool bandwidth = strcmp(what, "bandwidth") == 0;
        if (place[0] && strcmp(cells[i]->unit, "ns") == 0 && !is_known(c, place, bandwidth))
            add_level(c, cells[i], place, bandwidth);
    }
    free(cells);
}
