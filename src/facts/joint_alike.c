/* Like devices of one run beside each other: which of them is worse than the others, against chance over all that are
 * compared. The model and its limits are those of a fleet (stats/outliers.h). */
#include "facts/engine.h"

#include "base/text.h"
#include "model/metrics.h"
#include "stats/outliers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIKE_MAX = 64 };
/* As 'assay fleet' has them: deviations up to this share do not count; the expected share of false findings. */
static const double IGNORED = 0.01, DISCOVERIES = 0.005;
static const double SAME_CLOCK = 0.01;

/* One quantity of all like devices. */
struct alike_line {
    const struct as_quantity *of;
    const struct as_cell *cell[ALIKE_MAX]; /* the first is this device's */
    size_t n;
    struct as_deviation own;
};

static const struct as_device_info *alike_info(const struct as_rule_context *c, const char *device)
{
    for (size_t i = 0; i < c->devices_n; i++)
        if (strcmp(c->devices[i].id, device) == 0)
            return &c->devices[i];
    return NULL;
}

static bool is_alike(const struct as_rule_context *c, const char *device)
{
    const struct as_device_info *other = alike_info(c, device);
    return other && strcmp(other->id, c->info->id) != 0 && strcmp(other->backend, c->info->backend) == 0 &&
           strcmp(other->name, c->info->name) == 0;
}

/* The cells of this quantity with the same axes, one of each device. */
static void gather_line(const struct as_rule_context *c, const struct as_quantity *q, struct alike_line *out)
{
    const struct as_cell *own = as_rule_quantity_cell(c, q->name);
    *out = (struct alike_line){.of = q};
    if (!own || q->kind == AS_KIND_CAPACITY || !(own->sum.median > 0))
        return;
    out->cell[out->n++] = own;
    for (size_t i = 0; i < c->all_n && out->n < ALIKE_MAX; i++) {
        const struct as_cell *cell = &c->all[i];
        if (strcmp(cell->probe, own->probe) == 0 && as_cells_alike(cell, own, "") && as_cell_is_evidence(cell) &&
            cell->sum.median > 0 && is_alike(c, cell->device))
            out->cell[out->n++] = cell;
    }
}

/* Adds the p of every device. A Student t interval divided by 1.96 overestimates the error, which costs power but adds
 * no false findings. */
static enum as_status judge_alike(struct alike_line *l, double *p, size_t *tests, struct as_error *err)
{
    struct as_observation obs[ALIKE_MAX];
    struct as_deviation device[ALIKE_MAX], node;
    for (size_t i = 0; i < l->n; i++) {
        const struct as_interval ci = as_cell_interval(l->cell[i]);
        obs[i] = (struct as_observation){.y = log(l->cell[i]->sum.median), .error = log(ci.hi / ci.lo) / (2 * 1.96)};
    }
    const enum as_status st = as_outliers_judge(obs, l->n, 1, log1p(IGNORED), device, &node, err);
    l->own = device[0];
    for (size_t i = 0; i < l->n && !st; i++)
        if (isfinite(device[i].effect))
            p[(*tests)++] = device[i].p;
    return st;
}

static const char *others_text(size_t n, char out[24])
{
    static const char *const words[] = {"three", "four", "five", "six", "seven", "eight", "nine", "ten"};
    if (n >= AS_OUTLIERS_OTHERS && n - AS_OUTLIERS_OTHERS < sizeof words / sizeof *words)
        return words[n - AS_OUTLIERS_OTHERS];
    snprintf(out, 24, "%zu", n);
    return out;
}

/* Clocks of this device and of the others, NAN unknown. */
struct alike_clocks {
    double own, others;
};

static struct alike_clocks clocks_of(const struct alike_line *l)
{
    double others[ALIKE_MAX];
    size_t n = 0;
    for (size_t i = 1; i < l->n; i++)
        if (l->cell[i]->clock_hz > 0)
            others[n++] = l->cell[i]->clock_hz;
    const double own = l->cell[0]->clock_hz > 0 ? l->cell[0]->clock_hz : NAN;
    return (struct alike_clocks){own, isfinite(own) && n ? as_median(others, n) : NAN};
}

static bool is_clock_same(struct alike_clocks clocks)
{
    return fabs(clocks.own / clocks.others - 1) <= SAME_CLOCK;
}

/* "at the same clock", or the two clocks; "" where one is unknown */
static const char *alike_clock_text(struct alike_clocks clocks, char out[80])
{
    struct as_buf b = AS_BUF_INIT;
    if (is_clock_same(clocks)) {
        as_buf_str(&b, ", at the same clock");
    } else if (isfinite(clocks.others)) {
        as_buf_str(&b, ", at ");
        as_format_value(&b, clocks.own, "Hz");
        as_buf_str(&b, ", the others at ");
        as_format_value(&b, clocks.others, "Hz");
    }
    as_copy_text(out, 80, as_buf_get(&b));
    as_buf_finish(&b);
    return out;
}

/* What to check. A lower clock explains a lower number; at the same clock the cause lies elsewhere. */
static void say_cause(struct as_fact *f, const struct alike_line *l, struct alike_clocks clocks)
{
    static const struct {
        const char *group, *level, *act;
    } at_same_clock[] = {
        {"Host link", "", "Check its host link: PCIe generation, width and replays"},
        {"GPU to GPU", "", "Check its links to other GPUs: width, errors and replays"},
        {"", "memory", "Check its memory: clock, ECC errors and remapped rows"},
        {"", "", "Check for other work on it: its clock does not explain the difference"},
    };
    char *throttled = as_cell_note_text(l->cell[0], "throttled_by");
    const bool is_slower = clocks.own < (1 - SAME_CLOCK) * clocks.others, is_unknown = isnan(clocks.others);
    size_t i = 0;
    while ((at_same_clock[i].group[0] && strcmp(l->of->group, at_same_clock[i].group) != 0) ||
           (at_same_clock[i].level[0] && strcmp(l->of->level, at_same_clock[i].level) != 0))
        i++;
    if ((is_slower || is_unknown) && throttled)
        as_fact_act(f, "Check what throttles it: %s", throttled);
    else if (is_slower || is_unknown)
        as_fact_act(f, "Check its power cap, cooling and clock settings");
    else
        as_fact_act(f, "%s", at_same_clock[i].act);
    free(throttled);
}

static const char *percent_text(double percent, char out[16])
{
    struct as_buf b = AS_BUF_INIT;
    as_format_number(&b, percent, 2);
    as_copy_text(out, 16, as_buf_get(&b));
    as_buf_finish(&b);
    return out;
}

static void add_worse(struct as_rule_context *c, const struct alike_line *l)
{
    const bool below = l->own.effect < 0;
    const struct as_interval ratio = {exp(l->own.ci.lo), exp(l->own.ci.hi)};
    const double least = 100 * (below ? 1 - ratio.hi : ratio.lo - 1),
                 most = 100 * (below ? 1 - ratio.lo : ratio.hi - 1);
    const struct as_quantity_subject s = as_rule_subject(c);
    const struct alike_clocks clocks = clocks_of(l);
    char others[24], clock[80], label[80], percent[3][16];
    struct as_fact *f = as_fact_add(c, AS_FACT_ALIKE, l->cell[0],
                                    AS_BY(.what = l->of->name, .object = l->of->level[0] ? l->of->level : "core"));
    if (!f)
        return;
    as_fact_number(f, exp(l->own.effect), ratio);
    for (size_t i = 0; i < l->n; i++)
        as_fact_evidence(f, l->cell[i]);
    as_quantity_expand(&s, l->of->label, label, sizeof label);
    as_fact_say(f, "%s %s is %s%% (%s to %s%%) %s the other %s%s", l->of->group, label,
                percent_text(100 * fabs(expm1(l->own.effect)), percent[0]), percent_text(least, percent[1]),
                percent_text(most, percent[2]), below ? "below" : "above", others_text(l->n - 1, others),
                alike_clock_text(clocks, clock));
    say_cause(f, l, clocks);
}

static void derive_alike(struct as_rule_context *c)
{
    size_t quantities = 0, n = 0, tests = 0;
    while (as_quantities[quantities].name)
        quantities++;
    struct alike_line *lines = calloc(quantities + 1, sizeof *lines);
    double *p = calloc(quantities * ALIKE_MAX + 1, sizeof *p);
    if (!lines || !p)
        c->status = as_nomem(c->err, quantities * sizeof *lines, "like devices");
    for (size_t i = 0; i < quantities && c->info && c->devices_n > AS_OUTLIERS_OTHERS && !c->status; i++) {
        gather_line(c, &as_quantities[i], &lines[n]);
        if (lines[n].n <= AS_OUTLIERS_OTHERS)
            continue;
        c->status = judge_alike(&lines[n], p, &tests, c->err);
        n++;
    }
    const double below = c->status ? -1 : as_discoveries_below(p, tests, tests, DISCOVERIES);
    for (size_t i = 0; i < n; i++) {
        const bool more = !lines[i].cell[0]->lower_is_better;
        if (isfinite(lines[i].own.effect) && lines[i].own.p <= below && more == (lines[i].own.effect < 0))
            add_worse(c, &lines[i]);
    }
    free(lines);
    free(p);
}

const struct as_rule as_rules_joint_alike[] = {
    {"like devices", derive_alike,
     "robust z-score against the other devices of its model in the run; false discovery rate 0.5% over all quantities "
     "and devices; deviations up to 1% are ignored",
     "the same quantity of the same devices in another run, without the deviation"},
    {0},
};
