/* Which operations compile to one instruction and which do not: one sentence per kind, atomics separate from the
 * rest. */
#include "facts/rule.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum kind { NATIVE, LOOP, CALL, SEQUENCE };

static enum kind codegen_rule_kind_of(const struct as_cell *cell)
{
    if (as_cell_note(cell, "native") == 1)
        return NATIVE;
    return as_cell_note(cell, "swaps") > 0 ? LOOP : as_cell_note(cell, "calls") > 0 ? CALL : SEQUENCE;
}

static bool is_atomic(const struct as_cell *cell)
{
    return strncmp(as_cell_axis(cell, "op"), "atomic_", strlen("atomic_")) == 0;
}

/* One name for all orders and scopes of an atomic, and one per target for the other operations. */
static void name_of(const struct as_cell *cell, struct as_buf *out)
{
    as_buf_printf(out, "%.20s %.8s%s", as_cell_axis(cell, "op"), as_cell_axis(cell, "type"),
                  as_cell_is(cell, "target", "v3") && !is_atomic(cell) ? " (x86-64-v3)" : "");
}

static const struct sort {
    bool atomic;
    enum kind kind;
    enum as_relation relation;
    const char *sentence;
} sorts[] = {
    {true, NATIVE, AS_FACT_CODEGEN_ATOMICS_NATIVE, "Atomics with a native instruction"},
    {true, LOOP, AS_FACT_CODEGEN_ATOMICS_LOOPS,
     "NOT native: atomics in compare-and-swap loops, which retry under contention"},
    {true, CALL, AS_FACT_CODEGEN_ATOMICS_CALLS, "Atomics for which the machine code calls a function"},
    {true, SEQUENCE, AS_FACT_CODEGEN_ATOMICS_SEQUENCES, "Atomics in sequences of other instructions"},
    {false, NATIVE, AS_FACT_CODEGEN_ARITHMETIC_NATIVE, "Arithmetic with a native instruction"},
    {false, CALL, AS_FACT_CODEGEN_ARITHMETIC_CALLS,
     "NOT native: arithmetic for which the machine code calls a function"},
    {false, SEQUENCE, AS_FACT_CODEGEN_ARITHMETIC_SEQUENCES, "Arithmetic in sequences of other instructions"},
};

static bool codegen_is_of_sort(const struct as_cell *cell, const void *what)
{
    const struct sort *sort = what;
    return is_atomic(cell) == sort->atomic && codegen_rule_kind_of(cell) == sort->kind;
}

static void derive_codegen(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "codegen", &cells);
    for (size_t s = 0; s < sizeof sorts / sizeof *sorts; s++) {
        struct as_fact *f =
            as_fact_list(c, cells, n, name_of, &sorts[s], codegen_is_of_sort, sorts[s].relation, sorts[s].sentence);
        if (f)
            f->verdict = AS_SUPPORTED;
    }
    free(cells);
}

const struct as_rule as_rules_codegen[] = {
    {"machine code", derive_codegen,
     "opcodes that a longer sequence of the same operation has in addition to a shorter one",
     "a disassembly of the same functions or kernels with another instruction for the operation"},
    {0},
};
