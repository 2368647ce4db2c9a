/* Pipes of a compute unit: which operations share a pipe, from their costs alone and in sequences. */
#include "facts/rule.h"
#include "base/text.h"
#include "facts/unit_pipes.h"
#include "model/metrics.h"

#include <math.h>
#include <stdlib.h>

/* Facts that rest on the whole fit are inconclusive where the busiest pipe does not predict the cost of sequences.
 * Facts about two operations rest on their own sequence. */
static void mix_judge(struct as_fact *f, const struct as_unit_pipes *u)
{
    if (!as_unit_pipes_hold(u))
        f->verdict = AS_UNDECIDED;
}

/* True for the operation that the pipe is named after, and for those that measurably share the pipe with it. Operations
 * that might share it do not count. */
static bool is_member(const struct as_unit_pipes *u, size_t op, size_t pipe)
{
    const struct as_pipes *p = &u->pipes;
    return p->home[op] == (int)pipe &&
           (op == p->first[pipe] || p->pair[op][p->first[pipe]].relation == AS_PIPES_SHARED);
}

static void say_members(const struct as_unit_pipes *u, size_t pipe, char *out, size_t size)
{
    struct as_buf text = AS_BUF_INIT;
    for (size_t i = 0; i < u->ops; i++)
        if (is_member(u, i, pipe))
            as_buf_printf(&text, "%s%s", text.len ? ", " : "", u->name[i]);
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&text);
}

static size_t members(const struct as_unit_pipes *u, size_t pipe)
{
    size_t n = 0;
    for (size_t i = 0; i < u->ops; i++)
        n += is_member(u, i, pipe);
    return n;
}

static void add_pipe(struct as_rule_context *c, const struct as_unit_pipes *u, size_t pipe)
{
    const struct as_pipes *p = &u->pipes;
    size_t fastest = p->first[pipe];
    char list[160];
    struct as_fact *f = as_fact_add(c, AS_FACT_PIPES_OF, NULL, AS_BY(.op = u->name[p->first[pipe]]));
    if (!f)
        return;
    for (size_t i = 0; i < u->ops; i++)
        if (is_member(u, i, pipe) && p->alone[i] < p->alone[fastest])
            fastest = i;
    const struct as_cell *cell = u->cells[p->alone_in[fastest]];
    unsigned count = u->s[p->alone_in[fastest]].count[fastest];
    struct as_interval ci = as_cell_interval(cell);
    as_fact_number(f, p->alone[fastest], (struct as_interval){ci.lo / count, ci.hi / count});
    say_members(u, pipe, list, sizeof list);
    char *steps = as_cell_note_text(cell, "instructions");
    if (as_unit_pipes_is_mixed(cell))
        as_fact_say(f, "One or more %s pipes execute %s: %s alone costs {value}, and %s", as_unit_name(c), list,
                    u->name[fastest], steps);
    else
        as_fact_say(f, "One %s pipe executes %s%s: %s costs {value} alone", as_unit_name(c), list,
                    members(u, pipe) > 1 ? "" : " (no other operation is certain to share it)", u->name[fastest]);
    free(steps);
    as_fact_evidence(f, cell);
    for (size_t i = 0; i < u->ops; i++)
        if (is_member(u, i, pipe) && i != p->first[pipe])
            as_fact_evidence(f, u->cells[p->pair[i][p->first[pipe]].sequence]);
    mix_judge(f, u);
}

static const char *const relations[] = {
    [AS_PIPES_HIDDEN] = "differ too much in cost to tell whether they share a pipe",
    [AS_PIPES_AT_ISSUE] = "are bound by issue, which hides whether they share a pipe",
    [AS_PIPES_SEPARATE] = "do not share a pipe",
    [AS_PIPES_PARTLY] = "partly share a resource, a pipe or operand ports",
    [AS_PIPES_SHARED] = "share a pipe",
};

/* An operation that alone is bound by issue may have several pipes to choose from: beside one that needs one of them it
 * takes the others. */
static bool mix_is_at_issue(const struct as_unit_pipes *u, size_t op)
{
    static const double NEARLY = 1.05;
    const struct as_pipes_sequence *s = &u->s[u->pipes.alone_in[op]];
    const double issued = s->issued > 0 ? s->issued : s->count[op];
    return s->cost <= NEARLY * u->pipes.issue * issued;
}

/* A cost with the relative interval of the cell that it comes from. */
static const char *cost_text(const struct as_cell *cell, double cost, char *out, size_t size)
{
    const struct as_interval ci = as_cell_interval(cell);
    const double scale = cost / cell->sum.median;
    return as_fact_value_text(cost, (struct as_interval){scale * ci.lo, scale * ci.hi}, "cycles", out, size);
}

static void mix_add_pair(struct as_rule_context *c, const struct as_unit_pipes *u, size_t a, size_t b)
{
    const struct as_pipes *p = &u->pipes;
    const struct as_pipes_pair *pair = &p->pair[a][b];
    if (pair->relation == AS_PIPES_UNMEASURED)
        return;
    const struct as_pipes_sequence *s = &u->s[pair->sequence];
    struct as_fact *f = as_fact_add(c, AS_FACT_PIPES_PAIR, NULL, AS_BY(.op = u->name[a], .other = u->name[b]));
    if (!f)
        return;
    if (isfinite(pair->share))
        as_fact_number(f, pair->share, (struct as_interval){pair->share - pair->error, pair->share + pair->error});
    char both[96], first[96], second[96];
    const bool beside = pair->relation == AS_PIPES_SEPARATE && (mix_is_at_issue(u, a) || mix_is_at_issue(u, b));
    as_fact_say(
        f, "%s and %s %s: %s costs %s, alone they cost %s and %s", u->name[a], u->name[b],
        beside ? "run side by side, on different pipes or on several that both can use" : relations[pair->relation],
        as_cell_axis(u->cells[pair->sequence], "mix"), cost_text(u->cells[pair->sequence], s->cost, both, sizeof both),
        cost_text(u->cells[p->alone_in[a]], s->count[a] * p->alone[a], first, sizeof first),
        cost_text(u->cells[p->alone_in[b]], s->count[b] * p->alone[b], second, sizeof second));
    if (pair->relation == AS_PIPES_SEPARATE) { /* the share tells how much of the shorter one adds to the longer */
        const double one = s->count[a] * p->alone[a], other = s->count[b] * p->alone[b];
        const double longer = fmax(one, other), shorter = fmin(one, other), apart = one + other;
        as_fact_gain(
            f, apart / s->cost,
            (struct as_interval){apart / (longer + shorter * f->ci.hi), apart / (longer + shorter * f->ci.lo)});
        if (as_fact_side(f) > 0)
            as_fact_act(
                f, "Mix operations that run side by side: interleaved, %s and %s run {gain} as fast as in sequence",
                u->name[a], u->name[b]);
    }
    as_fact_evidence(f, u->cells[pair->sequence]);
    as_fact_evidence(f, u->cells[p->alone_in[a]]);
    as_fact_evidence(f, u->cells[p->alone_in[b]]);
    if (pair->relation < AS_PIPES_SEPARATE)
        f->verdict = AS_UNDECIDED;
}

static void add_issue(struct as_rule_context *c, const struct as_unit_pipes *u)
{
    const struct as_pipes *p = &u->pipes;
    const struct as_cell *cell = u->cells[p->issue_in];
    double share = as_cell_interval(cell).hi / cell->sum.median;
    char value[96];
    struct as_fact *f = as_fact_add(c, AS_FACT_PIPES_ISSUE, NULL, NULL);
    if (!f)
        return;
    as_fact_number(f, 1 / p->issue, (struct as_interval){1 / p->issue / share, share / p->issue});
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    as_fact_say(
        f, "Each %s issues %s%s; %zu of %zu sequences whose pipes are known are bound by issue rather than by a pipe",
        as_unit_name(c), value, p->issue_bound ? "" : " or more", p->issue_bound, p->placed);
    as_fact_evidence(f, cell);
    mix_judge(f, u);
}

/* Operations in the fit. */
static size_t mix_known(const struct as_unit_pipes *u)
{
    size_t n = 0;
    for (size_t i = 0; i < u->ops; i++)
        n += isfinite(u->pipes.alone[i]);
    return n;
}

static void add_graph(struct as_rule_context *c, const struct as_unit_pipes *u)
{
    const struct as_pipes *p = &u->pipes;
    const struct as_pipes_fit *fit = &u->fit;
    const size_t others = as_unit_pipes_others(u);
    struct as_fact *f = as_fact_add(c, AS_FACT_PIPES, NULL, NULL);
    if (!f)
        return;
    as_fact_number(f, (double)p->pipes, (struct as_interval){(double)p->pipes, (double)p->pipes});
    as_fact_say(f,
                "Each %s executes %zu operations in %zu pipes and %zu other shared resource%s. With %zu fitted "
                "coefficients, the bottleneck resource predicts 90%% of %zu sequence costs within %.1f%%; the worst, "
                "%s, is off by %.1f%%. In cross-validation %.0f%% are within %.0f%%",
                as_unit_name(c), mix_known(u), p->pipes, others, others == 1 ? "" : "s", fit->loads, fit->judged,
                100 * fit->residual, as_cell_axis(u->cells[fit->worst_in], "mix"), 100 * fit->worst, 100 * fit->told,
                100 * AS_PIPES_TOLD);
    as_fact_evidence(f, u->cells[fit->worst_in]);
    for (size_t k = 0; k < p->pipes; k++)
        as_fact_evidence(f, u->cells[p->alone_in[p->first[k]]]);
    mix_judge(f, u);
}

static void add_all(struct as_rule_context *c, const struct as_unit_pipes *u)
{
    const struct as_pipes *p = &u->pipes;
    add_graph(c, u);
    add_issue(c, u);
    for (size_t k = 0; k < p->pipes; k++)
        add_pipe(c, u, k);
    for (size_t k = 0; k < p->pipes; k++) {
        for (size_t j = 0; j < k; j++)
            mix_add_pair(c, u, p->first[j], p->first[k]);
        for (size_t i = 0; i < u->ops; i++)
            if (p->home[i] == (int)k && i != p->first[k])
                mix_add_pair(c, u, p->first[k], i);
    }
}

static void derive_pipes(struct as_rule_context *c)
{
    if (!as_unit_has_pipes(c->info))
        return;
    struct as_unit_pipes *u = calloc(1, sizeof *u);
    if (!u) {
        c->status = as_nomem(c->err, sizeof *u, "pipes");
        return;
    }
    c->status = as_unit_pipes_make(c->cells, c->n, u, c->err);
    if (!c->status && u->fit.judged)
        add_all(c, u);
    as_unit_pipes_finish(u);
    free(u);
}

const struct as_rule as_rules_mix[] = {
    {"pipes", derive_pipes,
     "costs of operations alone and in sequences whose machine code is that of the operations alone: where the cost of "
     "a sequence of two lies between the more expensive "
     "one (or its issue, at the minimum cost per instruction, within a twentieth) and the sum of both; operations that "
     "share fully are one pipe. Then the load of each operation on each pipe and on up to three other resources is "
     "fitted to all sequences by least absolute deviations; a sequence costs what its busiest resource needs, or its "
     "issue. Inconclusive with fewer than two sequences for each such load, and where more than 10% of them are off by "
     "more than 5%",
     "a sequence of the same operations, with more of the cheaper one, whose cost the pipes do not predict"},
    {0},
};
