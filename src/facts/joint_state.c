/* What a process state changes: cells that differ in it alone. */
#include "base/text.h"
#include "facts/rule.h"
#include "model/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell in a state, and what it is compared with: the first in a state of the same variables, else the one without. */
struct compared {
    const struct as_cell *cell, *base;
    double size;
};

static const char *state_of(const struct as_cell *cell)
{
    return as_cell_axis(cell, AS_STATE_AXIS);
}

/* Allocators of one role count as one: where a state decides what an allocator does, its name may depend on it. */
static bool is_same_value(const struct as_cell *a, const struct as_cell *b, const struct as_axis_value *v)
{
    const char *other = as_cell_axis(b, v->name);
    if (strcmp(v->text, other) == 0)
        return true;
    const enum as_role role = as_allocator_role(a->device, v->text);
    return role && role == as_allocator_role(b->device, other);
}

static bool differ_in_state(const struct as_cell *a, const struct as_cell *b)
{
    if (strcmp(a->probe, b->probe) != 0 || strcmp(a->metric, b->metric) != 0 ||
        a->axes.n - (state_of(a)[0] != 0) != b->axes.n - (state_of(b)[0] != 0))
        return false;
    for (size_t i = 0; i < a->axes.n; i++)
        if (strcmp(a->axes.v[i].name, AS_STATE_AXIS) != 0 && !is_same_value(a, b, &a->axes.v[i]))
            return false;
    return true;
}

/* Do both set the same variables? */
static bool have_same_variables(const char *a, const char *b)
{
    for (;;) {
        const size_t n = strcspn(a, "=");
        if (n != strcspn(b, "=") || strncmp(a, b, n) != 0)
            return false;
        a += strcspn(a, "+");
        b += strcspn(b, "+");
        if (!*a || !*b)
            return *a == *b;
        a++;
        b++;
    }
}

static const struct as_cell *base_of(const struct as_rule_context *c, size_t at)
{
    const struct as_cell *cell = c->in_states[at];
    bool is_alone = true;
    for (size_t i = 0; i < c->in_states_n; i++) {
        const struct as_cell *other = c->in_states[i];
        if (i == at || !have_same_variables(state_of(other), state_of(cell)) || !differ_in_state(other, cell))
            continue;
        if (i < at)
            return other;
        is_alone = false;
    }
    for (size_t i = 0; i < c->n && is_alone; i++)
        if (differ_in_state(c->cells[i], cell))
            return c->cells[i];
    return NULL;
}

/* By falling size or number of pages: the largest gives the fact. */
static int by_size(const void *a, const void *b)
{
    const struct compared *p = a, *q = b;
    if (p->size != q->size)
        return p->size > q->size ? -1 : 1;
    return (p->cell->id > q->cell->id) - (p->cell->id < q->cell->id);
}

void as_describe_pass(const struct as_cell *cell, bool in_sentence, struct as_buf *out)
{
    static const char *const words[] = {"op", "what", "scenario", "how", "allocator", NULL};
    const char *lead = " (";
    char size[32];
    for (const char *at = cell->probe; *at; at++)
        as_buf_char(out, *at == '_'                          ? ' '
                         : at == cell->probe && !in_sentence ? (char)toupper((unsigned char)*at)
                                                             : *at);
    for (size_t i = 0; words[i]; i++)
        if (as_cell_axis(cell, words[i])[0]) {
            as_buf_printf(out, "%s%.40s", lead, as_cell_axis(cell, words[i]));
            lead = ", ";
        }
    if (as_cell_axis(cell, "from")[0]) {
        as_buf_printf(out, "%s%.40s to %.40s", lead, as_cell_axis(cell, "from"), as_cell_axis(cell, "to"));
        lead = ", ";
    }
    if (as_cell_axis(cell, "touch")[0]) {
        as_buf_printf(out, "%sfirst touch by %.40s", lead, as_cell_axis(cell, "touch"));
        lead = ", ";
    }
    if (as_cell_axis(cell, "threads")[0]) {
        const double threads = as_cell_axis_number(cell, "threads");
        if (threads > 0)
            as_buf_printf(out, "%s%.0f thread%s", lead, threads, threads == 1 ? "" : "s");
        else
            as_buf_printf(out, "%sall threads", lead);
        lead = ", ";
    }
    if (as_cell_size(cell) > 0) {
        as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", size, sizeof size);
        as_buf_printf(out, "%s%s", lead, size);
        lead = ", ";
    }
    as_buf_str(out, *lead == ',' ? ")" : "");
}

/* "850 GB/s with HSA_ENABLE_SDMA=0" */
static void put_side(const struct as_cell *cell, struct as_buf *out)
{
    char value[96];
    as_buf_str(out, as_fact_value_text(cell->sum.median, as_cell_interval(cell), cell->unit, value, sizeof value));
    if (state_of(cell)[0])
        as_buf_printf(out, " with %s", state_of(cell));
    else
        as_buf_str(out, " by default");
}

/* One trial is one process, which does not tell how processes differ. */
static bool is_one_trial(const struct compared *p)
{
    return p->cell->sum.trials == 1 || p->base->sum.trials == 1;
}

static void say_change(struct as_fact *f, const struct compared *p)
{
    const int side = as_fact_side(f);
    const struct as_cell *more = side < 0 ? p->base : p->cell, *less = side < 0 ? p->cell : p->base;
    const struct as_cell *better = p->cell->lower_is_better ? less : more;
    const struct as_interval ci = f->ci, inverse = {1 / ci.hi, 1 / ci.lo};
    struct as_buf what = AS_BUF_INIT, first = AS_BUF_INIT, second = AS_BUF_INIT;
    char times[96];
    as_describe_pass(p->cell, false, &what);
    put_side(more, &first);
    put_side(less, &second);
    as_fact_value_text(side < 0 ? 1 / f->value : f->value, side < 0 ? inverse : ci, "x", times, sizeof times);
    if (f->verdict == AS_SUPPORTED)
        as_fact_say(f, "%.120s: %s, %s the %s", as_buf_get(&what), as_buf_get(&first), times, as_buf_get(&second));
    else
        as_fact_say(f, "%.120s: %s and %s: %s", as_buf_get(&what), as_buf_get(&first), as_buf_get(&second),
                    f->verdict == AS_REFUTED ? "alike"
                    : is_one_trial(p)        ? "inconclusive from one trial"
                                             : "inconclusive");
    if (f->verdict == AS_SUPPORTED && side && state_of(better)[0]) {
        as_buf_clear(&what);
        as_describe_pass(p->cell, true, &what);
        as_fact_act(f, "Set %s: {gain} better for %.90s", state_of(better), as_buf_get(&what));
    }
    as_buf_finish(&what);
    as_buf_finish(&first);
    as_buf_finish(&second);
}

static bool is_said(const struct as_fact_list *facts, const struct as_fact *f)
{
    return as_fact_find(facts->v, facts->n - 1, f->device, f->id) != NULL;
}

static void add_change(struct as_rule_context *c, const struct compared *p)
{
    const char *base = state_of(p->base)[0] ? state_of(p->base) : "default";
    struct as_fact *f =
        as_fact_add(c, AS_FACT_STATE, p->cell, AS_BY(.probe = p->cell->probe, .unit = "x", .other = base));
    if (!f)
        return;
    if (is_said(c->facts, f)) { /* of a larger size */
        c->facts->n--;
        return;
    }
    as_fact_ratio(f, p->cell, p->base);
    as_fact_gain(f, f->value, f->ci);
    const enum as_fact_verdict same = as_verdict_control(f->ci);
    f->verdict = is_one_trial(p)        ? AS_UNDECIDED
                 : same == AS_SUPPORTED ? AS_REFUTED
                 : same == AS_REFUTED   ? AS_SUPPORTED
                                        : AS_UNDECIDED;
    as_fact_evidence(f, p->cell);
    as_fact_evidence(f, p->base);
    say_change(f, p);
}

static void derive_state_changes(struct as_rule_context *c)
{
    struct compared *all = malloc((c->in_states_n + 1) * sizeof *all);
    size_t n = 0;
    if (!all) {
        c->status = as_nomem(c->err, c->in_states_n * sizeof *all, "states");
        return;
    }
    for (size_t i = 0; i < c->in_states_n; i++) {
        const struct as_cell *cell = c->in_states[i], *base = base_of(c, i);
        const double size = as_cell_size(cell), pages = as_cell_axis_number(cell, "pages");
        if (base && base->sum.median > 0 && cell->sum.median > 0) /* of counts of 0 there is no ratio */
            all[n++] = (struct compared){cell, base, size > 0 ? size : pages > 0 ? pages : 0};
    }
    if (n > 1)
        qsort(all, n, sizeof *all, by_size);
    for (size_t i = 0; i < n && !c->status; i++)
        add_change(c, &all[i]);
    free(all);
}

const struct as_rule as_rules_joint_state[] = {
    {"process state", derive_state_changes,
     "median of a measurement in a process state over that of the measurement with the same axes, where allocators of "
     "one role count "
     "as equal: in the first state of the same variables, else in assay's own environment; of several sizes the "
     "largest; one trial decides nothing",
     "both measured again in fresh processes, with another ratio"},
    {0},
};
