/* Counters of links that grew while the run measured: errors, recoveries and replays cost bandwidth, and tell of a
 * cable, a connector or a switch that fails. */
#include "facts/engine.h"
#include "model/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FAILING "Look for the failing link: nvidia-smi nvlink -e (NVIDIA) or amd-smi metric --xgmi-err (AMD)"

static const struct link_counter {
    const char *note, *name, *act;
} counters[] = {
    {"link_errors", "Link errors between GPUs (NVLink: CRC or receive errors, and recoveries; xGMI: RAS errors)",
     FAILING},
    {"link_replays", "Link replays between GPUs", FAILING},
    {"pcie_replays", "PCIe replays", "Check the GPU's slot and riser: PCIe packets are retransmitted"},
};

static void say_growth(struct as_fact *f, const struct link_counter *counter, const struct as_counter_growth *g)
{
    char reset[120] = "";
    if (g->resets)
        snprintf(reset, sizeof reset, "; the counter was reset%s, from %.0f to %.0f (reboot or driver reload)",
                 g->resets > 1 ? " several times, last" : "", g->before, g->after);
    if (g->resets && g->grown == 0)
        as_fact_say(f, "%s did not rise since the link's first trial%s", counter->name, reset);
    else if (g->resets)
        as_fact_say(f, "%s rose by %.0f since the link's first trial%s", counter->name, g->grown, reset);
    else
        as_fact_say(f, "%s rose by %.0f since the link's first trial, from %.0f to %.0f", counter->name, g->grown,
                    g->first, g->last);
    if (g->grown > 0)
        as_fact_act(f, "%s", counter->act);
}

static void derive_counter(struct as_rule_context *c, const struct link_counter *counter)
{
    struct as_counter_readings readings = {0};
    struct as_counter_growth g;
    for (size_t i = 0; i < c->n && !c->status; i++)
        c->status = as_counters_of(c->cells[i], counter->note, &readings, c->err);
    const bool is_known = !c->status && as_counters_grown(&readings, &g);
    free(readings.v);
    if (!is_known || !(g.grown > 0 || g.resets))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_LINK_COUNTER, NULL, AS_BY(.what = counter->note));
    if (!f)
        return;
    as_fact_number(f, g.grown, (struct as_interval){g.grown, g.grown});
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(as_cell_note(c->cells[i], counter->note)))
            as_fact_evidence(f, c->cells[i]);
    say_growth(f, counter, &g);
}

static void derive_link_state(struct as_rule_context *c)
{
    for (size_t k = 0; k < sizeof counters / sizeof *counters; k++)
        derive_counter(c, &counters[k]);
}

const struct as_rule as_rules_joint_link_state[] = {
    {"link error counters", derive_link_state,
     "the driver's counters from the first trial over a link to the last; one that falls was reset",
     "counters that stay the same while the same measurements run"},
    {0},
};
