/* System calls that the C library wraps only since a version later than the oldest that assay runs on (glibc 2.17),
 * each with what serves on kernels that lack it. */
#include "os/facts.h"
#include "os/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* on every architecture */
#endif
enum { CLOSE_ON_EXEC = 1 }; /* MFD_CLOEXEC */

bool as_system_random(void *bytes, size_t n)
{
    return syscall(SYS_getrandom, bytes, n, 0) == (long)n; /* since Linux 3.17 */
}

int as_unnamed_file(const char *name)
{
    const int fd = (int)syscall(SYS_memfd_create, name, CLOSE_ON_EXEC); /* since Linux 3.17 */
    if (fd >= 0 || errno != ENOSYS)
        return fd;
    char path[512];
    const char *folder = getenv("TMPDIR");
    const int n = snprintf(path, sizeof path, "%s/%s.XXXXXX", folder && folder[0] ? folder : "/tmp", name);
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

/* Closes what /proc lists. opendir would allocate, which a child of a process with threads may not. */
static bool calls_close_listed(int first)
{
    const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    _Alignas(struct dirent64) char entries[4096];
    long n;
    while ((n = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            int fd = -1;
            for (const char *c = entry->d_name; *c >= '0' && *c <= '9'; c++)
                fd = (fd < 0 ? 0 : fd) * 10 + (*c - '0');
            if (fd >= first && fd != folder)
                close(fd);
            at += entry->d_reclen;
        }
    close(folder);
    return n == 0;
}

void as_close_from(int first)
{
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0 || calls_close_listed(first)) /* since Linux 5.9 */
        return;
    struct rlimit limit;
    const int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = first; fd < end; fd++)
        close(fd);
}
