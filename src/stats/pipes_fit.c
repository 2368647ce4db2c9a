#include "stats/pipes_fit.h"

#include "stats/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Minimum improvement (sum of shares) for which a load is kept, since sparse loads are easier to interpret. */
static const double LOAD_WORTH = 0.02;
/* Larger deviations count less, so that a sequence that fits nowhere does not distort the others. */
static const double KNEE = 0.1, BEYOND = 0.3;
static const double ALONE_WEIGHT = 5; /* costs of single operations are precise */
static const double GAIN = 1e-3;      /* minimum improvement */
enum { SWEEPS = 40, ROUNDS = 4, FOLDS = 5 };

/* A sequence as a list of its few operations. */
struct item {
    size_t sequence;
    size_t op[AS_PIPES_OPS];
    double count[AS_PIPES_OPS];
    size_t kinds;
    double cost, issue, weight; /* weight 0: left out */
};

struct fitting {
    struct item *item;
    size_t n, ops, resources;
    size_t (*of)[2]; /* for each operation, start and number of its sequences in list */
    size_t *list;
    double (*load)[AS_PIPES_RESOURCES];
};

static double count_in(const struct item *t, size_t op)
{
    for (size_t i = 0; i < t->kinds; i++)
        if (t->op[i] == op)
            return t->count[i];
    return 0;
}

/* ---- loss ---- */

static double pipes_fit_need(const struct fitting *f, const struct item *t, size_t resource)
{
    double sum = 0;
    for (size_t i = 0; i < t->kinds; i++)
        sum += t->count[i] * f->load[t->op[i]][resource];
    return sum;
}

static double predict(const struct fitting *f, const struct item *t)
{
    double most = t->issue;
    for (size_t r = 0; r < f->resources; r++) {
        const double need = pipes_fit_need(f, t, r);
        most = need > most ? need : most;
    }
    return most;
}

static double pipes_fit_loss(const struct fitting *f, const struct item *t)
{
    if (t->weight == 0)
        return 0;
    double off = fabs(log(predict(f, t) / t->cost));
    return t->weight * (off < KNEE ? off : KNEE + BEYOND * (off - KNEE));
}

/* Loss of the sequences with this operation, plus the cost of its loads; if it exceeds a limit, a part that does. */
static double loss_of(const struct fitting *f, size_t op, double limit)
{
    double sum = 0;
    for (size_t r = 0; r < f->resources; r++)
        sum += LOAD_WORTH * (f->load[op][r] > 0);
    for (size_t i = 0; i < f->of[op][1] && sum <= limit; i++)
        sum += pipes_fit_loss(f, &f->item[f->list[f->of[op][0] + i]]);
    return sum;
}

/* ---- optimisation: one load, one operation, all ---- */

/* The best value of one load: the loss is piecewise linear, with bends where a sequence costs exactly what this
 * resource needs for it. */
static void improve_load(struct fitting *f, size_t op, size_t resource)
{
    double *load = &f->load[op][resource], best = *load, least = loss_of(f, op, INFINITY);
    const double old = *load;
    for (size_t i = 0; i <= f->of[op][1]; i++) {
        double value = 0;
        if (i < f->of[op][1]) {
            const struct item *t = &f->item[f->list[f->of[op][0] + i]];
            double own = count_in(t, op);
            value = t->weight > 0 ? (t->cost - (pipes_fit_need(f, t, resource) - own * *load)) / own : 0;
        }
        if (value < 0)
            continue;
        *load = value;
        double sum = loss_of(f, op, least);
        if (sum < least - 1e-9) {
            least = sum;
            best = value;
        }
        *load = old;
    }
    *load = best;
}

static void improve_operation(struct fitting *f, size_t op)
{
    for (size_t r = 0; r < f->resources; r++)
        improve_load(f, op, r);
}

static double pipes_fit_total(const struct fitting *f)
{
    double sum = 0;
    for (size_t k = 0; k < f->n; k++)
        sum += pipes_fit_loss(f, &f->item[k]);
    for (size_t i = 0; i < f->ops; i++)
        for (size_t r = 0; r < f->resources; r++)
            sum += LOAD_WORTH * (f->load[i][r] > 0);
    return sum;
}

static void pipes_fit_sweep(struct fitting *f)
{
    double before = INFINITY, now = pipes_fit_total(f);
    for (int i = 0; i < SWEEPS && now < before - GAIN; i++) {
        for (size_t op = 0; op < f->ops; op++)
            improve_operation(f, op);
        before = now;
        now = pipes_fit_total(f);
    }
}

/* Changing one load at a time cannot move an operation between resources, so each is first tried as the only one. */
static void move_operation(struct fitting *f, size_t op, double alone)
{
    double best[AS_PIPES_RESOURCES], least = loss_of(f, op, INFINITY);
    memcpy(best, f->load[op], sizeof best);
    for (size_t home = 0; home < f->resources; home++) {
        memset(f->load[op], 0, sizeof best);
        f->load[op][home] = alone;
        improve_operation(f, op);
        double sum = loss_of(f, op, least);
        if (sum < least - 1e-9) {
            least = sum;
            memcpy(best, f->load[op], sizeof best);
        }
    }
    memcpy(f->load[op], best, sizeof best);
}

/* Starts from the result of the pairs. */
static void pipes_fit_minimise(struct fitting *f, const struct as_pipes *p)
{
    for (size_t i = 0; i < f->ops; i++) {
        memset(f->load[i], 0, sizeof f->load[i]);
        memcpy(f->load[i], p->use[i], p->pipes * sizeof p->use[i][0]);
    }
    pipes_fit_sweep(f);
    double before = INFINITY, now = pipes_fit_total(f);
    for (int i = 0; i < ROUNDS && now < before - GAIN; i++) {
        for (size_t op = 0; op < f->ops; op++)
            if (!isnan(p->alone[op]))
                move_operation(f, op, p->alone[op]);
        pipes_fit_sweep(f);
        before = now;
        now = pipes_fit_total(f);
    }
}

/* ---- the sequences ---- */

static bool pipes_fit_is_known(const struct as_pipes_sequence *s, size_t ops, const struct as_pipes *p)
{
    for (size_t i = 0; i < ops; i++)
        if (s->count[i] && isnan(p->alone[i]))
            return false;
    return true;
}

static struct item item_of(const struct as_pipes_sequence *s, size_t ops, double issue)
{
    struct item t = {.cost = s->cost, .weight = 1};
    double n = 0;
    for (size_t i = 0; i < ops; i++) {
        if (!s->count[i])
            continue;
        t.op[t.kinds] = i;
        t.count[t.kinds++] = s->count[i];
        n += s->count[i];
    }
    t.issue = issue * (s->issued > 0 ? s->issued : n);
    if (t.kinds == 1)
        t.weight = ALONE_WEIGHT;
    return t;
}

/* Indexes the sequences of each operation. */
static enum as_status list_sequences(struct fitting *f, struct as_error *err)
{
    size_t entries = 0, at = 0;
    for (size_t k = 0; k < f->n; k++)
        entries += f->item[k].kinds;
    f->list = calloc(entries + 1, sizeof *f->list);
    if (!f->list)
        return as_nomem(err, entries * sizeof *f->list, "sequences");
    for (size_t op = 0; op < f->ops; op++) {
        f->of[op][0] = at;
        for (size_t k = 0; k < f->n; k++)
            if (count_in(&f->item[k], op) > 0)
                f->list[at++] = k;
        f->of[op][1] = at - f->of[op][0];
    }
    return AS_OK;
}

static enum as_status open_fitting(struct fitting *f, const struct as_pipes_sequence *s, size_t n, size_t ops,
                                   const struct as_pipes *p, struct as_pipes_fit *out, struct as_error *err)
{
    *f = (struct fitting){.ops = ops, .resources = p->pipes + AS_PIPES_OTHERS, .load = out->load};
    f->item = calloc(n + 1, sizeof *f->item);
    f->of = calloc(ops + 1, sizeof *f->of);
    if (!f->item || !f->of)
        return as_nomem(err, n * sizeof *f->item, "sequences");
    for (size_t k = 0; k < n; k++)
        if (pipes_fit_is_known(&s[k], ops, p)) {
            f->item[f->n] = item_of(&s[k], ops, p->issue);
            f->item[f->n++].sequence = k;
        }
    return list_sequences(f, err);
}

static void close_fitting(struct fitting *f)
{
    free(f->item);
    free(f->of);
    free(f->list);
}

/* ---- goodness of fit ---- */

static double share_off(const struct fitting *f, const struct item *t)
{
    return fabs(predict(f, t) / t->cost - 1);
}

struct left_out {
    struct as_pipes pipes; /* result of the other sequences */
    size_t n;
    struct as_pipes_sequence others[];
};

/* Leaves out this fold's sequences of several operations, finds pipes from the others, and fits to those. */
static enum as_status fit_others(struct fitting *f, const struct as_pipes_sequence *s, size_t fold, struct left_out *l,
                                 struct as_error *err)
{
    l->n = 0;
    for (size_t k = 0, m = 0; k < f->n; k++) {
        struct item *t = &f->item[k];
        if (t->kinds > 1)
            t->weight = m++ % FOLDS != fold;
        if (t->weight > 0)
            l->others[l->n++] = s[t->sequence];
    }
    enum as_status st = as_pipes_solve(l->others, l->n, f->ops, &l->pipes, err);
    if (st)
        return st;
    f->resources = l->pipes.pipes + AS_PIPES_OTHERS;
    pipes_fit_minimise(f, &l->pipes);
    return AS_OK;
}

/* The share of sequences predicted by the others (cross-validation): each sequence of several operations is left out
 * once. Destroys the fit. */
static enum as_status find_told(struct fitting *f, const struct as_pipes_sequence *s, double *share,
                                struct as_error *err)
{
    size_t told = 0, all = 0, size = sizeof(struct left_out) + (f->n + 1) * sizeof *s, resources = f->resources;
    struct left_out *l = calloc(1, size);
    enum as_status st = l ? AS_OK : as_nomem(err, size, "sequences left out");
    for (size_t fold = 0; fold < FOLDS && !st; fold++) {
        st = fit_others(f, s, fold, l, err);
        for (size_t k = 0; k < f->n && !st; k++)
            if (f->item[k].weight == 0) {
                told += share_off(f, &f->item[k]) <= AS_PIPES_TOLD;
                all++;
            }
    }
    free(l);
    for (size_t k = 0; k < f->n; k++)
        if (f->item[k].kinds > 1)
            f->item[k].weight = 1;
    f->resources = resources;
    *share = all ? (double)told / (double)all : NAN;
    return st;
}

static enum as_status pipes_fit_judge(const struct fitting *f, struct as_pipes_fit *out, struct as_error *err)
{
    double *off = malloc((f->n + 1) * sizeof *off);
    if (!off)
        return as_nomem(err, (f->n + 1) * sizeof *off, "residuals");
    out->residual = NAN;
    for (size_t k = 0; k < f->n; k++) {
        if (f->item[k].kinds < 2)
            continue;
        double far = share_off(f, &f->item[k]);
        if (out->judged == 0 || far > out->worst) {
            out->worst = far;
            out->worst_in = f->item[k].sequence;
        }
        off[out->judged++] = far;
    }
    if (out->judged) {
        as_sort(off, out->judged);
        out->residual = off[(size_t)ceil(0.9 * (double)out->judged) - 1];
    }
    free(off);
    for (size_t i = 0; i < f->ops; i++)
        for (size_t r = 0; r < f->resources; r++)
            out->loads += out->load[i][r] > 0;
    return AS_OK;
}

enum as_status as_pipes_fit(const struct as_pipes_sequence *s, size_t n, size_t ops, const struct as_pipes *p,
                            struct as_pipes_fit *out, struct as_error *err)
{
    struct fitting f;
    memset(out, 0, sizeof *out);
    enum as_status st = open_fitting(&f, s, n, ops, p, out, err);
    if (!st)
        st = find_told(&f, s, &out->told, err);
    if (!st) {
        out->resources = f.resources;
        out->sequences = f.n;
        pipes_fit_minimise(&f, p);
        st = pipes_fit_judge(&f, out, err);
    }
    close_fitting(&f);
    return st;
}
