/* Streams the cells of a run: counts, and 40 bytes per measured cell. */
#include "report/overview.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/overview_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The reason of a rejected cell is its failed gates, per probe; what a device lacks is one reason over all probes. */
static bool same_reason(const struct as_cell *a, const struct as_cell *b)
{
    if (a->status != b->status || strcmp(a->device, b->device) != 0)
        return false;
    if (a->status != AS_CELL_REJECTED)
        return strcmp(a->reason, b->reason) == 0;
    if (strcmp(a->probe, b->probe) != 0)
        return false;
    for (int g = 0; g < AS_GATE_N; g++)
        if ((a->gates[g].state == AS_GATE_FAIL) != (b->gates[g].state == AS_GATE_FAIL))
            return false;
    return true;
}

static void add_probe(struct as_missing_reason *r, const char *probe)
{
    size_t k = 0;
    while (k < r->probes_n && strcmp(r->probes[k], probe) != 0)
        k++;
    if (k == r->probes_n && k < AS_MISSING_PROBES)
        as_copy_text(r->probes[r->probes_n++], sizeof *r->probes, probe);
}

enum as_status as_missing_add(struct as_missing *m, const struct as_cell *cell, struct as_error *err)
{
    size_t k = 0;
    if (as_cell_is_valid(cell))
        return AS_OK;
    while (k < m->n && !same_reason(&m->reasons[k].first, cell))
        k++;
    if (k == AS_MISSING_REASONS) {
        m->more++;
        return AS_OK;
    }
    if (!m->reasons && !(m->reasons = malloc(AS_MISSING_REASONS * sizeof *m->reasons)))
        return as_nomem(err, AS_MISSING_REASONS * sizeof *m->reasons, "reasons");
    if (k == m->n) {
        struct as_missing_reason *r = &m->reasons[m->n++];
        r->first = *cell;
        r->first.detail = r->first.metrics = r->first.answers = NULL;
        r->first.samples = NULL;
        r->first.sample_trial = NULL;
        r->cells = r->probes_n = 0;
    }
    m->reasons[k].cells++;
    add_probe(&m->reasons[k], cell->probe);
    return AS_OK;
}

void as_missing_finish(struct as_missing *m)
{
    free(m->reasons);
    *m = (struct as_missing){0};
}

enum as_status as_overview_begin(struct as_overview *o, struct as_error *err)
{
    *o = (struct as_overview){.work = calloc(1, sizeof *o->work)};
    return o->work ? AS_OK : as_nomem(err, sizeof *o->work, "an overview");
}

void as_overview_finish(struct as_overview *o)
{
    for (size_t i = 0; i < o->groups_n; i++)
        free(o->groups[i].shown);
    free(o->groups);
    as_missing_finish(&o->missing);
    if (o->work) {
        free(o->work->probes);
        free(o->work->words);
        free(o->work->scopes);
        free(o->work->kinds);
        free(o->work->numbers);
    }
    free(o->work);
    *o = (struct as_overview){0};
}

/* Index of the probe, made when it is new; PROBES_MAX when there are too many. */
static enum as_status find_probe(struct overview_work *w, const struct as_cell *c, size_t *out, struct as_error *err)
{
    size_t i = 0;
    while (i < w->probes_n && strcmp(w->probes[i].name, c->probe) != 0)
        i++;
    *out = i;
    if (i < w->probes_n || i == PROBES_MAX)
        return AS_OK;
    size_t cap = w->probes_cap;
    enum as_status s = as_grow((void **)&w->probes, &cap, i + 1, sizeof *w->probes, err);
    if (!s)
        s = as_grow((void **)&w->words, &w->probes_cap, i + 1, sizeof *w->words, err);
    if (s)
        return s;
    w->probes[i] = (struct as_overview_probe){0};
    as_copy_text(w->probes[i].name, sizeof w->probes[i].name, c->probe);
    struct probe_words *words = &w->words[i];
    *words = (struct probe_words){0};
    for (size_t a = 0; a < c->axes.n; a++)
        if (isnan(c->axes.v[a].number))
            as_copy_text(words->of[words->n++].name, sizeof words->of->name, c->axes.v[a].name);
    w->probes_n++;
    return AS_OK;
}

static enum as_status find_scope(struct overview_work *w, const struct as_cell *c, size_t *out, struct as_error *err)
{
    size_t i = w->last_scope[0]; /* last hit first: probes and devices alternate */
    for (size_t k = 0; k < w->scopes_n; k++, i = i + 1 < w->scopes_n ? i + 1 : 0)
        if (strcmp(w->probes[w->scopes[i].probe].name, c->probe) == 0 && strcmp(w->scopes[i].device, c->device) == 0) {
            w->last_scope[0] = w->last_scope[1];
            w->last_scope[1] = *out = i;
            return AS_OK;
        }
    size_t probe;
    enum as_status s = find_probe(w, c, &probe, err);
    *out = SCOPES_MAX;
    if (s || probe == PROBES_MAX || w->scopes_n == SCOPES_MAX)
        return s;
    if ((s = as_grow((void **)&w->scopes, &w->scopes_cap, w->scopes_n + 1, sizeof *w->scopes, err)))
        return s;
    struct scope *scope = &w->scopes[w->scopes_n];
    *scope = (struct scope){.probe = probe, .first = c->axes};
    as_copy_text(scope->device, sizeof scope->device, c->device);
    for (size_t a = 0; a < c->axes.n; a++)
        scope->hash[a] = as_hash(c->axes.v[a].name, strlen(c->axes.v[a].name)) | 1;
    *out = w->scopes_n++;
    return AS_OK;
}

/* Which axes have several values; returns a hash of all but the size. */
static uint64_t look_at_axes(struct scope *scope, const struct as_axes *axes, double *size)
{
    uint64_t hash = 0;
    size_t known = 0;
    *size = NAN;
    for (size_t a = 0; a < axes->n; a++) {
        const struct as_axis_value *v = &axes->v[a], *first = &scope->first.v[a];
        const bool in_place = a < scope->first.n && strcmp(first->name, v->name) == 0;
        if (!in_place)
            first = as_axes_get(&scope->first, v->name);
        if (first) {
            known++;
            const size_t i = (size_t)(first - scope->first.v);
            scope->varies[i] = scope->varies[i] || strcmp(first->text, v->text) != 0;
        }
        if (strcmp(v->name, "size") == 0)
            *size = v->number;
        else
            hash +=
                as_hash(v->text, strlen(v->text)) * (in_place ? scope->hash[a] : as_hash(v->name, strlen(v->name)) | 1);
    }
    for (size_t i = 0; known < scope->first.n && i < scope->first.n; i++)
        scope->varies[i] = scope->varies[i] || !as_axes_get(axes, scope->first.v[i].name);
    return hash;
}

/* Four bits for each word axis: which of its values the cell has. */
static uint64_t look_at_words(struct probe_words *words, const struct as_axes *axes)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < words->n; i++) {
        struct word_axis *axis = &words->of[i];
        size_t k = 0;
        if (axis->n > WORDS_MAX)
            continue;
        const char *text = as_axes_text(axes, axis->name);
        while (k < axis->n && strcmp(axis->values[k], text) != 0)
            k++;
        if (k == axis->n && k < WORDS_MAX)
            as_copy_text(axis->values[k], sizeof *axis->values, text);
        axis->n += k == axis->n;
        bits |= (uint64_t)k << 4 * i;
    }
    return bits;
}

/* Index of the cells of a scope in one unit; KINDS_MAX when there are too many. */
static enum as_status find_kind(struct overview_work *w, size_t scope, const char *unit, size_t *out,
                                struct as_error *err)
{
    size_t i = 0;
    while (i < w->kinds_n && (w->kinds[i].scope != scope || strcmp(w->kinds[i].unit, unit) != 0))
        i++;
    *out = i;
    if (i < w->kinds_n || i == KINDS_MAX)
        return AS_OK;
    enum as_status s = as_grow((void **)&w->kinds, &w->kinds_cap, i + 1, sizeof *w->kinds, err);
    if (s)
        return s;
    w->kinds[i] = (struct kind){.scope = scope};
    as_copy_text(w->kinds[i].unit, sizeof w->kinds[i].unit, unit);
    w->kinds_n++;
    return AS_OK;
}

enum as_status as_overview_add(struct as_overview *o, const struct as_cell *cell, int64_t handle, struct as_error *err)
{
    struct overview_work *w = o->work;
    size_t scope, kind;
    double size;
    o->cells++;
    o->by_status[cell->status]++;
    enum as_status s = as_missing_add(&o->missing, cell, err);
    if (!s)
        s = find_scope(w, cell, &scope, err);
    if (s || scope == SCOPES_MAX)
        return s;
    const size_t probe = w->scopes[scope].probe;
    const uint64_t alike = look_at_axes(&w->scopes[scope], &cell->axes, &size) + scope;
    const uint64_t words = look_at_words(&w->words[probe], &cell->axes);
    w->probes[probe].cells++;
    if (cell->sum.n == 0 || !isfinite(cell->sum.median))
        return AS_OK;
    w->probes[probe].measured++;
    s = find_kind(w, scope, cell->unit, &kind, err);
    if (s || kind == KINDS_MAX)
        return s;
    if ((s = as_grow((void **)&w->numbers, &w->numbers_cap, w->numbers_n + 1, sizeof *w->numbers, err)))
        return s;
    w->numbers[w->numbers_n++] = (struct number){.median = cell->sum.median,
                                                 .size = size,
                                                 .alike = alike,
                                                 .handle = handle,
                                                 .words = words,
                                                 .kind = (unsigned)kind,
                                                 .valid = as_cell_is_valid(cell),
                                                 .lower_is_better = cell->lower_is_better != 0};
    return AS_OK;
}

const struct as_overview_probe *as_overview_probes(const struct as_overview *o, size_t *n)
{
    *n = o->work ? o->work->probes_n : 0;
    return o->work ? o->work->probes : NULL;
}

enum as_status as_overview_handles(const struct as_overview *o, const bool *left_out, int64_t **handles, size_t *n,
                                   struct as_error *err)
{
    const struct overview_work *w = o->work;
    size_t cap = 0;
    *handles = NULL;
    *n = 0;
    for (size_t i = 0; i < w->numbers_n; i++) {
        if (left_out[w->scopes[w->kinds[w->numbers[i].kind].scope].probe])
            continue;
        enum as_status s = as_grow((void **)handles, &cap, *n + 1, sizeof **handles, err);
        if (s)
            return s;
        (*handles)[(*n)++] = w->numbers[i].handle;
    }
    return AS_OK;
}
