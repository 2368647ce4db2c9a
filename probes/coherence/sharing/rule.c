/* Which memory CPU and kernels use in place, and where that is not what the driver announces. */
#include "facts/rule.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* The answers of the probe. */
enum { IN_PLACE = 1, NO_ACCESS, OTHER_VALUE, READ_ONLY, ONE_WAY, ANSWERS };
static const char *const reasons[ANSWERS] = {
    [IN_PLACE] = "",
    [NO_ACCESS] = "the CPU has no access at the kernels' address",
    [OTHER_VALUE] = "the CPU finds another value at the kernels' address",
    [READ_ONLY] = "the CPU can only read it",
    [ONE_WAY] = "kernels do not find what the CPU stored",
};

enum { NAMED = 6 };

static int sharing_answer(const struct as_cell *cell)
{
    const double v = cell->sum.median;
    return v >= 1 && v < ANSWERS ? (int)v : NO_ACCESS;
}

static bool sharing_differs(const struct as_cell *cell)
{
    const double announced = as_cell_note(cell, "announced");
    return (announced == 1 || announced == 0) && (announced == 1) != (sharing_answer(cell) == IN_PLACE);
}

static void sharing_add_difference(struct as_rule_context *c, const struct as_cell *cell)
{
    char object[64];
    const char *allocator = as_cell_axis(cell, "allocator");
    const int answer = sharing_answer(cell);
    as_allocator_object(allocator, object, sizeof object);
    struct as_fact *f = as_fact_add(c, AS_FACT_SHARING_ALLOCATOR, cell, AS_BY(.object = object));
    if (!f)
        return;
    as_fact_evidence(f, cell);
    f->verdict = answer == IN_PLACE ? AS_SUPPORTED : AS_REFUTED;
    if (answer == IN_PLACE)
        as_fact_say(f, "CPU and kernels share '%s' memory in place, which the driver does not announce", allocator);
    else
        as_fact_say(f, "CPU and kernels do NOT share '%s' memory in place, although the driver announces it: %s",
                    allocator, reasons[answer]);
}

/* "not 'cuMemAlloc', 'cuMemCreate' and 2 others" */
static void sharing_list_apart(const struct as_cell *const *cells, size_t n, struct as_buf *out)
{
    size_t apart = 0;
    for (size_t i = 0; i < n; i++) {
        if (sharing_answer(cells[i]) == IN_PLACE || ++apart > NAMED)
            continue;
        as_buf_printf(out, "%s'%s'", apart == 1 ? "; not " : ", ", as_cell_axis(cells[i], "allocator"));
    }
    if (apart > NAMED)
        as_buf_printf(out, " and %zu other%s", apart - NAMED, apart == NAMED + 1 ? "" : "s");
}

static void sharing_derive(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "sharing", &cells);
    size_t in_place = 0, differ = 0;
    struct as_buf apart = AS_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        in_place += sharing_answer(cells[i]) == IN_PLACE;
        differ += sharing_differs(cells[i]);
        if (sharing_differs(cells[i]))
            sharing_add_difference(c, cells[i]);
    }
    sharing_list_apart(cells, n, &apart);
    struct as_fact *f = n ? as_fact_add(c, AS_FACT_SHARING, NULL, AS_BY(.counted = "allocators")) : NULL;
    if (f) {
        as_fact_number(f, (double)in_place, (struct as_interval){(double)in_place, (double)in_place});
        as_fact_say(f, "CPU and kernels share memory of %zu of %zu tested allocators in place%s%s", in_place, n,
                    as_buf_get(&apart), differ ? "" : ", as the driver announces");
        for (size_t i = 0; i < n; i++)
            as_fact_evidence(f, cells[i]);
    }
    as_buf_finish(&apart);
    free(cells);
}

const struct as_rule as_rules_sharing[] = {
    {"memory shared in place", sharing_derive,
     "a kernel stores a value and tells its address; the CPU reads it there and stores another, which a kernel finds; "
     "against what the driver announces of the allocator",
     "an access in place that fails, or finds another value"},
    {0},
};
