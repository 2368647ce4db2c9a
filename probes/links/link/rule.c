/* Bandwidth of the link between two devices, or between a device and the host. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdlib.h>
#include <string.h>

/* Only the link to the host has a reported rate: that of its bus. */
static void claim_bus(const struct as_rule_context *c, const struct as_cell *cell, struct as_fact *f)
{
    const double bus = as_claimed_bus(c, cell);
    if (bus > 0 && strcmp(as_cell_axis(cell, "peer"), "host") == 0)
        f->claimed = bus;
}

/* Of all host links at once, with what each device reached. */
static void say_every_host(const struct as_cell *cell, struct as_fact *f)
{
    const char *direction = as_cell_axis(cell, "direction");
    const double links = as_cell_note(cell, "links");
    char value[200];
    char *bandwidths = as_cell_note_text(cell, "device_bandwidths");
    as_fact_noted_text(f, "", bandwidths ? bandwidths : "", value, sizeof value);
    free(bandwidths);
    if (strcmp(direction, "both") == 0)
        as_fact_say(f, "Host and all %.0f devices at once, both directions: %s", links, value);
    else if (strcmp(direction, "from") == 0)
        as_fact_say(f, "Host to all %.0f devices at once: %s", links, value);
    else
        as_fact_say(f, "All %.0f devices to host at once: %s", links, value);
}

static void say_link(const struct as_cell *cell, struct as_fact *f)
{
    const char *direction = as_cell_axis(cell, "direction");
    char value[200], peer[64], name[AS_TERM_SIZE];
    if (as_cell_is(cell, "peer", "every_host")) {
        say_every_host(cell, f);
        return;
    }
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
    for (size_t i = 0; i < n; i++) {
        struct as_fact *f = as_fact_add_peer(c, AS_FACT_LINK, cells[i]);
        if (!f)
            break;
        claim_bus(c, cells[i], f);
        say_link(cells[i], f);
    }
    free(cells);
}

/* The fastest link of the device to the host alone, copied in the same way as in that of all devices. */
static const struct as_cell *find_alone(const struct as_cell *const *cells, size_t n, const struct as_cell *together)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *c = cells[i];
        if (as_cell_is(c, "peer", "host") && as_cells_same(c, together, "direction") &&
            as_cells_same(c, together, "how") && as_cells_same(c, together, "size") &&
            as_cells_same(c, together, "allocator") && (!best || as_cell_is_faster(c, best)))
            best = c;
    }
    return best;
}

static void add_shared(struct as_rule_context *c, const struct as_cell *together, const struct as_cell *alone)
{
    static const char *const ways[][2] = {{"to", "from"}, {"from", "to"}, {"both", "to and from"}};
    const double links = as_cell_note(together, "links"), share = 100 / links;
    const struct as_interval ratio = as_cells_ratio(together, alone);
    const char *way = "";
    struct as_fact *f = links > 1 ? as_fact_add(c, AS_FACT_LINK_SHARED, together, NULL) : NULL;
    if (!f)
        return;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (as_cell_is(together, "direction", ways[i][0]))
            way = ways[i][1];
    as_fact_number(f, share * together->sum.median / alone->sum.median,
                   (struct as_interval){share * ratio.lo, share * ratio.hi});
    f->verdict = AS_SUPPORTED;
    as_fact_evidence(f, together);
    as_fact_evidence(f, alone);
    as_fact_say(f,
                "Copies %s all %.0f devices at once reach {value} of %.0f times the bandwidth of one host link alone",
                way, links, links);
}

static void derive_shared(struct as_rule_context *c)
{
    static const char *const kind[] = {"direction", NULL};
    const struct as_cell **cells, **together;
    size_t n = as_cells_of(c, "link", &cells), m = as_cells_of(c, "link", &together), kept = 0;
    for (size_t i = 0; i < m; i++)
        if (as_cell_is(together[i], "peer", "every_host"))
            together[kept++] = together[i];
    kept = as_cells_keep_best(together, kept, kind, as_cell_is_larger);
    for (size_t i = 0; i < kept; i++) {
        const struct as_cell *alone = find_alone(cells, n, together[i]);
        if (alone)
            add_shared(c, together[i], alone);
    }
    free(cells);
    free(together);
}

const struct as_rule as_rules_link[] = {
    {"links", derive_links, "the fastest valid copy over the link, by direction, of any size and method",
     "a faster copy over the same link that passes the same gates"},
    {"shared host links", derive_shared,
     "bandwidth of copies between the host and all devices at once, divided by the number of devices times the "
     "bandwidth of the first device alone; same size and direction",
     "another share, measured in the same way"},
    {0},
};
