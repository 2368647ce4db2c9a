/* What operands and the power limit make of the rate of matrix instructions and GEMMs. */
#include "base/text.h"
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdlib.h>
#include <string.h>

/* "1.75 GHz at 690 W"; nothing where neither is known. */
static void state_of(const struct as_cell *cell, struct as_buf *out)
{
    struct as_metric_value power;
    if (cell->clock_hz > 0)
        as_format_value(out, cell->clock_hz, "Hz");
    if (as_cell_power(cell, &power)) {
        as_buf_str(out, cell->clock_hz > 0 ? " at " : "");
        as_format_value(out, power.value, "W");
        as_buf_str(out, strcmp(as_cell_axis(cell, "hold"), "burst") == 0 ? " including idle gaps" : "");
    }
}

/* What the two cells are of: the instruction, or path, type and size. */
static void subject_of(const struct as_cell *cell, const char *apart, struct as_buf *out)
{
    static const char *const parts[] = {"instruction", "path", "type", "size"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (as_cell_axis(cell, parts[i])[0])
            as_buf_printf(out, "%s%s", out->len ? apart : "", as_cell_axis(cell, parts[i]));
}

struct difference {
    const char *probe, *axis, *a, *b; /* two words of an axis */
    const char *other, *word;         /* where another axis is this */
    enum as_relation relation;
    const char *says, *than;
    const char *act;
};
#define RANDOM "Time matrix kernels with random operands"
#define SUSTAINED "Plan with the sustained rate of matrix kernels"
static const struct difference differences[] = {
    {"matmul_rate", "operands", "zero", "random", "hold", "sustained", AS_FACT_MATMUL_ZEROS, "zeros run",
     "random numbers, sustained", RANDOM},
    {"matmul", "operands", "zero", "random", "hold", "sustained", AS_FACT_MATMUL_ZEROS, "zeros run",
     "random numbers, sustained", RANDOM},
    {"matmul_rate", "hold", "burst", "sustained", "operands", "random", AS_FACT_MATMUL_BURST, "bursts run",
     "sustained load", SUSTAINED},
    {"matmul", "hold", "burst", "sustained", "operands", "random", AS_FACT_MATMUL_BURST, "bursts run", "sustained load",
     SUSTAINED},
};

static void joint_matmul_power_add_difference(struct as_rule_context *c, const struct difference *d,
                                              const struct as_pair *pair)
{
    struct as_buf id = AS_BUF_INIT, text = AS_BUF_INIT, a = AS_BUF_INIT, b = AS_BUF_INIT;
    char value[96];
    subject_of(pair->a, "_", &id);
    struct as_fact *f = as_fact_add_ratio(c, d->relation, pair->a, pair->b, AS_BY(.what = as_buf_get(&id)));
    if (f) {
        as_buf_clear(&id);
        subject_of(pair->a, " ", &id);
        as_fact_value_text(f->value, f->ci, "x", value, sizeof value);
        if (f->verdict == AS_UNDECIDED && !as_fact_is_open(f))
            as_buf_printf(&text, "%s: %s at a rate statistically tied with that of %s, %s", as_buf_get(&id), d->says,
                          d->than, value);
        else
            as_buf_printf(&text, "%s: %s at %s the rate of %s", as_buf_get(&id), d->says, value, d->than);
        state_of(pair->a, &a);
        state_of(pair->b, &b);
        if (a.len && b.len)
            as_buf_printf(&text, ": %s against %s", as_buf_get(&a), as_buf_get(&b));
        as_fact_say(f, "%s", as_buf_get(&text));
        as_fact_gain(f, f->value, f->ci);
        if (as_fact_side(f) > 0)
            as_fact_act(f, "%s: %s at {gain} that rate (%s)", d->act, d->says, as_buf_get(&id));
    }
    as_buf_finish(&id);
    as_buf_finish(&text);
    as_buf_finish(&a);
    as_buf_finish(&b);
}

static void joint_matmul_power_derive(struct as_rule_context *c)
{
    for (size_t d = 0; d < sizeof differences / sizeof *differences; d++) {
        struct as_pair *pairs;
        size_t n;
        as_pairs_make(c, differences[d].probe, differences[d].axis, differences[d].a, differences[d].b, &pairs, &n);
        for (size_t i = 0; i < n; i++)
            if (as_cell_is(pairs[i].a, differences[d].other, differences[d].word))
                joint_matmul_power_add_difference(c, &differences[d], &pairs[i]);
        free(pairs);
    }
}

const struct as_rule as_rules_joint_matmul_power[] = {
    {"operands, power and clock", joint_matmul_power_derive,
     "the ratio of two valid measurements that differ in their operands or duration; with the clock and the power read "
     "during "
     "each",
     "the same two on a device of another power limit, whose ratio does not follow its clock"},
    {0},
};
