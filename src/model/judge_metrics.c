#include "model/judge_metrics.h"
#include "model/metrics.h"

#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How a metric scatters between the trials of a cell, over the cells of a kind. A number in another unit than the
 * cell's, or another moment of it, has a scatter of its own. */
struct as_metric_kind {
    char name[32];
    size_t kind;
    struct as_estimate *found; /* of its cells, while it is learnt */
    size_t n, cap;
    struct as_prior prior;
};

int as_judge_process_of(const struct as_judge *j, const struct as_cell *cell, const struct as_trial *v)
{
    return j->varies_by_process && j->varies_by_process(cell) ? v->worker : 0;
}

/* The metrics of a cell and the notes of its counting trials. */
struct noted {
    struct as_metric metrics[2 * AS_METRICS_MAX];
    struct as_metric_value before[AS_METRICS_MAX]; /* whose texts a cell's own metrics use */
    json_t **notes;
    struct as_trial_samples *x;
    double *value;
    size_t metrics_n, notes_n;
    bool is_exact; /* the cell's own number */
};

static void noted_add(struct noted *s, const struct as_metric *list)
{
    for (; list->name && s->metrics_n < sizeof s->metrics / sizeof *s->metrics; list++)
        s->metrics[s->metrics_n++] = *list;
}

/* Those of the probe, and what sensors measured; without a probe, those that the cell has. */
static void noted_list(struct noted *s, const struct as_judge *j, const struct as_cell *cell)
{
    const struct as_metric *further = j->further ? j->further(cell) : NULL;
    if (further) {
        noted_add(s, further);
        noted_add(s, as_demand_metrics);
        return;
    }
    s->metrics_n = as_cell_metrics(cell, s->before);
    for (size_t i = 0; i < s->metrics_n; i++)
        s->metrics[i] = (struct as_metric){.name = s->before[i].name,
                                           .unit = s->before[i].unit,
                                           .lower_is_better = s->before[i].lower_is_better,
                                           .counts = s->before[i].counts};
}

static void noted_finish(struct noted *s)
{
    for (size_t i = 0; s->notes && i < s->notes_n; i++)
        json_decref(s->notes[i]);
    free(s->notes);
    free(s->x);
    free(s->value);
}

static enum as_status noted_make(struct noted *s, const struct as_judge *j, const struct as_cell *cell,
                                 const struct as_trials *t, struct as_error *err)
{
    const size_t n = t->n ? t->n : 1;
    *s = (struct noted){.is_exact = as_judge_is_exact(j, cell)};
    noted_list(s, j, cell);
    s->notes = calloc(n, sizeof(json_t *));
    s->x = calloc(n, sizeof *s->x);
    s->value = calloc(n, sizeof *s->value);
    if (!s->notes || !s->x || !s->value) {
        noted_finish(s);
        return as_nomem(err, n * sizeof *s->x, "further metrics");
    }
    for (size_t i = 0; i < t->n && s->metrics_n; i++) {
        if (!as_trial_counts(&t->v[i]))
            continue;
        s->x[s->notes_n].process = as_judge_process_of(j, cell, &t->v[i]);
        s->notes[s->notes_n++] = t->v[i].detail ? json_loads(t->v[i].detail, 0, NULL) : NULL;
    }
    return AS_OK;
}

/* Counts, and shares of what a cell counts. */
static bool metric_is_exact(const struct noted *s, const struct as_metric *m)
{
    return as_unit_is_count(m->unit) || (s->is_exact && strcmp(m->unit, "%") == 0);
}

/* Estimates a metric, one sample per trial. *trials: those that have a value; 0: no estimate. */
static enum as_status noted_estimate(const struct noted *s, const struct as_metric *m, const struct as_prior *prior,
                                     struct as_estimate *out, size_t *trials, struct as_error *err)
{
    const struct as_aim aim = {.exact = metric_is_exact(s, m), .trials = s->notes_n};
    struct as_trial_samples *x = calloc(s->notes_n ? s->notes_n : 1, sizeof *x);
    *trials = 0;
    if (!x)
        return as_nomem(err, s->notes_n * sizeof *x, "further metrics");
    for (size_t i = 0; i < s->notes_n; i++) {
        const json_t *v = json_object_get(s->notes[i], m->name);
        s->value[i] = json_is_number(v) ? json_number_value(v) : NAN;
        if (isfinite(s->value[i]))
            x[(*trials)++] = (struct as_trial_samples){.x = &s->value[i], .n = 1, .process = s->x[i].process};
    }
    const enum as_status st = *trials ? as_estimate_cell(x, *trials, NULL, prior, &aim, out, err) : AS_OK;
    free(x);
    return st;
}

static struct as_metric_kind *find_metric_kind(const struct as_judge *j, size_t kind, const char *name)
{
    for (size_t i = 0; i < j->metric_kinds_n; i++)
        if (j->metric_kinds[i].kind == kind && strcmp(j->metric_kinds[i].name, name) == 0)
            return &j->metric_kinds[i];
    return NULL;
}

static enum as_status keep_estimate(struct as_judge *j, size_t kind, const char *name, const struct as_estimate *e,
                                    struct as_error *err)
{
    struct as_metric_kind *k = find_metric_kind(j, kind, name);
    enum as_status st = AS_OK;
    if (!k) {
        st = as_grow((void **)&j->metric_kinds, &j->metric_kinds_cap, j->metric_kinds_n + 1, sizeof *k, err);
        if (st)
            return st;
        k = &j->metric_kinds[j->metric_kinds_n++];
        *k = (struct as_metric_kind){.kind = kind};
        as_copy_text(k->name, sizeof k->name, name);
    }
    st = as_grow((void **)&k->found, &k->cap, k->n + 1, sizeof *k->found, err);
    if (!st)
        k->found[k->n++] = *e;
    return st;
}

static enum as_status learn_cell(struct as_judge *j, size_t kind, const struct as_cell *cell, const struct as_trials *t,
                                 struct as_error *err)
{
    struct noted s;
    enum as_status st = noted_make(&s, j, cell, t, err);
    if (st)
        return st;
    for (size_t m = 0; m < s.metrics_n && !st; m++) {
        struct as_estimate e;
        size_t trials;
        st = noted_estimate(&s, &s.metrics[m], NULL, &e, &trials, err);
        if (!st && trials && !metric_is_exact(&s, &s.metrics[m]))
            st = keep_estimate(j, kind, s.metrics[m].name, &e, err);
    }
    noted_finish(&s);
    return st;
}

enum as_status as_judge_learn_metrics(struct as_judge *j, const struct as_cell *cells, const struct as_trials *trials,
                                      const size_t *of, size_t n, struct as_error *err)
{
    enum as_status st = AS_OK;
    as_judge_forget_metrics(j);
    for (size_t i = 0; i < n && !st; i++)
        if (of[i] != AS_NO_KIND)
            st = learn_cell(j, of[i], &cells[i], &trials[i], err);
    for (size_t i = 0; i < j->metric_kinds_n && !st; i++)
        st = as_prior_fit_cells(j->metric_kinds[i].found, j->metric_kinds[i].n, &j->metric_kinds[i].prior, err);
    return st;
}

void as_judge_forget_metrics(struct as_judge *j)
{
    for (size_t i = 0; i < j->metric_kinds_n; i++)
        free(j->metric_kinds[i].found);
    free(j->metric_kinds);
    j->metric_kinds = NULL;
    j->metric_kinds_n = j->metric_kinds_cap = 0;
}

enum as_status as_judge_set_metrics(const struct as_judge *j, size_t kind, struct as_cell *cell,
                                    const struct as_trials *t, struct as_error *err)
{
    struct as_metric_value now[AS_METRICS_MAX];
    struct noted s;
    size_t n = 0;
    enum as_status st = noted_make(&s, j, cell, t, err);
    if (st)
        return st;
    for (size_t i = 0; i < s.metrics_n && n < AS_METRICS_MAX && !st; i++) {
        const struct as_metric *m = &s.metrics[i];
        const struct as_metric_kind *k = find_metric_kind(j, kind, m->name);
        struct as_estimate e;
        size_t trials;
        st = noted_estimate(&s, m, k ? &k->prior : NULL, &e, &trials, err);
        if (st || !trials)
            continue;
        now[n] = (struct as_metric_value){
            .lower_is_better = m->lower_is_better, .trials = e.trials, .value = e.value, .ci = e.ci};
        as_copy_text(now[n].name, sizeof now[n].name, m->name);
        as_copy_text(now[n].unit, sizeof now[n].unit, m->unit);
        as_copy_text(now[n++].counts, sizeof now->counts, m->counts);
    }
    st = st ? st : as_cell_set_metrics(cell, now, n, err);
    noted_finish(&s);
    return st;
}
