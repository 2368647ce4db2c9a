// clang-format off
/* Preloaded into assay, it fails one call of a process, or all calls from one on; or it only lists the calls.
 *
 *   ASSAY_FAIL      "ROLE SET N"; with " on" appended, the Nth call and all later ones fail.
 *                   ROLE: parent, child (a copy of the parent that is not a worker yet) or worker
 *                   SET:  memory, system, interrupt (EINTR) or short (half of the bytes requested)
 *                   Calls of a set count from 1 in each process.
 *   ASSAY_FAIL_LOG  a file. With ASSAY_FAIL, the only failed call of all processes is written to it with its stack; without,
 *                   one line per call: role, set, number, name, hash of the call stack.
 *
 * Allocations include those of libraries, which must report their failures. Sanitizers with a static runtime take
 * precedence over preloaded functions; gcc's -fsanitize=leak does not, and detects leaks. */
// clang-format on
#undef _FILE_OFFSET_BITS /* defines both names of a call, with and without 64 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum set { MEMORY, SYSTEM, INTERRUPT, SHORT, SETS_N };
static const char *const set_names[SETS_N] = {"memory", "system", "interrupt", "short"};
enum role { PARENT, CHILD, WORKER, ROLES_N };
static const char *const role_names[ROLES_N] = {"parent", "child", "worker"};

enum { STACK_DEPTH = 24, LOG_FD = 900 };

static struct {
    bool armed, counting, from_on;
    enum role role, wanted_role;
    enum set wanted_set;
    unsigned long wanted;
    const char *log;
    int fd;
    atomic_bool fired;
    atomic_ulong seen[SETS_N];
} now = {.fd = -1};
/* Calls from this file are not counted. Volatile, since the library's headers promise that nothing calls back. */
static _Thread_local volatile bool inside;

static void write_line(int fd, const char *line, int len)
{
    if (len > 0)
        (void)!syscall(SYS_write, fd, line, (size_t)len);
}

static int open_log(int flags)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, now.log, O_WRONLY | O_CREAT | flags, 0666);
    if (fd < 0)
        return -1;
    int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOG_FD);
    syscall(SYS_close, fd);
    return high;
}

static uint64_t stack_hash(void)
{
    void *frames[STACK_DEPTH];
    uint64_t hash = 14695981039346656037u;
    const int n = backtrace(frames, STACK_DEPTH);
    for (int i = 2; i < n; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 1099511628211u;
    return hash;
}

static void log_call(enum set set, unsigned long n, const char *name)
{
    char line[160];
    if (now.fd < 0)
        now.fd = open_log(O_APPEND);
    write_line(now.fd, line,
               snprintf(line, sizeof line, "%s %s %lu %s %016llx\n", role_names[now.role], set_names[set], n, name,
                        (unsigned long long)stack_hash()));
}

/* Only the first process fails a call. */
static bool claim(enum set set, unsigned long n, const char *name)
{
    char line[160];
    if (now.fired)
        return now.from_on;
    int fd = open_log(O_EXCL);
    if (fd < 0) {
        now.armed = false;
        return false;
    }
    now.fired = true;
    write_line(fd, line, snprintf(line, sizeof line, "%s %s %lu %s\n", role_names[now.role], set_names[set], n, name));
    void *frames[STACK_DEPTH];
    backtrace_symbols_fd(frames, backtrace(frames, STACK_DEPTH), fd);
    syscall(SYS_close, fd);
    return true;
}

/* Counts a call of this name, and returns whether it must fail. */
static bool strikes(enum set set, const char *name)
{
    if (inside || (!now.armed && !now.counting))
        return false;
    const int kept = errno;
    bool fails = false;
    inside = true;
    const unsigned long n = atomic_fetch_add(&now.seen[set], 1) + 1;
    if (now.counting)
        log_call(set, n, name);
    else if (now.role == now.wanted_role && set == now.wanted_set &&
             (n == now.wanted || (now.from_on && n > now.wanted)))
        fails = claim(set, n, name);
    inside = false;
    errno = kept;
    return fails;
}

static int find(const char *word, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    return -1;
}

static void read_wanted(const char *text)
{
    char role[16], set[16], on[8] = "";
    if (sscanf(text, "%15s %15s %lu %7s", role, set, &now.wanted, on) < 3)
        return;
    const int r = find(role, role_names, ROLES_N), s = find(set, set_names, SETS_N);
    now.armed = r >= 0 && s >= 0;
    now.wanted_role = (enum role)r;
    now.wanted_set = (enum set)s;
    now.from_on = strcmp(on, "on") == 0;
}

__attribute__((constructor)) static void begin(int argc, char **argv)
{
    void *warm[2];
    inside = true;
    backtrace(warm, 2); /* loads its libraries now */
    const char *wanted = getenv("ASSAY_FAIL");
    now.log = getenv("ASSAY_FAIL_LOG");
    now.role = argc > 1 && strcmp(argv[1], "--worker") == 0 ? WORKER : PARENT;
    if (now.log && wanted)
        read_wanted(wanted);
    else
        now.counting = now.log != NULL;
    inside = false;
}

/* Memory for allocations of the lookup before malloc is known. */
static char early[4096];
static size_t early_used;

static void *early_alloc(size_t size)
{
    const size_t at = early_used;
    early_used += (size + 15) / 16 * 16;
    return early_used <= sizeof early ? early + at : NULL;
}

static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof early;
}

static _Thread_local volatile bool looking;

static void *real_of(const char *name)
{
    looking = true;
    void *found = dlsym(RTLD_NEXT, name);
    looking = false;
    return found;
}

#define REAL(name)                                                                                                     \
    static __typeof__(name) *real;                                                                                     \
    if (!real)                                                                                                         \
    *(void **)&real = real_of(#name)

/* A function that returns `failed` with errno set. */
#define FAILING(set, failed, code, ret, name, params, arguments)                                                       \
    EXPORT ret name params                                                                                             \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        if (strikes(set, #name)) {                                                                                     \
            errno = (code);                                                                                            \
            return failed;                                                                                             \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }
/* The same for one that a signal may interrupt. */
#define SLOW(failed, code, ret, name, params, arguments)                                                               \
    EXPORT ret name params                                                                                             \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        const bool fails = strikes(SYSTEM, #name);                                                                     \
        if (fails || strikes(INTERRUPT, #name)) {                                                                      \
            errno = fails ? (code) : EINTR;                                                                            \
            return failed;                                                                                             \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }
/* The same for a function that may process fewer bytes than n. */
#define PARTIAL(code, name, params, arguments)                                                                         \
    EXPORT ssize_t name params                                                                                         \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        const bool fails = strikes(SYSTEM, #name);                                                                     \
        if (fails || strikes(INTERRUPT, #name)) {                                                                      \
            errno = fails ? (code) : EINTR;                                                                            \
            return -1;                                                                                                 \
        }                                                                                                              \
        if (n > 1 && strikes(SHORT, #name))                                                                            \
            n /= 2;                                                                                                    \
        return real arguments;                                                                                         \
    }

EXPORT void *malloc(size_t size)
{
    if (looking)
        return early_alloc(size);
    REAL(malloc);
    if (strikes(MEMORY, "malloc")) {
        errno = ENOMEM;
        return NULL;
    }
    return real(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
    if (looking)
        return early_alloc(n * size);
    REAL(calloc);
    if (strikes(MEMORY, "calloc")) {
        errno = ENOMEM;
        return NULL;
    }
    return real(n, size);
}

EXPORT void free(void *p)
{
    if (looking) /* the lookup frees the text of an earlier error */
        return;
    REAL(free);
    if (!is_early(p))
        real(p);
}

FAILING(MEMORY, NULL, ENOMEM, void *, realloc, (void *p, size_t size), (p, size))
FAILING(MEMORY, NULL, ENOMEM, void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
FAILING(MEMORY, NULL, ENOMEM, void *, aligned_alloc, (size_t align, size_t size), (align, size))
FAILING(MEMORY, MAP_FAILED, ENOMEM, void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from),
        (at, n, prot, flags, fd, from))
FAILING(MEMORY, MAP_FAILED, ENOMEM, void *, mmap64, (void *at, size_t n, int prot, int flags, int fd, off64_t from),
        (at, n, prot, flags, fd, from))

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    REAL(posix_memalign);
    return strikes(MEMORY, "posix_memalign") ? ENOMEM : real(out, align, size);
}

PARTIAL(EIO, read, (int fd, void *to, size_t n), (fd, to, n))
PARTIAL(ENOSPC, write, (int fd, const void *from, size_t n), (fd, from, n))
PARTIAL(EIO, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
PARTIAL(EIO, pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
PARTIAL(ENOSPC, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
PARTIAL(ENOSPC, pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at))

SLOW(-1, ENOBUFS, ssize_t, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags))
SLOW(-1, ENOMEM, ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags))
SLOW(-1, ENOMEM, int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
SLOW(-1, EIO, int, ftruncate, (int fd, off_t n), (fd, n))
SLOW(-1, EIO, int, ftruncate64, (int fd, off64_t n), (fd, n))
FAILING(INTERRUPT, -1, EINTR, pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))

FAILING(SYSTEM, -1, EIO, int, fsync, (int fd), (fd))
FAILING(SYSTEM, -1, EIO, int, fdatasync, (int fd), (fd))
FAILING(SYSTEM, -1, EIO, int, unlink, (const char *path), (path))
FAILING(SYSTEM, -1, ENOSPC, int, rename, (const char *from, const char *to), (from, to))
FAILING(SYSTEM, -1, ENOSPC, int, mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(SYSTEM, -1, EIO, int, rmdir, (const char *path), (path))
FAILING(SYSTEM, -1, EPERM, int, fchmod, (int fd, mode_t mode), (fd, mode))
FAILING(SYSTEM, -1, EIO, int, stat, (const char *restrict path, struct stat *restrict out), (path, out))
FAILING(SYSTEM, -1, EIO, int, stat64, (const char *restrict path, struct stat64 *restrict out), (path, out))
FAILING(SYSTEM, -1, EIO, int, fstat, (int fd, struct stat *out), (fd, out))
FAILING(SYSTEM, -1, EIO, int, fstat64, (int fd, struct stat64 *out), (fd, out))
FAILING(SYSTEM, -1, EIO, int, lstat, (const char *restrict path, struct stat *restrict out), (path, out))
FAILING(SYSTEM, -1, EIO, int, lstat64, (const char *restrict path, struct stat64 *restrict out), (path, out))
FAILING(SYSTEM, -1, EIO, int, access, (const char *path, int mode), (path, mode))
FAILING(SYSTEM, NULL, EIO, char *, realpath, (const char *restrict path, char *restrict out), (path, out))
FAILING(SYSTEM, -1, EIO, ssize_t, readlink, (const char *restrict path, char *restrict out, size_t n), (path, out, n))
FAILING(SYSTEM, NULL, ENOENT, char *, getcwd, (char *out, size_t n), (out, n))
FAILING(SYSTEM, NULL, EMFILE, DIR *, opendir, (const char *path), (path))
FAILING(SYSTEM, NULL, EMFILE, FILE *, fopen, (const char *restrict path, const char *restrict how), (path, how))
FAILING(SYSTEM, NULL, EMFILE, FILE *, fopen64, (const char *restrict path, const char *restrict how), (path, how))
FAILING(SYSTEM, NULL, ENOMEM, FILE *, fdopen, (int fd, const char *how), (fd, how))
FAILING(SYSTEM, 0, EIO, size_t, fread, (void *restrict to, size_t size, size_t n, FILE *restrict f), (to, size, n, f))
FAILING(SYSTEM, NULL, EIO, char *, fgets, (char *restrict to, int n, FILE *restrict f), (to, n, f))
FAILING(SYSTEM, EOF, ENOSPC, int, fflush, (FILE * f), (f))
FAILING(SYSTEM, -1, EMFILE, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAILING(SYSTEM, -1, EMFILE, int, socketpair, (int domain, int type, int protocol, int fds[2]),
        (domain, type, protocol, fds))
FAILING(SYSTEM, -1, EACCES, int, bind, (int fd, __CONST_SOCKADDR_ARG name, socklen_t len), (fd, name, len))
FAILING(SYSTEM, -1, EMFILE, int, memfd_create, (const char *name, unsigned flags), (name, flags))
FAILING(SYSTEM, -1, ENOENT, int, execvp, (const char *program, char *const argv[]), (program, argv))
FAILING(SYSTEM, -1, EBUSY, int, dup2, (int from, int to), (from, to))
FAILING(SYSTEM, -1, EMFILE, int, close_range, (unsigned first, unsigned last, int flags), (first, last, flags))
FAILING(SYSTEM, -1, EACCES, int, setpgid, (pid_t pid, pid_t group), (pid, group))
FAILING(SYSTEM, -1, ENOSYS, ssize_t, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags))
FAILING(SYSTEM, -1, EINVAL, int, sched_setaffinity, (pid_t pid, size_t n, const cpu_set_t *set), (pid, n, set))
FAILING(SYSTEM, -1, EPERM, int, sched_getaffinity, (pid_t pid, size_t n, cpu_set_t *set), (pid, n, set))
FAILING(SYSTEM, -1, ENOMEM, int, mprotect, (void *at, size_t n, int prot), (at, n, prot))
FAILING(SYSTEM, -1, ENOMEM, int, madvise, (void *at, size_t n, int advice), (at, n, advice))
FAILING(SYSTEM, -1, ENOMEM, int, mlock, (const void *at, size_t n), (at, n))
FAILING(SYSTEM, -1, ENAMETOOLONG, int, gethostname, (char *out, size_t n), (out, n))
FAILING(SYSTEM, -1, ENOMEM, int, setenv, (const char *name, const char *value, int over), (name, value, over))

EXPORT int pthread_create(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *), void *user)
{
    REAL(pthread_create);
    return strikes(SYSTEM, "pthread_create") ? EAGAIN : real(out, attr, start, user);
}

EXPORT pid_t fork(void)
{
    REAL(fork);
    if (strikes(SYSTEM, "fork")) {
        errno = EAGAIN;
        return -1;
    }
    const pid_t pid = real();
    if (pid == 0) {
        now.role = CHILD;
        for (int i = 0; i < SETS_N; i++)
            now.seen[i] = 0;
    }
    return pid;
}

/* The descriptor is closed in either case, as in Linux. */
EXPORT int close(int fd)
{
    REAL(close);
    const bool fails = strikes(SYSTEM, "close");
    const int r = real(fd);
    if (!fails)
        return r;
    errno = EIO;
    return -1;
}

EXPORT int fclose(FILE *f)
{
    REAL(fclose);
    const bool fails = strikes(SYSTEM, "fclose");
    const int r = real(f);
    if (!fails)
        return r;
    errno = EIO;
    return EOF;
}

/* So that dlerror has a message. */
EXPORT void *dlopen(const char *path, int flags)
{
    REAL(dlopen);
    return real(strikes(SYSTEM, "dlopen") ? "/nonexistent/library.so" : path, flags);
}

static mode_t mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? va_arg(more, mode_t) : 0;
}

#define OPENING(name, params, last, ...)                                                                               \
    EXPORT int name params                                                                                             \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        const mode_t mode = mode_of(flags, more);                                                                      \
        va_end(more);                                                                                                  \
        const bool fails = strikes(SYSTEM, #name);                                                                     \
        if (fails || strikes(INTERRUPT, #name)) {                                                                      \
            errno = fails ? EMFILE : EINTR;                                                                            \
            return -1;                                                                                                 \
        }                                                                                                              \
        return real(__VA_ARGS__, mode);                                                                                \
    }
OPENING(open, (const char *path, int flags, ...), flags, path, flags)
OPENING(open64, (const char *path, int flags, ...), flags, path, flags)
OPENING(openat, (int at, const char *path, int flags, ...), flags, at, path, flags)
OPENING(openat64, (int at, const char *path, int flags, ...), flags, at, path, flags)

/* Only locks and copies of descriptors can fail. */
#define CONTROLLING(name)                                                                                              \
    EXPORT int name(int fd, int what, ...)                                                                             \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        va_list more;                                                                                                  \
        va_start(more, what);                                                                                          \
        void *argument = va_arg(more, void *);                                                                         \
        va_end(more);                                                                                                  \
        const bool copies = what == F_DUPFD || what == F_DUPFD_CLOEXEC;                                                \
        if ((copies || what == F_SETLK || what == F_SETLKW || what == F_GETLK) && strikes(SYSTEM, #name)) {            \
            errno = copies ? EMFILE : EIO;                                                                             \
            return -1;                                                                                                 \
        }                                                                                                              \
        return real(fd, what, argument);                                                                               \
    }
CONTROLLING(fcntl)
CONTROLLING(fcntl64)
