/* How matrix instructions compute and where their numbers lie: widths of accumulators, one fact each; what they have in
 * common, a sentence for each answer with the instructions of which it holds. */
#include "base/text.h"
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 200 }; /* letters of names */

static void name_of(const struct as_cell *cell, struct as_buf *out)
{
    as_buf_printf(out, "%.40s", as_cell_axis(cell, "instruction"));
    if (as_cell_axis_number(cell, "n") > 0)
        as_buf_printf(out, " n=%.0f", as_cell_axis_number(cell, "n"));
}

/* ---- widths ---- */

static void add_accumulator(struct as_rule_context *c, const struct as_cell *cell)
{
    double bits = cell->sum.median, room = as_cell_note(cell, "format_bits");
    struct as_buf name = AS_BUF_INIT;
    if (!(room > 0))
        return;
    name_of(cell, &name);
    struct as_fact *f = as_fact_add(c, "core", "bits", "numerics.accumulator.%s", as_buf_get(&name));
    if (f) {
        as_fact_number(f, bits, AS_NO_INTERVAL);
        as_fact_evidence(f, cell);
        f->claimed = room;
        f->verdict = bits >= room ? AS_SUPPORTED : AS_REFUTED;
        if (bits >= room)
            as_fact_say(f, "%s accumulates in all %.0f bits of its result's format", as_buf_get(&name), room);
        else
            as_fact_say(
                f,
                "%s accumulates in %.0f significant bits, NOT in the %.0f of its result's format: long sums lose "
                "accuracy",
                as_buf_get(&name), bits, room);
    }
    as_buf_finish(&name);
}

/* ---- answers ---- */

static const struct sort {
    const char *property;
    double value;
    enum as_fact_verdict verdict;
    const char *id, *sentence;
} sorts[] = {
    {"rounding", 1, AS_REFUTED, "numerics.rounding.zero",
     "Sums are rounded toward zero, NOT to nearest as IEEE 754 does by itself"},
    {"rounding", 2, AS_SUPPORTED, "numerics.rounding.nearest",
     "Sums are rounded to nearest, halves to even, as IEEE 754 does by itself"},
    {"cut", 1, AS_SUPPORTED, "numerics.cut", "Summands are truncated to the kept digits before they are added"},
    {"overflow", 1, AS_SUPPORTED, "numerics.overflow.infinity", "Overflow gives infinity"},
    {"overflow", 2, AS_SUPPORTED, "numerics.overflow.saturates", "Overflow saturates to the largest number"},
    {"overflow", 3, AS_SUPPORTED, "numerics.overflow.nan", "Overflow gives NaN"},
    {"overflow", 4, AS_SUPPORTED, "numerics.overflow.wraps", "Integer overflow wraps around"},
    {"subnormal", 4, AS_SUPPORTED, "numerics.subnormal",
     "Subnormal numbers are kept in factors, accumulator and result"},
    {"nan", 1, AS_SUPPORTED, "numerics.nan", "NaN results have one bit pattern, whatever the operands"},
    {"explained", 100, AS_SUPPORTED, "numerics.explained",
     "A model of these findings reproduces every result of random problems bit for bit"},
};

typedef bool (*takes)(const struct as_cell *cell, const void *what);

/* A sentence with the names of those cells that `is` takes; NULL where there are none. */
static struct as_fact *list(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const void *what,
                            takes is, const char *id, const char *sentence)
{
    struct as_names names = AS_NAMES(ROOM);
    struct as_buf name = AS_BUF_INIT;
    struct as_fact *f = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is(cells[i], what))
            continue;
        if (!f && !(f = as_fact_add(c, "core", "", "%s", id)))
            break;
        as_fact_evidence(f, cells[i]);
        as_buf_clear(&name);
        name_of(cells[i], &name);
        as_names_add(&names, as_buf_get(&name));
    }
    if (f)
        as_fact_say(f, "%s: %s", sentence, as_names_text(&names));
    as_names_finish(&names);
    as_buf_finish(&name);
    return f;
}

static bool is_of_sort(const struct as_cell *cell, const void *what)
{
    const struct sort *s = what;
    return as_cell_is(cell, "property", s->property) && cell->sum.median == s->value;
}

static bool is_unexplained(const struct as_cell *cell, const void *what)
{
    (void)what;
    return as_cell_is(cell, "property", "explained") && cell->sum.median < 100;
}

void rule_numerics(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "numerics", &cells);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "property", "accumulator"))
            add_accumulator(c, cells[i]);
    for (size_t s = 0; s < sizeof sorts / sizeof *sorts; s++) {
        struct as_fact *f = list(c, cells, n, &sorts[s], is_of_sort, sorts[s].id, sorts[s].sentence);
        if (f)
            f->verdict = sorts[s].verdict;
    }
    struct as_fact *f = list(c, cells, n, NULL, is_unexplained, "numerics.unexplained",
                             "The findings do NOT explain every result bit for bit");
    if (f)
        f->verdict = AS_REFUTED;
    free(cells);
}

/* ---- layouts ---- */

static bool is_documented(const struct as_cell *cell, const void *what)
{
    (void)what;
    return cell->sum.median == 0;
}

static bool is_elsewhere(const struct as_cell *cell, const void *what)
{
    (void)what;
    return cell->sum.median > 0;
}

void rule_layout(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "layout", &cells);
    struct as_fact *f = list(c, cells, n, NULL, is_documented, "layout.documented",
                             "Every element of the operands lies where it is documented, lane by lane");
    if (f)
        f->verdict = AS_SUPPORTED;
    f = list(c, cells, n, NULL, is_elsewhere, "layout.elsewhere", "Elements do NOT lie where they are documented");
    if (f)
        f->verdict = AS_REFUTED;
    free(cells);
}
