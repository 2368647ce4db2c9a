#include "pair.h"

#include <math.h>

static enum as_status victim_works(struct pair *p, struct span *span, struct as_error *err)
{
    enum as_status st = p->victim.ops->work(p->victim.self, err);
    if (!st)
        p->victim.ops->wait(p->victim.self, span);
    return st;
}

/* *each: seconds per item. */
static enum as_status run_alone(struct pair *p, double *each, struct as_error *err)
{
    struct span span;
    const double before = p->control ? 0 : p->aggressor.ops->read(p->aggressor.self).items;
    enum as_status st = victim_works(p, &span, err);
    if (st)
        return st;
    if (!p->control && p->aggressor.ops->read(p->aggressor.self).items != before)
        return as_fail(err, AS_FAILED, "the aggressor worked while the victim ran alone");
    p->seconds[PAIR_ALONE] = span.seconds;
    *each = span.seconds / span.items;
    return AS_OK;
}

/* The aggressor must work from before the victim's start until after its end. */
static enum as_status interference_judge(const struct pair *p, const struct reading *a, const struct reading *b,
                                         const struct span *span, struct as_error *err)
{
    if (!(b->items > a->items) && !p->starves)
        return as_fail(err, AS_FAILED, "the aggressor made no progress while the victim ran");
    if (p->aggressor.ops->step && !(a->at <= span->from && span->to <= b->at))
        return as_fail(err, AS_FAILED, "the aggressor did not work during all of the victim's time");
    return AS_OK;
}

static enum as_status work_together(struct pair *p, double *each, struct as_error *err)
{
    const struct side *a = &p->aggressor, *v = &p->victim;
    struct span span;
    const struct reading before = a->ops->read(a->self);
    enum as_status st = v->ops->work(v->self, err), later = AS_OK;
    if (st)
        return st;
    while (a->ops->step && !later && !v->ops->ended(v->self))
        later = a->ops->step(a->self, err);
    v->ops->wait(v->self, &span);
    if (a->ops->step && !later && a->ops->read(a->self).at < span.to) /* the victim ended between two steps */
        later = a->ops->step(a->self, err);
    const struct reading after = a->ops->read(a->self);
    if (!later && a->ops->progress)
        later = a->ops->progress(a->self, err);
    st = later ? later : interference_judge(p, &before, &after, &span, err);
    p->loaded_rate = (after.items - before.items) / (after.at - before.at);
    p->seconds[PAIR_LOADED] = span.seconds;
    *each = span.seconds / span.items;
    return st;
}

static enum as_status run_loaded(struct pair *p, double *each, struct as_error *err)
{
    const struct side *a = &p->aggressor;
    if (p->control) {
        enum as_status st = run_alone(p, each, err);
        p->seconds[PAIR_LOADED] = p->seconds[PAIR_ALONE];
        return st;
    }
    enum as_status st = a->ops->start(a->self, err);
    if (!st)
        st = work_together(p, each, err);
    a->ops->stop(a->self);
    return st;
}

/* A thread of the lowest priority may wait that long for a core that others use, in s. */
static const double AGGRESSOR_PATIENCE_S = 5;

/* For as long as the victim alone took last, and until the aggressor has made progress. *rate: items per second. */
static enum as_status run_aggressor(struct pair *p, double *rate, struct as_error *err)
{
    const struct side *a = &p->aggressor;
    enum as_status st = a->ops->start(a->self, err);
    const struct reading before = a->ops->read(a->self);
    struct reading after;
    double waited;
    do {
        if (!st && a->ops->step)
            st = a->ops->step(a->self, err);
        else if (!st)
            as_sleep(p->seconds[PAIR_ALONE] / 4);
        after = a->ops->read(a->self);
        waited = as_now() - before.at;
    } while (!st &&
             (waited < p->seconds[PAIR_ALONE] || (!(after.items > before.items) && waited < AGGRESSOR_PATIENCE_S)));
    a->ops->stop(a->self);
    if (!st && !(after.items > before.items))
        st = as_fail(err, AS_FAILED, "the aggressor made no progress alone");
    *rate = (after.items - before.items) / (after.at - before.at);
    return st;
}

static enum as_status interference_measure(void *user, size_t arm, double *value, struct as_error *err)
{
    static enum as_status (*const runs[PAIR_ARMS])(struct pair *, double *, struct as_error *) = {
        [PAIR_ALONE] = run_alone, [PAIR_LOADED] = run_loaded, [PAIR_AGGRESSOR] = run_aggressor};
    return runs[arm](user, value, err);
}

enum as_status as_pair_start(struct pair *p, uint64_t seed, struct as_error *err)
{
    double unused;
    as_arms_start(&p->blocks, p->control ? PAIR_AGGRESSOR : PAIR_ARMS, 0, seed);
    enum as_status st = run_alone(p, &unused, err);
    return st ? st : run_loaded(p, &unused, err);
}

enum as_status as_pair_block(struct pair *p, double *slowdown, double *seconds, struct as_error *err)
{
    enum as_status st = as_arms_run(&p->blocks, interference_measure, p, p->value, err);
    if (st)
        return st;
    for (size_t i = 0; i < p->blocks.n; i++)
        p->log_sum[i] += log(p->value[i]);
    p->loaded_sum += p->loaded_rate;
    p->done++;
    *seconds = p->seconds[PAIR_ALONE] + p->seconds[PAIR_LOADED];
    *slowdown = p->value[PAIR_LOADED] / p->value[PAIR_ALONE];
    return AS_OK;
}

double as_pair_mean(const struct pair *p, enum pair_arm arm)
{
    return p->done > 0 ? exp(p->log_sum[arm] / p->done) : NAN;
}

double as_pair_loaded_rate(const struct pair *p)
{
    return p->done > 0 ? p->loaded_sum / p->done : NAN;
}
