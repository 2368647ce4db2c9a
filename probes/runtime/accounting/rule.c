/* Which counters see an allocation, and when: a sentence for each allocator. */
#include "facts/rule.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell says 1 where nothing is seen and 2 where all is. */
static const double SEEN = 1.8, NOT_SEEN = 1.2;
enum { ALLOCATORS_MAX = 32 };

static const char *const counters[] = {"MemAvailable", "NUMA nodes", "VmRSS", "smaps_rollup", "driver"};
enum { COUNTERS = sizeof counters / sizeof *counters };
enum { ALLOCATED, CPU_TOUCHED, DEVICE_TOUCHED, FREED, MOMENTS };
static const char *const moments[] = {"allocated", "cpu-touched", "device-touched", "freed"};

/* The cells of one allocator with the largest size, by counter and moment; NULL where there is none. */
struct table {
    const struct as_cell *cell[COUNTERS][MOMENTS];
};

static size_t index_of(const char *text, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(words[i], text) != 0)
        i++;
    return i;
}

static void fill(struct table *t, const struct as_cell *const *cells, size_t n, const char *allocator)
{
    *t = (struct table){0};
    for (size_t i = 0; i < n; i++) {
        const struct as_axes *a = &cells[i]->axes;
        size_t k = index_of(as_axes_text(a, "counter"), counters, COUNTERS),
               m = index_of(as_axes_text(a, "moment"), moments, MOMENTS);
        if (k == COUNTERS || m == MOMENTS || strcmp(as_axes_text(a, "allocator"), allocator) != 0)
            continue;
        const struct as_cell *have = t->cell[k][m];
        if (!have || as_axes_number(a, "size") > as_cell_axis_number(have, "size"))
            t->cell[k][m] = cells[i];
    }
}

static bool is_seen(const struct as_cell *cell)
{
    return cell && as_cell_interval(cell).lo >= SEEN;
}

static bool is_not_seen(const struct as_cell *cell)
{
    return cell && as_cell_interval(cell).hi <= NOT_SEEN;
}

static void list(struct as_buf *out, const char *when, const char *name)
{
    const char *at = strstr(as_buf_get(out), when);
    if (!at)
        as_buf_printf(out, "%s%s %s", out->len ? "; " : "", when, name);
    else
        as_buf_printf(out, ", %s", name);
}

static const char UNDECIDED[] = "undecided for";

/* Every counter once, at the earliest moment at which it sees the block. */
static void say(struct as_buf *out, const struct table *t)
{
    static const char *const when[] = {"at allocation by", "when the CPU touches it by",
                                       "when the device touches it by"};
    for (size_t m = 0; m < FREED; m++)
        for (size_t k = 0; k < COUNTERS; k++)
            if (is_seen(t->cell[k][m]) && !is_seen(t->cell[k][ALLOCATED] && m ? t->cell[k][ALLOCATED] : NULL))
                list(out, when[m], counters[k]);
    for (size_t k = 0; k < COUNTERS; k++) {
        bool touched = t->cell[k][CPU_TOUCHED] || t->cell[k][DEVICE_TOUCHED];
        bool blind = is_not_seen(t->cell[k][ALLOCATED]) && touched;
        for (size_t m = CPU_TOUCHED; m < FREED; m++)
            blind = blind && (!t->cell[k][m] || is_not_seen(t->cell[k][m]));
        if (blind)
            list(out, "never by", counters[k]);
    }
    for (size_t k = 0; k < COUNTERS; k++)
        for (size_t m = 0; m < FREED; m++) {
            char part[64];
            if (!t->cell[k][m] || is_seen(t->cell[k][m]) || is_not_seen(t->cell[k][m]))
                continue;
            snprintf(part, sizeof part, "%s (%.0f%%, %s)", counters[k], 100 * (t->cell[k][m]->sum.median - 1),
                     moments[m]);
            list(out, UNDECIDED, part);
        }
    for (size_t k = 0; k < COUNTERS; k++)
        if (is_seen(t->cell[k][FREED]))
            list(out, "still after freeing by", counters[k]);
}

static void add(struct as_rule_context *c, const struct table *t, const char *allocator)
{
    struct as_buf text = AS_BUF_INIT;
    char object[64];
    say(&text, t);
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f = text.len ? as_fact_add(c, object, "", "accounting.%s", allocator) : NULL;
    if (f) {
        f->verdict = AS_SUPPORTED;
        f->matter = "memory accounting";
        const bool open = strncmp(as_buf_get(&text), UNDECIDED, strlen(UNDECIDED)) == 0;
        as_fact_say(f, open ? "Whether %s is counted is %s" : "%s is counted %s", allocator, as_buf_get(&text));
        for (size_t k = 0; k < COUNTERS; k++)
            for (size_t m = 0; m < MOMENTS; m++)
                if (t->cell[k][m])
                    as_fact_evidence(f, t->cell[k][m]);
    }
    as_buf_finish(&text);
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
        fill(&t, cells, n, allocator);
        add(c, &t, allocator);
    }
    free(cells);
}

const struct as_rule as_rules_accounting[] = {
    {"memory accounting", derive_accounting,
     "change of a counter relative to a block of known size: counted when the whole interval is above 80%, not counted "
     "when it is below 20%",
     "a block of another size with another ratio"},
    {0},
};
