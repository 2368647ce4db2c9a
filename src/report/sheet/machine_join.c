/* Numbers of a machine from those of its runs. */
#include "report/sheet/machine_sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines of one group vary alike between runs. */
enum group { OF_CORE, OF_CORES, OF_SHARED_CACHE, OF_MEMORY, OF_HOST, OF_CLOCK, OF_DEVICE, GROUPS };
_Static_assert((int)GROUPS == (int)AS_LINE_GROUPS, "one prior for each group");

/* Standard deviation of the logarithm of a line between runs, of a guest on a shared host: from thirteen runs of
 * `quick` on a guest of two CPUs (AMD EPYC), the square root of the mean of as_between_of over the lines of each group
 * without the largest tenth; the core's clock went from 4.15 to 4.26 GHz. Of GPUs, whatever their host: six runs on an
 * H100 within six minutes varied by 0.0011; days are assumed to vary by more. */
static const double usual[GROUPS] = {
    [OF_CORE] = 0.003, [OF_CORES] = 0.006, [OF_SHARED_CACHE] = 0.15, [OF_MEMORY] = 0.031,
    [OF_HOST] = 0.022, [OF_CLOCK] = 0.008, [OF_DEVICE] = 0.002};
/* The prior's weight beside the lines of the machine that have several runs, in lines; and within a line. */
enum { PRIOR_LINES = 4, PRIOR_DF = 4 };

static enum group group_of(const char *device, const struct as_quantity *q)
{
    const bool is_cpu = strcmp(device, "cpu") == 0;
    if (is_cpu && q->kind == AS_KIND_CLOCK)
        return OF_CLOCK;
    if (q->of_host || q->kind == AS_KIND_TIME)
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

/* The group of all quantities that rest on the probe's cells; GROUPS: of several groups, or of none. */
static enum group group_of_probe(const char *device, const char *probe)
{
    const size_t length = strlen(probe);
    const enum as_side other = strcmp(device, "cpu") == 0 ? AS_SIDE_DEVICE : AS_SIDE_CPU;
    enum group found = GROUPS;
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (const struct as_quantity_source *s = q->sources; s->from; s++) {
            const char *from = s->cells ? s->cells : s->from;
            if (s->side == other || strncmp(from, probe, length) != 0 || from[length] != ' ')
                continue;
            if (found != GROUPS && found != group_of(device, q))
                return GROUPS;
            found = group_of(device, q);
        }
    return found;
}

/* A sweep of sizes goes through all levels, whichever of them the quantities of its probe read. */
static enum group group_of_cell(const struct as_cell *c)
{
    const enum group by_probe = group_of_probe(c->device, c->probe);
    const bool is_sweep = by_probe == GROUPS || (by_probe <= OF_MEMORY && by_probe != OF_CORES);
    if (!is_sweep)
        return by_probe;
    if (strcmp(c->device, "cpu") != 0)
        return isfinite(c->exponent) ? OF_HOST : OF_DEVICE; /* normalised: a core of the host did the work */
    if (c->exponent == 0 || c->gates[AS_GATE_FOOTPRINT].state == AS_GATE_PASS || as_main_memory_claimed(&c->axes))
        return OF_MEMORY;
    if (c->exponent == 1)
        return OF_CORE;
    return c->footprint ? OF_SHARED_CACHE : by_probe == GROUPS ? OF_HOST : by_probe;
}

static double usual_variance(enum group g, bool virtual_machine)
{
    const double sd = g == OF_DEVICE || virtual_machine ? usual[g] : AS_BETWEEN_QUIET;
    return sd * sd;
}

struct as_between as_cell_between(const struct as_cell *c, bool virtual_machine)
{
    return (struct as_between){usual_variance(group_of_cell(c), virtual_machine), PRIOR_DF};
}

/* What the pair of cores, the neighbours in a shared cache or the scheduler decide. */
static bool goes_between_states(const char *device, enum group g)
{
    return strcmp(device, "cpu") == 0 && (g == OF_CORES || g == OF_SHARED_CACHE || g == OF_HOST);
}

bool as_cell_has_states(const struct as_cell *c)
{
    return goes_between_states(c->device, group_of_cell(c));
}

bool as_line_has_states(const char *device, const struct as_quantity *q)
{
    return goes_between_states(device, group_of(device, q));
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

/* Adds what the lines of a group with several runs vary by within one level; returns how many there are then. */
static size_t add_lines(const struct as_machine_sheet *m, enum group group, struct as_between stored,
                        estimate_fn estimate, struct as_between *v, size_t n)
{
    for (size_t d = 0; d < m->n; d++)
        for (size_t i = 0; i < m->v[d].sheet.n; i++) {
            const struct as_sheet_row *row = &m->v[d].sheet.rows[i];
            const struct as_line_runs *runs = &m->v[d].runs[i];
            if (!is_joined(row) || group_of(m->v[d].id, row->of) != group ||
                isfinite(as_between_states(runs->v, runs->n, stored)))
                continue;
            v[n] = estimate(runs->v, runs->n);
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
        const struct as_between stored = {usual_variance((enum group)g, a->virtual_machine || b->virtual_machine),
                                          PRIOR_DF};
        const size_t n =
            add_lines(b, (enum group)g, stored, estimate, v, add_lines(a, (enum group)g, stored, estimate, v, 0));
        const double own = n ? (double)n * as_between_group(v, n).variance : 0;
        out->stored[g] = stored.variance;
        out->variance[g] = (PRIOR_LINES * stored.variance + own) / (double)(PRIOR_LINES + n);
    }
    free(v);
    return AS_OK;
}

enum as_status as_machine_priors_make(const struct as_machine_sheet *a, const struct as_machine_sheet *b,
                                      struct as_machine_priors *out, struct as_error *err)
{
    return make_priors(a, b, as_between_of, out, err);
}

/* From the steps from run to run of one machine, whose lines may have changed in between. */
static enum as_status priors_of_steps(const struct as_machine_sheet *m, struct as_machine_priors *out,
                                      struct as_error *err)
{
    const struct as_machine_sheet none = {.n = 0};
    return make_priors(m, &none, as_between_steps, out, err);
}

/* ---- one line ---- */

/* A line's runs, apart by state. */
struct parts {
    struct as_estimated v[2][AS_MACHINE_RUNS_MAX];
    size_t n[2];
};

static void part_runs(const struct as_estimated *runs, size_t n, double between, struct parts *out)
{
    out->n[0] = out->n[1] = 0;
    for (size_t i = 0; i < n && i < AS_MACHINE_RUNS_MAX; i++) {
        const size_t above = runs[i].value > between;
        out->v[above][out->n[above]++] = runs[i];
    }
}

/* What is known of a line before and from its runs: tau^2 of it, and where its states part. */
struct line_scatter {
    struct as_between own; /* of all sides */
    double most;           /* what the runs allow tau^2 to be; INFINITY: they do not tell */
};

static struct as_between stored_prior(const char *device, const struct as_machine_priors *priors,
                                      const struct as_quantity *q)
{
    return (struct as_between){priors->stored[group_of(device, q)], PRIOR_DF};
}

static void add_scatter(struct line_scatter *s, const struct as_estimated *runs, size_t n)
{
    const double most = as_between_most(runs, n);
    s->own = as_between_pool(s->own, as_between_of(runs, n));
    if (isfinite(most))
        s->most = isfinite(s->most) ? fmax(s->most, most) : most;
}

/* Adds the runs of one side, within its states. */
static void add_side(struct line_scatter *s, const struct as_estimated *runs, size_t n, double between)
{
    struct parts parts;
    if (!isfinite(between)) {
        add_scatter(s, runs, n);
        return;
    }
    part_runs(runs, n, between, &parts);
    for (int i = 0; i < 2; i++)
        add_scatter(s, parts.v[i], parts.n[i]);
}

/* tau^2 of the line. Other lines of its group may show that the machine is unsteady, and this line not to be so. */
static struct as_between scatter_of(const struct line_scatter *s, const char *device,
                                    const struct as_machine_priors *priors, const struct as_quantity *q)
{
    struct as_between prior = as_machine_prior(priors, device, q);
    prior.variance = fmin(prior.variance, fmax(stored_prior(device, priors, q).variance, s->most));
    return s->own.df > 0 ? as_between_pool(prior, s->own) : prior;
}

/* The states as one: the value of the more frequent, and intervals that span both. */
static struct as_joined span_states(const struct as_line_states *s)
{
    struct as_joined all = s->of[s->runs[1] > s->runs[0]];
    for (int i = 0; i < 2; i++) {
        all.df = s->of[i].df < all.df ? s->of[i].df : all.df;
        all.ci = (struct as_interval){fmin(all.ci.lo, s->of[i].ci.lo), fmax(all.ci.hi, s->of[i].ci.hi)};
        all.another =
            (struct as_interval){fmin(all.another.lo, s->of[i].another.lo), fmax(all.another.hi, s->of[i].another.hi)};
    }
    return all;
}

static bool join_states(const struct as_estimated *runs, size_t n, double between, struct as_between scatter,
                        struct as_line_states *states)
{
    struct parts parts;
    bool joined = true;
    *states = (struct as_line_states){.n = 0};
    if (!isfinite(between))
        return false;
    part_runs(runs, n, between, &parts);
    for (int i = 0; i < 2; i++) {
        states->runs[i] = parts.n[i];
        joined &= as_join_runs(parts.v[i], parts.n[i], scatter, &states->of[i]);
    }
    states->n = joined ? 2 : 0;
    return joined;
}

static struct as_joined join_line(const struct as_estimated *runs, size_t n, double between, struct as_between scatter,
                                  struct as_line_states *states)
{
    struct as_joined joined;
    if (join_states(runs, n, between, scatter, states))
        return span_states(states);
    if (!as_join_runs(runs, n, scatter, &joined))
        joined = (struct as_joined){.value = NAN, .ci = {NAN, NAN}, .another = {NAN, NAN}};
    return joined;
}

struct as_joined as_line_number(const char *device, const struct as_machine_priors *priors, const struct as_quantity *q,
                                const struct as_estimated *runs, size_t n, struct as_line_states *states)
{
    struct line_scatter s = {{0, 0}, INFINITY};
    const double between = as_between_states(runs, n, stored_prior(device, priors, q));
    *states = (struct as_line_states){.n = 0};
    if (q->kind == AS_KIND_CAPACITY)
        return (struct as_joined){.value = NAN, .ci = {NAN, NAN}, .another = {NAN, NAN}};
    add_side(&s, runs, n, between);
    return join_line(runs, n, between, scatter_of(&s, device, priors, q), states);
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

/* Two modes of the samples are those of one run. */
static void set_modes(const struct as_line_runs *runs, struct as_sheet_row *row)
{
    const struct as_line_states *s = &runs->states;
    row->of_runs = s->n == 2;
    if (runs->n > 1)
        row->modes = s->n;
    for (size_t i = 0; i < s->n; i++)
        row->mode[i] = s->of[i].value;
    if (s->n)
        row->mode_share0 = (double)s->runs[0] / (double)(s->runs[0] + s->runs[1]);
}

/* Of all runs, as the value: what each counted per unit of its value. */
static void set_counted_of_runs(const struct as_line_runs *runs, struct as_sheet_row *row)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < runs->n; i++)
        if (isfinite(runs->of[i].counted)) {
            sum += runs->of[i].counted / runs->v[i].value;
            n++;
        }
    row->counted = n ? row->value * sum / (double)n : NAN;
}

static void join_value(struct as_line_runs *runs, double between, struct as_between scatter, struct as_sheet_row *row)
{
    struct as_joined joined = {.value = NAN, .another = {NAN, NAN}};
    runs->states = (struct as_line_states){.n = 0};
    if (is_joined(row))
        joined = join_line(runs->v, runs->n, between, scatter, &runs->states);
    runs->another = joined.another;
    set_modes(runs, row);
    if (!isfinite(joined.value)) {
        range_of_runs(runs, row);
        return;
    }
    row->value = joined.value;
    row->ci = joined.ci;
    runs->df = as_joined_df(&joined, scatter, as_trials_df(row->trials));
}

static void join_row(struct as_line_runs *runs, double between, struct as_between scatter, struct as_sheet_row *row)
{
    join_value(runs, between, scatter, row);
    set_counted_of_runs(runs, row);
}

void as_line_another(const struct as_sheet_row *row, const struct as_line_runs *runs, struct as_buf *out)
{
    const struct as_number n = {.value = row->value, .ci = runs->another, .unit = row->unit},
                           states = as_sheet_number(row);
    if (runs->states.n)
        as_number_brief(&states, out);
    else if (isfinite(runs->another.lo) && !as_number_predicts(runs->another))
        as_buf_str(out, AS_NOT_YET_KNOWN);
    else if (as_number_form(&n) == AS_NUMBER_VALUE)
        as_number_precision(&n, out);
    else
        as_number_text(&n, out);
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
    struct as_line_side *const sides[] = {a, b};
    struct line_scatter s = {{0, 0}, INFINITY};
    double between[2] = {NAN, NAN};
    if (!known->row)
        return;
    const struct as_quantity *q = known->row->of;
    for (int i = 0; i < 2; i++)
        if (sides[i]->row) {
            const struct as_line_runs *runs = sides[i]->runs;
            between[i] = as_between_states(runs->v, runs->n, stored_prior(device, priors, q));
            add_side(&s, runs->v, runs->n, between[i]);
        }
    const struct as_between scatter = scatter_of(&s, device, priors, q);
    for (int i = 0; i < 2; i++)
        if (sides[i]->row)
            join_row(sides[i]->runs, between[i], scatter, sides[i]->row);
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
static enum as_status find_places(struct as_line_runs *line, struct as_between stored, struct as_between prior,
                                  double confidence, struct as_error *err)
{
    struct as_estimated runs[AS_MACHINE_RUNS_MAX] = {{0}};
    enum as_run_place place[AS_MACHINE_RUNS_MAX];
    const size_t n = line->n < AS_MACHINE_RUNS_MAX ? line->n : AS_MACHINE_RUNS_MAX;
    for (size_t i = 0; i < n; i++)
        runs[i] = line->v[n - 1 - i];
    if (isfinite(as_between_states(runs, n, stored)))
        memset(place, 0, sizeof place); /* it goes to and fro */
    else
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
    enum as_status st = priors_of_steps(m, &priors, err);
    for (size_t d = 0; d < m->n; d++)
        for (size_t i = 0; i < m->v[d].sheet.n; i++)
            series += has_series(&m->v[d], i);
    for (size_t d = 0; d < m->n && !st; d++)
        for (size_t i = 0; i < m->v[d].sheet.n && !st; i++)
            if (has_series(&m->v[d], i))
                st = find_places(&m->v[d].runs[i], stored_prior(m->v[d].id, &priors, m->v[d].sheet.rows[i].of),
                                 as_machine_prior(&priors, m->v[d].id, m->v[d].sheet.rows[i].of),
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
