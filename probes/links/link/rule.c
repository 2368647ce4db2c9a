/* Bandwidth of the link between two devices, or between a device and the host. */
#include "facts/rule.h"

#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 32 }; /* per rule: keeps a run with too many kinds of cells readable */

/* Only the link to the host has a reported rate: that of its bus. */
static void claim_bus(const struct as_rule_context *c, const struct as_cell *cell, struct as_fact *f)
{
    const double bus = as_claimed_bus(c, cell);
    if (bus > 0 && strcmp(as_cell_axis(cell, "peer"), "host") == 0)
        f->claimed = bus;
}

static void say_link(const struct as_cell *cell, struct as_fact *f)
{
    const char *direction = as_cell_axis(cell, "direction");
    char value[200], peer[64], name[AS_TERM_SIZE];
    as_fact_noted_text(f, "", as_cell_is(cell, "how", "kernel") ? "copy kernel" : "copy engine", value, sizeof value);
    as_peer_text(cell, peer, sizeof peer);
    if (strcmp(direction, "both") == 0)
        as_fact_say(f, "Device and %s, both directions: %s", peer, value);
    else if (strcmp(direction, "from") == 0)
        as_fact_say(f, "%s to device: %s", as_capital(peer, name), value);
    else
        as_fact_say(f, "Device to %s: %s", peer, value);
}

static void derive_links(struct as_rule_context *c)
{
    static const char *const kind[] = {"peer", "node", "direction", NULL};
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "link", &cells);
    n = as_cells_keep_best(cells, n, kind, as_cell_is_faster);
    for (size_t i = 0; i < n && i < FACTS_MAX; i++) {
        struct as_fact *f = as_fact_add_peer(c, AS_FACT_LINK, cells[i]);
        if (!f)
            break;
        claim_bus(c, cells[i], f);
        say_link(cells[i], f);
    }
    free(cells);
}

const struct as_rule as_rules_link[] = {
    {"links", derive_links, "the fastest valid copy over the link, by direction, of any size and method",
     "a faster copy over the same link that passes the same gates"},
    {0},
};
