/* Starting, asking and ending worker processes. */
#include "run/worker_process.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/host_limits.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AS_BINDIR
#define AS_BINDIR "/usr/local/bin"
#endif

enum { WORKER_FD = 3 };

static int executable(const char *path)
{
    return access(path, X_OK) == 0;
}

static enum as_status worker_program(char *out, size_t size, struct as_error *err)
{
    const char *given = getenv("ASSAY_WORKER");
    char self[4096];
    if (given && given[0]) {
        if (!executable(given)) {
            const bool wrong = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
            return as_fail(err, wrong ? AS_NOTFOUND : AS_IO,
                           "$ASSAY_WORKER names '%s', which is not a program that can be started: %s", given,
                           strerror(errno));
        }
        as_copy_text(out, size, given);
        return AS_OK;
    }
    if (as_program_path(self, sizeof self - 16)) {
        char *base = strrchr(self, '/');
        if (base)
            memcpy(base, "/assay", sizeof "/assay");
        if (base && executable(self)) {
            as_copy_text(out, size, self);
            return AS_OK;
        }
    } else
        return as_fail(
            err, AS_IO,
            "the running program cannot be found to start its worker: '/proc/self/exe': %s; is /proc mounted? "
            "else name the program in $ASSAY_WORKER",
            strerror(errno));
    as_copy_text(out, size, executable(AS_BINDIR "/assay") ? AS_BINDIR "/assay" : "assay");
    return AS_OK;
}

/* In the child: only async-signal-safe calls. */
static void become_worker(const char *program, int socket, int log, const char *parent)
{
    char fd_text[] = "3";
    char name[] = "assay", flag[] = "--worker";
    char parent_text[24];
    strncpy(parent_text, parent, sizeof parent_text - 1);
    parent_text[sizeof parent_text - 1] = 0;
    char *argv[] = {name, flag, fd_text, parent_text, NULL};
    setpgid(0, 0);
    /* Ctrl-C is for the parent; signal dispositions of the parent do not apply. */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    /* 0 reads nothing, 1 and 2 go to the log, 3 is the socket, the rest is closed. */
    int null = open("/dev/null", O_RDONLY);
    int high_socket = fcntl(socket, F_DUPFD, 10), high_log = fcntl(log, F_DUPFD, 10);
    if (null < 0 || high_socket < 0 || high_log < 0 || dup2(null, 0) < 0 || dup2(high_log, 1) < 0 ||
        dup2(high_log, 2) < 0 || dup2(high_socket, WORKER_FD) < 0)
        _exit(AS_WORKER_NOT_READY);
    as_close_from(WORKER_FD + 1);
    execvp(program, argv);
    _exit(AS_WORKER_NO_PROGRAM);
}

enum as_status as_worker_start(struct as_worker *w, const char *program, struct as_error *err)
{
    char path[4096], parent[24];
    int pair[2];
    *w = (struct as_worker)AS_WORKER_INIT;
    enum as_status st = AS_OK;
    if (!program && (st = worker_program(path, sizeof path, err)))
        return st;
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    if (as_packet_pair(pair))
        return as_fail(err, AS_FAILED, "a socket pair for the worker: %s", strerror(errno));
    w->log = as_unnamed_file("assay-worker");
    pid_t pid = w->log < 0 ? -1 : fork();
    if (pid == 0)
        become_worker(program ? program : path, pair[1], w->log, parent);
    close(pair[1]);
    if (pid < 0) {
        st = as_fail(err, AS_FAILED, "a worker process cannot be started: %s", strerror(errno));
        close(pair[0]);
        if (w->log >= 0)
            close(w->log);
        *w = (struct as_worker)AS_WORKER_INIT;
        return st;
    }
    setpgid(pid, pid); /* also here, since a kill may come before the child gets to it */
    w->pid = pid;
    w->fd = pair[0];
    w->oom_kills = as_host_oom_kills();
    return AS_OK;
}

/* The end of what the worker wrote, on one line. */
static void last_words(int log, char *out, size_t size)
{
    char text[200];
    out[0] = 0;
    off_t end = lseek(log, 0, SEEK_END);
    off_t from = end > (off_t)sizeof text - 1 ? end - ((off_t)sizeof text - 1) : 0;
    ssize_t n = end > 0 ? pread(log, text, (size_t)(end - from), from) : 0;
    if (n <= 0)
        return;
    text[n] = 0;
    for (ssize_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = ' ';
    while (n > 0 && text[n - 1] == ' ')
        text[--n] = 0;
    snprintf(out, size, ": %s", text);
}

static const struct {
    int code;
    enum as_receive how;
    const char *words;
} ends[] = {
    {AS_WORKER_NO_MEMORY, AS_PEER_NO_MEMORY, "the worker ran out of memory"},
    {AS_WORKER_NOT_READY, AS_NOT_STARTED, "a worker process cannot be started"},
    {AS_WORKER_NO_PROGRAM, AS_NOT_STARTED, "the worker program could not be started"},
};

/* "out of memory (this process may use 600 MiB by ...); raise that limit" */
static void tell_out_of_memory(char *why, size_t size)
{
    struct as_host_limits limits = {0};
    char text[256];
    (void)as_host_limits_now(&limits, NULL);
    as_host_limits_memory_text(&limits, text, sizeof text);
    snprintf(why, size, "the kernel killed the worker for lack of memory (signal 9): %s",
             text[0] ? text : "stop other programs, or measure smaller sizes");
}

static enum as_receive tell_end(const struct as_worker *w, int status, const char *words, char *why, size_t size)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && as_host_oom_kills() > w->oom_kills) {
        tell_out_of_memory(why, size);
        return AS_PEER_GONE;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends && WIFEXITED(status); i++)
        if (WEXITSTATUS(status) == ends[i].code) {
            snprintf(why, size, "%s%s", ends[i].words, words);
            return ends[i].how;
        }
    if (WIFSIGNALED(status))
        snprintf(why, size, "the worker was killed by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
                 words);
    else
        snprintf(why, size, "the worker ended with exit code %d%s", WEXITSTATUS(status), words);
    return AS_PEER_GONE;
}

enum as_receive as_worker_end(struct as_worker *w, char *why, size_t size)
{
    enum as_receive how = AS_PEER_GONE;
    int status = 0;
    char words[220] = "";
    /* The worker may be dying by itself: keep its own signal, not ours. */
    double until = as_now() + 0.2;
    pid_t got = 0;
    while (why && (got = waitpid(w->pid, &status, WNOHANG)) == 0 && as_now() < until)
        as_sleep(0.002);
    if (got != w->pid) {
        kill(-w->pid, SIGKILL);
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
            ;
    } else
        kill(-w->pid, SIGKILL); /* and its children */
    if (why) {
        last_words(w->log, words, sizeof words);
        how = tell_end(w, status, words, why, size);
    }
    close(w->fd);
    close(w->log);
    *w = (struct as_worker)AS_WORKER_INIT;
    return how;
}

void as_worker_stop(struct as_worker *w)
{
    if (w->pid > 0)
        as_worker_end(w, NULL, 0);
}

enum as_receive as_worker_ask(struct as_worker *w, const json_t *order, double deadline,
                              const volatile sig_atomic_t *stop, json_t **reply, char *why, size_t why_size)
{
    *reply = NULL;
    const enum as_status sent = as_message_send(w->fd, order, NULL);
    if (sent == AS_IO)
        return as_worker_end(w, why, why_size);
    enum as_receive r = sent ? AS_NO_MEMORY : as_message_receive_from(w->fd, w->pid, deadline, stop, reply);
    if (r == AS_PEER_GONE)
        return as_worker_end(w, why, why_size);
    if (r == AS_NO_MEMORY) {
        as_worker_stop(w);
        snprintf(why, why_size, "out of memory for the message to the worker");
    }
    if (r == AS_NO_ANSWER) {
        as_worker_stop(w);
        snprintf(why, why_size, "no answer in time; the worker was killed");
    } else if (r == AS_STOPPED) {
        as_worker_stop(w);
        snprintf(why, why_size, "stopped");
    }
    return r;
}
