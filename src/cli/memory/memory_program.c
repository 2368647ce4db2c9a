#include "cli/memory/memory_program.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };
static int notice[2] = {-1, -1}; /* a byte per signal: its number, or 0 where only the wait has to end */

/* A signal of the terminal reaches the program by itself, since it is in the same process group. */
static void program_signal(int number, siginfo_t *info, void *context)
{
    const int kept = errno;
    const unsigned char byte = number == SIGCHLD || info->si_code > 0 ? 0 : (unsigned char)number;
    const ssize_t told = write(notice[1], &byte, 1);
    (void)told;
    (void)context;
    errno = kept;
}

/* Signals that are ignored, as under nohup, stay so for both. */
static void program_catch_signals(void)
{
    struct sigaction catch = {.sa_sigaction = program_signal, .sa_flags = SA_SIGINFO | SA_RESTART}, old;
    sigemptyset(&catch.sa_mask);
    sigaction(SIGCHLD, &catch, NULL);
    for (size_t i = 0; i < PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &catch, NULL);
}

static bool program_pipe(int ends[2], int flags)
{
    if (pipe(ends))
        return false;
    for (int i = 0; i < 2; i++) {
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[i], F_SETFL, flags);
    }
    return true;
}

/* In the child: only async-signal-safe calls. */
static void program_become(char *const argv[], int failure)
{
    signal(SIGPIPE, SIG_DFL); /* assay ignores both */
    signal(SIGXFSZ, SIG_DFL);
    execvp(argv[0], argv);
    const int code = errno;
    const ssize_t told = write(failure, &code, sizeof code);
    (void)told;
    _exit(MEMORY_EXIT_NOT_FOUND);
}

/* The errno of exec; 0: the program runs. */
static int program_await_exec(int failure)
{
    int code = 0;
    ssize_t n;
    do
        n = read(failure, &code, sizeof code);
    while (n < 0 && errno == EINTR);
    return n == sizeof code ? code : 0;
}

enum as_status as_memory_program_start(struct memory_program *p, char *const argv[], int *code, struct as_error *err)
{
    int failure[2];
    *p = (struct memory_program){.id = -1};
    *code = MEMORY_EXIT_NOT_EXECUTABLE;
    if (!program_pipe(notice, O_NONBLOCK) || !program_pipe(failure, 0))
        return as_fail(err, AS_FAILED, "cannot create a pipe: %s", strerror(errno));
    program_catch_signals();
    const pid_t id = fork();
    if (id == 0)
        program_become(argv, failure[1]);
    const int fork_code = id < 0 ? errno : 0;
    close(failure[1]);
    const int exec_code = fork_code ? fork_code : program_await_exec(failure[0]);
    close(failure[0]);
    if (exec_code && id > 0)
        (void)waitpid(id, NULL, 0);
    if (exec_code) {
        *code = exec_code == ENOENT || exec_code == ENOTDIR ? MEMORY_EXIT_NOT_FOUND : MEMORY_EXIT_NOT_EXECUTABLE;
        return as_fail(err, AS_FAILED, "'%s' cannot be started: %s", argv[0], strerror(exec_code));
    }
    p->id = id;
    return AS_OK;
}

static void program_pass_signals_on(const struct memory_program *p)
{
    unsigned char bytes[64];
    for (ssize_t n; (n = read(notice[0], bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] && !p->ended)
                (void)kill((pid_t)p->id, bytes[i]);
}

static bool program_has_ended(struct memory_program *p)
{
    if (!p->ended)
        p->ended = waitpid((pid_t)p->id, &p->status, WNOHANG) == (pid_t)p->id;
    return p->ended;
}

bool as_memory_program_wait(struct memory_program *p, double seconds)
{
    const double end = as_now() + seconds;
    struct pollfd fd = {.fd = notice[0], .events = POLLIN};
    while (!program_has_ended(p)) {
        const double rest = end - as_now();
        if (!(rest > 0))
            return false;
        (void)poll(&fd, 1, (int)fmin(ceil(1e3 * rest), 3600e3));
        program_pass_signals_on(p);
    }
    return true;
}

int as_memory_program_exit(const struct memory_program *p)
{
    if (WIFEXITED(p->status))
        return WEXITSTATUS(p->status);
    const int number = WTERMSIG(p->status);
    const struct rlimit none = {0, 0}; /* one core dump is enough */
    (void)setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    (void)raise(number);
    return 128 + number;
}
