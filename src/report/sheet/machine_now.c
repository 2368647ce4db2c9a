/* The machine as it is now: of the lines of all its runs those of its present state. */
#include "report/sheet/machine_load.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void drop_device(struct as_machine_sheet *m, size_t at)
{
    as_device_sheet_finish(&m->v[at]);
    memmove(&m->v[at], &m->v[at + 1], (m->n - at - 1) * sizeof *m->v);
    m->n--;
}

/* Appends what changed with the run at `at`. */
static void say_since(struct as_machine_load *l, size_t at, const char *what)
{
    if (!strstr(as_buf_get(&l->since), what))
        as_buf_printf(&l->since, "%srun %lld: %s", l->since.len ? "; " : "", (long long)l->out->v[at].id, what);
}

/* The last change of the host. */
static void say_host_changed(struct as_machine_load *l)
{
    struct as_buf what = AS_BUF_INIT;
    for (size_t at = l->found->n; at > 0 && !what.len; at--) {
        if (l->same_host[at - 1])
            continue;
        as_machine_state_host(&l->found->v[at - 1], &l->found->v[l->found->n - 1], &what);
        say_since(l, at, as_buf_get(&what));
    }
    as_buf_finish(&what);
}

/* Which runs, by as_line_runs.run, had the device in its present state; false: none of this state of the host. */
static bool find_same_state(struct as_machine_load *l, const char *device, bool same[AS_MACHINE_RUNS_MAX])
{
    struct as_buf what = AS_BUF_INIT;
    const struct as_machine_state *now = NULL;
    size_t next = 0; /* the run after this one that had the device */
    bool said = false;
    memset(same, 0, AS_MACHINE_RUNS_MAX * sizeof *same);
    for (size_t at = l->found->n; at > 0; at--) {
        const struct as_machine_state *state = &l->found->v[at - 1];
        if (!l->same_host[at - 1] || !as_machine_state_has(state, device))
            continue;
        now = now ? now : state;
        as_buf_clear(&what);
        as_machine_state_device(state, now, device, &what);
        if (l->out->v[at - 1].merged != SIZE_MAX)
            same[l->out->v[at - 1].merged] = !what.len;
        if (what.len && !said)
            say_since(l, next, as_buf_get(&what));
        said |= what.len > 0;
        next = at - 1;
    }
    as_buf_finish(&what);
    return now != NULL;
}

static void keep_same_state(struct as_line_runs *line, const bool same[AS_MACHINE_RUNS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < line->n; i++) {
        if (!same[line->run[i]])
            continue;
        line->v[n] = line->v[i];
        line->of[n] = line->of[i];
        line->run[n] = line->run[i];
        if (line->place)
            line->place[n] = line->place[i];
        n++;
    }
    line->n = n;
}

static void machine_add_remark(struct as_sheet_row *row, const struct as_buf *text)
{
    struct as_buf both = AS_BUF_INIT;
    as_buf_printf(&both, "%s%s%s", as_buf_get(text), row->remark[0] ? ", " : "", row->remark);
    as_copy_text(row->remark, sizeof row->remark, as_buf_get(&both));
    as_buf_finish(&both);
}

static long long id_of(const struct as_machine_runs *m, size_t index)
{
    const struct as_machine_run *run = as_machine_run_merged(m, index);
    return run ? (long long)run->id : 0;
}

/* Where a line changed by itself, the runs before do not tell what it is now. */
static void keep_since_change(const struct as_machine_runs *m, struct as_sheet_row *row, struct as_line_runs *line)
{
    const size_t n = as_line_since_change(line);
    struct as_buf text = AS_BUF_INIT;
    if (n == line->n)
        return;
    as_buf_printf(&text, "since run %lld, ", id_of(m, line->run[n - 1]));
    as_format_value(&text, line->v[n].value, row->unit);
    as_buf_str(&text, " before");
    machine_add_remark(row, &text);
    as_buf_finish(&text);
    line->n = n;
}

/* The runs that lie outside what the others predict, alone. */
struct alone {
    size_t n, last; /* last: index of the latest */
    double lo, hi;
};

static struct alone take_out_alone(struct as_line_runs *line)
{
    struct alone a = {0, 0, INFINITY, -INFINITY};
    size_t n = 0, left = 0;
    for (size_t i = 0; i < line->n && line->place; i++)
        left += line->place[i] != AS_RUN_ALONE;
    if (!left) /* each lies outside the others: none of them is the exception */
        return a;
    for (size_t i = 0; i < line->n; i++) {
        if (line->place[i] != AS_RUN_ALONE) {
            line->v[n] = line->v[i];
            line->of[n] = line->of[i];
            line->run[n++] = line->run[i];
            continue;
        }
        a.lo = fmin(a.lo, line->v[i].value);
        a.hi = fmax(a.hi, line->v[i].value);
        a.last = a.n++ ? a.last : line->run[i];
    }
    line->n = n;
    return a;
}

/* Takes them out, and names them. */
static void name_alone(const struct as_machine_runs *m, struct as_sheet_row *row, struct as_line_runs *line)
{
    const struct alone a = take_out_alone(line);
    struct as_buf text = AS_BUF_INIT;
    if (!a.n)
        return;
    if (a.n == 1) {
        as_format_value(&text, a.lo, row->unit);
        as_buf_printf(&text, " in run %lld alone", id_of(m, a.last));
    } else {
        as_format_range(&text, a.lo, a.hi, a.hi, row->unit, 3);
        as_buf_printf(&text, " in %zu of %zu runs", a.n, line->n + a.n);
    }
    machine_add_remark(row, &text);
    as_buf_finish(&text);
}

/* A prior is no evidence: a line that rests on one run where others have more says so.
 * runs: of its device. */
static void say_evidence(struct as_sheet_row *row, const struct as_line_runs *line, size_t runs)
{
    struct as_buf text = AS_BUF_INIT;
    if (line->n == 1 && runs > 1)
        as_buf_str(&text, row->trials == 1 ? "one trial of one run" : "one run");
    if (text.len)
        machine_add_remark(row, &text);
    as_buf_finish(&text);
}

/* "105 ns in 3 of 17 runs": of the rarer state. */
static void say_states(struct as_sheet_row *row, const struct as_line_runs *line)
{
    const struct as_line_states *s = &line->states;
    struct as_buf text = AS_BUF_INIT;
    if (!s->n)
        return;
    const size_t rare = s->runs[1] <= s->runs[0];
    as_format_value(&text, s->of[rare].value, row->unit);
    as_buf_printf(&text, " in %zu of %zu runs", s->runs[rare], s->runs[0] + s->runs[1]);
    machine_add_remark(row, &text);
    as_buf_finish(&text);
}

/* A line that was measured in another state only is a gap. */
static enum as_status drop_line(struct as_device_sheet *d, size_t at, struct as_error *err)
{
    struct as_sheet *s = &d->sheet;
    struct as_sheet_gap *gaps = realloc(s->gaps, (s->gaps_n + 1) * sizeof *gaps);
    if (!gaps)
        return as_nomem(err, (s->gaps_n + 1) * sizeof *gaps, "a data sheet");
    const struct as_sheet_row *row = &s->rows[at];
    size_t g = s->gaps_n;
    s->gaps = gaps;
    for (; g > 0 && gaps[g - 1].of > row->of; g--)
        gaps[g] = gaps[g - 1];
    gaps[g] = (struct as_sheet_gap){.group = row->group, .of = row->of};
    as_copy_text(gaps[g].title, sizeof gaps[g].title, row->title);
    as_copy_text(gaps[g].label, sizeof gaps[g].label, row->label);
    as_copy_text(gaps[g].shown, sizeof gaps[g].shown, row->shown);
    as_copy_text(gaps[g].reason, sizeof gaps[g].reason, "not measured since the machine or assay changed");
    s->gaps_n++;
    as_line_runs_finish(&d->runs[at]);
    s->n--;
    memmove(&s->rows[at], &s->rows[at + 1], (s->n - at) * sizeof *s->rows);
    memmove(&d->runs[at], &d->runs[at + 1], (s->n - at) * sizeof *d->runs);
    return AS_OK;
}

/* Leaves the runs that tell what the device is now. */
static enum as_status keep_now(struct as_machine_load *l, struct as_device_sheet *d,
                               const bool same[AS_MACHINE_RUNS_MAX], struct as_error *err)
{
    enum as_status st = AS_OK;
    size_t runs = 0;
    for (size_t i = 0; i < AS_MACHINE_RUNS_MAX; i++)
        runs += same[i];
    for (size_t i = d->sheet.n; i > 0 && !st; i--) {
        struct as_sheet_row *row = &d->sheet.rows[i - 1];
        struct as_line_runs *line = &d->runs[i - 1];
        keep_since_change(l->out, row, line);
        keep_same_state(line, same);
        name_alone(l->out, row, line);
        say_evidence(row, line, runs);
        row->wide = false; /* the request was for a run */
        if (!line->n)
            st = drop_line(d, i - 1, err);
    }
    return st;
}

enum as_status as_machine_join_now(struct as_machine_load *l, struct as_machine_sheet *sheet, struct as_error *err)
{
    bool same[AS_MACHINE_RUNS_MAX];
    enum as_status st = AS_OK;
    say_host_changed(l);
    for (size_t d = sheet->n; d > 0 && !st; d--) {
        if (find_same_state(l, sheet->v[d - 1].id, same))
            st = keep_now(l, &sheet->v[d - 1], same, err);
        else
            drop_device(sheet, d - 1);
    }
    if (!st)
        st = as_machine_sheet_join(sheet, err);
    for (size_t d = 0; d < sheet->n && !st; d++)
        for (size_t i = 0; i < sheet->v[d].sheet.n; i++)
            say_states(&sheet->v[d].sheet.rows[i], &sheet->v[d].runs[i]);
    return st;
}
