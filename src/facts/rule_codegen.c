/* Which operations are one instruction and which are not: a sentence for each kind, atomics apart from the others. */
#include "base/text.h"
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NATIVE, LOOP, CALL, SEQUENCE };
enum { ROOM = 200 }; /* letters of names */

static enum kind kind_of(const struct as_cell *cell)
{
    if (as_cell_note(cell, "native") == 1)
        return NATIVE;
    return as_cell_note(cell, "swaps") > 0 ? LOOP : as_cell_note(cell, "calls") > 0 ? CALL : SEQUENCE;
}

static bool is_atomic(const struct as_cell *cell)
{
    return strncmp(as_cell_axis(cell, "op"), "atomic_", strlen("atomic_")) == 0;
}

/* One name for all orders and scopes of an atomic, one for each target of the rest. */
static void name_of(const struct as_cell *cell, struct as_buf *out)
{
    as_buf_printf(out, "%.20s %.8s%s", as_cell_axis(cell, "op"), as_cell_axis(cell, "type"),
                  as_cell_is(cell, "target", "v3") && !is_atomic(cell) ? " (x86-64-v3)" : "");
}

static const struct {
    bool atomic;
    enum kind kind;
    const char *id, *sentence;
} sorts[] = {
    {true, NATIVE, "codegen.atomics.native", "Atomics with a native instruction"},
    {true, LOOP, "codegen.atomics.loops",
     "NOT native: atomics in compare-and-swap loops, which retry under contention"},
    {true, CALL, "codegen.atomics.calls", "Atomics for which the machine code calls a function"},
    {true, SEQUENCE, "codegen.atomics.sequences", "Atomics in sequences of other instructions"},
    {false, NATIVE, "codegen.arithmetic.native", "Arithmetic with a native instruction"},
    {false, CALL, "codegen.arithmetic.calls", "NOT native: arithmetic for which the machine code calls a function"},
    {false, SEQUENCE, "codegen.arithmetic.sequences", "Arithmetic in sequences of other instructions"},
};

static void add(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, size_t sort)
{
    struct as_names names = AS_NAMES(ROOM);
    struct as_buf name = AS_BUF_INIT;
    struct as_fact *f = NULL;
    for (size_t i = 0; i < n; i++) {
        if (is_atomic(cells[i]) != sorts[sort].atomic || kind_of(cells[i]) != sorts[sort].kind)
            continue;
        if (!f && !(f = as_fact_add(c, "core", "", "%s", sorts[sort].id)))
            break;
        as_fact_evidence(f, cells[i]);
        as_buf_clear(&name);
        name_of(cells[i], &name);
        as_names_add(&names, as_buf_get(&name));
    }
    if (f) {
        f->verdict = AS_SUPPORTED;
        as_fact_say(f, "%s: %s", sorts[sort].sentence, as_names_text(&names));
    }
    as_names_finish(&names);
    as_buf_finish(&name);
}

void rule_codegen(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "codegen", &cells);
    for (size_t s = 0; s < sizeof sorts / sizeof *sorts; s++)
        add(c, cells, n, s);
    free(cells);
}
