/* One process of a fleet: measures its node and writes its state. */
#include "cli/fleet/fleet_member.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"
#include "cli/options/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double BEAT_S = 5, POLL_S = 0.1;

void as_fleet_member_finish(struct as_fleet_member *m)
{
    as_fleet_status_finish(&m->status);
    as_fleet_watch_finish(&m->watch);
    as_buf_finish(&m->command);
    if (m->lock >= 0)
        close(m->lock);
}

void as_fleet_member_begin(struct as_fleet_member *m, const struct as_args *args, const char *folder)
{
    *m = (struct as_fleet_member){.folder = folder,
                                  .gather = {.to = -1, .from = -1},
                                  .lock = -1,
                                  .budget_s = NAN,
                                  .quiet = as_args_flag(args, "quiet")};
    as_fleet_job_find(&m->job);
    if (gethostname(m->host, sizeof m->host - 1))
        m->host[0] = 0;
    as_args_command(args, &m->command);
    m->stop = as_session_stop_by_signals();
}

static void member_look(struct as_fleet_member *m)
{
    struct as_buf lines = AS_BUF_INIT;
    if (m->job.rank || m->job.size < 2)
        return;
    (void)as_fleet_watch_look(&m->watch, &m->pending, &lines, NULL);
    if (!m->quiet && lines.len)
        (void)!write(STDERR_FILENO, lines.data, lines.len);
    as_buf_finish(&lines);
}

/* A state that cannot be written is no reason to end: the store has the numbers. */
static void member_write(struct as_fleet_member *m)
{
    struct as_error err;
    m->beat_at = as_now() + BEAT_S;
    if (as_fleet_status_write(m->folder, &m->status, &err) && !m->quiet)
        as_cli_note("%s: %s", m->status.name, err.text);
}

static void member_on_event(void *user, const struct as_event *event)
{
    struct as_fleet_member *m = user;
    struct as_buf now = AS_BUF_INIT;
    const bool starts = event->kind == AS_EVENT_RUN_START;
    if (event->kind == AS_EVENT_NOTE) {
        if (!m->job.rank && !m->quiet)
            as_cli_note("%s: %s", m->status.name, event->text);
        as_buf_str(&now, event->text);
    } else if (event->cell)
        as_live_name(NULL, event->cell, &now);
    if (starts) {
        m->status.state = AS_FLEET_MEASURING;
        as_copy_text(m->status.run, sizeof m->status.run, event->run->uuid);
    }
    if (event->cells_total) {
        m->status.share = as_progress_share(event);
        m->status.eta_s = event->eta_s;
    }
    as_copy_text(m->status.now, sizeof m->status.now, as_buf_get(&now));
    as_buf_finish(&now);
    if (starts || !m->status.run[0] || as_now() >= m->beat_at)
        member_write(m);
    member_look(m);
}

/* Launchers bind a rank to a part of the node unless told otherwise. */
static void add_binding(struct as_buf *out)
{
    struct as_cpus usable;
    const int online = as_online_cpus(), n = as_usable_cpus(&usable) ? as_cpus_count(&usable) : online;
    if (n > 0 && 2 * n <= online)
        as_buf_printf(out, "; the process may use %d of %d CPUs (mpirun --bind-to none, srun --cpu-bind=none)", n,
                      online);
}

static bool has_numbers(const size_t *by_status)
{
    return by_status[AS_CELL_OK] + by_status[AS_CELL_WIDE] + by_status[AS_CELL_REJECTED] > 0;
}

/* The last state of this node. */
static void member_conclude(struct as_fleet_member *m, enum as_status st, const struct as_run_result *result,
                            const struct as_error *err)
{
    struct as_buf why = AS_BUF_INIT;
    const size_t *n = result->by_status;
    m->status.now[0] = 0;
    if (st == AS_INTERRUPTED || (!st && result->state == AS_RUN_INTERRUPTED)) {
        m->status.state = AS_FLEET_INTERRUPTED;
        as_buf_str(&why, result->lost ? "a device was lost" : "");
    } else if (st) {
        m->status.state = AS_FLEET_FAILED;
        as_buf_str(&why, err->text);
    } else if (!result->run_id) {
        m->status.state = AS_FLEET_COMPLETE;
        as_buf_str(&why, "measured before");
    } else {
        m->status.state = has_numbers(n) ? AS_FLEET_COMPLETE : AS_FLEET_FAILED;
        m->status.share = 1;
        m->status.eta_s = NAN;
        as_progress_counts(n, &why);
        add_binding(&why);
    }
    as_copy_text(m->status.why, sizeof m->status.why, as_buf_get(&why));
    if (!m->quiet && (!m->job.rank || st))
        as_cli_note("%s: %s%s%s", m->status.name, as_fleet_state_word(m->status.state), why.len ? ": " : "",
                    as_buf_get(&why));
    as_buf_finish(&why);
    member_write(m);
}

static enum as_status count_status(void *user, struct as_cell *cell, struct as_error *err)
{
    (void)err;
    ((size_t *)user)[cell->status]++;
    return AS_OK;
}

/* Whether the node's run is complete and has numbers: one without any is measured again. AS_NOTFOUND: it has no run. */
static enum as_status find_complete(const struct as_fleet_member *m, struct as_store *store, bool *is_complete,
                                    struct as_error *err)
{
    struct as_run run = {0};
    size_t by_status[AS_CELL_STATUS_N] = {0};
    *is_complete = false;
    if (m->is_new)
        return AS_NOTFOUND;
    if (!m->status.run[0])
        return AS_OK;
    enum as_status st = as_store_run(store, m->status.run, &run, err);
    if (!st && run.state == AS_RUN_COMPLETE) {
        st = as_store_each_brief(store, run.id, count_status, by_status, err);
        *is_complete = !st && has_numbers(by_status);
        st = st || *is_complete ? st : AS_NOTFOUND;
    }
    as_run_finish(&run);
    return st;
}

static enum as_status start_or_resume(struct as_fleet_member *m, struct as_store *store, struct as_run_options *options,
                                      struct as_run_result *result, struct as_error *err)
{
    bool is_complete;
    enum as_status st = find_complete(m, store, &is_complete, err);
    if (is_complete)
        return AS_OK;
    struct as_run_options rest = *options;
    rest.budget_s = m->budget_s;
    if (!st)
        st = as_run_resume(store, m->status.run[0] ? m->status.run : NULL, &rest, result, err);
    if (st != AS_NOTFOUND)
        return st;
    m->status.run[0] = 0;
    return as_run_start(store, options, result, err);
}

void as_fleet_member_measure(struct as_fleet_member *m)
{
    struct as_fleet_request request = {0};
    struct as_run_result result = {0};
    struct as_store *store = NULL;
    struct as_buf path = AS_BUF_INIT;
    struct as_error err = {0};
    as_fleet_store_path(m->folder, m->status.name, &path);
    enum as_status st = as_fleet_request_read(m->status.request, &request, &err);
    struct as_run_options *options = &request.run.options;
    options->command = as_buf_get(&m->command);
    options->event = member_on_event;
    options->user = m;
    options->stop = m->stop;
    options->wait = 1;
    m->status.why[0] = 0;
    m->status.state = AS_FLEET_STARTING;
    member_write(m);
    if (!st)
        st = as_store_open(as_buf_get(&path), AS_STORE_WRITE, &store, &err);
    if (!st)
        st = start_or_resume(m, store, options, &result, &err);
    if (st)
        as_store_abandon(store);
    else
        as_store_close(store);
    member_conclude(m, st, &result, &err);
    as_fleet_request_finish(&request);
    as_buf_finish(&path);
}

enum as_status as_fleet_member_enter(struct as_fleet_member *m, const char *name, const char *request,
                                     struct as_error *err)
{
    struct as_fleet_status *s = &m->status;
    if (m->lock >= 0)
        close(m->lock);
    enum as_status st = as_fleet_folder_enter(m->folder, name, &m->lock, err);
    if (st)
        return st;
    as_fleet_status_finish(s);
    (void)as_fleet_status_read(m->folder, name, s, NULL);
    if (m->is_new || !s->request) {
        free(s->request);
        s->request = as_strdup(request);
        s->run[0] = 0;
        s->share = s->eta_s = NAN;
    }
    as_copy_text(s->name, sizeof s->name, name);
    as_copy_text(s->host, sizeof s->host, m->host);
    s->job = m->job;
    s->locked = m->lock >= 0;
    m->pending = (size_t)m->job.size - 1;
    m->watch = (struct as_fleet_watch){
        .folder = m->folder, .job = &m->job, .own = s->name, .began = as_now(), .printed_at = as_now()};
    return s->request ? AS_OK : as_nomem(err, strlen(request), "arguments");
}

enum as_status as_fleet_member_gather(struct as_fleet_member *m, const struct as_args *args, struct as_buf *request,
                                      struct as_error *err)
{
    char name[sizeof m->status.name];
    if (!as_args_flag(args, "gather"))
        return AS_OK;
    as_fleet_job_name(&m->job, m->host, name, sizeof name);
    return as_fleet_gather_start(&m->gather, m->folder, name, &m->job, request, m->stop, err);
}

void as_fleet_member_wait(struct as_fleet_member *m)
{
    const bool gathers = m->gather.relay != 0;
    while (m->job.rank == 0 && m->job.size > 1 && m->pending && !*m->stop) {
        if (gathers && !as_fleet_gather_lives(&m->gather))
            return;
        member_look(m);
        if (m->pending)
            as_sleep(POLL_S);
    }
}
