/* The schedule: a first trial of every cell that fits the budget, further rounds, then the trials that narrow most. */
#include "run/engine.h"

#include "base/clock.h"
#include "run/deadline.h"
#include "worker/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sampling time of a trial: without a budget; minimum; maximum in the first round, which does not know yet what other
 * cells cost; maximum. After a second, scatter within a trial no longer dominates. */
static const double FREE_SHARE_S = 0.5, SHARE_MIN_S = AS_DEADLINE_SHARE_MIN_S, PILOT_SHARE_S = 0.1, SHARE_MAX_S = 1;
static const double SENTINEL_SHARE_S = 0.02;
/* Before anything is compiled, cells without kernels to compile are measured for so long: the first numbers do not
 * wait.
 */
static const double OPENING_S = 1.5;
/* Shares of the time left for compiling the kernels of the cells that a data sheet quotes, and of all. */
static const double COMPILE_FIRST = 0.15, COMPILE_ALL = 0.4;

bool as_engine_stopped(struct as_engine *e)
{
    e->stopped |= e->options->stop && *e->options->stop;
    return e->stopped;
}

static uint64_t schedule_round_seed(const struct as_engine *e, int round)
{
    return e->run->seed + (uint64_t)round;
}

static double time_left(const struct as_engine *e)
{
    return e->deadline - as_now();
}

/* Minimum seconds of a trial: preparation and the fewest samples; before the first, from other trials on its device; 0
 * unknown. */
static double schedule_need(const struct as_progress *p)
{
    const struct as_slot *slot = p->slot;
    return p->counted ? p->prepare_s + p->fewest_s : slot && slot->trials ? slot->need_s / slot->trials : 0;
}

static enum as_status read_sentinels(struct as_engine *e, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = e->sentinels_first; i < e->cells_n && !st && !as_engine_stopped(e); i++)
        if (!e->progress[i].over)
            st = as_engine_trial(e, i, SENTINEL_SHARE_S, err);
    e->sentinel_at = as_now() + as_deadline_sentinels_every(e->deadline - e->start);
    return st;
}

/* The rest of the budget is for the cells that have a first trial. */
static bool is_pilot_over(const struct as_engine *e)
{
    return as_now() - e->start > AS_DEADLINE_FOR_PILOT * (e->deadline - e->start);
}

/* Is there time to bring every cell to this number of trials? */
static bool trials_fit(const struct as_engine *e, int trials)
{
    double need = 0;
    for (size_t i = 0; i < e->sentinels_first; i++) {
        const struct as_progress *p = &e->progress[i];
        if (!p->over && !p->left_out && p->trials < trials)
            need += (trials - p->trials) * (schedule_need(p) + SHARE_MIN_S);
    }
    return need <= time_left(e);
}

/* Sampling time for the next of n cells in a round. */
static double schedule_share_of(const struct as_engine *e, size_t index, const size_t *order, size_t n, int round)
{
    const struct as_progress *p = &e->progress[index];
    if (!isfinite(e->deadline))
        return FREE_SHARE_S;
    if (e->is_tight)
        return fmax(SHARE_MIN_S, p->fewest_s);
    double need = 0;
    for (size_t k = 0; k < n; k++)
        need += schedule_need(&e->progress[order[k]]);
    const double part = as_deadline_part(round, e->rounds);
    const double spare = fmax(0, (part * time_left(e) - need) / (double)n);
    return fmax(SHARE_MIN_S, fmin(p->fewest_s + spare, round == 1 ? PILOT_SHARE_S : SHARE_MAX_S));
}

/* A trial for each of the first `end` cells of order[0..n), as long as there is time; the n divide it. By share: cells
 * of no quantity take turns. */
static enum as_status part_of_pass(struct as_engine *e, int round, size_t *order, size_t n, size_t end,
                                   enum as_order by, struct as_error *err)
{
    enum as_status st = AS_OK;
    e->round = round;
    if (round > 1)
        as_engine_renew_workers(e, order, n);
    for (size_t k = 0; k < end && !st && !as_engine_stopped(e) && time_left(e) > 0; k++) {
        if (by != AS_ORDER_RANDOM && !e->progress[order[k]].first)
            as_engine_fair_next(e, order + k, n - k);
        struct as_progress *p = &e->progress[order[k]];
        if (p->over || (round == 1 && p->trials)) /* the opening may have measured it */
            continue;
        if (round == 1 && is_pilot_over(e)) {
            p->left_out = !p->counted;
            continue;
        }
        if (round > 1 && schedule_need(p) > time_left(e))
            continue;
        /* The user waits for the first number: sentinels run after it. */
        if ((round > 1 || k) && as_now() >= e->sentinel_at && (st = read_sentinels(e, err)))
            break;
        st = as_engine_trial(e, order[k], schedule_share_of(e, order[k], order + k, n - k, round), err);
    }
    return st ? st : as_engine_judge(e, err);
}

static enum as_status opening(struct as_engine *e, const size_t *order, size_t n, struct as_error *err)
{
    const double until = as_now() + OPENING_S;
    enum as_status st = AS_OK;
    for (size_t k = 0; k < n && !st && as_now() < until && !as_engine_stopped(e) && time_left(e) > 0; k++)
        if (!e->progress[order[k]].over && !as_engine_compiles(e, &e->cells[order[k]]))
            st = as_engine_trial(e, order[k], schedule_share_of(e, order[k], order + k, n - k, 1), err);
    return st;
}

/* Measures what needs no compiler, then compiles: for the sentinels and for the first cells, or for all n if the first
 * ones or the others are too few to start compilers twice. *compiled: how many of order[0..n). */
static enum as_status open_and_compile(struct as_engine *e, const size_t *order, size_t first_n, size_t n,
                                       size_t *compiled, struct as_error *err)
{
    const size_t hidden = e->cells_n - e->sentinels_first;
    size_t first = 0, all = 0;
    for (size_t k = 0; k < n; k++) {
        all += as_engine_compiles(e, &e->cells[order[k]]);
        first += k < first_n && as_engine_compiles(e, &e->cells[order[k]]);
    }
    *compiled = first < AS_COMPILE_WORTH || all - first < AS_COMPILE_WORTH ? n : first_n;
    if (all == 0)
        return AS_OK;
    e->round = 1;
    enum as_status st = opening(e, order, first_n, err);
    size_t *cells = st ? NULL : calloc(*compiled + hidden + 1, sizeof *cells);
    if (st || !cells)
        return st ? st : as_nomem(err, n * sizeof *cells, "the order of measurements");
    memcpy(cells, order, *compiled * sizeof *cells);
    for (size_t k = 0; k < hidden; k++)
        cells[*compiled + k] = e->sentinels_first + k;
    as_engine_compile_ahead(e, cells, *compiled + hidden, *compiled < n ? COMPILE_FIRST : COMPILE_ALL);
    free(cells);
    return AS_OK;
}

/* If the budget cannot hold three trials of all cells, these get all three now: the most-read numbers are worth more
 * than further cells. */
static enum as_status three_trials(struct as_engine *e, size_t *order, size_t n, struct as_error *err)
{
    const int trials = as_deadline_trials_first(e->rounds);
    enum as_status st = AS_OK;
    e->is_tight = !trials_fit(e, trials);
    for (int round = 2; round <= trials && e->is_tight && !st && !as_engine_stopped(e); round++) {
        as_engine_shuffle(e, order, n, schedule_round_seed(e, round), AS_ORDER_RANDOM);
        st = part_of_pass(e, round, order, n, n, AS_ORDER_RANDOM, err);
    }
    e->is_tight = false;
    return st;
}

/* Cells of quantities come first on every device, and of these the quantities that are marked so: one trial of all,
 * since a whole sheet is worth more than a narrow part of it. */
static enum as_status pass_first(struct as_engine *e, size_t *order, size_t n, size_t *first_n, struct as_error *err)
{
    size_t compiled = n, marked = 0;
    *first_n = 0;
    while (*first_n < n && e->progress[order[*first_n]].first)
        ++*first_n;
    while (marked < *first_n && e->progress[order[marked]].first == AS_QUANTITY_FIRST)
        marked++;
    enum as_status st = open_and_compile(e, order, *first_n, n, &compiled, err);
    if (!st && *first_n)
        st = part_of_pass(e, 1, order, n, *first_n, AS_ORDER_FIRST_ROUND, err);
    e->first_done = true;
    if (!st && marked)
        st = three_trials(e, order, marked, err);
    if (!st && *first_n > marked)
        st = three_trials(e, order + marked, *first_n - marked, err);
    if (!st && !as_engine_stopped(e) && compiled < n)
        as_engine_compile_ahead(e, order + compiled, n - compiled, COMPILE_ALL);
    return st;
}

static enum as_status rounds(struct as_engine *e, size_t *order, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (int round = 1; round <= e->rounds && !st && !as_engine_stopped(e); round++) {
        size_t n = 0, first_n = 0;
        for (size_t i = 0; i < e->sentinels_first; i++)
            if (!e->progress[i].over && !e->progress[i].left_out && e->progress[i].trials < round)
                order[n++] = i;
        const enum as_order by = round == 1                 ? AS_ORDER_FIRST_ROUND
                                 : trials_fit(e, e->rounds) ? AS_ORDER_RANDOM
                                                            : AS_ORDER_BY_SHARE;
        as_engine_shuffle(e, order, n, schedule_round_seed(e, round), by);
        if (n && round == 1)
            st = pass_first(e, order, n, &first_n, err);
        e->first_done = true; /* also where a resumed run had no first trials left */
        if (n > first_n && !st)
            st = part_of_pass(e, round, order + first_n, n - first_n, n - first_n, by, err);
    }
    return st;
}

/* Passes over the half of the cells that gain most, until all are as narrow as asked or the budget is spent. */
static enum as_status narrow(struct as_engine *e, size_t *order, struct as_error *err)
{
    enum as_status st = AS_OK;
    const bool has_end = isfinite(e->deadline);
    for (int pass = 1; (has_end || pass <= AS_EXTRA_TRIALS) && !st && !as_engine_stopped(e); pass++) {
        size_t n;
        as_engine_by_gain(e, order, &n);
        if (n == 0 || time_left(e) <= 0)
            break;
        if (has_end)
            n = (n + 1) / 2;
        as_engine_shuffle(e, order, n, schedule_round_seed(e, e->rounds + pass), AS_ORDER_RANDOM);
        const double before = as_now();
        st = part_of_pass(e, e->rounds + pass, order, n, n, AS_ORDER_RANDOM, err);
        if (as_now() - before < SHARE_MIN_S) /* no remaining cell fits */
            break;
    }
    return st;
}

enum as_status as_engine_measure(struct as_engine *e, struct as_error *err)
{
    size_t *order = calloc(e->cells_n ? e->cells_n : 1, sizeof *order);
    if (!order)
        return as_nomem(err, e->cells_n * sizeof *order, "the order of measurements");
    e->measured_from = e->sentinel_at = as_now();
    enum as_status st = rounds(e, order, err);
    if (!st && !as_engine_stopped(e))
        st = narrow(e, order, err);
    if (!st && !as_engine_stopped(e))
        st = read_sentinels(e, err);
    if (!st && !as_engine_stopped(e))
        st = as_engine_skip_unmeasured(e, err);
    e->measured_s += as_now() - e->measured_from;
    free(order);
    return st;
}

enum as_status as_engine_judge(struct as_engine *e, struct as_error *err)
{
    enum as_status st = as_judge_learn(&e->judge, e->cells, e->trials, e->cells_n, err);
    /* Claims of main memory last, when the numbers of other sizes are there. */
    for (int claims = 0; claims < 2; claims++)
        for (size_t i = 0; i < e->cells_n && !st; i++) {
            if (e->trials[i].n == 0 || (as_trials_memory_claim(&e->trials[i]) > 0) != claims)
                continue;
            st = as_engine_judge_cell(e, i, err);
            e->progress[i].changed = true;
        }
    return st;
}
