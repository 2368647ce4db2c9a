/* assay fleet run, resume: each process measures its own node; rank 0 waits for all and shows them. */
#include "base/text.h"
#include "cli/fleet/fleet_member.h"

#include <string.h>

/* Ranks that left no state at all are told as one node without numbers. */
static enum as_status add_unseen(const struct as_fleet_member *m, bool gathers, struct as_fleet *f,
                                 struct as_error *err)
{
    const size_t size = (size_t)m->job.size, seen = m->watch.seen_n;
    struct as_buf name = AS_BUF_INIT;
    if (size < 2 || seen >= size)
        return AS_OK;
    as_buf_printf(&name, "%zu of %zu ranks", size - seen, size);
    const enum as_status st = as_fleet_add_missing(
        f, as_buf_get(&name),
        gathers ? "not gathered" : "left no state in the folder; if not all nodes see it, add --gather", err);
    as_buf_finish(&name);
    return st;
}

/* What is not gathered stays where it was measured. */
static void end_gathering(struct as_fleet_member *m)
{
    struct as_error err = {0};
    if (as_fleet_gather_finish(&m->gather, m->job.rank == 0, m->stop, &err))
        as_cli_note("%s: results not sent to rank 0: %s; they are in %s, and 'assay fleet resume --gather' sends them",
                    m->status.name, err.text, m->folder);
}

/* Rank 0 shows all nodes. A failure of another rank would make mpirun end those that still measure. */
static int fleet_conclude(const struct as_command *command, const struct as_args *args, struct as_fleet_member *m)
{
    struct as_fleet f = {.for_page = as_args_value(args, "page") != NULL};
    struct as_error err = {0};
    as_fleet_gather_ended(&m->gather, *m->stop != 0);
    if (!m->job.rank)
        as_fleet_member_wait(m);
    end_gathering(m);
    if (*m->stop) {
        if (!m->job.rank)
            as_cli_note("interrupted; finished trials are stored; to continue: assay fleet resume %s", m->folder);
        return AS_EXIT_FAILED;
    }
    if (m->job.rank)
        return AS_EXIT_OK;
    enum as_status st = as_fleet_read_folder(&f, m->folder, NULL, &err);
    if (!st)
        st = add_unseen(m, as_args_flag(args, "gather"), &f, &err);
    if (!st)
        return as_fleet_show_nodes(command, args, &f);
    as_fleet_finish(&f);
    return as_cli_fail(&err);
}

int as_fleet_verb_run(const struct as_command *command, const struct as_args *args)
{
    struct as_fleet_member m = {.lock = -1};
    struct as_fleet_request request = {0};
    struct as_buf json = AS_BUF_INIT, own = AS_BUF_INIT;
    struct as_error err = {0};
    char name[sizeof m.status.name];
    int code = AS_EXIT_FAILED;
    const char *folder = as_args_value(args, "folder");
    enum as_status st =
        folder ? AS_OK : as_fail(&err, AS_USAGE, "run needs --folder FOLDER, preferably one that all nodes share");
    if (!st)
        st = as_fleet_show_check(args, &err);
    as_fleet_request_write(args, &json);
    if (!st)
        st = as_fleet_request_read(as_buf_get(&json), &request, &err);
    if (!st) {
        as_fleet_member_begin(&m, args, folder);
        m.is_new = true;
        st = as_fleet_member_gather(&m, args, &own, &err);
    }
    if (!st) {
        as_fleet_job_name(&m.job, m.host, name, sizeof name);
        st = as_fleet_member_enter(&m, name, as_buf_get(&json), &err);
    }
    if (!st) {
        as_fleet_member_measure(&m);
        code = fleet_conclude(command, args, &m);
    }
    as_fleet_request_finish(&request);
    as_fleet_member_finish(&m);
    as_buf_finish(&json);
    as_buf_finish(&own);
    return st ? as_cli_misuse(command, &err) : code;
}

/* Started by hand, a process continues all that was measured on its host under any local rank. */
static enum as_status resume_here(struct as_fleet_member *m, const struct as_fleet_statuses *all, const char *request,
                                  struct as_error *err)
{
    char name[sizeof m->status.name];
    enum as_status st = AS_OK;
    bool found = false;
    for (size_t i = 0; i < all->n && !m->job.launcher && !st && !*m->stop; i++) {
        if (strcmp(all->v[i].host, m->host) != 0 || all->v[i].lives)
            continue;
        found = true;
        st = as_fleet_member_enter(m, all->v[i].name, all->v[i].request, err);
        if (!st)
            as_fleet_member_measure(m);
    }
    if (st || found)
        return st;
    as_fleet_job_name(&m->job, m->host, name, sizeof name);
    st = as_fleet_member_enter(m, name, request, err);
    if (!st)
        as_fleet_member_measure(m);
    return st;
}

/* The arguments of the fleet: of any node, since all have the same. */
static enum as_status find_request(struct as_fleet_member *m, const struct as_args *args,
                                   const struct as_fleet_statuses *all, struct as_buf *request, struct as_error *err)
{
    as_buf_str(request, all->n ? all->v[0].request : "");
    const enum as_status st = as_fleet_member_gather(m, args, request, err);
    return st || request->len ? st : as_fail(err, AS_NOTFOUND, "no fleet run has begun in \"%s\"", m->folder);
}

int as_fleet_verb_resume(const struct as_command *command, const struct as_args *args)
{
    struct as_fleet_member m = {.lock = -1};
    struct as_fleet_statuses all = {0};
    struct as_buf request = AS_BUF_INIT;
    struct as_error err = {0};
    int code = AS_EXIT_FAILED;
    const char *folder = as_args_word(args, 1);
    enum as_status st = args->words == 2 ? AS_OK : as_fail(&err, AS_USAGE, "resume needs the FOLDER of a fleet run");
    if (!st)
        st = as_fleet_show_check(args, &err);
    if (!st)
        st = as_fleet_statuses_read(folder, &all, &err);
    if (st == AS_NOTFOUND && as_args_flag(args, "gather"))
        st = AS_OK; /* of a node that never began */
    if (!st) {
        as_fleet_member_begin(&m, args, folder);
        st = as_args_number(args, "budget", &as_budget_range, &m.budget_s, &err);
    }
    if (!st)
        st = find_request(&m, args, &all, &request, &err);
    if (!st)
        st = resume_here(&m, &all, as_buf_get(&request), &err);
    if (!st)
        code = fleet_conclude(command, args, &m);
    as_fleet_statuses_finish(&all);
    as_fleet_member_finish(&m);
    as_buf_finish(&request);
    return st ? as_cli_misuse(command, &err) : code;
}
