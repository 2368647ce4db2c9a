/* Two instruments for one number: do they say the same? */
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double AGREE_WITHIN = 0.02;

/* All sizes together: the pair that is farthest apart is the number; one that differs for certain refutes. */
void rule_instruments(struct as_rule_context *c)
{
    struct as_pair *pairs;
    size_t n, agree = 0, differ = 0, worst = 0;
    double farthest = -1;
    as_pairs_make(c, "latency", "instrument", "timed", "persistent", &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        double ratio = pairs[i].b->sum.median / pairs[i].a->sum.median;
        struct as_interval ci = as_cells_ratio(pairs[i].b, pairs[i].a);
        agree += ci.lo >= 1 / (1 + AGREE_WITHIN) && ci.hi <= 1 + AGREE_WITHIN;
        differ += ci.lo > 1 + AGREE_WITHIN || ci.hi < 1 / (1 + AGREE_WITHIN);
        if (fabs(log(ratio)) > farthest) {
            farthest = fabs(log(ratio));
            worst = i;
        }
    }
    struct as_fact *f = n ? as_fact_add(c, "core", "x", "latency.instruments") : NULL;
    if (f) {
        const struct as_pair *p = &pairs[worst];
        const size_t open = n - agree - differ;
        char ratio[96], size[32], others[96] = "", undecided[96] = "";
        if (differ)
            snprintf(others, sizeof others, ", differ by more in %zu", differ);
        if (open)
            snprintf(undecided, sizeof undecided, ", and are undecided in %zu", open);
        as_fact_ratio(f, p->b, p->a);
        f->verdict = differ ? AS_REFUTED : agree == n ? AS_SUPPORTED : AS_UNDECIDED;
        as_fact_say(f,
                    "Pointer chases timed as a whole and by a cycle counter inside agree within 2%% in %zu of %zu "
                    "cells%s%s; the largest difference is %s, over %s",
                    agree, n, others, undecided, as_fact_value_text(f->value, f->ci, "x", ratio, sizeof ratio),
                    as_fact_value_text(as_cell_axis_number(p->a, "size"), AS_NO_INTERVAL, "B", size, sizeof size));
        for (size_t i = 0; i < n; i++) {
            as_fact_evidence(f, pairs[i].a);
            as_fact_evidence(f, pairs[i].b);
        }
    }
    free(pairs);
}
