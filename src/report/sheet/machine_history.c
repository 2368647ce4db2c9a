#include "report/sheet/machine_history.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void as_histories_free(struct as_history *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(v[i].v);
    free(v);
}

static void history_add(char *out, size_t size, const char *text)
{
    const size_t n = strlen(out);
    if (text[0] && !strstr(out, text))
        snprintf(out + n, size - n, "%s%s", n ? "; " : "", text);
}

/* What changed of host, assay and the line's device after the line's run before. */
static void find_state(const struct as_machine_runs *m, const char *device, const struct as_machine_run *before,
                       struct as_history_run *r)
{
    for (const struct as_machine_run *run = before ? before + 1 : m->v; before && run <= r->run; run++) {
        history_add(r->cause, sizeof r->cause, run->host_state);
        for (size_t d = 0; d < run->devices_n; d++)
            if (strcmp(run->devices[d].device, device) == 0)
                history_add(r->cause, sizeof r->cause, run->devices[d].text);
    }
    r->is_state = r->cause[0];
}

/* ---- clock, load and neighbours ---- */

/* Clocks that differ by less move with load and temperature. */
static const double CLOCK_CHANGED = 0.03, LOAD_CHANGED = 0.5, LOAD_RATIO = 1.25;

/* Runs [from, to), without the one at `but`. */
struct stretch {
    size_t from, to, but;
};

static double median_of(const struct as_history *h, struct stretch s, bool load)
{
    double v[AS_MACHINE_RUNS_MAX];
    size_t n = 0;
    for (size_t i = s.from; i < s.to; i++) {
        const double x = load ? h->v[i].run->load : h->v[i].run->clock_hz;
        if (i != s.but && isfinite(x))
            v[n++] = x;
    }
    return as_median(v, n);
}

/* Adds by what the run, or the level that it begins, differs from the others. */
static void find_conditions(struct as_history *h, size_t at, struct stretch then, struct stretch now)
{
    struct as_history_run *r = &h->v[at];
    const double clocks[2] = {median_of(h, then, false), median_of(h, now, false)},
                 loads[2] = {median_of(h, then, true), median_of(h, now, true)};
    struct as_buf text = AS_BUF_INIT;
    if (r->is_state)
        return;
    if (fabs(log(clocks[1] / clocks[0])) > CLOCK_CHANGED) {
        as_buf_str(&text, "clock ");
        as_format_value(&text, clocks[0], "Hz");
        as_buf_str(&text, ", then ");
        as_format_value(&text, clocks[1], "Hz");
    }
    if (fabs(loads[1] - loads[0]) > LOAD_CHANGED && fabs(log(loads[1] / loads[0])) > log(LOAD_RATIO))
        as_buf_printf(&text, "%sload %.1f, then %.1f", text.len ? "; " : "", loads[0], loads[1]);
    history_add(r->cause, sizeof r->cause, as_buf_get(&text));
    history_add(r->cause, sizeof r->cause, r->run->conditions);
    as_buf_finish(&text);
}

/* Each run that changed or lies alone against its level before, or the other runs of its level. */
static void find_causes(struct as_history *h)
{
    for (size_t at = 0; at < h->n; at++) {
        size_t from = at, to = at + 1;
        while (from > 0 && h->v[from].place != AS_RUN_CHANGED)
            from--;
        while (to < h->n && h->v[to].place != AS_RUN_CHANGED)
            to++;
        if (h->v[at].place == AS_RUN_ALONE)
            find_conditions(h, at, (struct stretch){from, to, at}, (struct stretch){at, at + 1, h->n});
        if (h->v[at].place != AS_RUN_CHANGED)
            continue;
        for (from = at - 1; from > 0 && h->v[from].place != AS_RUN_CHANGED; from--)
            ;
        find_conditions(h, at, (struct stretch){from, at, h->n}, (struct stretch){at, to, h->n});
    }
}

/* The runs [from, to) as one number, without those that lie outside alone. */
static struct as_joined join_runs(const struct as_history *h, size_t from, size_t to,
                                  const struct as_machine_priors *priors, struct as_line_states *states)
{
    struct as_estimated runs[AS_MACHINE_RUNS_MAX] = {{0}};
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        if (h->v[i].place != AS_RUN_ALONE)
            runs[n++] = h->v[i].number;
    return as_line_number(h->device->id, priors, h->row->of, runs, n, states);
}

/* The line on the machine's sheet; false: it has none now. */
static bool find_now(const struct as_machine_runs *m, struct as_history *h)
{
    for (size_t d = 0; d < m->now.n; d++) {
        const struct as_device_sheet *device = &m->now.v[d];
        const struct as_sheet_row *row =
            strcmp(device->id, h->device->id) == 0 ? as_sheet_find(&device->sheet, h->row->group, h->row->label) : NULL;
        if (!row)
            continue;
        const struct as_line_runs *runs = &device->runs[row - device->sheet.rows];
        h->states = runs->states;
        h->joined = runs->n;
        h->on_sheet = row;
        h->now = (struct as_joined){.value = h->row->of->kind == AS_KIND_CAPACITY ? NAN : row->value,
                                    .ci = row->ci,
                                    .df = runs->df,
                                    .another = runs->another};
        return true;
    }
    return false;
}

static void find_levels(const struct as_machine_runs *m, struct as_history *h, const struct as_machine_priors *priors)
{
    struct as_line_states states;
    size_t before = 0;
    for (size_t i = 0; i < h->n; i++)
        if (h->v[i].place == AS_RUN_CHANGED) {
            before = h->since;
            h->since = i;
        }
    if (!find_now(m, h)) {
        h->joined = h->n - h->since;
        h->now = join_runs(h, h->since, h->n, priors, &h->states);
    }
    h->before = (struct as_joined){.value = NAN, .ci = {NAN, NAN}, .another = {NAN, NAN}};
    h->ratio = (struct as_interval){NAN, NAN};
    if (!h->since)
        return;
    h->before = join_runs(h, before, h->since, priors, &states);
    h->ratio = as_ratio_interval(h->now.value, h->now.ci, h->before.value, h->before.ci);
}

struct as_number as_history_number(const struct as_history *h)
{
    const struct as_line_states *s = &h->states;
    if (h->on_sheet) /* in the same form */
        return as_sheet_number(h->on_sheet);
    const bool is_range = h->row->of->kind == AS_KIND_CAPACITY;
    struct as_number n = {.value = is_range ? sqrt(h->now.ci.lo * h->now.ci.hi) : h->now.value,
                          .ci = h->now.ci,
                          .unit = h->row->unit,
                          .modes = s->n,
                          .of_runs = true};
    for (size_t i = 0; i < s->n; i++)
        n.mode[i] = s->of[i].value;
    if (s->n)
        n.share0 = (double)s->runs[0] / (double)(s->runs[0] + s->runs[1]);
    return n;
}

static enum as_status make_history(const struct as_machine_runs *m, const struct as_machine_priors *priors,
                                   size_t device, size_t line, struct as_history *h, struct as_error *err)
{
    const struct as_device_sheet *d = &m->sheet.v[device];
    const struct as_line_runs *runs = &d->runs[line];
    *h = (struct as_history){.device = d, .row = &d->sheet.rows[line]};
    h->v = calloc(runs->n + 1, sizeof *h->v);
    if (!h->v)
        return as_nomem(err, runs->n * sizeof *h->v, "the history of a line");
    for (size_t i = runs->n; i > 0; i--) { /* the latest comes first */
        const struct as_machine_run *run = as_machine_run_merged(m, runs->run[i - 1]);
        if (!run)
            continue;
        struct as_history_run *r = &h->v[h->n];
        *r = (struct as_history_run){.run = run, .number = runs->v[i - 1], .of = runs->of[i - 1]};
        r->place = runs->place ? runs->place[i - 1] : AS_RUN_STEADY;
        find_state(m, d->id, h->n ? h->v[h->n - 1].run : NULL, r);
        h->alone += r->place == AS_RUN_ALONE;
        h->n++;
    }
    find_causes(h);
    find_levels(m, h, priors);
    return AS_OK;
}

enum as_status as_histories_make(const struct as_machine_runs *m, struct as_history **out, size_t *n,
                                 struct as_error *err)
{
    const struct as_machine_sheet none = {.n = 0};
    struct as_machine_priors priors; /* as for the machine's sheet */
    size_t lines = 0;
    for (size_t d = 0; d < m->sheet.n; d++)
        lines += m->sheet.v[d].sheet.n;
    *n = 0;
    *out = calloc(lines + 1, sizeof **out);
    enum as_status st = *out ? as_machine_priors_make(&m->now, &none, &priors, err)
                             : as_nomem(err, lines * sizeof **out, "the history of a machine");
    for (size_t d = 0; d < m->sheet.n && !st; d++)
        for (size_t i = 0; i < m->sheet.v[d].sheet.n && !st; i++)
            if (!(st = make_history(m, &priors, d, i, &(*out)[*n], err)))
                ++*n;
    if (st) {
        as_histories_free(*out, *n);
        *out = NULL;
    }
    return st;
}
