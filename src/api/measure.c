/* Devices and runs. */
#include "api/internal.h"
#include "base/text.h"
#include "run/run.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

static void free_device(struct assay_device *d)
{
    free((void *)d->id);
    free((void *)d->backend);
    free((void *)d->name);
    free((void *)d->driver);
    free((void *)d->reason);
}

static enum as_status copy_device(const struct as_found_device *from, struct assay_device *to, struct as_error *err)
{
    bool usable = from->why[0] == 0;
    *to = (struct assay_device){.id = as_strdup(from->info.id),
                                .backend = as_strdup(from->info.backend),
                                .name = as_strdup(from->info.name),
                                .driver = as_strdup(from->info.driver),
                                .reason = usable ? NULL : as_strdup(from->why)};
    if (to->id && to->backend && to->name && to->driver && (usable || to->reason))
        return AS_OK;
    return as_nomem(err, sizeof *from, "a device");
}

int assay_devices_list(struct assay_device **devices, size_t *n, struct assay_error *error)
{
    struct as_error err = {0};
    struct as_found_device *found = NULL;
    size_t found_n = 0;
    if (!devices || !n)
        return as_api_code(as_api_null("assay_devices_list", devices ? "n" : "devices", &err), &err, error);
    *devices = NULL;
    *n = 0;
    enum as_status st = as_find_devices(NULL, NULL, &found, &found_n, &err);
    if (!st) {
        *devices = calloc(found_n ? found_n : 1, sizeof **devices);
        if (!*devices)
            st = as_nomem(&err, found_n * sizeof **devices, "devices");
    }
    for (; *n < found_n && !st; (*n)++)
        st = copy_device(&found[*n], &(*devices)[*n], &err);
    as_found_devices_free(found, found_n);
    if (st) {
        assay_devices_free(*devices, *n);
        *devices = NULL;
        *n = 0;
    }
    return as_api_code(st, &err, error);
}

void assay_devices_free(struct assay_device *devices, size_t n)
{
    for (size_t i = 0; devices && i < n; i++)
        free_device(&devices[i]);
    free(devices);
}

/* Events that a run passes to the callback. */
struct watch {
    struct as_store *store;
    assay_cell_fn callback;
    void *user;
    int64_t *told; /* ids of the cells reported to the callback; owned */
    size_t told_n, told_cap;
    volatile sig_atomic_t stop;
    enum as_status status; /* of the callback's own reads of the store */
    struct as_error err;
};

static bool was_told(const struct watch *w, int64_t id)
{
    for (size_t i = 0; i < w->told_n; i++)
        if (w->told[i] == id)
            return true;
    return false;
}

static void measure_tell(struct watch *w, const struct as_cell *cell)
{
    struct as_api_cell view;
    w->status = as_grow((void **)&w->told, &w->told_cap, w->told_n + 1, sizeof *w->told, &w->err);
    if (w->status)
        return;
    w->told[w->told_n++] = cell->id;
    as_api_cell_view(cell, &view);
    if (w->callback(w->user, &view.cell))
        w->stop = 1;
}

static bool is_over(const struct as_cell *c, const struct as_run *run)
{
    bool number = as_cell_is_valid(c) || c->status == AS_CELL_REJECTED;
    return number ? c->trials_done >= run->trials : c->status != AS_CELL_PLANNED;
}

/* Sentinels monitor the machine; they are not results. */
static bool measure_is_hidden(const struct as_cell *c)
{
    const struct as_probe *probe = as_probe_find(c->probe);
    return probe && probe->hidden;
}

static void measure_on_event(void *user, const struct as_event *e)
{
    struct watch *w = user;
    struct as_cell cell = {0};
    if (e->kind != AS_EVENT_CELL_END || !e->cell || !e->run || w->status || w->stop || measure_is_hidden(e->cell) ||
        !is_over(e->cell, e->run) || was_told(w, e->cell->id))
        return;
    w->status = as_store_cell(w->store, e->cell->id, 1, &cell, &w->err); /* the event's cell has no samples */
    if (!w->status)
        measure_tell(w, &cell);
    as_cell_finish(&cell);
    if (w->status)
        w->stop = 1;
}

/* Cells with fewer trials than planned, or none. */
static void tell_the_rest(struct watch *w, int64_t run)
{
    struct as_cell *cells = NULL;
    struct as_cell_filter filter = {.run_id = run, .with_samples = 1};
    size_t n = 0;
    w->status = as_store_cells(w->store, &filter, &cells, &n, &w->err);
    for (size_t i = 0; i < n && !w->status && !w->stop; i++)
        if (!was_told(w, cells[i].id))
            measure_tell(w, &cells[i]);
    as_cells_free(cells, n);
}

static enum as_status measure_read_options(const struct assay_options *from, struct as_run_options *to,
                                           struct as_error *err)
{
    to->precision = NAN;
    to->budget_s = NAN;
    if (!from)
        return AS_OK;
    if (from->size < sizeof *from)
        return as_fail(err, AS_USAGE, "assay_options.size is %zu; set it to sizeof(struct assay_options)", from->size);
    if (from->precision < 0 || from->precision > 1 || isnan(from->precision))
        return as_fail(err, AS_USAGE, "the precision is a fraction from 0 to 1");
    if (!(from->budget >= 0) || isinf(from->budget))
        return as_fail(err, AS_USAGE, "the budget is a number of seconds");
    to->devices = from->devices;
    to->sets = from->sets;
    while (from->sets && from->sets[to->sets_n])
        to->sets_n++;
    to->precision = from->precision > 0 ? from->precision : NAN;
    to->budget_s = from->budget > 0 ? from->budget : NAN;
    to->seed = from->seed;
    to->has_seed = from->seed != 0;
    return AS_OK;
}

/* A run started in a run's callback would wait forever for the lock that this thread holds. */
static _Thread_local bool is_running;

static enum as_status check_call(const struct assay_store *store, const char *what, const int64_t *run,
                                 struct as_error *err)
{
    if (!store || !what || !run)
        return as_api_null("assay_run", !store ? "store" : !what ? "what" : "run", err);
    if (is_running)
        return as_fail(err, AS_BUSY, "assay_run was called from a run's callback; call it after that run");
    return AS_OK;
}

/* Runs the suites and reports finished cells to the callback. */
static enum as_status run_and_tell(struct watch *w, const struct as_run_options *o, struct as_run_result *result,
                                   struct as_error *err)
{
    enum as_status st = as_run_start(w->store, o, result, err);
    if (!st && w->callback && !w->stop)
        tell_the_rest(w, result->run_id);
    if (!st && w->status) {
        *err = w->err;
        return w->status;
    }
    if (!st && result->state == AS_RUN_INTERRUPTED)
        st = as_fail(err, AS_INTERRUPTED, "run %lld %s; 'assay resume %lld' continues it", (long long)result->run_id,
                     w->stop ? "was ended by the callback" : "lost a device", (long long)result->run_id);
    return st;
}

int assay_run(struct assay_store *store, const char *what, const struct assay_options *options, assay_cell_fn callback,
              void *user, int64_t *run, struct assay_error *error)
{
    struct as_error err = {0};
    struct as_run_result result = {0};
    enum as_status st = check_call(store, what, run, &err);
    if (st)
        return as_api_code(st, &err, error);
    struct watch w = {.store = store->store, .callback = callback, .user = user};
    struct as_run_options o = {
        .suites = &what, .suites_n = 1, .wait = 1, .command = "libassay", .stop = &w.stop, .user = &w};
    if (callback)
        o.event = measure_on_event;
    is_running = true;
    store->users++;
    st = measure_read_options(options, &o, &err);
    if (!st)
        st = run_and_tell(&w, &o, &result, &err);
    *run = result.run_id;
    store->users--;
    is_running = false;
    free(w.told);
    return as_api_code(st, &err, error);
}
