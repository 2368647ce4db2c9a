/* Whether the elements of operands lie where the documentation puts them. */
#include "facts/rule.h"

#include <stdlib.h>

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

static void derive_layout(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "layout", &cells);
    struct as_fact *f = as_fact_list(c, cells, n, as_instruction_name, NULL, is_documented, AS_FACT_LAYOUT_DOCUMENTED,
                                     "The elements of these matrix fragments lie where they are documented");
    if (f)
        f->verdict = AS_SUPPORTED;
    f = as_fact_list(c, cells, n, as_instruction_name, NULL, is_elsewhere, AS_FACT_LAYOUT_ELSEWHERE,
                     "The elements of these matrix fragments do NOT lie where they are documented");
    if (f)
        f->verdict = AS_REFUTED;
    free(cells);
}

const struct as_rule as_rules_layout[] = {
    {"fragments of matrix instructions", derive_layout,
     "products of one element with ones, and with the binary-numbered positions of the other operand: they show which "
     "positions are multiplied; rows, columns and k are named as documented, then each position is compared",
     "a correct product with another operand layout"},
    {0},
};
