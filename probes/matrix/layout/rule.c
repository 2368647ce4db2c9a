/* Whether the elements of operands lie where the documentation, or their load instruction, puts them. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdlib.h>
#include <string.h>

static bool is_documented(const struct as_cell *cell, const void *what)
{
    (void)what;
    return cell->sum.median == 0 && !as_cell_has_note(cell, "compared_with");
}

/* Of an unspecified layout: multiplied as loaded. */
static bool is_loaded(const struct as_cell *cell, const void *what)
{
    (void)what;
    return cell->sum.median == 0 && as_cell_has_note(cell, "compared_with");
}

static bool is_elsewhere(const struct as_cell *cell, const void *what)
{
    (void)what;
    return cell->sum.median > 0;
}

/* Do all elements have a lane, as far as is known? Of others, such as those that a sparse operand skips, no block is
 * known to recur. */
static bool has_all_lanes(const struct as_cell *cell)
{
    char *lanes = as_cell_note_text(cell, "lanes");
    const bool all = !lanes || !strchr(lanes, '-');
    free(lanes);
    return all;
}

/* Rows and columns of the block in which a lane's place recurs. */
static void layout_add_base(struct as_rule_context *c, const struct as_cell *cell)
{
    static const char *const sides[][2] = {{"base_rows", "rows"}, {"base_columns", "columns"}};
    struct as_buf name = AS_BUF_INIT;
    as_instruction_name(cell, &name);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const double n = as_cell_note(cell, sides[i][0]);
        struct as_fact *f = n > 0 ? as_fact_add(c, AS_FACT_LAYOUT_BASE, NULL,
                                                AS_BY(.instruction = as_buf_get(&name),
                                                      .what = as_cell_axis(cell, "operand"), .counted = sides[i][1]))
                                  : NULL;
        if (!f)
            continue;
        as_fact_number(f, n, (struct as_interval){n, n});
        f->verdict = AS_SUPPORTED;
        as_fact_say(f, "The lane mapping of operand %s of %s repeats every %.0f %s", as_cell_axis(cell, "operand"),
                    as_buf_get(&name), n, sides[i][1]);
        as_fact_evidence(f, cell);
    }
    as_buf_finish(&name);
}

static void derive_layout(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "layout", &cells);
    struct as_fact *f = as_fact_list(c, cells, n, as_instruction_name, NULL, is_documented, AS_FACT_LAYOUT_DOCUMENTED,
                                     "The elements of these matrix fragments lie where they are documented");
    if (f)
        f->verdict = AS_SUPPORTED;
    f = as_fact_list(
        c, cells, n, as_instruction_name, NULL, is_loaded, AS_FACT_LAYOUT_LOADED,
        "The elements of these matrix fragments, whose layout is unspecified, are multiplied where loading "
        "puts them");
    if (f)
        f->verdict = AS_SUPPORTED;
    f = as_fact_list(c, cells, n, as_instruction_name, NULL, is_elsewhere, AS_FACT_LAYOUT_ELSEWHERE,
                     "The elements of these matrix fragments do NOT lie where they are documented or loaded");
    if (f)
        f->verdict = AS_REFUTED;
    for (size_t i = 0; i < n; i++)
        if (has_all_lanes(cells[i]))
            layout_add_base(c, cells[i]);
    free(cells);
}

const struct as_rule as_rules_layout[] = {
    {"fragments of matrix instructions", derive_layout,
     "products of one element with ones, and with the binary-numbered positions of the other operand: they show which "
     "positions are multiplied; rows, columns and k are named as documented, or as loaded, then each position is "
     "compared",
     "a correct product with another operand layout"},
    {0},
};
