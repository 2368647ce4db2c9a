/* Two instruments for one number: do they say the same? */
#include "base/text.h"
#include "facts/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double AGREE_WITHIN = 0.02;

/* All sizes together: the pair that is farthest apart is the number; one that differs for certain refutes. */
void rule_instruments(struct rule_context *c)
{
    struct pair *pairs;
    size_t n, agree = 0, differ = 0, worst = 0;
    double farthest = -1;
    pairs_make(c, "latency", "instrument", "timed", "persistent", &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        double ratio = pairs[i].b->sum.median / pairs[i].a->sum.median;
        struct as_interval ci = cells_ratio(pairs[i].b, pairs[i].a);
        agree += ci.lo >= 1 / (1 + AGREE_WITHIN) && ci.hi <= 1 + AGREE_WITHIN;
        differ += ci.lo > 1 + AGREE_WITHIN || ci.hi < 1 / (1 + AGREE_WITHIN);
        if (fabs(log(ratio)) > farthest) {
            farthest = fabs(log(ratio));
            worst = i;
        }
    }
    struct as_fact *f = n ? fact_add(c, "core", "x", "latency.instruments") : NULL;
    if (f) {
        const struct pair *p = &pairs[worst];
        const size_t open = n - agree - differ;
        char ratio[96], size[32], others[96] = "", undecided[96] = "";
        if (differ)
            snprintf(others, sizeof others, ", differ by more in %zu", differ);
        if (open)
            snprintf(undecided, sizeof undecided, ", and are undecided in %zu", open);
        fact_ratio(f, p->b, p->a);
        f->verdict = differ ? AS_REFUTED : agree == n ? AS_SUPPORTED : AS_UNDECIDED;
        fact_say(f,
                 "Pointer chases timed as a whole and by a cycle counter inside agree within 2%% in %zu of %zu "
                 "cells%s%s; the largest difference is %s, over %s",
                 agree, n, others, undecided, fact_value_text(f->value, f->ci, "x", ratio, sizeof ratio),
                 fact_value_text(cell_axis_number(p->a, "size"), NO_INTERVAL, "B", size, sizeof size));
        for (size_t i = 0; i < n; i++) {
            fact_evidence(f, pairs[i].a);
            fact_evidence(f, pairs[i].b);
        }
    }
    free(pairs);
}
