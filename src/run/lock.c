/* One run at a time: two would disturb each other. */
#include "run/engine.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Machines may share a home, so the lock's name has the host. World-writable folders come last. */
static void lock_path(size_t choice, struct as_buf *out)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *runtime = getenv("XDG_RUNTIME_DIR");
    char host[256] = "";
    if (gethostname(host, sizeof host - 1))
        host[0] = 0;
    for (char *at = host; *at; at++)
        if (*at == '/')
            *at = '_';
    as_buf_clear(out);
    if (choice == 0 && cache && cache[0] == '/')
        as_buf_str(out, cache);
    else if (choice == 0 && home && home[0] == '/')
        as_buf_printf(out, "%s/.cache", home);
    else if (choice == 1 && runtime && runtime[0] == '/')
        as_buf_str(out, runtime);
    else if (choice == 2)
        as_buf_str(out, "/tmp");
    if (!out->len)
        return;
    (void)mkdir(as_buf_get(out), 0700);
    as_buf_printf(out, "/assay-%lu-%s.lock", (unsigned long)geteuid(), host);
}

/* A file that is the user's own, else -1 with errno: nobody else can hold the lock. */
static int open_lock(const char *path)
{
    struct stat st;
    int fd = as_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = EPERM;
    }
    return -1;
}

/* Tells those who wait which process holds the lock and when its budget ends: "1234 1795000000 assay run full". Where
 * that cannot be written, they are told less. */
static void lock_sign(const struct as_run_options *options, double budget_s, int fd)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "%ld %.0f %s", (long)getpid(), budget_s > 0 ? as_wall() + budget_s : 0,
                  options->command ? options->command : "");
    const ssize_t written =
        !text.failed && ftruncate(fd, 0) == 0 ? pwrite(fd, as_buf_get(&text), text.len, 0) : (ssize_t)-1;
    (void)written;
    as_buf_finish(&text);
}

/* " (process 1234, assay run full, until 2026-11-21T09:05:00Z at the latest)", or less */
static void lock_name_holder(int fd, struct as_buf *out)
{
    char text[512] = "", until[32], *rest;
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    const long pid = strtol(text, &rest, 10);
    const double end = strtod(rest, &rest);
    as_buf_str(out, "another run is measuring on this machine");
    if (pid <= 0)
        return;
    as_buf_printf(out, " (process %ld", pid);
    if (*rest == ' ' && rest[1])
        as_buf_printf(out, ", %s", rest + 1);
    as_format_wall(end, until, sizeof until);
    if (end > 0)
        as_buf_printf(out, ", until %s at the latest", until);
    as_buf_char(out, ')');
}

/* Waits if the options ask for it. Returns 0 when locked, else the errno why locks do not work. */
static int lock_take(const struct as_run_options *options, int fd, enum as_status *status, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    int why;
    while ((why = as_lock_byte(fd, 0)) == EAGAIN) {
        if (options->stop && *options->stop)
            *status = as_fail(err, AS_INTERRUPTED, "stopped while waiting for another run");
        if (!*status && !text.len) {
            as_buf_str(&text, options->wait ? "waiting: " : "");
            lock_name_holder(fd, &text);
            if (options->wait) {
                as_buf_str(&text, "; use --no-wait to fail instead of waiting");
                as_event_note(options, as_buf_get(&text));
            } else
                *status = as_fail(err, AS_BUSY, "%s; wait until it ends: concurrent runs disturb each other",
                                  as_buf_get(&text));
        }
        if (*status)
            break;
        as_sleep(0.1);
    }
    as_buf_finish(&text);
    return why;
}

enum as_status as_lock_machine(const struct as_run_options *options, double budget_s, int *lock, struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT;
    enum as_status st = AS_OK;
    int why = ENOENT;
    *lock = -1;
    for (size_t choice = 0; choice < 3 && *lock < 0 && !st; choice++) {
        lock_path(choice, &path);
        if (!path.len || path.failed)
            continue;
        *lock = open_lock(as_buf_get(&path));
        why = *lock < 0 ? errno : lock_take(options, *lock, &st, err);
        if (why && *lock >= 0) {
            close(*lock);
            *lock = -1;
        }
    }
    if (!st && *lock >= 0)
        lock_sign(options, budget_s, *lock);
    if (!st && *lock < 0) {
        as_buf_clear(&path);
        as_buf_printf(&path, "another run on this machine cannot be kept away: no lock file can be had (%s)",
                      strerror(why));
        as_event_note(options, as_buf_get(&path));
    }
    as_buf_finish(&path);
    return st;
}
