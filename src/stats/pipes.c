#include "stats/pipes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ERROR_MIN = 0.005; /* minimum relative error of a cost */
static const double TELLS = 5;         /* a pair is conclusive if its bounds differ by this many errors */
static const double SEPARATE = 0.2, SHARED = 0.8, SHARED_MAX = 1.2;
static const double BOUND_CLEAR = 1.1, BOUND_NEAR = 0.03; /* issue above the pipes; a cost at the issue */

/* ---- costs alone and the issue cost ---- */

enum { TWENTIETH = 20 };

static size_t kinds_of(const struct as_pipes_sequence *s, size_t ops, size_t which[2])
{
    size_t n = 0;
    for (size_t i = 0; i < ops; i++)
        if (s->count[i]) {
            if (n < 2)
                which[n] = i;
            n++;
        }
    return n;
}

static double error_of(const struct as_pipes_sequence *s)
{
    return s->error > ERROR_MIN ? s->error : ERROR_MIN;
}

static double issued_of(const struct as_pipes_sequence *s, size_t ops)
{
    double n = 0;
    for (size_t i = 0; i < ops; i++)
        n += s->count[i];
    return s->issued > 0 ? s->issued : n;
}

static void find_alone(const struct as_pipes_sequence *s, size_t n, size_t ops, struct as_pipes *out)
{
    for (size_t i = 0; i < ops; i++)
        out->alone[i] = NAN;
    for (size_t k = 0; k < n; k++) {
        size_t op[2];
        if (kinds_of(&s[k], ops, op) != 1)
            continue;
        double cost = s[k].cost / s[k].count[op[0]];
        if (cost >= out->alone[op[0]])
            continue;
        out->alone[op[0]] = cost;
        out->error[op[0]] = error_of(&s[k]);
        out->alone_in[op[0]] = k;
    }
}

struct each {
    double cost;
    size_t sequence;
};

static int by_cost(const void *x, const void *y)
{
    double a = ((const struct each *)x)->cost, b = ((const struct each *)y)->cost;
    return (a > b) - (a < b);
}

/* Not the minimum, which would be the noisiest of some hundred. */
static enum as_status find_issue(const struct as_pipes_sequence *s, size_t n, size_t ops, struct as_pipes *out,
                                 struct as_error *err)
{
    struct each *each = malloc((n + 1) * sizeof *each);
    if (!each)
        return as_nomem(err, (n + 1) * sizeof *each, "costs of instructions");
    for (size_t k = 0; k < n; k++)
        each[k] = (struct each){s[k].cost / issued_of(&s[k], ops), k};
    qsort(each, n, sizeof *each, by_cost);
    out->issue = n ? each[n / TWENTIETH].cost : INFINITY;
    out->issue_in = n ? each[n / TWENTIETH].sequence : 0;
    free(each);
    return AS_OK;
}

/* ---- pairs ---- */

/* Evaluates a sequence of two operations. */
static struct as_pipes_pair judge_pair(const struct as_pipes *p, const struct as_pipes_sequence *s, size_t ops,
                                       const size_t op[2])
{
    double a = s->count[op[0]] * p->alone[op[0]], b = s->count[op[1]] * p->alone[op[1]];
    double issue = p->issue * issued_of(s, ops), pipes = fmax(a, b), most = a + b;
    double least = fmax(pipes, issue), room = most - least;
    double error = s->cost * error_of(s) + a * p->error[op[0]] + b * p->error[op[1]];
    struct as_pipes_pair pair = {.share = (s->cost - least) / room, .error = error / room};
    if (room < TELLS * error) {
        pair.relation = most - pipes >= TELLS * error ? AS_PIPES_AT_ISSUE : AS_PIPES_HIDDEN;
        pair.share = NAN;
    } else {
        /* Slower than the sum of both means more than a shared pipe. */
        pair.relation = pair.share <= SEPARATE                             ? AS_PIPES_SEPARATE
                        : pair.share >= SHARED && pair.share <= SHARED_MAX ? AS_PIPES_SHARED
                                                                           : AS_PIPES_PARTLY;
    }
    return pair;
}

/* Whether the second is more conclusive than the first. */
static bool tells_more(const struct as_pipes_pair *old, const struct as_pipes_pair *new)
{
    if (old->relation < AS_PIPES_SEPARATE || new->relation < AS_PIPES_SEPARATE)
        return new->relation > old->relation;
    return new->error < old->error;
}

static void find_pairs(const struct as_pipes_sequence *s, size_t n, size_t ops, struct as_pipes *out)
{
    for (size_t k = 0; k < n; k++) {
        size_t op[2];
        if (kinds_of(&s[k], ops, op) != 2 || isnan(out->alone[op[0]]) || isnan(out->alone[op[1]]))
            continue;
        struct as_pipes_pair pair = judge_pair(out, &s[k], ops, op);
        pair.sequence = k;
        if (tells_more(&out->pair[op[0]][op[1]], &pair))
            out->pair[op[0]][op[1]] = out->pair[op[1]][op[0]] = pair;
    }
}

/* ---- pipes ---- */

static const double MANY = 0.8; /* relative to the operation with the most known pairs */

struct rank {
    size_t op, measured, partly;
    double issued;
};

/* Order: operations with many known pairs first, then single instructions, then those in one pipe. */
static int by_rank(const void *x, const void *y)
{
    const struct rank *a = x, *b = y;
    if (a->measured != b->measured)
        return (a->measured < b->measured) - (a->measured > b->measured);
    if (fabs(a->issued - b->issued) > 0.25)
        return (a->issued > b->issued) - (a->issued < b->issued);
    if (a->partly != b->partly)
        return (a->partly > b->partly) - (a->partly < b->partly);
    return (a->op > b->op) - (a->op < b->op);
}

static size_t rank_all(const struct as_pipes_sequence *s, size_t ops, const struct as_pipes *p, struct rank *ranks)
{
    size_t n = 0, most = 0;
    for (size_t i = 0; i < ops; i++) {
        if (isnan(p->alone[i]))
            continue;
        const struct as_pipes_sequence *alone = &s[p->alone_in[i]];
        struct rank r = {.op = i, .issued = issued_of(alone, ops) / alone->count[i]};
        for (size_t j = 0; j < ops; j++) {
            r.measured += p->pair[i][j].relation != AS_PIPES_UNMEASURED;
            r.partly += p->pair[i][j].relation == AS_PIPES_PARTLY;
        }
        if (r.measured)
            ranks[n++] = r;
        most = r.measured > most ? r.measured : most;
    }
    for (size_t i = 0; i < n; i++)
        ranks[i].measured = (double)ranks[i].measured >= MANY * (double)most;
    qsort(ranks, n, sizeof *ranks, by_rank);
    return n;
}

/* Two operations hidden by the issue may share a pipe unless a third distinguishes them. */
static bool told_apart(const struct as_pipes *p, size_t ops, size_t a, size_t b)
{
    for (size_t i = 0; i < ops; i++) {
        enum as_pipes_relation x = p->pair[a][i].relation, y = p->pair[b][i].relation;
        if ((x == AS_PIPES_SEPARATE && y == AS_PIPES_SHARED) || (x == AS_PIPES_SHARED && y == AS_PIPES_SEPARATE))
            return true;
    }
    return false;
}

/* The pipe of an operation: one that it shares; else one from which it is indistinguishable; else a new one if all
 * pairs show that it is in no existing pipe. */
static void pipes_place(struct as_pipes *p, size_t ops, size_t op)
{
    int home = -1, maybe = -1;
    bool known = true;
    double best = 0;
    for (size_t i = 0; i < p->pipes; i++) {
        const struct as_pipes_pair *pair = &p->pair[op][p->first[i]];
        if (pair->relation == AS_PIPES_SHARED && pair->share > best) {
            best = pair->share;
            home = (int)i;
        }
        if (pair->relation == AS_PIPES_AT_ISSUE && maybe < 0 && !told_apart(p, ops, op, p->first[i]))
            maybe = (int)i;
        known = known && pair->relation != AS_PIPES_UNMEASURED && pair->relation != AS_PIPES_HIDDEN;
    }
    if (home < 0)
        home = maybe;
    if (home < 0 && known && p->pipes < AS_PIPES_MAX) {
        p->first[p->pipes] = op;
        home = (int)p->pipes++;
    }
    p->home[op] = home;
}

/* The part of an operation's cost in another's pipe, if they share it: all but the other's own part. The other is the
 * representative of the pipe: of two operations that partly share, one has a part in the other's pipe, namely the one
 * whose similar operations do not. */
static double pipes_rest_of(const struct as_pipes_sequence *s, const struct as_pipes *p, size_t op, size_t other)
{
    const struct as_pipes_pair *pair = &p->pair[op][other];
    const struct as_pipes_sequence *both = &s[pair->sequence];
    if (pair->relation != AS_PIPES_PARTLY)
        return 0;
    return fmin(fmax((both->cost - both->count[other] * p->alone[other]) / both->count[op], 0), p->alone[op]);
}

static void find_uses(const struct as_pipes_sequence *s, size_t ops, struct as_pipes *p)
{
    for (size_t i = 0; i < ops; i++)
        for (size_t k = 0; k < p->pipes && p->home[i] >= 0; k++)
            p->use[i][k] = (int)k == p->home[i] ? p->alone[i] : pipes_rest_of(s, p, i, p->first[k]);
}

/* ---- sequences bound by issue ---- */

static double stats_pipes_busiest(const struct as_pipes *p, const struct as_pipes_sequence *s, size_t ops)
{
    double most = 0;
    for (size_t k = 0; k < p->pipes; k++) {
        double use = 0;
        for (size_t i = 0; i < ops; i++)
            use += s->count[i] * p->use[i][k];
        most = fmax(most, use);
    }
    return most;
}

static bool is_placed(const struct as_pipes *p, const struct as_pipes_sequence *s, size_t ops)
{
    for (size_t i = 0; i < ops; i++)
        if (s->count[i] && p->home[i] < 0)
            return false;
    return true;
}

static void find_bound(const struct as_pipes_sequence *s, size_t n, size_t ops, struct as_pipes *out)
{
    for (size_t k = 0; k < n; k++) {
        size_t unused[2];
        if (kinds_of(&s[k], ops, unused) < 2 || !is_placed(out, &s[k], ops))
            continue;
        double issue = out->issue * issued_of(&s[k], ops);
        out->placed++;
        out->issue_bound +=
            issue > BOUND_CLEAR * stats_pipes_busiest(out, &s[k], ops) && fabs(issue / s[k].cost - 1) < BOUND_NEAR;
    }
}

enum as_status as_pipes_solve(const struct as_pipes_sequence *s, size_t n, size_t ops, struct as_pipes *out,
                              struct as_error *err)
{
    struct rank ranks[AS_PIPES_OPS];
    memset(out, 0, sizeof *out);
    if (ops > AS_PIPES_OPS)
        return as_fail(err, AS_USAGE, "%zu operations are more than %d", ops, AS_PIPES_OPS);
    for (size_t k = 0; k < n; k++)
        if (!(s[k].cost > 0) || !isfinite(s[k].cost))
            return as_fail(err, AS_USAGE, "sequence %zu has no cost", k);
    for (size_t i = 0; i < ops; i++)
        out->home[i] = -1;
    find_alone(s, n, ops, out);
    enum as_status st = find_issue(s, n, ops, out, err);
    if (st)
        return st;
    find_pairs(s, n, ops, out);
    size_t ranked = rank_all(s, ops, out, ranks);
    for (size_t i = 0; i < ranked; i++)
        pipes_place(out, ops, ranks[i].op);
    find_uses(s, ops, out);
    find_bound(s, n, ops, out);
    return AS_OK;
}
