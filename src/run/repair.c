/* Recomputes the numbers of cells from their stored trials, as `resume` does, without measuring. */
#include "run/engine.h"

#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* The devices as the run stored them: the gates need their caches. */
static enum as_status repair_slots_of(const struct as_run *run, struct as_slot **slots, size_t *n, struct as_error *err)
{
    json_t *list = run->devices ? json_loads(run->devices, 0, NULL) : NULL;
    const size_t count = json_array_size(list);
    enum as_status st = AS_OK;
    *n = 0;
    *slots = calloc(count ? count : 1, sizeof **slots);
    if (!*slots)
        st = as_nomem(err, count * sizeof **slots, "devices");
    for (; *n < count && !st; ++*n) {
        char *text = json_dumps(json_array_get(list, *n), JSON_COMPACT);
        (*slots)[*n].worker = (struct as_worker)AS_WORKER_INIT;
        st = text ? as_info_from_json(text, &(*slots)[*n].info, err) : as_nomem(err, 0, "a device");
        free(text);
    }
    json_decref(list);
    return st;
}

/* ids are in the order of the cells. */
static enum as_status judge_again(struct as_engine *e, const int64_t *ids, size_t n, struct as_error *err)
{
    enum as_status st = as_judge_learn(&e->judge, e->cells, e->trials, e->cells_n, err);
    for (size_t i = 0, k = 0; i < e->cells_n && k < n && !st; i++) {
        if (e->cells[i].id != ids[k])
            continue;
        k++;
        st = as_engine_judge_cell(e, i, err);
        e->progress[i].changed = true;
    }
    return st ? st : as_engine_store_changed(e, err);
}

static enum as_status repair_claimed(struct as_store *store, struct as_run *run, size_t *repaired, struct as_error *err)
{
    static const struct as_run_options none = {.budget_s = NAN, .precision = NAN};
    struct as_engine e = {.store = store, .options = &none, .run = run};
    int64_t *ids = NULL;
    size_t n = 0;
    enum as_status st =
        as_store_cells(store, &(struct as_cell_filter){.run_id = run->id, .hidden = 1}, &e.cells, &e.cells_n, err);
    as_engine_find_sentinels(&e);
    if (!st)
        st = repair_slots_of(run, &e.slots, &e.slots_n, err);
    for (size_t i = 0; i < e.cells_n && !st; i++) {
        const char *state = as_axes_text(&e.cells[i].axes, AS_STATE_AXIS);
        if (state[0])
            st = as_slots_describe_state(&e.slots, &e.slots_n, e.cells[i].device, state, "", err);
    }
    if (!st)
        st = as_engine_make(&e, err);
    if (!st)
        st = as_engine_load(&e, err);
    if (!st)
        st = as_store_stale(store, run->id, &ids, &n, err);
    if (!st)
        st = judge_again(&e, ids, n, err);
    if (!st)
        st = as_store_update_run(store, run, err);
    *repaired += st ? 0 : n;
    free(ids);
    as_engine_finish(&e);
    as_slots_close(e.slots, e.slots_n);
    as_cells_free(e.cells, e.cells_n);
    return st;
}

static enum as_status repair_run(struct as_store *store, int64_t id, size_t *repaired, size_t *busy,
                                 struct as_error *err)
{
    struct as_run run = {0};
    struct as_buf name = AS_BUF_INIT;
    enum as_status st = as_store_claim(store, id, err);
    if (st == AS_BUSY) {
        ++*busy;
        return AS_OK;
    }
    as_buf_printf(&name, "%lld", (long long)id);
    if (!st)
        st = as_store_run(store, as_buf_get(&name), &run, err);
    if (!st)
        st = repair_claimed(store, &run, repaired, err);
    as_store_release(store);
    as_run_finish(&run);
    as_buf_finish(&name);
    return st;
}

enum as_status as_run_repair(struct as_store *store, size_t *cells, size_t *busy, struct as_error *err)
{
    int64_t *ids = NULL;
    size_t n = 0;
    *cells = *busy = 0;
    enum as_status st = as_store_stale(store, 0, &ids, &n, err);
    for (size_t i = 0; i < n && !st; i++)
        st = repair_run(store, ids[i], cells, busy, err);
    free(ids);
    return st;
}
