/* Trials not yet committed. A commit waits for the disk or a network file system and stalls the worker, so trials are
 * batched where commits are slow. */
#include "run/engine.h"

#include "base/buf.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

/* Target share of time for commits, and the maximum delay between batches; the delay wins. */
static const double SHARE_OF_COMMITS = 0.05, LONGEST_S = 1;

enum as_status as_engine_store_pending(struct as_engine *e, struct as_error *err)
{
    struct as_pending *p = &e->pending;
    if (p->n == 0)
        return AS_OK;
    struct as_stored_trial *list = calloc(p->n, sizeof *list);
    if (!list)
        return as_nomem(err, p->n * sizeof *list, "trials");
    for (size_t i = 0; i < p->n; i++)
        list[i] = (struct as_stored_trial){&e->trials[p->v[i].cell].v[p->v[i].trial], &e->cells[p->v[i].cell]};
    const double began = as_now();
    enum as_status st = as_store_add_trials(e->store, list, p->n, err);
    const double ended = as_now();           /* what listeners do is no part of it */
    for (size_t i = 0; i < p->n && !st; i++) /* listeners may rely on the trial being stored */
        as_engine_event(e, AS_EVENT_CELL_END, list[i].cell, list[i].trial, NULL);
    free(list);
    p->n = 0;
    p->next_at = ended + fmin(LONGEST_S, (ended - began) / SHARE_OF_COMMITS);
    return st;
}

enum as_status as_engine_keep_last(struct as_engine *e, size_t index, struct as_error *err)
{
    struct as_pending *p = &e->pending;
    enum as_status st = as_grow((void **)&p->v, &p->cap, p->n + 1, sizeof *p->v, err);
    if (st)
        return st;
    p->v[p->n].cell = index;
    p->v[p->n++].trial = e->trials[index].n - 1;
    return as_now() >= p->next_at ? as_engine_store_pending(e, err) : AS_OK;
}
