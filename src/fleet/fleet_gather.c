/* The process that measures, and its relay. */
#include "fleet/fleet_gather.h"
#include "base/clock.h"
#include "base/text.h"
#include "fleet/fleet_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FINALIZE_S = 20 };
static const double STOP_S = 2, END_S = 30;
static const char ended = 'E', interrupted_too = 'I';
static const char *const end_words[AS_RELAY_ENDS_N] = {
    [AS_RELAY_FAILED] = "MPI failed on this node",
    [AS_RELAY_TOO_EARLY] = "rank 0 ended before it had all results",
    [AS_RELAY_SILENT] = "no message from rank 0 for three minutes",
    [AS_RELAY_GIVEN_UP] = "rank 0 gave this node up after five silent minutes",
    [AS_RELAY_NOT_TAKEN] = "rank 0 could not write the store; see its output",
};

/* Signals are for the process that measures, which then tells. MPI may end this process or wait for ever for a dead
 * peer when it ends itself: all was done before. */
static void relay_run(struct as_relay *c)
{
    struct as_error err = {0};
    enum as_relay_end end = AS_RELAY_FAILED;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    c->piece = malloc(AS_RELAY_PIECE);
    enum as_status st =
        c->piece ? as_mpi_start(&c->mpi, c->job->size, &err) : as_nomem(&err, AS_RELAY_PIECE, "messages");
    if (st)
        as_relay_tell(c, false, err.text);
    else
        end = c->mpi.rank ? as_relay_follow(c) : as_relay_lead(c);
    if (end == AS_RELAY_ARRIVED) {
        alarm(FINALIZE_S);
        as_mpi_end(&c->mpi);
    }
    _exit((int)end);
}

static bool gather_pipes(struct as_fleet_gather *g, struct as_relay *c, struct as_error *err)
{
    int to[2], from[2];
    if (pipe(to)) {
        as_fail(err, AS_IO, "cannot create a pipe: %s", strerror(errno));
        return false;
    }
    if (pipe(from)) {
        as_fail(err, AS_IO, "cannot create a pipe: %s", strerror(errno));
        close(to[0]);
        close(to[1]);
        return false;
    }
    g->to = to[1];
    g->from = from[0];
    c->in = to[0];
    c->out = from[1];
    const int all[] = {to[0], to[1], from[0], from[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        (void)fcntl(all[i], F_SETFD, FD_CLOEXEC);
    (void)fcntl(c->in, F_SETFL, O_NONBLOCK);
    return true;
}

static void gather_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* What the relay tells first: '+' and the arguments, or '-' and why not. */
static enum as_status gather_meet(struct as_fleet_gather *g, struct as_buf *request, const volatile sig_atomic_t *stop,
                                  struct as_error *err)
{
    struct as_buf told = AS_BUF_INIT;
    struct pollfd fd = {.fd = g->from, .events = POLLIN};
    char part[4096];
    ssize_t n = 1;
    while (n > 0 && !*stop) {
        if (poll(&fd, 1, 100) <= 0)
            continue;
        n = read(g->from, part, sizeof part);
        if (n > 0)
            as_buf_add(&told, part, (size_t)n);
        n = n < 0 && errno == EINTR ? 1 : n;
    }
    const char *text = as_buf_get(&told);
    enum as_status st = as_buf_check(&told, err);
    if (!st && *stop)
        st = as_fail(err, AS_INTERRUPTED, "stopped while waiting for the other ranks");
    else if (!st && text[0] != '+')
        st = as_fail(err, AS_UNSUPPORTED, "--gather: %s", text[0] ? text + 1 : "MPI ended the process that started it");
    as_buf_clear(request);
    if (!st)
        as_buf_str(request, text + 1);
    as_buf_finish(&told);
    gather_close(&g->from);
    return st;
}

enum as_status as_fleet_gather_start(struct as_fleet_gather *g, const char *folder, const char *name,
                                     const struct as_fleet_job *job, struct as_buf *request,
                                     const volatile sig_atomic_t *stop, struct as_error *err)
{
    struct as_relay c = {.folder = folder, .name = name, .request = as_buf_get(request), .job = job};
    if (job->size < 2)
        return as_fail(err, AS_USAGE, "--gather needs two ranks or more: start it with mpirun or srun");
    enum as_status st = as_fleet_folder_make(folder, err);
    if (!st && !gather_pipes(g, &c, err))
        st = AS_IO;
    if (st)
        return st;
    const pid_t id = fork();
    if (id == 0) {
        close(g->to);
        close(g->from);
        relay_run(&c);
    }
    close(c.in);
    close(c.out);
    if (id < 0)
        st = as_fail(err, AS_FAILED, "cannot start a process: %s", strerror(errno));
    else
        g->relay = id;
    return st ? st : gather_meet(g, request, stop, err);
}

void as_fleet_gather_ended(const struct as_fleet_gather *g, bool interrupted)
{
    if (g->relay)
        (void)!write(g->to, interrupted ? &interrupted_too : &ended, 1);
}

bool as_fleet_gather_lives(struct as_fleet_gather *g)
{
    int code = 0;
    if (g->relay && waitpid((pid_t)g->relay, &code, WNOHANG) == (pid_t)g->relay) {
        g->relay = 0;
        g->code = WIFSIGNALED(code) && WTERMSIG(code) == SIGALRM           ? AS_RELAY_ARRIVED
                  : WIFEXITED(code) && WEXITSTATUS(code) < AS_RELAY_ENDS_N ? WEXITSTATUS(code)
                                                                           : AS_RELAY_FAILED;
    }
    return g->relay != 0;
}

static void gather_wait(struct as_fleet_gather *g, double seconds, const volatile sig_atomic_t *stop)
{
    const double end = as_now() + seconds;
    while (as_fleet_gather_lives(g) && as_now() < end && !(stop && *stop))
        as_sleep(0.05);
}

enum as_status as_fleet_gather_finish(struct as_fleet_gather *g, bool leads, const volatile sig_atomic_t *stop,
                                      struct as_error *err)
{
    const bool was_started = g->relay || g->code;
    if (!leads)
        gather_wait(g, INFINITY, stop);
    gather_close(&g->to);
    gather_wait(g, *stop ? STOP_S : END_S, NULL);
    if (g->relay && !kill((pid_t)g->relay, SIGKILL)) {
        (void)waitpid((pid_t)g->relay, NULL, 0);
        g->relay = 0;
        g->code = AS_RELAY_FAILED;
    }
    return was_started && g->code && !*stop ? as_fail(err, AS_FAILED, "%s", end_words[g->code]) : AS_OK;
}
