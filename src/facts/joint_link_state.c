/* Counters of links that grew while the run measured: errors, recoveries and replays cost bandwidth, and tell of a
 * cable, a connector or a switch that fails. */
#include "facts/engine.h"

#include <stdio.h>
#include <string.h>

static const struct link_counter {
    const char *note, *note_new, *name, *act;
} counters[] = {
    {"link_errors", "link_errors_new", "Link errors between GPUs (CRC errors and recoveries)",
     "Look for the failing link: nvidia-smi nvlink -e"},
    {"link_replays", "link_replays_new", "Link replays between GPUs",
     "Look for the failing link: nvidia-smi nvlink -e"},
    {"pcie_replays", "pcie_replays_new", "PCIe replays",
     "Check the GPU's slot and riser if its copies are slow: PCIe packets are retransmitted"},
};

/* The counter before the first and after the last of the device's cells that note it; false where none does. */
static bool counter_range(const struct as_rule_context *c, const struct link_counter *counter, double *least,
                          double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        const double after = as_cell_note(c->cells[i], counter->note);
        const double grown = as_cell_note(c->cells[i], counter->note_new);
        if (!isfinite(after))
            continue;
        *least = fmin(*least, after - (grown > 0 ? grown : 0));
        *most = fmax(*most, after);
    }
    return *most > *least;
}

static void derive_link_state(struct as_rule_context *c)
{
    for (size_t k = 0; k < sizeof counters / sizeof *counters; k++) {
        double least, most;
        if (!counter_range(c, &counters[k], &least, &most))
            continue;
        struct as_fact *f = as_fact_add(c, AS_FACT_LINK_COUNTER, NULL, AS_BY(.what = counters[k].note));
        if (!f)
            return;
        as_fact_number(f, most - least, (struct as_interval){most - least, most - least});
        for (size_t i = 0; i < c->n; i++)
            if (isfinite(as_cell_note(c->cells[i], counters[k].note)))
                as_fact_evidence(f, c->cells[i]);
        as_fact_say(f, "%s grew by %.0f during the run, from %.0f to %.0f", counters[k].name, most - least, least,
                    most);
        as_fact_act(f, "%s", counters[k].act);
    }
}

const struct as_rule as_rules_joint_link_state[] = {
    {"link error counters", derive_link_state,
     "the driver's counters after each measurement over a link, against the lowest before one",
     "counters that stay the same while the same measurements run"},
    {0},
};
