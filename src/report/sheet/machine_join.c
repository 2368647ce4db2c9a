/* Numbers of a machine from those of its runs. */
#include "report/sheet/machine_sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines of one group vary alike between runs. */
enum group { OF_CORE, OF_CORES, OF_SHARED_CACHE, OF_MEMORY, OF_HOST, OF_DEVICE, GROUPS };
_Static_assert((int)GROUPS == (int)AS_LINE_GROUPS, "one prior for each group");

/* Standard deviation of the logarithm of a line between runs, of a guest on a shared host: from thirteen runs of
 * `quick` on a guest of two CPUs (AMD EPYC), the square root of the mean of as_between_of over the lines of each group
 * without the largest tenth. Of GPUs, whatever their host: six runs on an H100 within six minutes varied by 0.0011;
 * days are assumed to vary by more. */
static const double usual[GROUPS] = {[OF_CORE] = 0.003,   [OF_CORES] = 0.006, [OF_SHARED_CACHE] = 0.15,
                                     [OF_MEMORY] = 0.031, [OF_HOST] = 0.022,  [OF_DEVICE] = 0.002};
/* The prior's weight beside the lines of the machine that have several runs, in lines; and within a line. */
enum { PRIOR_LINES = 4, PRIOR_DF = 4 };

static enum group group_of(const char *device, const struct as_quantity *q)
{
    const bool is_cpu = strcmp(device, "cpu") == 0;
    if (q->of_host || q->kind == AS_KIND_TIME || (is_cpu && q->kind == AS_KIND_CLOCK))
        return OF_HOST;
    if (!is_cpu)
        return OF_DEVICE;
    if (strcmp(q->group, "Cache line") == 0)
        return OF_CORES;
    if (strcmp(q->level, "L3") == 0)
        return OF_SHARED_CACHE;
    /* ratios of interference and eviction compare accesses to memory */
    return strncmp(q->level, "memory", strlen("memory")) == 0 || q->kind == AS_KIND_RATIO ? OF_MEMORY : OF_CORE;
}

bool as_line_is_of_host(const char *device, const struct as_quantity *q)
{
    return group_of(device, q) != OF_DEVICE;
}

/* The interval of a capacity is a range. */
static bool is_joined(const struct as_sheet_row *row)
{
    return row->of->kind != AS_KIND_CAPACITY;
}

typedef struct as_between (*estimate_fn)(const struct as_estimated *runs, size_t n);

/* Adds what the lines of a group with several runs vary by; returns how many there are then. */
static size_t add_lines(const struct as_machine_sheet *m, enum group group, estimate_fn estimate, struct as_between *v,
                        size_t n)
{
    for (size_t d = 0; d < m->n; d++)
        for (size_t i = 0; i < m->v[d].sheet.n; i++) {
            const struct as_sheet_row *row = &m->v[d].sheet.rows[i];
            if (!is_joined(row) || group_of(m->v[d].id, row->of) != group)
                continue;
            v[n] = estimate(m->v[d].runs[i].v, m->v[d].runs[i].n);
            n += v[n].df > 0;
        }
    return n;
}

static size_t lines_of(const struct as_machine_sheet *m)
{
    size_t n = 0;
    for (size_t d = 0; d < m->n; d++)
        n += m->v[d].sheet.n;
    return n;
}

static enum as_status make_priors(const struct as_machine_sheet *a, const struct as_machine_sheet *b,
                                  estimate_fn estimate, struct as_machine_priors *out, struct as_error *err)
{
    const size_t lines = lines_of(a) + lines_of(b);
    struct as_between *v = malloc((lines + 1) * sizeof *v);
    if (!v)
        return as_nomem(err, lines * sizeof *v, "variances of lines");
    for (int g = 0; g < GROUPS; g++) {
        const bool is_known = g == OF_DEVICE || a->virtual_machine || b->virtual_machine;
        const double sd = is_known ? usual[g] : AS_BETWEEN_QUIET;
        const size_t n = add_lines(b, (enum group)g, estimate, v, add_lines(a, (enum group)g, estimate, v, 0));
        const double own = n ? (double)n * as_between_group(v, n).variance : 0;
        out->variance[g] = (PRIOR_LINES * sd * sd + own) / (double)(PRIOR_LINES + n);
    }
    free(v);
    return AS_OK;
}

enum as_status as_machine_priors_make(const struct as_machine_sheet *a, const struct as_machine_sheet *b,
                                      struct as_machine_priors *out, struct as_error *err)
{
    return make_priors(a, b, as_between_of, out, err);
}

enum as_status as_machine_priors_of_steps(const struct as_machine_sheet *m, struct as_machine_priors *out,
                                          struct as_error *err)
{
    const struct as_machine_sheet none = {.n = 0};
    return make_priors(m, &none, as_between_steps, out, err);
}

/* The mean of the runs, and an interval that holds all of theirs; none where one has none. */
static void range_of_runs(struct as_line_runs *runs, struct as_sheet_row *row)
{
    double sum = 0;
    row->ci = runs->v[0].ci;
    for (size_t i = 0; i < runs->n; i++) {
        const struct as_interval ci = runs->v[i].ci;
        sum += runs->v[i].value;
        row->ci = isfinite(row->ci.lo) && isfinite(ci.lo)
                      ? (struct as_interval){fmin(row->ci.lo, ci.lo), fmax(row->ci.hi, ci.hi)}
                      : (struct as_interval){NAN, NAN};
    }
    row->value = sum / (double)runs->n;
    runs->df = as_trials_df(row->trials);
}

static void join_row(struct as_line_runs *runs, struct as_between between, struct as_sheet_row *row)
{
    struct as_joined joined;
    runs->another = (struct as_interval){NAN, NAN};
    if (!is_joined(row) || !as_join_runs(runs->v, runs->n, between, &joined)) {
        range_of_runs(runs, row);
        return;
    }
    runs->another = joined.another;
    row->value = joined.value;
    row->ci = joined.ci;
    const unsigned of_trials = as_trials_df(row->trials);
    runs->df = joined.df < of_trials ? joined.df : of_trials;
}

struct as_between as_machine_prior(const struct as_machine_priors *priors, const char *device,
                                   const struct as_quantity *q)
{
    return (struct as_between){priors->variance[group_of(device, q)], PRIOR_DF};
}

void as_line_join(const char *device, const struct as_machine_priors *priors, struct as_line_side *a,
                  struct as_line_side *b)
{
    const struct as_line_side *known = a->row ? a : b;
    if (!known->row)
        return;
    struct as_between between = as_machine_prior(priors, device, known->row->of);
    struct as_line_side *const sides[] = {a, b};
    for (int i = 0; i < 2; i++)
        if (sides[i]->row)
            between = as_between_pool(between, as_between_of(sides[i]->runs->v, sides[i]->runs->n));
    for (int i = 0; i < 2; i++)
        if (sides[i]->row)
            join_row(sides[i]->runs, between, sides[i]->row);
}

enum as_status as_machine_sheet_join(struct as_machine_sheet *m, struct as_error *err)
{
    const struct as_machine_sheet none = {.n = 0};
    struct as_machine_priors priors;
    enum as_status st = as_machine_priors_make(m, &none, &priors, err);
    for (size_t d = 0; d < m->n && !st; d++)
        for (size_t i = 0; i < m->v[d].sheet.n; i++) {
            struct as_line_side nothing = {NULL, NULL};
            as_line_join(m->v[d].id, &priors, &(struct as_line_side){&m->v[d].sheet.rows[i], &m->v[d].runs[i]},
                         &nothing);
        }
    return st;
}

/* ---- changes ---- */

/* Share of machines that did not change of which any line shows a change. */
static const double FALSE_CHANGES = 0.05;
enum { CHANGES_FROM = 3 }; /* two runs do not tell which of them is odd */

static bool has_series(const struct as_device_sheet *d, size_t line)
{
    return is_joined(&d->sheet.rows[line]) && d->runs[line].n >= CHANGES_FROM;
}

/* The runs of a line are the latest first, as they were merged. */
static enum as_status find_places(struct as_line_runs *line, struct as_between prior, double confidence,
                                  struct as_error *err)
{
    struct as_estimated runs[AS_MACHINE_RUNS_MAX] = {{0}};
    enum as_run_place place[AS_MACHINE_RUNS_MAX];
    const size_t n = line->n < AS_MACHINE_RUNS_MAX ? line->n : AS_MACHINE_RUNS_MAX;
    for (size_t i = 0; i < n; i++)
        runs[i] = line->v[n - 1 - i];
    as_between_changes(runs, n, prior, confidence, place);
    line->place = calloc(line->n + 1, sizeof *line->place);
    for (size_t i = 0; line->place && i < n; i++)
        line->place[i] = place[n - 1 - i];
    return line->place ? AS_OK : as_nomem(err, n * sizeof *line->place, "runs of a line");
}

enum as_status as_machine_sheet_changes(struct as_machine_sheet *m, struct as_error *err)
{
    struct as_machine_priors priors;
    size_t series = 0;
    enum as_status st = as_machine_priors_of_steps(m, &priors, err);
    for (size_t d = 0; d < m->n; d++)
        for (size_t i = 0; i < m->v[d].sheet.n; i++)
            series += has_series(&m->v[d], i);
    for (size_t d = 0; d < m->n && !st; d++)
        for (size_t i = 0; i < m->v[d].sheet.n && !st; i++)
            if (has_series(&m->v[d], i))
                st = find_places(&m->v[d].runs[i], as_machine_prior(&priors, m->v[d].id, m->v[d].sheet.rows[i].of),
                                 1 - FALSE_CHANGES / (double)series, err);
    return st;
}

size_t as_line_since_change(const struct as_line_runs *line)
{
    for (size_t i = 0; line->place && i < line->n; i++)
        if (line->place[i] == AS_RUN_CHANGED)
            return i + 1;
    return line->n;
}
