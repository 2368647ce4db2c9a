/* Compiles kernels before their cells are measured: compiling takes a fraction of a second per program, measuring
 * milliseconds, and a compiler beside a measurement would disturb it. */
#include "run/engine.h"
#include "run/system_files.h"

#include "base/clock.h"
#include "device/backend.h"
#include "device/code_cache.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COMPILERS_MAX = 32,
    CELLS_EACH = 2 /* minimum per compiler, to amortise its start */
};
/* Time-out of one compilation, which takes a fraction of it. */
static const double PATIENCE_S = 10;

struct compilers {
    struct compiler {
        struct as_worker worker;
        double asked;
    } of[COMPILERS_MAX];
    size_t n;
    const size_t *cells; /* indices of those to compile for */
    size_t cells_n, next;
};

static bool can_compile(const struct as_engine *e, const struct as_cell *cell)
{
    const struct as_slot *slot = as_engine_slot(e, cell);
    const struct as_probe *probe = as_probe_find(cell->probe);
    if (cell->status != AS_CELL_PLANNED || !probe || probe->not_ahead || !slot)
        return false;
    if (slot->info.state[0]) /* the compilers have assay's environment */
        return false;
    const struct as_backend *backend = as_backend_find(slot->info.backend);
    return backend && backend->open_compiler;
}

static json_t *order_of(const struct as_engine *e, const struct as_cell *cell)
{
    struct as_buf info = AS_BUF_INIT;
    struct as_trial_order order = {.axes = cell->axes, .seed = e->run->seed, .precision = cell->precision};
    snprintf(order.probe, sizeof order.probe, "%s", cell->probe);
    json_t *j = as_order_to_json(&order);
    as_info_to_json(&as_engine_slot(e, cell)->info, &info);
    if (j) {
        json_object_set_new(j, "do", json_string("compile"));
        json_object_set_new(j, "info", json_loads(as_buf_get(&info), 0, NULL));
    }
    as_buf_finish(&info);
    return j;
}

static void precompile_end(struct compilers *c, size_t i)
{
    as_worker_stop(&c->of[i].worker);
    c->of[i] = c->of[--c->n];
}

/* Gives compiler i its next cell; false if there is none. */
static bool hand_out(const struct as_engine *e, struct compilers *c, size_t i)
{
    if (c->next == c->cells_n)
        return false;
    json_t *order = order_of(e, &e->cells[c->cells[c->next++]]);
    bool sent = order && !as_message_send(c->of[i].worker.fd, order, NULL);
    json_decref(order);
    c->of[i].asked = as_now();
    return sent;
}

static void precompile_take(const struct as_engine *e, struct compilers *c, double deadline)
{
    struct pollfd fds[COMPILERS_MAX];
    bool ended[COMPILERS_MAX];
    /* A child of a dead compiler may hold its socket. Checked before poll, since its last messages still count. */
    for (size_t i = 0; i < c->n; i++) {
        fds[i] = (struct pollfd){.fd = c->of[i].worker.fd, .events = POLLIN};
        ended[i] = as_child_ended(c->of[i].worker.pid);
    }
    const bool ready = poll(fds, c->n, 100) > 0;
    /* Backwards, since the last one replaces one that ends. */
    for (size_t i = c->n; i-- > 0;) {
        json_t *reply = NULL;
        if (!ready || !fds[i].revents) {
            if (ended[i] || as_now() > c->of[i].asked + PATIENCE_S)
                precompile_end(c, i);
            continue;
        }
        const struct as_worker *w = &c->of[i].worker;
        bool answered = as_message_receive_from(w->fd, w->pid, fmin(deadline, c->of[i].asked + PATIENCE_S),
                                                e->options->stop, &reply) == AS_RECEIVED;
        json_decref(reply);
        if (!answered || !hand_out(e, c, i))
            precompile_end(c, i);
    }
}

static size_t how_many(size_t cells)
{
    size_t n = (size_t)as_machine_cpus(), most = (cells + CELLS_EACH - 1) / CELLS_EACH;
    if (n > most)
        n = most;
    return n < COMPILERS_MAX ? n : COMPILERS_MAX;
}

static void compile_all(struct as_engine *e, struct compilers *c, double share)
{
    const double start = as_now(), deadline = start + share * (e->deadline - start);
    size_t wanted = how_many(c->cells_n);
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "compiling %zu kernels on %zu CPUs", c->cells_n, wanted);
    as_engine_event(e, AS_EVENT_NOTE, NULL, NULL, as_buf_get(&text));
    as_buf_finish(&text);
    for (size_t i = 0; i < wanted && !as_worker_start(&c->of[c->n].worker, e->program, NULL); i++) {
        c->n++;
        if (!hand_out(e, c, c->n - 1))
            precompile_end(c, c->n - 1);
    }
    while (c->n && as_now() < deadline && !(e->options->stop && *e->options->stop))
        precompile_take(e, c, deadline);
    while (c->n)
        precompile_end(c, c->n - 1);
    e->measured_from += as_now() - start; /* nothing was measured */
}

bool as_engine_compiles(const struct as_engine *e, const struct as_cell *cell)
{
    return can_compile(e, cell) && as_machine_cpus() > 1 && as_code_cache_usable();
}

void as_engine_compile_ahead(struct as_engine *e, const size_t *cells, size_t n, double share)
{
    size_t *own = calloc(n ? n : 1, sizeof *own);
    struct compilers c = {.cells = own};
    for (size_t i = 0; i < n && own; i++)
        if (as_engine_compiles(e, &e->cells[cells[i]]))
            own[c.cells_n++] = cells[i];
    if (c.cells_n >= AS_COMPILE_WORTH)
        compile_all(e, &c, share);
    free(own);
}
