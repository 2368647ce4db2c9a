/* Copy bandwidth by kind of memory and by copy method. */
#include "facts/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 32 }; /* per rule: keeps a run with too many kinds of cells readable */

/* "host" is plain memory of the process. */
static const char *copy_memory_text(const char *allocator)
{
    return strcmp(allocator, "host") == 0 ? "pageable host memory" : allocator;
}

static void add_copy(struct as_rule_context *c, const struct as_cell *cell)
{
    const char *how = as_cell_axis(cell, "how");
    bool both = strcmp(as_cell_axis(cell, "direction"), "both") == 0;
    struct as_fact *f = as_fact_add_cell(c, AS_FACT_COPY, cell, AS_BY(.direction = both ? "both" : ""));
    char value[200], size[32], note[96];
    if (!f)
        return;
    const bool within =
        strcmp(as_cell_axis(cell, "from"), as_cell_axis(cell, "to")) == 0 || !as_copy_crosses_bus(c, cell);
    snprintf(note, sizeof note, "%s, %s%s",
             as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", size, sizeof size),
             strcmp(how, "kernel") == 0        ? "copy kernel"
             : c->info && c->info->is_host_cpu ? "API copy"
                                               : "copy engine",
             within ? ", each byte counted once" : "");
    as_fact_say(f, both ? "Copies both ways between %.40s and %.40s: %s" : "Copy from %.40s to %.40s: %s",
                copy_memory_text(as_cell_axis(cell, "from")), copy_memory_text(as_cell_axis(cell, "to")),
                as_fact_noted_text(f, "", note, value, sizeof value));
}

static void derive_copies(struct as_rule_context *c)
{
    static const char *const kind[] = {"from", "to", "direction", "how", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "copy", &cells);
    n = as_cells_keep_best(cells, n, kind, as_cell_is_larger);
    for (size_t i = 0; i < n && i < FACTS_MAX; i++)
        add_copy(c, cells[i]);
    free(cells);
}

const struct as_rule as_rules_copy[] = {
    {"copies", derive_copies, "the largest measured copy, by kinds of memory and by copy method",
     "a copy between the same kinds of memory that is faster and passes the same gates"},
    {0},
};
