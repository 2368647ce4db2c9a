/* A host of another kind, preloaded into assay: what its system calls say of CPUs is decided by the environment.
 *   ASSAY_HOST_CPUS  the kernel may have so many CPUs: it refuses sets that hold fewer, as sched_getaffinity(2) says
 *   ASSAY_HOST_BIND  "no": a filter of system calls lets no thread be bound
 *   ASSAY_HOST_LOG   a file that gets a byte for each thread that is bound to one CPU */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int is_too_small(size_t bytes)
{
    const char *cpus = getenv("ASSAY_HOST_CPUS");
    return cpus && bytes < (size_t)atol(cpus) / 8;
}

EXPORT int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *set)
{
    const long got = is_too_small(bytes) ? -1 : syscall(SYS_sched_getaffinity, thread, bytes, set);
    if (is_too_small(bytes))
        errno = EINVAL;
    if (got < 0)
        return -1;
    memset((char *)set + got, 0, bytes - (size_t)got);
    return 0;
}

static void note_pinned(size_t bytes, const cpu_set_t *set)
{
    const char *log = getenv("ASSAY_HOST_LOG");
    const int fd =
        log && CPU_COUNT_S(bytes, set) == 1 ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    (void)!write(fd, "1", 1);
    close(fd);
}

EXPORT int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t *set)
{
    const char *bind = getenv("ASSAY_HOST_BIND");
    if (bind && strcmp(bind, "no") == 0) {
        errno = EPERM;
        return -1;
    }
    note_pinned(bytes, set);
    return (int)syscall(SYS_sched_setaffinity, thread, bytes, set);
}
