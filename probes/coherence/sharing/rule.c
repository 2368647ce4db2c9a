/* Of which memory pointers are valid on CPU and device, and where that is not what the driver announces. */
#include "facts/rule.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The probe's values; the worse the larger. */
enum {
    ONE_ADDRESS = 1,
    NO_ACCESS,
    OTHER_VALUE,
    READ_ONLY,
    ONE_WAY,
    FOUND_N,
};
static const char *const reasons[FOUND_N] = {
    [ONE_ADDRESS] = "",
    [NO_ACCESS] = "the CPU has no access at the kernels' address",
    [OTHER_VALUE] = "the CPU finds another value at the kernels' address",
    [READ_ONLY] = "the CPU can only read it",
    [ONE_WAY] = "kernels do not find what the CPU stored",
};

enum { NAMED = 6 };

/* Of its worst sample: one access that fails refutes that they share it. */
static int sharing_answer(const struct as_cell *cell)
{
    const double v = cell->sum.max;
    return v >= 1 && v < FOUND_N ? (int)v : NO_ACCESS;
}

static bool sharing_differs(const struct as_cell *cell)
{
    const double announced = as_cell_note(cell, "announced");
    return (announced == 1 || announced == 0) && (announced == 1) != (sharing_answer(cell) == ONE_ADDRESS);
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
    f->verdict = answer == ONE_ADDRESS ? AS_SUPPORTED : AS_REFUTED;
    if (answer == ONE_ADDRESS)
        as_fact_say(f, "Kernel pointers to '%s' memory are valid on the CPU, which the driver does not announce",
                    allocator);
    else
        as_fact_say(f, "Kernel pointers to '%s' memory are NOT valid on the CPU, although the driver announces it: %s",
                    allocator, reasons[answer]);
}

/* ", not for 'cuMemAlloc', 'cuMemCreate' and 2 others" */
static void sharing_list_apart(const struct as_cell *const *cells, size_t n, struct as_buf *out)
{
    size_t apart = 0;
    for (size_t i = 0; i < n; i++) {
        if (sharing_answer(cells[i]) == ONE_ADDRESS || ++apart > NAMED)
            continue;
        as_buf_printf(out, "%s'%s'", apart == 1 ? ", not for " : ", ", as_cell_axis(cells[i], "allocator"));
    }
    if (apart > NAMED)
        as_buf_printf(out, " and %zu other%s", apart - NAMED, apart == NAMED + 1 ? "" : "s");
}

static void sharing_derive(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "sharing", &cells);
    size_t shared = 0;
    bool announced = true; /* all, as found */
    struct as_buf apart = AS_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        shared += sharing_answer(cells[i]) == ONE_ADDRESS;
        announced &= isfinite(as_cell_note(cells[i], "announced")) && !sharing_differs(cells[i]);
        if (sharing_differs(cells[i]))
            sharing_add_difference(c, cells[i]);
    }
    sharing_list_apart(cells, n, &apart);
    struct as_fact *f = n ? as_fact_add(c, AS_FACT_SHARING, NULL, AS_BY(.counted = "allocators")) : NULL;
    if (f) {
        as_fact_number(f, (double)shared, (struct as_interval){(double)shared, (double)shared});
        as_fact_say(f, "Kernel pointers are valid on the CPU for %zu of %zu tested allocators%s%s", shared, n,
                    as_buf_get(&apart), announced ? "; this is what the driver announces" : "");
        for (size_t i = 0; i < n; i++)
            as_fact_evidence(f, cells[i]);
    }
    as_buf_finish(&apart);
    free(cells);
}

const struct as_rule as_rules_sharing[] = {
    {"pointers valid on CPU and device", sharing_derive,
     "a kernel stores a value and reports its address; the CPU reads it there and stores another, which a kernel "
     "finds; "
     "against what the driver announces of the allocator",
     "one access that fails, or finds another value"},
    {0},
};
