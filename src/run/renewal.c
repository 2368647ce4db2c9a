/* Cells in which worker processes differ get trials from several. */
#include "run/engine.h"

#include "base/clock.h"
#include "device/shared_host.h"

/* PROCESSES_MIN if one opening takes at most SHARE of the time left; more while all openings take at most SHARE of
 * the time so far. Devices divide SHARE. */
enum { PROCESSES_MIN = 3 };
static const double SHARE = 0.05;

static bool is_cheap(const struct as_engine *e, const struct as_slot *slot)
{
    const double share = SHARE / (double)e->slots_n, now = as_now();
    if (slot->renewed + 1 < PROCESSES_MIN)
        return slot->open_s <= share * (e->deadline - now);
    return slot->renewing_s + slot->open_s <= share * (now - e->measured_from);
}

/* The CPU itself has no driver whose state a process would draw; a new one would only have to fill its memory again. */
static bool has_driver(const struct as_device_info *info)
{
    return !as_info_runs_native(info);
}

static bool has_varying(const struct as_engine *e, const struct as_slot *slot, const size_t *order, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const struct as_progress *p = &e->progress[order[k]];
        if (p->slot == slot && !p->over && as_varies_by_process(&e->cells[order[k]]))
            return true;
    }
    return false;
}

void as_engine_renew_workers(struct as_engine *e, const size_t *order, size_t n)
{
    for (size_t i = 0; i < e->slots_n; i++) {
        struct as_slot *slot = &e->slots[i];
        if (!slot->is_open || !has_driver(&slot->info) || !is_cheap(e, slot) || !has_varying(e, slot, order, n))
            continue;
        as_worker_stop(&slot->worker); /* the next trial opens the device again */
        slot->is_open = 0;
        slot->renewed++;
    }
}
