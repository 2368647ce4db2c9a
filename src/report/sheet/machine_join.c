/* Numbers of a machine from those of its runs. */
#include "report/sheet/machine_sheet.h"
#include "stats/between.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines of one group vary alike between runs. */
enum group { OF_CORE, OF_CORES, OF_SHARED_CACHE, OF_MEMORY, OF_HOST, OF_DEVICE, GROUPS };

/* Standard deviation of the logarithm of a line between runs, of a guest on a shared host: from thirteen runs of
 * `quick` on a guest of two CPUs (AMD EPYC), by as_between_variance and as_between_group. That of devices and of
 * machines without a hypervisor: "some tenths of a percent" in consecutive runs on two hosts with H100 and H200. */
static const double of_guests[GROUPS] = {[OF_CORE] = 0.003,   [OF_CORES] = 0.006, [OF_SHARED_CACHE] = 0.15,
                                         [OF_MEMORY] = 0.031, [OF_HOST] = 0.022,  [OF_DEVICE] = 0.005};
static const double OF_OTHERS = 0.005;
/* As many lines does that prior count for beside those of the machine's own runs. */
enum { PRIOR_LINES = 4 };

/* Which levels are whose; the rest of a CPU's lines are those of a core. */
static const struct {
    const char *level;
    enum group group;
} levels[] = {{"L3", OF_SHARED_CACHE}, {"memory", OF_MEMORY}, {"memory_side", OF_MEMORY}};

static enum group group_of(const char *device, const struct as_quantity *q)
{
    if (q->of_host)
        return OF_HOST;
    if (strcmp(device, "cpu") != 0)
        return OF_DEVICE;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(q->level, levels[i].level) == 0)
            return levels[i].group;
    if (strcmp(q->group, "Cache line") == 0)
        return OF_CORES;
    return q->kind == AS_KIND_TIME ? OF_HOST : q->level[0] || q->kind == AS_KIND_RATE ? OF_CORE : OF_MEMORY;
}

/* Counts, and capacities, whose interval is a range, do not vary as times do. */
static bool is_joined(const struct as_sheet_row *row)
{
    return row->of->kind != AS_KIND_CAPACITY && !(row->ci.lo == row->value && row->ci.hi == row->value);
}

/* The variance that lines of each group have in common: the prior, and what the machine's lines with several runs say.
 */
static enum as_status priors_of(const struct as_machine_sheet *m, double prior[GROUPS], struct as_error *err)
{
    size_t lines = 0;
    for (size_t d = 0; d < m->n; d++)
        lines += m->v[d].sheet.n;
    double *v = malloc((lines + 1) * sizeof *v);
    if (!v)
        return as_nomem(err, lines * sizeof *v, "variances of lines");
    for (int g = 0; g < GROUPS; g++) {
        const double sd = m->virtual_machine ? of_guests[g] : OF_OTHERS;
        size_t n = 0;
        for (size_t d = 0; d < m->n; d++)
            for (size_t i = 0; i < m->v[d].sheet.n; i++) {
                const struct as_line_runs *runs = &m->v[d].runs[i];
                const struct as_sheet_row *row = &m->v[d].sheet.rows[i];
                if (runs->n > 1 && is_joined(row) && (int)group_of(m->v[d].id, row->of) == g)
                    v[n++] = as_between_variance(runs->v, runs->n);
            }
        const double own = n ? as_between_group(v, n) : 0;
        prior[g] = (PRIOR_LINES * sd * sd + (double)n * own) / (double)(PRIOR_LINES + n);
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

static void join_row(struct as_line_runs *runs, double prior, struct as_sheet_row *row)
{
    struct as_joined joined;
    if (!is_joined(row) || !as_join_runs(runs->v, runs->n, prior, &joined)) {
        range_of_runs(runs, row);
        return;
    }
    row->value = joined.value;
    row->ci = joined.ci;
    const unsigned of_trials = as_trials_df(row->trials);
    runs->df = joined.df < of_trials ? joined.df : of_trials;
}

enum as_status as_machine_sheet_join(struct as_machine_sheet *m, struct as_error *err)
{
    double prior[GROUPS];
    enum as_status st = priors_of(m, prior, err);
    for (size_t d = 0; d < m->n && !st; d++)
        for (size_t i = 0; i < m->v[d].sheet.n; i++)
            join_row(&m->v[d].runs[i], prior[group_of(m->v[d].id, m->v[d].sheet.rows[i].of)], &m->v[d].sheet.rows[i]);
    return st;
}
