/* The ridge points that peak rates of arithmetic make with the bandwidth of memory and caches. */
#include "base/text.h"
#include "facts/rule.h"

#include <string.h>

static const char *joint_ridge_level_text(struct as_rule_context *c, const char *level)
{
    return strcmp(level, "shared") == 0        ? as_shared_memory_name(c)
           : strcmp(level, "memory_side") == 0 ? "the memory-side cache"
                                               : level;
}

static void joint_ridge_add_evidence(struct as_fact *f, const struct as_quantity_value *v)
{
    if (f->evidence_n < AS_EVIDENCE_MAX)
        f->evidence[f->evidence_n++] = v->cell;
}

/* Names one cell of those that the value rests on, before an added fact moves the list that v->fact is in. */
static void settle_cell(struct as_quantity_value *v)
{
    if (!v->cell)
        v->cell = v->fact->evidence[0];
}

static void add_ridge(struct as_rule_context *c, const char *type, const struct as_quantity_value *peak,
                      const struct as_quantity_value *roof)
{
    const char *level = roof->of->level;
    struct as_fact *f = as_fact_add(c, AS_FACT_RIDGE, NULL, AS_BY(.type = type, .level = level));
    if (!f)
        return;
    struct as_interval bytes = {roof->ci.lo * 1e9, roof->ci.hi * 1e9};
    char bandwidth[96];
    as_fact_number(f, peak->value / (roof->value * 1e9),
                   as_ratio_interval(peak->value, peak->ci, roof->value * 1e9, bytes));
    as_fact_say(f, "The {type} ridge point for %.24s is {value}: code below it is bandwidth-bound (%s, %s)",
                joint_ridge_level_text(c, level), roof->of->label,
                as_fact_value_text(roof->value, roof->ci, "GB/s", bandwidth, sizeof bandwidth));
    joint_ridge_add_evidence(f, peak);
    joint_ridge_add_evidence(f, roof);
}

static void derive_ridges(struct as_rule_context *c)
{
    struct as_quantity_subject s = as_rule_subject(c);
    struct as_quantity_value peak, roofs[AS_ROOFS_MAX];
    const size_t n = as_quantity_roofs(&s, roofs);
    for (size_t r = 0; r < n; r++)
        settle_cell(&roofs[r]);
    for (const struct as_peak *p = as_peaks; p->quantity && n; p++) {
        /* the list of facts may move when one is added */
        s.facts = c->facts->v;
        if (!as_quantity_get(&s, p->quantity, &peak))
            continue;
        settle_cell(&peak);
        for (size_t r = 0; r < n; r++)
            add_ridge(c, p->type, &peak, &roofs[r]);
    }
}

const struct as_rule as_rules_joint_ridge[] = {
    {"ridge points", derive_ridges,
     "the rate of fused multiply-adds of the whole device over the bandwidth of memory or of a cache, each as on the "
     "data sheet",
     "a program that exceeds the ridge's rate with fewer operations per byte"},
    {0},
};
