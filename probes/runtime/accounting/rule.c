/* Which counters see an allocation, and when: one sentence per allocator. */
#include "facts/rule.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell's value is 1 + the share of the block that the counter shows. */
static const double SEEN = 1.8, NOT_SEEN = 1.2;
enum { ALLOCATORS_MAX = 32 };

static const char *const counters[] = {"MemAvailable", "NUMA nodes",  "VmRSS",     "smaps_rollup",
                                       "driver",       "amdgpu VRAM", "amdgpu GTT"};
enum { COUNTERS = sizeof counters / sizeof *counters };
enum { ALLOCATED, CPU_TOUCHED, DEVICE_TOUCHED, FREED, MOMENTS };
static const char *const moments[] = {"allocated", "cpu-touched", "device-touched", "freed"};
static const char *const moments_said[] = {"at allocation", "at first CPU touch", "at first device touch",
                                           "after it is freed"};

/* Cells of one allocator with the largest size, by counter and moment; NULL if there is none. */
struct table {
    bool is_managed;
    const struct as_cell *cell[COUNTERS][MOMENTS];
};

static size_t index_of(const char *text, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(words[i], text) != 0)
        i++;
    return i;
}

static void accounting_fill(struct table *t, const struct as_cell *const *cells, size_t n, const char *allocator)
{
    *t = (struct table){0};
    for (size_t i = 0; i < n; i++) {
        const struct as_axes *a = &cells[i]->axes;
        size_t k = index_of(as_axes_text(a, "counter"), counters, COUNTERS),
               m = index_of(as_axes_text(a, "step"), moments, MOMENTS);
        if (k == COUNTERS || m == MOMENTS || strcmp(as_axes_text(a, "allocator"), allocator) != 0)
            continue;
        const struct as_cell *have = t->cell[k][m];
        if (!have || as_axes_number(a, "size") > as_cell_axis_number(have, "size"))
            t->cell[k][m] = cells[i];
    }
}

/* All processes change the other counters, so that one sample may show what another process did. */
static bool is_sampled_enough(const struct as_cell *cell)
{
    return cell->sum.n > 1 || as_cell_is(cell, "counter", "VmRSS") || as_cell_is(cell, "counter", "smaps_rollup");
}

/* In every sample. */
static bool is_seen(const struct as_cell *cell)
{
    return cell && is_sampled_enough(cell) && cell->sum.min >= SEEN;
}

static bool is_not_seen(const struct as_cell *cell)
{
    return cell && is_sampled_enough(cell) && cell->sum.max <= NOT_SEEN;
}

static bool is_undecided(const struct as_cell *cell)
{
    return cell && !is_seen(cell) && !is_not_seen(cell);
}

/* Does no cell of the counter show the block, neither at allocation nor when touched? */
static bool is_blind(const struct as_cell *const *at)
{
    bool blind = is_not_seen(at[ALLOCATED]) && (at[CPU_TOUCHED] || at[DEVICE_TOUCHED]);
    for (size_t m = CPU_TOUCHED; m < FREED; m++)
        blind = blind && (!at[m] || is_not_seen(at[m]));
    return blind;
}

/* A driver that keeps the memory of the warm-up for managed memory shows no change either. */
static bool may_be_kept(const struct table *t, size_t counter)
{
    return t->is_managed && strcmp(counters[counter], "driver") == 0 && is_blind(t->cell[counter]);
}

static void add_name(struct as_buf *names, const char *name)
{
    as_buf_printf(names, "%s%s", names->len ? ", " : "", name);
}

/* Appends "is counted by VmRSS at first CPU touch", without the verb from the second clause on. Empties the names. */
static void add_clause(struct as_buf *out, const char *adverb, struct as_buf *names, const char *when)
{
    if (names->len)
        as_buf_printf(out, "%s%s%sby %s%s%s", out->len ? "; " : "is ", adverb, out->len ? "" : "counted ",
                      as_buf_get(names), when[0] ? " " : "", when);
    as_buf_clear(names);
}

/* Every counter, at the earliest moment that shows the block. */
static void list_decided(struct as_buf *out, const struct table *t)
{
    struct as_buf names = AS_BUF_INIT;
    for (size_t m = 0; m < FREED; m++) {
        for (size_t k = 0; k < COUNTERS; k++)
            if (is_seen(t->cell[k][m]) && (m == ALLOCATED || !is_seen(t->cell[k][ALLOCATED])))
                add_name(&names, counters[k]);
        add_clause(out, "", &names, moments_said[m]);
    }
    for (size_t k = 0; k < COUNTERS; k++)
        if (is_blind(t->cell[k]) && !may_be_kept(t, k))
            add_name(&names, counters[k]);
    add_clause(out, "not ", &names, "at allocation or first touch");
    for (size_t k = 0; k < COUNTERS; k++)
        if (is_seen(t->cell[k][FREED]))
            add_name(&names, counters[k]);
    add_clause(out, "still ", &names, moments_said[FREED]);
    as_buf_finish(&names);
}

/* "40%", "samples from 0 to 200%": samples that differ are no scatter around one share. */
static const char *share_text(const struct as_cell *cell, char out[static 64])
{
    char low[16], high[16];
    snprintf(low, sizeof low, "%.0f", 100 * (cell->sum.min - 1));
    snprintf(high, sizeof high, "%.0f", 100 * (cell->sum.max - 1));
    if (strcmp(low, high) != 0)
        snprintf(out, 64, "samples from %s to %s%%", low, high);
    else
        snprintf(out, 64, "%s%%%s", low, cell->sum.n == 1 ? " in one sample" : "");
    return out;
}

/* "VmRSS (40% at first device touch)" */
static void list_undecided(struct as_buf *out, const struct table *t)
{
    for (size_t k = 0; k < COUNTERS; k++)
        for (size_t m = 0; m < FREED; m++) {
            char part[128], share[64];
            if (!is_undecided(t->cell[k][m]))
                continue;
            snprintf(part, sizeof part, "%s (%s %s)", counters[k], share_text(t->cell[k][m], share), moments_said[m]);
            add_name(out, part);
        }
    for (size_t k = 0; k < COUNTERS; k++)
        if (may_be_kept(t, k))
            add_name(out, "driver (it may keep memory of earlier use)");
}

static void accounting_add(struct as_rule_context *c, const struct table *t, const char *allocator)
{
    struct as_buf decided = AS_BUF_INIT, inconclusive = AS_BUF_INIT;
    char object[64];
    list_decided(&decided, t);
    list_undecided(&inconclusive, t);
    const bool is_decided = decided.len > 0;
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f = NULL;
    if (is_decided || inconclusive.len)
        f = as_fact_add(c, AS_FACT_ACCOUNTING, NULL, AS_BY(.object = object, .allocator = allocator));
    if (f) {
        f->verdict = is_decided ? AS_SUPPORTED : AS_UNDECIDED;
        f->matter = "memory accounting";
        if (is_decided)
            as_fact_say(f, "%s %s%s%s", allocator, as_buf_get(&decided), inconclusive.len ? "; inconclusive: " : "",
                        as_buf_get(&inconclusive));
        else
            as_fact_say(f, "Whether %s is counted is inconclusive: %s", allocator, as_buf_get(&inconclusive));
        for (size_t k = 0; k < COUNTERS; k++)
            for (size_t m = 0; m < MOMENTS; m++)
                if (t->cell[k][m])
                    as_fact_evidence(f, t->cell[k][m]);
    }
    as_buf_finish(&decided);
    as_buf_finish(&inconclusive);
}

static void derive_accounting(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const char *done[ALLOCATORS_MAX];
    size_t n = as_cells_of(c, "accounting", &cells), done_n = 0;
    for (size_t i = 0; i < n && done_n < ALLOCATORS_MAX; i++) {
        const char *allocator = as_cell_axis(cells[i], "allocator");
        struct table t;
        if (index_of(allocator, done, done_n) < done_n)
            continue;
        done[done_n++] = allocator;
        accounting_fill(&t, cells, n, allocator);
        t.is_managed = as_role_is_managed(as_allocator_role(c->device, allocator));
        accounting_add(c, &t, allocator);
    }
    free(cells);
}

const struct as_rule as_rules_accounting[] = {
    {"memory accounting", derive_accounting,
     "change of a counter relative to a block of known size: counted when all samples are above 80%, not counted when "
     "all are below 20%; one sample decides only of the process's own counters",
     "a block of another size with another ratio"},
    {0},
};
