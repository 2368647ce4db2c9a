/* Numbers of a machine from those of its runs. */
#include "report/sheet/machine_sheet.h"
#include "stats/between.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines of one group vary alike between runs. */
enum group { OF_CORE, OF_CORES, OF_SHARED_CACHE, OF_MEMORY, OF_HOST, OF_DEVICE, GROUPS };
_Static_assert((int)GROUPS == (int)AS_LINE_GROUPS, "one prior for each group");

/* Standard deviation of the logarithm of a line between runs, of a guest on a shared host: from thirteen runs of
 * `quick` on a guest of two CPUs (AMD EPYC), the mean of as_between_of over the lines of each group
 * without the largest tenth. */
static const double of_guests[GROUPS] = {[OF_CORE] = 0.003,   [OF_CORES] = 0.006, [OF_SHARED_CACHE] = 0.15,
                                         [OF_MEMORY] = 0.031, [OF_HOST] = 0.022,  [OF_DEVICE] = AS_BETWEEN_QUIET};
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

/* The interval of a capacity is a range. */
static bool is_joined(const struct as_sheet_row *row)
{
    return row->of->kind != AS_KIND_CAPACITY;
}

/* Adds what the lines of a group with several runs vary by; returns how many there are then. */
static size_t add_lines(const struct as_machine_sheet *m, enum group group, struct as_between *v, size_t n)
{
    for (size_t d = 0; d < m->n; d++)
        for (size_t i = 0; i < m->v[d].sheet.n; i++) {
            const struct as_sheet_row *row = &m->v[d].sheet.rows[i];
            if (!is_joined(row) || group_of(m->v[d].id, row->of) != group)
                continue;
            v[n] = as_between_of(m->v[d].runs[i].v, m->v[d].runs[i].n);
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

enum as_status as_machine_priors_make(const struct as_machine_sheet *a, const struct as_machine_sheet *b,
                                      struct as_machine_priors *out, struct as_error *err)
{
    const size_t lines = lines_of(a) + lines_of(b);
    struct as_between *v = malloc((lines + 1) * sizeof *v);
    if (!v)
        return as_nomem(err, lines * sizeof *v, "variances of lines");
    for (int g = 0; g < GROUPS; g++) {
        const double sd = a->virtual_machine || b->virtual_machine ? of_guests[g] : AS_BETWEEN_QUIET;
        const size_t n = add_lines(b, (enum group)g, v, add_lines(a, (enum group)g, v, 0));
        const double own = n ? (double)n * as_between_group(v, n).variance : 0;
        out->variance[g] = (PRIOR_LINES * sd * sd + own) / (double)(PRIOR_LINES + n);
    }
    free(v);
    return AS_OK;
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
    if (!is_joined(row) || !as_join_runs(runs->v, runs->n, between, &joined)) {
        range_of_runs(runs, row);
        return;
    }
    row->value = joined.value;
    row->ci = joined.ci;
    const unsigned of_trials = as_trials_df(row->trials);
    runs->df = joined.df < of_trials ? joined.df : of_trials;
}

void as_line_join(const char *device, const struct as_machine_priors *priors, struct as_line_side *a,
                  struct as_line_side *b)
{
    const struct as_line_side *known = a->row ? a : b;
    struct as_between between = {priors->variance[group_of(device, known->row->of)], PRIOR_DF};
    struct as_line_side *const sides[] = {a, b};
    for (int i = 0; i < 2; i++)
        if (sides[i]->row)
            between = as_between_pool(between, as_between_of(sides[i]->runs->v, sides[i]->runs->n));
    for (int i = 0; i < 2; i++)
        if (sides[i]->row)
            join_row(sides[i]->runs, between, sides[i]->row);
}
