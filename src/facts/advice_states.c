/* What advice the comparisons of process states give. */
#include "facts/advice_topics.h"

#include <string.h>

/* Do both call for the same? */
static bool is_same_act(const struct as_fact *a, const struct as_fact *b)
{
    const size_t n = strcspn(a->act, ":");
    return n == strcspn(b->act, ":") && strncmp(a->act, b->act, n) == 0;
}

static void add_number(struct as_advice *a, const struct as_cell *cell)
{
    const char *state = as_cell_axis(cell, AS_STATE_AXIS);
    struct as_buf what = AS_BUF_INIT;
    as_describe_pass(cell, true, &what);
    as_advice_add_number(a, cell, "%s, %s", as_buf_get(&what), state[0] ? state : "by default");
    as_buf_finish(&what);
}

static void add_numbers(const struct as_rule_context *c, const struct as_fact *f, struct as_advice *a)
{
    for (size_t i = 0; i < f->evidence_n; i++) {
        const struct as_cell *cell = as_rule_cell(c, f->evidence[i]);
        for (size_t k = 0; k < c->in_states_n && !cell; k++)
            cell = c->in_states[k]->id == f->evidence[i] ? c->in_states[k] : NULL;
        if (cell)
            add_number(a, cell);
    }
}

static bool compares_states(const struct as_rule_context *c, const struct as_fact *f)
{
    return strcmp(f->device, c->device) == 0 && as_fact_is(f, AS_FACT_STATE, NULL);
}

/* The comparison with the largest effect; NULL: none is decided. other: whose call it must not share. */
static const struct as_fact *strongest(const struct as_rule_context *c, const struct as_fact *other)
{
    const struct as_fact *best = NULL;
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        if (compares_states(c, f) && f->act[0] && !(other && is_same_act(f, other)) &&
            (!best || as_fact_effect(f) > as_fact_effect(best)))
            best = f;
    }
    return best;
}

static void add_all_numbers(const struct as_rule_context *c, struct as_advice *a)
{
    for (size_t i = 0; i < c->facts->n; i++)
        if (compares_states(c, &c->facts->v[i]))
            add_numbers(c, &c->facts->v[i], a);
}

bool as_advise_states(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    size_t all = 0, decided = 0;
    (void)t;
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        if (!compares_states(c, f))
            continue;
        all++;
        decided += f->verdict == AS_SUPPORTED;
    }
    const struct as_fact *best = strongest(c, NULL), *other = best ? strongest(c, best) : NULL;
    if (best) {
        as_advice_gain(a, best->gain_ci);
        as_advice_say(a, "%s%s%s. %zu of %zu comparisons differ", best->act, other ? ". " : "", other ? other->act : "",
                      decided, all);
        add_numbers(c, best, a);
        if (other)
            add_numbers(c, other, a);
    } else if (all) {
        as_advice_say(a, "Alike within the intervals in %zu comparison%s", all, all == 1 ? "" : "s");
        add_all_numbers(c, a);
    }
    return all > 0;
}
