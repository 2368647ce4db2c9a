/* The order of things: rounds of visits, sentinels between them, the time budget. */
#include "core/engine.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Share of a visit without a budget: long enough for a percent on a quiet machine. */
static const double FREE_SHARE_S = 0.5;
/* Extra visits for cells that stay imprecise are longer, up to a bound: what two seconds do not make precise is not the
 * timer's noise, and more visits show it better than longer ones. */
static const double EXTRA_FACTOR = 2, EXTRA_SHARE_MAX_S = 2;
static const double SHARE_MIN_S = 0.012;
static const double SENTINEL_SHARE_S = 0.02;
/* Share of the time left that the rounds still to come may take; the rest is for cells that are imprecise after them,
 * where more visits help more than longer ones. */
static const double FOR_ROUNDS = 0.75;

/* Of the budget, for starting workers anew. */
static const double RENEW_SHARE = 0.03;

/* Of the time after the rounds, what is for cells that are not trusted alone: a pass over those that could be more
 * precise may take all of it. */
static const double FOR_TRUST = 0.5;

/* With a budget there is an end to them anyway. */
enum { EXTRA_VISITS = 5, EXTRA_VISITS_IN_BUDGET = 12 };

static int stopped(struct as_engine *e)
{
    e->stopped |= e->options->stop && *e->options->stop;
    return e->stopped;
}

static double time_left(const struct as_engine *e)
{
    return e->deadline - as_now();
}

/* When a sentinel goes off, not for as long as it is. */
static void note_drift(struct as_engine *e, struct as_sentinel *sentinel, double off)
{
    const bool was_off = sentinel->is_off;
    struct as_buf text = AS_BUF_INIT;
    sentinel->is_off = isfinite(off) && off > as_sentinel_tolerance(sentinel);
    if (!sentinel->is_off || was_off)
        return;
    as_buf_printf(&text, "drift: the %s sentinel of %s is ", sentinel->what, sentinel->device);
    if (off < 2)
        as_buf_printf(&text, "%.0f%% off its usual value", 100 * off);
    else
        as_buf_printf(&text, "%.3g times its usual value", 1 + off);
    if (!e->drift_noted)
        as_buf_str(&text,
                   ": what is measured meanwhile counts only where too little else is left ('assay explain drift')");
    e->drift_noted = true;
    as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
    as_buf_finish(&text);
}

static enum as_status read_sentinels(struct as_engine *e, struct as_error *err)
{
    enum as_status s = AS_OK;
    for (size_t i = e->sentinels_first; i < e->cells_n && !s && !stopped(e); i++) {
        struct as_sentinel *sentinel = &e->sentinels[i - e->sentinels_first];
        if (e->progress[i].over)
            continue;
        double at = as_wall();
        s = as_engine_visit(e, i, SENTINEL_SHARE_S, err);
        if (s || e->progress[i].over || !isfinite(e->cells[i].sum.median))
            continue;
        s = as_sentinel_add(sentinel, at, e->cells[i].sum.median, err);
        if (!s)
            note_drift(e, sentinel, as_sentinel_deviation(sentinel, at, at));
    }
    double every = isfinite(e->deadline) ? (e->deadline - e->start) / 25 : 2.5;
    e->sentinel_at = as_now() + fmax(0.25, fmin(every, 3));
    return s;
}

struct demand {
    double need, cells;
};

/* Time for the samples of each visit of a round beyond the fewest: the first round does not know yet what samples cost
 * and takes its part of the seconds left, at most a fifth, for them; later ones share out what is left over all rounds
 * to come. Not above 0 where even the fewest have no room. */
static double spare_in(const struct as_engine *e, struct demand d, int round, double left)
{
    const double first = 1.0 / (e->rounds > 5 ? e->rounds : 5);
    int rounds_left = round <= e->rounds ? e->rounds - round + 1 : 1;
    return round <= 1 ? first * (left - d.need) / d.cells : (FOR_ROUNDS * left / rounds_left - d.need) / d.cells;
}

/* Visits of the cell that are to come by the end of the round: those that waited in earlier ones have several. */
static int owed(const struct as_engine *e, const struct as_progress *p, int round)
{
    const int visits = (round < e->rounds ? round : e->rounds) - p->visits;
    return visits > 1 ? visits : 1;
}

/* For order[0], among all of order[0..n) where they have room together, else among those of its own device, which may
 * use `left` seconds. */
static double spare_of(const struct as_engine *e, const size_t *order, size_t n, int round, double left)
{
    struct demand all = {0, 0}, own = {0, 0};
    for (size_t k = 0; k < n; k++) {
        const struct as_progress *p = &e->progress[order[k]];
        const int visits = owed(e, p, round);
        all.need += visits * as_engine_need(p);
        all.cells += visits;
        if (p->slot != e->progress[order[0]].slot)
            continue;
        own.need += visits * as_engine_need(p);
        own.cells += visits;
    }
    double together = spare_in(e, all, round, time_left(e)), spare = spare_in(e, own, round, left);
    if (together > 0 && together < spare)
        spare = together;
    if (round <= 1)
        return fmin(0.25, fmax(SHARE_MIN_S, spare));
    /* after the rounds more visits say more than a long one */
    const double took = e->progress[order[0]].took_s;
    return fmax(0, round > e->rounds && took > 0 ? fmin(spare, took) : spare);
}

/* Visits the cells of order[0..n), which it reorders. A cell that has a number gives way when the time left is too
 * short for it, and those of the host while it is slow, where *waits lets them; afterwards it says whether some did. */
static enum as_status visit_all(struct as_engine *e, size_t *order, size_t n, int round, double free_share, bool *waits,
                                struct as_error *err)
{
    enum as_status s = AS_OK;
    /* with nothing else to do meanwhile a moment later is no better */
    const bool may_wait = *waits && as_engine_is_mixed(e, order, n);
    *waits = false;
    for (bool first = round == 1; n > 0 && !s && !stopped(e) && time_left(e) > 0;) {
        *waits = !as_engine_choose(e, order, n, may_wait);
        if (*waits)
            break;
        const size_t chosen = order[0];
        const struct as_progress *p = &e->progress[chosen];
        const int before = p->visits;
        /* A person waits for the first cell; it is watched from behind. */
        if (!p->over && !first && as_now() >= e->sentinel_at && (s = read_sentinels(e, err)))
            break;
        const double left = as_engine_slot_left(e, p->slot);
        if (!p->over && left > as_engine_need(p)) {
            double spare = isfinite(left) ? spare_of(e, order, n, round, left) : free_share;
            s = as_engine_visit(e, chosen, fmax(SHARE_MIN_S, p->fewest_s + spare), err);
            first = false;
        }
        const bool again = !p->over && p->visits > before && p->visits < round && round <= e->rounds;
        memmove(order, order + 1, (n - 1) * sizeof *order);
        order[n - 1] = chosen;
        n -= !again;
    }
    return s;
}

/* Does the time left to the device hold a whole visit of each of these cells of its in every round to come? */
static int round_fits(struct as_engine *e, const struct as_slot *slot, const size_t *order, size_t n)
{
    double need = 0;
    for (size_t k = 0; k < n; k++)
        if (e->progress[order[k]].slot == slot)
            need += owed(e, &e->progress[order[k]], e->rounds) * (as_engine_need(&e->progress[order[k]]) + SHARE_MIN_S);
    return need <= as_engine_slot_left(e, slot);
}

/* Where a device's cells do not fit, those of them stay that want a visit. How many are left. */
static size_t fit_round(struct as_engine *e, size_t *order, size_t n)
{
    for (size_t i = 0; i < e->slots_n; i++) {
        const struct as_slot *slot = &e->slots[i];
        size_t kept = 0;
        if (round_fits(e, slot, order, n))
            continue;
        for (size_t k = 0; k < n; k++)
            if (e->progress[order[k]].slot != slot || as_engine_wants_more(e, order[k]))
                order[kept++] = order[k];
        n = kept;
    }
    return n;
}

/* What differs from process to process (heap, placement, alignment of the stack) belongs into a cell's interval as much
 * as what differs from visit to visit: each round has workers of its own, where starting them costs little. */
static void renew_workers(struct as_engine *e)
{
    for (size_t i = 0; i < e->slots_n; i++) {
        struct as_slot *slot = &e->slots[i];
        if (slot->info.capabilities & AS_CAP_SCRIPTED) /* its script goes by the clock of its worker */
            continue;
        if (!slot->is_open || slot->open_s * e->rounds > RENEW_SHARE * (e->deadline - e->start))
            continue;
        as_worker_stop(&slot->worker);
        slot->is_open = 0;
    }
}

static enum as_status one_round(struct as_engine *e, int round, size_t *order, struct as_error *err)
{
    struct as_rng rng;
    size_t n = 0;
    e->round = round;
    for (size_t i = 0; i < e->sentinels_first; i++)
        if (!e->progress[i].over && e->progress[i].visits < round)
            order[n++] = i;
    if (round > 1) {
        n = fit_round(e, order, n);
        renew_workers(e);
    }
    as_rng_seed(&rng, e->run->seed + (uint64_t)round);
    as_rng_shuffle(&rng, order, n, sizeof *order);
    bool waits = round > 1 && round < e->rounds; /* every cell is to have a number soon and all its visits in the end */
    return visit_all(e, order, n, round, FREE_SHARE_S, &waits, err);
}

static int visits_made(const struct as_engine *e)
{
    int n = 0;
    for (size_t i = 0; i < e->slots_n; i++)
        n += e->slots[i].visits;
    return n;
}

/* Passes over the cells that want more, each with a visit for each. Where some waited for a better moment of the host,
 * or there is no end to the time, the next one does not wait. */
static enum as_status extra_rounds(struct as_engine *e, size_t *order, struct as_error *err)
{
    enum as_status s = AS_OK;
    const bool has_end = isfinite(e->deadline);
    double share = FREE_SHARE_S;
    const double left = time_left(e);
    bool waits = false;
    for (int extra = 1; (has_end || extra <= EXTRA_VISITS) && !s && !stopped(e); extra++) {
        size_t n;
        const int before = visits_made(e);
        const bool trust_only = has_end && time_left(e) > (1 - FOR_TRUST) * left;
        s = as_engine_find_wanting(e, has_end ? EXTRA_VISITS_IN_BUDGET : extra, trust_only, order, &n, err);
        if (s || n == 0 || time_left(e) < 0.02 * (e->deadline - e->start))
            break;
        share = fmin(share * EXTRA_FACTOR, EXTRA_SHARE_MAX_S);
        e->round = e->rounds + extra;
        waits = has_end && !waits;
        s = visit_all(e, order, n, e->round, share, &waits, err);
        if (visits_made(e) == before && !waits)
            break;
    }
    return s;
}

static enum as_status skip_unmeasured(struct as_engine *e, struct as_error *err)
{
    for (size_t i = 0; i < e->cells_n; i++) {
        if (e->cells[i].status != AS_CELL_PLANNED)
            continue;
        e->cells[i].status = AS_CELL_SKIPPED;
        as_copy_text(e->cells[i].reason, sizeof e->cells[i].reason,
                     i < e->sentinels_first ? "the time budget ended before it; give more with --budget"
                                            : "the run ended before it");
        e->progress[i].changed = true;
    }
    return as_engine_store_changed(e, err);
}

enum as_status as_engine_measure(struct as_engine *e, struct as_error *err)
{
    size_t *order = calloc(e->cells_n ? e->cells_n : 1, sizeof *order);
    if (!order)
        return as_nomem(err, e->cells_n * sizeof *order, "the order of cells");
    enum as_status s = AS_OK;
    e->measured_from = e->sentinel_at = as_now();
    for (int round = 1; round <= e->rounds && !s && !stopped(e); round++)
        s = one_round(e, round, order, err);
    if (!s && !stopped(e))
        s = extra_rounds(e, order, err);
    if (!s && !stopped(e))
        s = read_sentinels(e, err);
    if (!s && !stopped(e))
        s = skip_unmeasured(e, err);
    free(order);
    return s;
}

enum as_status as_engine_judge(struct as_engine *e, struct as_error *err)
{
    enum as_status s = AS_OK;
    for (size_t i = 0; i < e->cells_n && !s; i++) {
        if (e->cells[i].visits_done == 0)
            continue;
        s = as_engine_reevaluate(e, i, err);
        e->progress[i].changed = true;
    }
    return s ? s : as_engine_store_changed(e, err);
}

static enum as_status note_isolated(struct as_cell *cell, const struct as_comparison *c, struct as_error *err)
{
    json_t *j = cell->detail ? json_loads(cell->detail, 0, NULL) : NULL;
    if (!json_is_object(j)) {
        json_decref(j);
        j = json_object();
    }
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s: measured alone it is %.4g times as much, 95%% interval %.4g to %.4g",
                  as_verdict_word(c->verdict), c->ratio, c->ci.lo, c->ci.hi);
    json_object_set_new(j, "isolated", json_string(as_buf_get(&b)));
    as_buf_finish(&b);
    char *text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    if (!text)
        return as_nomem(err, 0, "a cell's detail");
    free(cell->detail);
    cell->detail = text;
    return AS_OK;
}

static enum as_status visit_alone(struct as_engine *e, size_t index, struct as_visit **visits, size_t *n,
                                  struct as_error *err)
{
    struct as_cell *cell = &e->cells[index];
    struct as_slot *slot = as_engine_slot(e, cell);
    *visits = NULL;
    *n = 0;
    as_worker_stop(&slot->worker);
    slot->is_open = 0;
    e->progress[index].visits = AS_ISOLATED_VISIT;
    enum as_status s = as_engine_visit(e, index, FREE_SHARE_S, err);
    return s ? s : as_store_visits(e->store, e->run->id, cell->id, visits, n, err);
}

static enum as_status isolate_cell(struct as_engine *e, size_t index, size_t *depend, struct as_error *err)
{
    struct as_cell *cell = &e->cells[index], alone = {0};
    struct as_visit *visits = NULL;
    size_t n = 0;
    enum as_status s = as_store_visits(e->store, e->run->id, cell->id, &visits, &n, err);
    if (!s && !(n && visits[n - 1].number >= AS_ISOLATED_VISIT)) { /* else it is from before the run was interrupted */
        as_visits_free(visits, n);
        s = visit_alone(e, index, &visits, &n, err);
    }
    if (!s)
        s = as_store_cell(e->store, cell->id, 1, &alone, err);
    if (!s && n && visits[n - 1].number >= AS_ISOLATED_VISIT && visits[n - 1].n) {
        const struct as_visit *v = &visits[n - 1];
        int *number = calloc(v->n, sizeof *number);
        struct as_comparison c;
        struct as_sampled together = {alone.samples, alone.sample_visit, alone.sum.n},
                          single = {v->samples, number, v->n};
        s = number ? as_compare(&together, &single, cell->better_less, cell->precision, &c, err)
                   : as_nomem(err, v->n * sizeof *number, "samples");
        if (!s) {
            *depend += c.verdict == AS_FASTER || c.verdict == AS_SLOWER;
            s = note_isolated(cell, &c, err);
        }
        free(number);
    }
    if (!s)
        s = as_store_update_cells(e->store, cell, 1, err);
    as_visits_free(visits, n);
    as_cell_finish(&alone);
    return s;
}

enum as_status as_engine_isolate(struct as_engine *e, struct as_error *err)
{
    enum as_status s = AS_OK;
    size_t depend = 0, measured = 0;
    for (size_t i = 0; i < e->sentinels_first && !s && !stopped(e); i++) {
        if (e->cells[i].sum.n == 0 || e->progress[i].over)
            continue;
        measured++;
        s = isolate_cell(e, i, &depend, err);
    }
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text,
                  "measured alone in a fresh process: %zu of %zu cells differ by more than the precision asked for",
                  depend, measured);
    if (!s)
        as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
    as_buf_finish(&text);
    return s;
}
