/* What the first pass over memory of the other side costs, and whether later ones are faster. */
#include "facts/rule.h"

#include "base/text.h"
#include "model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 48 }; /* keeps a run with too many kinds of cells readable */
/* Passes that differ less are alike. */
static const double MOVES = 1.25;

/* The cell of the highest pass that differs from the first one in that axis only; NULL: none. */
static const struct as_cell *last_pass(const struct as_cell *const *cells, size_t n, const struct as_cell *first)
{
    const struct as_cell *last = NULL;
    for (size_t i = 0; i < n; i++)
        if (as_cells_alike(cells[i], first, "pass") && as_cell_axis_number(cells[i], "pass") > 1 &&
            (!last || as_cell_axis_number(cells[i], "pass") > as_cell_axis_number(last, "pass")))
            last = cells[i];
    return last;
}

/* "CPU reads of 'managed' memory that the device wrote" */
static void migration_subject(const struct as_cell *cell, char *out, size_t size)
{
    const char *agent = as_cell_axis(cell, "agent"), *touch = as_cell_axis(cell, "touch");
    snprintf(out, size, "%s reads of '%.48s' memory that %s wrote", strcmp(agent, "cpu") == 0 ? "CPU" : "device",
             as_cell_axis(cell, "allocator"),
             strcmp(agent, touch) == 0      ? "it"
             : strcmp(touch, "device") == 0 ? "the device"
                                            : "the CPU");
}

/* ", after a 12.0 ms prefetch"; "" of memory that is not prefetched to its reader. */
static const char *prefetch_text(const struct as_cell *first, char out[static 64])
{
    const enum as_role role = as_allocator_role(first->device, as_cell_axis(first, "allocator"));
    const enum as_role wanted =
        as_cell_is(first, "agent", "cpu") ? AS_ROLE_MANAGED_PREFETCH_HOST : AS_ROLE_MANAGED_PREFETCH;
    const double took = as_cell_note(first, "handover_seconds");
    char value[32];
    out[0] = '\0';
    if (role == wanted && took > 0 && strcmp(as_cell_axis(first, "touch"), as_cell_axis(first, "agent")) != 0)
        snprintf(out, 64, ", after a %s prefetch", as_fact_value_text(took * 1e9, AS_NO_INTERVAL, "ns", value, 32));
    return out;
}

/* "driver: last prefetch location device, preferred location none"; "" where the driver records nothing of it. */
static const char *record_text(const struct as_cell *cell, char out[static 96])
{
    char *prefetch = as_cell_has_note(cell, "last_prefetch") ? as_cell_note_text(cell, "last_prefetch") : NULL;
    char *preferred =
        as_cell_has_note(cell, "preferred_location") ? as_cell_note_text(cell, "preferred_location") : NULL;
    out[0] = '\0';
    if (prefetch && preferred)
        snprintf(out, 96, "driver: last prefetch location %.20s, preferred location %.20s", prefetch, preferred);
    free(prefetch);
    free(preferred);
    return out;
}

static void add_first(struct as_rule_context *c, const struct as_cell *first, const char *subject, const char *object)
{
    char value[256], note[160], prefetch[64], record[96];
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_MIGRATION_FIRST, first, AS_BY(.object = object));
    if (!f)
        return;
    const double after = as_cell_note(first, "host_share_after");
    as_copy_text(note, sizeof note, record_text(first, record));
    if (after >= 0 && after <= 1)
        snprintf(note, sizeof note, "then %.0f%% of the pages are on the host%s%s", 100 * after, record[0] ? "; " : "",
                 record);
    as_fact_noted_text(f, "", note, value, sizeof value);
    as_fact_say(f, "First pass of %s: %s%s", subject, value, prefetch_text(first, prefetch));
}

/* Why the first pass is slower: by where the pages were before and after the passes. */
static const char *migration_cause(const struct as_cell *last)
{
    const double before = as_cell_note(last, "host_share_before"), after = as_cell_note(last, "host_share_after");
    if (!(before >= 0 && after >= 0))
        return "";
    return fabs(after - before) > 0.5 ? ": the pages move to their reader"
           : after > 0.5              ? ": the device maps or copies them, and the host keeps its pages"
                                      : ": the CPU maps or copies them, and the device keeps its pages";
}

static void add_gain(struct as_rule_context *c, const struct as_cell *first, const struct as_cell *last,
                     const char *subject, const char *object)
{
    char value[160];
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_MIGRATION_GAIN, last, first, AS_BY(.object = object));
    if (!f)
        return;
    const bool moves = f->ci.lo > MOVES, alike = f->ci.hi < MOVES && f->ci.lo > 1 / MOVES;
    f->verdict = moves || alike ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_noted_text(f, " as fast as the first", "", value, sizeof value);
    if (moves)
        as_fact_say(f, "Pass %s of %s is %s%s", as_cell_axis(last, "pass"), subject, value, migration_cause(last));
    else
        as_fact_say(f,
                    alike ? "Passes of %s are alike: pass %s is %s"
                          : "Whether later passes of %s are faster is inconclusive: {wide}pass %s is %s",
                    subject, as_cell_axis(last, "pass"), value);
}

/* ---- lines that the other side's caches hold ---- */

static bool is_of_lines(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "lines"), "flushed") == 0 || strcmp(as_cell_axis(cell, "what"), "latency") == 0;
}

/* What modified lines cost against flushed ones: of times and rates alike, how much longer it takes. */
static void add_lines(struct as_rule_context *c, const struct as_cell *modified, const struct as_cell *flushed)
{
    const bool is_time = modified->lower_is_better;
    char subject[160], object[64], value[160];
    migration_subject(modified, subject, sizeof subject);
    as_allocator_object(as_cell_axis(modified, "allocator"), object, sizeof object);
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_MIGRATION_LINES, is_time ? modified : flushed,
                                          is_time ? flushed : modified, AS_BY(.object = object));
    if (!f)
        return;
    const bool costs = f->ci.lo > 1, gains = f->ci.hi < 1, alike = f->ci.hi < MOVES && f->ci.lo > 1 / MOVES;
    f->verdict = costs || gains || alike ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_noted_text(f, " as long as from memory", "", value, sizeof value);
    as_fact_say(
        f,
        costs   ? "%s (%s) takes longer while its lines are modified in the writer's caches: %s"
        : gains ? "%s (%s) is faster from the writer's caches than from memory: %s"
        : alike ? "%s (%s) takes as long for modified lines in the writer's caches as for lines in memory: %s"
                : "Whether %s (%s) takes longer for modified lines in the writer's caches is inconclusive: {wide}%s",
        subject, as_cell_axis(modified, "what"), value);
}

static void derive_lines(struct as_rule_context *c)
{
    struct as_pair *pairs;
    size_t n;
    as_pairs_make(c, "migration", "lines", "modified", "flushed", &pairs, &n);
    for (size_t i = 0; i < n && i < FACTS_MAX; i++)
        add_lines(c, pairs[i].a, pairs[i].b);
    free(pairs);
}

static void derive_passes(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "migration", &cells);
    for (size_t i = 0, facts = 0; i < n && facts < FACTS_MAX; i++) {
        char subject[160], object[64];
        if (!as_cell_is(cells[i], "pass", "1") || is_of_lines(cells[i]))
            continue;
        const struct as_cell *last = last_pass(cells, n, cells[i]);
        migration_subject(cells[i], subject, sizeof subject);
        as_allocator_object(as_cell_axis(cells[i], "allocator"), object, sizeof object);
        add_first(c, cells[i], subject, object);
        if (last)
            add_gain(c, cells[i], last, subject, object);
        facts += 1 + (last != NULL);
    }
    free(cells);
}

const struct as_rule as_rules_migration[] = {
    {"migration", derive_passes,
     "the first pass over memory that one side wrote, and the ratio of the last pass to it: the first pays "
     "for a move or a mapping where it is surely above 1.25, and passes are alike where it is surely within 1.25 of 1",
     "passes of the same size over the same memory with another ratio"},
    {"lines of the writer's caches", derive_lines,
     "the ratio of a first pass over lines that the writer's caches hold modified to one over lines in memory: a "
     "difference where its interval excludes 1, alike where it lies within 1.25 of 1",
     "first passes over the same memory with another ratio"},
    {0},
};
