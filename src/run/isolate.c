/* Each cell once more alone, in a fresh worker: does its number depend on its neighbours? */
#include "run/engine.h"

#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static const double SHARE_S = 0.5;

static enum as_status note_isolated(struct as_cell *cell, const struct as_comparison *c, struct as_error *err)
{
    json_t *j = cell->detail ? json_loads(cell->detail, 0, NULL) : NULL;
    if (!json_is_object(j)) {
        json_decref(j);
        j = json_object();
    }
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, as_verdict_word(c->verdict));
    if (isfinite(c->ratio))
        as_buf_printf(&b, ": %.4g times the number when measured alone (95%% interval %.4g to %.4g)", c->ratio,
                      c->ci.lo, c->ci.hi);
    json_object_set_new(j, "isolated", json_string(as_buf_get(&b)));
    as_buf_finish(&b);
    char *text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    if (!text)
        return as_nomem(err, 0, "a measurement's detail");
    free(cell->detail);
    cell->detail = text;
    return AS_OK;
}

static enum as_status measure_alone(struct as_engine *e, size_t index, struct as_error *err)
{
    struct as_slot *slot = e->progress[index].slot;
    as_worker_stop(&slot->worker);
    slot->is_open = 0;
    e->progress[index].trials = AS_ISOLATED_TRIAL;
    return as_engine_trial(e, index, SHARE_S, err);
}

/* The last trial where it was alone, NULL when it was not. */
static const struct as_trial *isolate_alone_of(const struct as_trials *t)
{
    return t->n && t->v[t->n - 1].number >= AS_ISOLATED_TRIAL ? &t->v[t->n - 1] : NULL;
}

static enum as_status isolate_cell(struct as_engine *e, size_t index, size_t *depend, struct as_error *err)
{
    struct as_cell *cell = &e->cells[index];
    enum as_status st = AS_OK;
    if (!isolate_alone_of(&e->trials[index])) /* else it is from before the run was interrupted */
        st = measure_alone(e, index, err);
    const struct as_trial *v = isolate_alone_of(&e->trials[index]);
    if (st || !v || v->n == 0)
        return st;
    struct as_trial counted = *v; /* judged at the run's clock and with its group's scatter */
    counted.excluded = 0;
    counted.number = 0;
    const struct as_trials one = {.v = &counted, .n = 1};
    const struct as_judge_context context = as_engine_judge_context(e, index);
    struct as_cell alone = *cell; /* with texts of its own */
    alone.detail = as_strdup(v->detail);
    alone.answers = alone.metrics = NULL;
    alone.samples = NULL;
    alone.sample_trial = NULL;
    st = v->detail && !alone.detail ? as_nomem(err, 0, "a trial's notes")
                                    : as_judge_cell(&e->judge, &alone, &one, &context, err);
    if (!st && as_cell_is_valid(&alone)) {
        struct as_comparison c;
        as_compare(&cell->sum, &alone.sum, cell->lower_is_better, cell->precision, &c);
        *depend += c.verdict == AS_FASTER || c.verdict == AS_SLOWER;
        st = note_isolated(cell, &c, err);
    }
    as_cell_finish(&alone);
    e->progress[index].changed = true;
    return st ? st : as_engine_store_changed(e, err);
}

enum as_status as_engine_isolate(struct as_engine *e, struct as_error *err)
{
    enum as_status st = AS_OK;
    size_t depend = 0, measured = 0;
    for (size_t i = 0; i < e->sentinels_first && !st && !as_engine_stopped(e); i++) {
        if (!as_cell_is_valid(&e->cells[i]) || e->progress[i].over)
            continue;
        measured++;
        st = isolate_cell(e, i, &depend, err);
    }
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(
        &text, "measured alone in a fresh process: %zu of %zu measurements differ by more than the requested precision",
        depend, measured);
    if (!st)
        as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
    as_buf_finish(&text);
    return st;
}
