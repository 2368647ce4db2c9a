/* Devices that were lost during a run. */
#include "run/engine.h"

#include "base/clock.h"
#include "base/text.h"
#include "run/identity.h"

#include <math.h>

/* Reopening takes about as long as opening did, far less than loading a driver may take. */
static const double PATIENCE_MIN_S = 5, PATIENCE_MAX_S = 60, PATIENCE_FACTOR = 20;
/* A device cut off by the budget after this time counts as hung. */
static const double HANGS_MIN_S = 1, HANGS_FACTOR = 5;
/* Pauses before further attempts: a shortage of processes or memory may pass. */
static const double pauses_s[] = {0.1, 0.5, 2};

/* Its cells keep their values; those without one are skipped. */
static enum as_status lost_device_lose(struct as_engine *e, struct as_slot *slot, const char *why, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    slot->lost = e->lost = true;
    as_buf_printf(&text, "%s%s%s was lost and cannot be reopened: %s; 'assay resume' does its remaining measurements",
                  slot->info.id, slot->info.state[0] ? " with " : "", slot->info.state, why);
    as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
    as_buf_finish(&text);
    for (size_t i = 0; i < e->cells_n; i++) {
        struct as_cell *cell = &e->cells[i];
        if (e->progress[i].slot != slot || e->progress[i].over)
            continue;
        e->progress[i].over = 1;
        if (cell->status != AS_CELL_PLANNED)
            continue;
        cell->status = AS_CELL_SKIPPED;
        as_copy_text(cell->reason, sizeof cell->reason, why);
        e->progress[i].changed = true;
    }
    return as_engine_store_changed(e, err);
}

static void pause_for(struct as_engine *e, double seconds)
{
    for (double end = as_now() + seconds; as_now() < end && !as_engine_stopped(e);)
        as_sleep(0.05);
}

/* After a reset, or where a GPU is lost, the next one may have its name. */
static enum as_status check_same(struct as_engine *e, struct as_slot *slot, const struct as_device_info *then,
                                 struct as_error *err)
{
    struct as_buf differs = AS_BUF_INIT;
    enum as_status st = AS_OK;
    as_identity_differs(then, &slot->info, &differs);
    if (differs.len) {
        as_worker_stop(&slot->worker);
        slot->is_open = 0;
        slot->info = *then;
        st = lost_device_lose(e, slot, as_buf_get(&differs), err);
    }
    as_buf_finish(&differs);
    return st;
}

enum as_status as_engine_reopen(struct as_engine *e, struct as_slot *slot, struct as_error *err)
{
    const double patience = fmax(PATIENCE_MIN_S, fmin(PATIENCE_MAX_S, PATIENCE_FACTOR * slot->open_s));
    const struct as_device_info then = slot->info;
    struct as_error why = {0};
    for (size_t attempt = 0;; attempt++) {
        const double until = fmin(as_now() + patience, as_engine_cut_off(e)), first_s = slot->open_s;
        enum as_status st = as_slot_open(slot, e->program, until, e->options->stop, &why);
        if (!st) {
            slot->renewing_s += slot->open_s;
            return check_same(e, slot, &then, err);
        }
        const double took = slot->open_s;
        slot->open_s = first_s;
        const bool hangs = slot->hung && took > HANGS_MIN_S + HANGS_FACTOR * first_s;
        if (as_engine_stopped(e) || (!hangs && as_now() >= as_engine_cut_off(e)))
            return as_fail(err, AS_INTERRUPTED, "%s: interrupted while it was reopened", slot->info.id);
        if (hangs || attempt == sizeof pauses_s / sizeof *pauses_s)
            return lost_device_lose(e, slot, why.text, err);
        pause_for(e, pauses_s[attempt]);
    }
}
