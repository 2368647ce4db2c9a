/* What the first pass over memory of the other side costs, and whether later ones are faster. */
#include "facts/rule.h"

#include "base/text.h"
#include "model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Passes that differ less are alike. */
static const double MOVES = 1.25;
/* An interval of ratios that spans more is stated by its lower end. */
static const double OPEN = 4;
/* Launching a kernel, or waking the CPU's threads, is a part of shorter passes. */
static const double SHORT_S = 100e-6;
/* A buffer of this many last-level caches no longer hits them from pass to pass. */
static const double CACHES = 2;

static bool is_of_cpu(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "agent"), "cpu") == 0;
}

static bool is_pinned(const struct as_cell *cell)
{
    return as_role_is_pinned(as_allocator_role(cell->device, as_cell_axis(cell, "allocator")));
}

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

/* "CPU reads of 64 MiB of 'managed' memory that the device wrote" */
static void migration_subject(const struct as_cell *cell, char *out, size_t size)
{
    const char *agent = as_cell_axis(cell, "agent"), *touch = as_cell_axis(cell, "touch");
    char bytes[32];
    snprintf(out, size, "%s reads of %s of '%.48s' memory that %s wrote", is_of_cpu(cell) ? "CPU" : "device",
             as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", bytes, sizeof bytes),
             as_cell_axis(cell, "allocator"),
             strcmp(agent, touch) == 0      ? "it"
             : strcmp(touch, "device") == 0 ? "the device"
                                            : "the CPU");
}

/* ", after a 12.0 ms prefetch"; "" of memory that is not prefetched to its reader. */
static const char *prefetch_text(const struct as_cell *first, char out[static 64])
{
    const enum as_role role = as_allocator_role(first->device, as_cell_axis(first, "allocator"));
    const enum as_role wanted = is_of_cpu(first) ? AS_ROLE_MANAGED_PREFETCH_HOST : AS_ROLE_MANAGED_PREFETCH;
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

/* Does the share of pages that the host has tell where they are? Without a memory node of the device, a page that the
 * CPU has not mapped may still be in the host's memory. */
static bool tells_location(const struct as_rule_context *c)
{
    return c->info && c->info->memory_node;
}

static void add_first(struct as_rule_context *c, const struct as_cell *first, const char *subject, const char *object)
{
    char value[256], note[192], prefetch[64], record[96];
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_MIGRATION_FIRST, first, AS_BY(.object = object));
    if (!f)
        return;
    const double after = as_cell_note(first, "host_share_after");
    as_copy_text(note, sizeof note, record_text(first, record));
    if (after >= 0 && after <= 1)
        snprintf(note, sizeof note, "then %.0f%% of the pages are %s%s%s", 100 * after,
                 tells_location(c) ? "in the host's memory" : "mapped on the host", record[0] ? "; " : "", record);
    if (as_cell_size(first) < SHORT_S * 1e9 * first->sum.median)
        snprintf(note + strlen(note), sizeof note - strlen(note), "%slaunch included", note[0] ? "; " : "");
    as_fact_noted_text(f, "", note, value, sizeof value);
    as_fact_say(f, "First pass of %s: %s%s", subject, value, prefetch_text(first, prefetch));
}

/* Does it read faster than the bus carries? Then it reads the device's memory. */
static bool exceeds_bus(const struct as_rule_context *c, const struct as_cell *cell)
{
    return as_cell_interval(cell).lo > as_claimed_bus(c, cell);
}

/* The first cell that differs from this one in the axis only and is so; NULL: none. */
static const struct as_cell *other_cell(const struct as_cell *const *cells, size_t n, const struct as_cell *cell,
                                        const char *axis, bool (*is)(const struct as_cell *))
{
    for (size_t i = 0; i < n; i++)
        if (cells[i] != cell && as_cells_alike(cells[i], cell, axis) && is(cells[i]))
            return cells[i];
    return NULL;
}

/* Was the memory the device's before the CPU read it: does the device, which wrote it, read it faster than the bus? */
static bool was_of_device(const struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                          const struct as_cell *first)
{
    for (size_t i = 0; i < n; i++)
        if (as_cells_alike(cells[i], first, "agent") && !is_of_cpu(cells[i]))
            return as_cell_is(first, "touch", "device") && exceeds_bus(c, cells[i]);
    return false;
}

/* Why the first pass is slower: by where the pages were before and after the passes; "": unknown. */
static const char *migration_cause(const struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                                   const struct as_cell *first, const struct as_cell *last)
{
    static const char moved[] = ": the pages move to their reader", copied[] = ": the reader gets a copy of the pages";
    const double before = as_cell_note(last, "host_share_before"), after = as_cell_note(last, "host_share_after");
    const bool copies = as_cell_note_is(last, "read_mostly", "yes"), on_host = before > 0.5 && after > 0.5;
    if (!(before >= 0 && after >= 0))
        return "";
    if (tells_location(c) && fabs(after - before) <= 0.5)
        return after > 0.5 ? ": the device maps or copies them, and the host keeps its pages"
                           : ": the CPU maps or copies them, and the device keeps its pages";
    if (is_of_cpu(first))
        return before < 0.5 && after > 0.5 && (tells_location(c) || was_of_device(c, cells, n, first))
                   ? (copies ? copied : moved)
                   : "";
    if (on_host)
        return exceeds_bus(c, last) ? copied : ": the device maps or copies them, and the host keeps its pages";
    return before > 0.5 && (tells_location(c) || exceeds_bus(c, last)) ? (copies ? copied : moved) : "";
}

/* The CPU's caches alone can speed up its later passes; pinned memory, which never moves, shows how much. */
struct by_caches {
    bool may;
    const struct as_cell *pinned; /* NULL: there is none to compare with */
    struct as_interval beyond;    /* the gain over that of pinned memory */
};

static struct by_caches gain_by_caches(const struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                                       const struct as_cell *first, const struct as_cell *last)
{
    struct by_caches out = {.may = is_of_cpu(first) && !is_pinned(first), .beyond = AS_NO_INTERVAL};
    uint64_t cache = 0;
    for (size_t i = 0; i < c->devices_n; i++)
        if (as_info_has_host_kernels(&c->devices[i]) && as_info_last_cache(&c->devices[i]) > cache)
            cache = as_info_last_cache(&c->devices[i]);
    if (cache && as_cell_size(first) >= CACHES * (double)cache)
        out.may = false;
    const struct as_cell *pinned = out.may ? other_cell(cells, n, first, "allocator", is_pinned) : NULL;
    const struct as_cell *later = pinned ? other_cell(cells, n, last, "allocator", is_pinned) : NULL;
    if (later && as_cells_same(later, pinned, "allocator")) {
        out.pinned = pinned;
        out.beyond = as_ratio_interval(last->sum.median / first->sum.median, as_cells_ratio(last, first),
                                       later->sum.median / pinned->sum.median, as_cells_ratio(later, pinned));
    }
    return out;
}

static void add_gain(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                     const struct as_cell *first, const struct as_cell *last, const char *subject, const char *object)
{
    char value[160], beyond[128] = "", ratio[48];
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_MIGRATION_GAIN, last, first, AS_BY(.object = object));
    if (!f)
        return;
    const struct by_caches caches = gain_by_caches(c, cells, n, first, last);
    const bool faster = f->ci.lo > MOVES, alike = f->ci.hi < MOVES && f->ci.lo > 1 / MOVES;
    const bool may_be_cached = faster && caches.may && !(caches.beyond.lo > MOVES);
    f->verdict = (faster && !may_be_cached) || alike ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_noted_text(f, " as fast as the first", "", value, sizeof value);
    if (may_be_cached) {
        as_fact_say(f,
                    "Whether the first pass of %s pays for a move is inconclusive: pass %s is %s, but may hit "
                    "the CPU's caches",
                    subject, as_cell_axis(last, "pass"), value);
    } else if (faster) {
        const bool open = caches.beyond.hi > OPEN * caches.beyond.lo;
        if (caches.may)
            snprintf(beyond, sizeof beyond, " (%s%s the gain of '%.40s')", open ? "over " : "",
                     open ? as_fact_value_text(caches.beyond.lo, AS_NO_INTERVAL, "x", ratio, sizeof ratio)
                          : as_fact_range_text(caches.beyond, "x", ratio, sizeof ratio),
                     as_cell_axis(caches.pinned, "allocator"));
        as_fact_say(f, "Pass %s of %s is %s%s%s", as_cell_axis(last, "pass"), subject, value, beyond,
                    migration_cause(c, cells, n, first, last));
    } else {
        as_fact_say(f,
                    alike ? "Passes of %s are alike: pass %s is %s"
                          : "Whether later passes of %s are faster is inconclusive: {wide}pass %s is %s",
                    subject, as_cell_axis(last, "pass"), value);
    }
}

/* ---- lines that the other side's caches hold ---- */

static bool is_of_lines(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "lines"), "flushed") == 0 || strcmp(as_cell_axis(cell, "what"), "latency") == 0;
}

/* What a CPU's reads find of a device's writes. Caches of a device behind a bus are not coherent with the CPU's: their
 * lines have reached the CPU's caches or memory by then. */
enum { LINES_COST, LINES_GAIN, LINES_ALIKE, LINES_OPEN, LINES };
static const char *const by_writer[LINES] = {
    "takes longer while its lines are modified in the writer's caches",
    "is faster from the writer's caches than from memory",
    "takes as long for modified lines in the writer's caches as for lines in memory",
    "takes longer for modified lines in the writer's caches",
};
static const char *const behind_bus[LINES] = {
    "takes longer right after the write than from memory",
    "is faster right after the write, when the lines are in the CPU's own caches",
    "takes as long right after the write as from memory",
    "is faster right after the write",
};

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
    const bool bus = is_of_cpu(modified) && c->info && !c->info->is_host_memory && !c->info->memory_node;
    const char *text = (bus ? behind_bus : by_writer)[costs   ? LINES_COST
                                                      : gains ? LINES_GAIN
                                                      : alike ? LINES_ALIKE
                                                              : LINES_OPEN];
    as_fact_say(f, f->verdict == AS_UNDECIDED ? "Whether %s (%s) %s is inconclusive: {wide}%s" : "%s (%s) %s: %s",
                subject, as_cell_axis(modified, "what"), text, value);
}

static void derive_lines(struct as_rule_context *c)
{
    struct as_pair *pairs;
    size_t n;
    as_pairs_make(c, "migration", "lines", "modified", "flushed", &pairs, &n);
    for (size_t i = 0; i < n; i++)
        add_lines(c, pairs[i].a, pairs[i].b);
    free(pairs);
}

static void derive_passes(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "migration", &cells);
    for (size_t i = 0; i < n; i++) {
        char subject[160], object[64];
        if (!as_cell_is(cells[i], "pass", "1") || is_of_lines(cells[i]))
            continue;
        const struct as_cell *last = last_pass(cells, n, cells[i]);
        migration_subject(cells[i], subject, sizeof subject);
        as_allocator_object(as_cell_axis(cells[i], "allocator"), object, sizeof object);
        add_first(c, cells[i], subject, object);
        if (last)
            add_gain(c, cells, n, cells[i], last, subject, object);
    }
    free(cells);
}

const struct as_rule as_rules_migration[] = {
    {"migration", derive_passes,
     "the first pass over memory that one side wrote, and the ratio of the last pass to it: the first pays "
     "for a move or a mapping where it is surely above 1.25 (of the CPU, whose caches hold the buffer, 1.25 of the "
     "ratio of pinned memory), and passes are alike where it is surely within 1.25 of 1; pages move where a device "
     "reads "
     "them faster than the bus carries",
     "passes of the same size over the same memory with another ratio"},
    {"lines of the writer's caches", derive_lines,
     "the ratio of a first pass over lines that the writer's caches hold modified to one over lines in memory: a "
     "difference where its interval excludes 1, alike where it lies within 1.25 of 1",
     "first passes over the same memory with another ratio"},
    {0},
};
