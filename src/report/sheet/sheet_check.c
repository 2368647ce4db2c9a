#include "report/sheet/sheet_check.h"

#include "base/text.h"
#include "device/backend.h"
#include "report/sheet/sheet_counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Share of checks of an unchanged machine in which a line may be found worse by chance. */
static const double FALSE_ALARMS = 0.01;

const char as_two_states_why[] = "two runs cannot distinguish a change from a switch between two states of the host";

const char *as_check_verdict_word(enum as_check_verdict v, bool bounded)
{
    static const char *const words[][AS_CHECK_VERDICTS_N] = {
        {"same", "better", "worse", "inconclusive", "missing", "new"},
        {"met", "met", "not met", "inconclusive", "missing", "new"}};
    return (size_t)v < AS_CHECK_VERDICTS_N ? words[bounded][v] : "";
}

const char *as_check_line_word(const struct as_check_line *line)
{
    if (line->looks_worse)
        return line->bounded ? "not met in one run" : "looks worse";
    return line->again && line->verdict == AS_CHECK_UNDECIDED ? "not confirmed"
                                                              : as_check_verdict_word(line->verdict, line->bounded);
}

static bool is_of_backend(const struct as_device_sheet *d, const char *id)
{
    const size_t n = strcspn(id, ":");
    return strncmp(d->id, id, n) == 0 && (d->id[n] == ':' || !d->id[n]);
}

/* The only device of the backend in m that other has not; NULL where there are none or several. */
static const struct as_device_sheet *left_over(const struct as_machine_sheet *m, const struct as_machine_sheet *other,
                                               const char *id)
{
    const struct as_device_sheet *found = NULL;
    for (size_t i = 0; i < m->n; i++)
        if (is_of_backend(&m->v[i], id) && !as_machine_sheet_device(other, m->v[i].id)) {
            if (found)
                return NULL;
            found = &m->v[i];
        }
    return found;
}

/* The device of `in` that stands for device d of `of`; NULL none. */
static const struct as_device_sheet *matching(const struct as_machine_sheet *of, const struct as_device_sheet *d,
                                              const struct as_machine_sheet *in)
{
    const struct as_device_sheet *same = as_machine_sheet_device(in, d->id);
    if (same)
        return same;
    return left_over(of, in, d->id) == d ? left_over(in, of, d->id) : NULL;
}

/* A run against itself: what varies between runs does not matter. */
static bool is_itself(const struct as_machine_sheet *base, const struct as_machine_sheet *now)
{
    return base->runs == 1 && now->runs == 1 && as_run_uuid_is_same(base->run[0], now->run[0]);
}

struct judged_by {
    double tolerance, base_hz, now_hz;
    size_t lines;
    bool itself, bounds;
};

/* A capacity is a range between two sizes of a sweep, and says no more than is printed. */
static bool is_same_range(const struct as_check_line *line)
{
    struct as_buf base = AS_BUF_INIT, now = AS_BUF_INIT;
    as_number_brief(&line->base_number, &base);
    as_number_brief(&line->now_number, &now);
    const bool same =
        line->base->of->kind == AS_KIND_CAPACITY && strcmp(as_buf_get(&base), as_buf_get(&now)) == 0 && !base.failed;
    as_buf_finish(&base);
    as_buf_finish(&now);
    return same;
}

/* Both sides' intervals rest on one estimate of what varies between runs, so degrees of freedom do not add up. */
static enum as_check_verdict sheet_check_judge(struct as_check_line *line, const struct judged_by *by)
{
    const struct as_sheet_row *a = line->base, *b = line->now;
    line->comparison = (struct as_comparison){NAN, {NAN, NAN}, AS_CANNOT_TELL, {NAN, NAN}, {NAN, NAN}};
    if (!b || !a)
        return b ? AS_CHECK_NEW : AS_CHECK_MISSING;
    if (line->counted)
        return b->value > a->value ? AS_CHECK_WORSE : AS_CHECK_BETTER;
    const double carry = as_machine_sheet_carry(b, by->now_hz, by->base_hz);
    const struct as_estimated x = {a->value, a->ci}, y = {b->value * carry, {b->ci.lo * carry, b->ci.hi * carry}};
    const unsigned df =
        line->base_runs->df < line->now_runs->df && !by->bounds ? line->base_runs->df : line->now_runs->df;
    if ((by->itself && a->value == b->value) || is_same_range(line))
        line->comparison = (struct as_comparison){1, {1, 1}, AS_SAME, {1, 1}, {1, 1}};
    else
        as_compare_numbers(&x, &y, df, 1 - 2 * FALSE_ALARMS / (double)by->lines, as_quantity_lower_is_better(a->of),
                           by->tolerance, &line->comparison);
    static const enum as_check_verdict of[] = {[AS_SAME] = AS_CHECK_SAME,
                                               [AS_FASTER] = AS_CHECK_BETTER,
                                               [AS_SLOWER] = AS_CHECK_WORSE,
                                               [AS_CANNOT_TELL] = AS_CHECK_UNDECIDED};
    return by->bounds && line->comparison.verdict == AS_SAME ? AS_CHECK_BETTER : of[line->comparison.verdict];
}

/* Too wide to lie within the tolerance, whatever the number is. */
static bool is_wider(struct as_interval ci, double tolerance)
{
    return ci.hi > ci.lo * (1 + tolerance) * (1 + tolerance);
}

/* What keeps the ratio, whose interval is known, from being the same and from differing. */
static const char *why_ratio_undecided(const struct as_check_line *line, double tolerance)
{
    const bool base = is_wider(line->base_number.ci, tolerance), now = is_wider(line->now_number.ci, tolerance);
    return base && now ? "both intervals are wider than the tolerance"
           : base      ? "the base's interval is wider than the tolerance"
           : now       ? "the interval of the checked number is wider than the tolerance"
           : is_wider(line->comparison.ci, tolerance)
               ? "the ratio's interval, including run-to-run variation, is wider than the tolerance"
               : "the ratio's interval extends across the tolerance";
}

/* "the base's interval is wider than the tolerance" */
static const char *why_undecided(const struct as_check_line *line, const struct judged_by *by)
{
    const struct as_sheet_row *const rows[] = {line->base, line->now};
    if (by->bounds)
        return isfinite(as_number_width(line->now->value, line->now->ci)) ? "the interval includes the bound"
                                                                          : "the checked number has no interval";
    for (int i = 0; i < 2; i++) {
        if (!isfinite(as_number_width(rows[i]->value, rows[i]->ci)))
            return i ? "the checked number has no interval" : "the base has no interval";
        if (rows[i]->of_runs)
            return i ? "the checked runs are in one of two states" : "the base's runs are in one of two states";
    }
    return line->base->of->kind == AS_KIND_CAPACITY ? "the ranges differ and overlap"
                                                    : why_ratio_undecided(line, by->tolerance);
}

/* The number of one side alone, as its own sheet has it: that of a run is the run's, that of several the machine's. */
static struct as_number side_number(const char *device, const struct as_machine_priors *priors,
                                    const struct as_sheet_row *row, const struct as_line_runs *runs)
{
    struct as_sheet_row own = *row;
    struct as_line_runs of = *runs;
    struct as_line_side side = {&own, &of}, none = {NULL, NULL};
    if (runs->n > 1)
        as_line_join(device, priors, &side, &none);
    else { /* the row may be joined already */
        own.value = runs->v[0].value;
        own.ci = runs->v[0].ci;
    }
    struct as_number n = as_sheet_number(&own);
    n.unit = row->unit;
    n.trials = 0; /* shown however wide */
    return n;
}

void as_check_line_label(const struct as_check_line *line, struct as_buf *out)
{
    const struct as_sheet_row *row = line->base ? line->base : line->now;
    if (!row)
        return;
    const char *base = line->base ? line->base->shown : "", *now = line->now ? line->now->shown : "";
    const char *shown = base[0] ? base : now[0] ? now : row->label; /* a sheet from a file has no threads */
    const char *other = now[0] ? now : shown;
    as_buf_str(out, shown);
    if (strcmp(shown, other) != 0) {
        const size_t same = strlen(row->label);
        as_buf_printf(out, " (checked: %s)",
                      strncmp(other, row->label, same) == 0 && other[same] ? other + same + 2 : other);
    }
}

/* What a policy demands. */
static struct as_number bound_number(const struct as_sheet_row *row)
{
    return (struct as_number){.value = row->value, .ci = {NAN, NAN}, .unit = row->unit};
}

static size_t rows_of(const struct as_machine_sheet *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->v[i].sheet.n + AS_COUNTERS_N;
    return n;
}

static struct as_sheet_row *count_row(const struct as_link_count *count, const struct as_quantity *of,
                                      struct as_sheet_row *row)
{
    *row = (struct as_sheet_row){.group = of->group,
                                 .value = count->grown,
                                 .ci = {NAN, NAN},
                                 .warns = count->warns,
                                 .clock_exponent = NAN,
                                 .specified = NAN,
                                 .counted = NAN,
                                 .of = of};
    as_copy_text(row->title, sizeof row->title, of->group);
    as_copy_text(row->label, sizeof row->label, of->label);
    as_copy_text(row->unit, sizeof row->unit, of->unit);
    return row;
}

/* Bounds of a policy for counters of links. */
static void pair_counts(const struct as_device_sheet *base, const struct as_device_sheet *now, struct as_check *out)
{
    for (size_t k = 0; k < AS_COUNTERS_N; k++) {
        const struct as_link_count *of = now ? &now->sheet.counts[k] : NULL;
        if (!base->sheet.counts[k].known)
            continue;
        struct as_check_line *line = &out->v[out->n];
        struct as_sheet_row *rows = &out->count_rows[2 * out->n++];
        *line = (struct as_check_line){.device = base, .against = now, .counted = true, .bounded = true};
        line->base = count_row(&base->sheet.counts[k], &as_link_counts[k], &rows[0]);
        if (of && of->known)
            line->now = count_row(of, &as_link_counts[k], &rows[1]);
        else
            as_copy_text(line->why, sizeof line->why,
                         now ? "no sensor read the counter while the link was measured"
                             : "the device was not measured");
        line->unanswered = !line->now && line->base->warns;
    }
}

/* The row of `other` in the same unit, and its runs; NULL: none. */
static struct as_sheet_row *same_line(const struct as_device_sheet *other, const struct as_sheet_row *row,
                                      struct as_line_runs **runs)
{
    const struct as_sheet_row *found = other ? as_sheet_find(&other->sheet, row->group, row->label) : NULL;
    if (!found || strcmp(found->unit, row->unit) != 0)
        return NULL;
    *runs = &other->runs[found - other->sheet.rows];
    return &other->sheet.rows[found - other->sheet.rows];
}

static const struct as_sheet_gap *gap_of_row(const struct as_device_sheet *d, const struct as_sheet_row *row)
{
    for (size_t i = 0; i < d->sheet.gaps_n; i++)
        if (strcmp(d->sheet.gaps[i].group, row->group) == 0 && strcmp(d->sheet.gaps[i].label, row->label) == 0)
            return &d->sheet.gaps[i];
    return NULL;
}

static const char *reason_of_gap(const struct as_sheet_gap *gap)
{
    return !gap ? "its data sheet has no such line" : gap->reason[0] ? gap->reason : "not in this suite";
}

/* Why the device that stands for the base's has no number for its row. */
static void explain_missing(struct as_check_line *line)
{
    const struct as_device_sheet *d = line->against;
    const struct as_sheet_row *other = d ? as_sheet_find(&d->sheet, line->base->group, line->base->label) : NULL;
    if (!d)
        as_copy_text(line->why, sizeof line->why, "the device was not measured");
    else if (other)
        snprintf(line->why, sizeof line->why, "measured in %s, not %s", other->unit, line->base->unit);
    else {
        const struct as_sheet_gap *gap = gap_of_row(d, line->base);
        as_copy_text(line->why, sizeof line->why, reason_of_gap(gap));
        line->unanswered = gap && gap->undecided;
    }
}

static void pair_lines(const struct as_machine_sheet *base, const struct as_machine_sheet *now, struct as_check *out)
{
    for (size_t i = 0; i < base->n; i++) {
        const struct as_device_sheet *other = matching(base, &base->v[i], now);
        for (size_t k = 0; k < base->v[i].sheet.n; k++) {
            struct as_check_line *line = &out->v[out->n++];
            *line = (struct as_check_line){.device = &base->v[i],
                                           .against = other,
                                           .base = &base->v[i].sheet.rows[k],
                                           .base_runs = &base->v[i].runs[k],
                                           .bounded = base->bounds};
            line->now = same_line(other, line->base, &line->now_runs);
            if (!line->now)
                explain_missing(line);
            line->unanswered |= !line->now && line->base->warns;
        }
        if (base->bounds)
            pair_counts(&base->v[i], other, out);
    }
    for (size_t i = 0; i < now->n && !base->bounds; i++) {
        const struct as_device_sheet *other = matching(now, &now->v[i], base);
        for (size_t k = 0; k < now->v[i].sheet.n; k++) {
            struct as_sheet_row *row = &now->v[i].sheet.rows[k];
            struct as_line_runs *unused;
            if (!same_line(other, row, &unused))
                out->v[out->n++] =
                    (struct as_check_line){.device = &now->v[i], .now = row, .now_runs = &now->v[i].runs[k]};
        }
    }
}

/* May it be another view of hardware that the base has under its own API? Runs do not measure it unless asked. */
static bool is_second_view(const struct as_machine_sheet *base, const struct as_device_sheet *d)
{
    const struct as_backend *backend = as_backend_find(d->id);
    for (size_t i = 0; i < base->n && backend && backend->portable; i++)
        if (strncmp(base->v[i].id, d->id, strcspn(d->id, ":")) != 0)
            return true;
    return false;
}

/* A CPU cannot be lost. */
static bool is_lost(const struct as_machine_sheet *base, const struct as_check *c, const struct as_device_sheet *d)
{
    bool any = false;
    for (size_t i = 0; i < c->n; i++) {
        const struct as_check_line *line = &c->v[i];
        if (line->device != d || !line->base)
            continue;
        any = true;
        if (line->now || (line->against && line->against->sheet.n))
            return false;
    }
    return any && strcmp(d->id, "cpu") != 0 && !is_second_view(base, d);
}

static void mark_lost(const struct as_machine_sheet *base, struct as_check *c)
{
    for (size_t i = 0; i < base->n; i++) {
        if (!is_lost(base, c, &base->v[i]))
            continue;
        for (size_t k = 0; k < c->n; k++)
            c->v[k].gone |= c->v[k].device == &base->v[i] && c->v[k].base && !c->v[k].base->warns;
    }
}

enum as_status as_sheet_check(struct as_machine_sheet *base, struct as_machine_sheet *now, double tolerance,
                              struct as_check *out, struct as_error *err)
{
    const size_t most = rows_of(base) + rows_of(now);
    struct judged_by by = {tolerance, base->clock_hz, now->clock_hz, 0, is_itself(base, now), base->bounds};
    const struct as_machine_sheet none = {.n = 0};
    struct as_machine_priors priors, of_base, of_now;
    *out = (struct as_check){0};
    enum as_status st = as_machine_priors_make(base, now, &priors, err);
    if (!st)
        st = as_machine_priors_make(base, &none, &of_base, err);
    if (!st)
        st = as_machine_priors_make(now, &none, &of_now, err);
    if (st)
        return st;
    out->v = calloc(most + 1, sizeof *out->v);
    out->count_rows = calloc(base->bounds ? 2 * most + 1 : 1, sizeof *out->count_rows);
    if (!out->v || !out->count_rows) {
        as_check_finish(out);
        return as_nomem(err, most * sizeof *out->v, "a check");
    }
    pair_lines(base, now, out);
    mark_lost(base, out);
    for (size_t i = 0; i < out->n; i++) {
        struct as_check_line *line = &out->v[i];
        const bool joins = line->base && !base->bounds;
        if (line->counted && line->base) {
            line->base_number = bound_number(line->base);
            line->now_number = line->now ? bound_number(line->now) : (struct as_number){.value = NAN};
            continue;
        }
        if (line->base)
            line->base_number = base->bounds ? bound_number(line->base)
                                             : side_number(line->device->id, &of_base, line->base, line->base_runs);
        if (line->now)
            line->now_number = side_number(line->device->id, &of_now, line->now, line->now_runs);
        if (joins || line->now)
            as_line_join(line->device->id, &priors,
                         &(struct as_line_side){joins ? line->base : NULL, joins ? line->base_runs : NULL},
                         &(struct as_line_side){line->now, line->now_runs});
        by.lines += line->base && line->now;
    }
    for (size_t i = 0; i < out->n; i++) {
        struct as_check_line *line = &out->v[i];
        out->counts[line->verdict = sheet_check_judge(line, &by)]++;
        out->unanswered += line->verdict == AS_CHECK_MISSING && line->unanswered;
        out->warned += line->verdict == AS_CHECK_WORSE && line->base->warns;
        if (line->verdict == AS_CHECK_UNDECIDED)
            as_copy_text(line->why, sizeof line->why, why_undecided(line, &by));
    }
    return AS_OK;
}

/* ---- measured again ---- */

static const struct as_check_line *was_worse(const struct as_check *before, const struct as_check_line *line)
{
    for (size_t i = 0; i < before->n; i++) {
        const struct as_check_line *old = &before->v[i];
        if (old->verdict == AS_CHECK_WORSE && old->base == line->base)
            return old;
    }
    return NULL;
}

/* Is a run of the checked side, by itself, beyond the tolerance? Its runs are at the clock of that side, where its
 * joined number is, which the comparison carried over to that of the base. */
static bool is_run_worse(const struct as_check_line *line, size_t run, double tolerance)
{
    const double ratio = line->comparison.ratio * line->now_runs->v[run].value / line->now->value;
    return as_quantity_lower_is_better(line->base->of) ? ratio > 1 + tolerance : ratio < 1 / (1 + tolerance);
}

static void take_back(struct as_check *c, struct as_check_line *line, bool looks_worse, const char *why)
{
    c->counts[AS_CHECK_WORSE]--;
    c->warned -= line->base->warns;
    c->counts[line->verdict = AS_CHECK_UNDECIDED]++;
    line->looks_worse = looks_worse;
    c->looks_worse += looks_worse;
    as_copy_text(line->why, sizeof line->why, why);
}

/* What the runs of a line say by themselves. */
struct witnesses {
    size_t worse;                /* runs, without repeats */
    size_t repeats, undisturbed; /* and those that nobody disturbed */
    bool refuted;                /* by a repeat */
    const char *disturbed;       /* what disturbed a repeat; NULL: nothing */
};

static struct witnesses hear_runs(const struct as_check_line *line, size_t repeats_from, double tolerance,
                                  as_others_fn others, void *user)
{
    struct witnesses w = {0};
    for (size_t i = 0; i < line->now_runs->n; i++) {
        const size_t run = line->now_runs->run[i];
        const bool is_worse = is_run_worse(line, i, tolerance);
        if (run < repeats_from) {
            w.worse += is_worse;
            continue;
        }
        const char *beside = others(user, run, line->against->id, line->base->of);
        w.repeats++;
        w.undisturbed += !beside;
        w.refuted |= !is_worse;
        w.disturbed = beside ? beside : w.disturbed;
    }
    return w;
}

void as_check_confirm(struct as_check *c, const struct as_check *before, size_t repeats_from, double tolerance,
                      as_others_fn others, void *user)
{
    for (size_t i = 0; i < c->n; i++) {
        struct as_check_line *line = &c->v[i];
        if (!line->base || !line->now || line->counted)
            continue;
        const struct witnesses w = hear_runs(line, repeats_from, tolerance, others, user);
        line->again = w.repeats && was_worse(before, line);
        if (line->verdict != AS_CHECK_WORSE)
            continue;
        if (w.refuted)
            take_back(c, line, false, "the repeat does not confirm it");
        else if (w.worse < 2 && !w.undisturbed)
            take_back(c, line, true, w.repeats ? w.disturbed : "only one run shows it");
    }
}

void as_check_leave_states(struct as_check *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct as_check_line *line = &c->v[i];
        if ((line->verdict != AS_CHECK_WORSE && line->verdict != AS_CHECK_BETTER) || line->base_runs->n > 1 ||
            line->now_runs->n > 1 || !as_line_has_states(line->device->id, line->base->of) ||
            !as_between_may_be_states(line->comparison.ratio))
            continue;
        c->counts[line->verdict]--;
        c->counts[line->verdict = AS_CHECK_UNDECIDED]++;
        line->comparison.verdict = AS_CANNOT_TELL;
        as_copy_text(line->why, sizeof line->why, as_two_states_why);
    }
}

void as_check_finish(struct as_check *c)
{
    free(c->v);
    free(c->count_rows);
    *c = (struct as_check){0};
}
