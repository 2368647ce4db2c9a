/* Whole files, in and out. */
#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A signal may come while a slow file system looks the name up. */
static int open_file(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

enum as_status as_buf_read_file(struct as_buf *b, const char *path, size_t max, struct as_error *err)
{
    int fd = open_file(path, O_RDONLY);
    if (fd < 0)
        return as_fail(err, AS_IO, "cannot open \"%s\": %s", path, strerror(errno));
    enum as_status st = AS_OK;
    size_t total = 0;
    for (;;) {
        char part[16384];
        ssize_t n = read(fd, part, sizeof part);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = as_fail(err, AS_IO, "cannot read \"%s\": %s", path, strerror(errno));
        else if ((size_t)n > max - total)
            st = as_fail(err, AS_FORMAT, "\"%s\" is larger than the %zu bytes that make sense for it", path, max);
        if (n <= 0 || st)
            break;
        as_buf_add(b, part, (size_t)n);
        total += (size_t)n;
    }
    close(fd);
    return st ? st : as_buf_check(b, err);
}

static const char *why_not_written(int number)
{
    return number == EFBIG ? "the file size limit is reached; raise it (ulimit -f) or write to another file system"
                           : strerror(number);
}

static enum as_status write_all(int fd, const char *path, const char *data, size_t len, struct as_error *err)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len < SSIZE_MAX ? len : SSIZE_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return as_fail(err, AS_IO, "cannot write \"%s\": %s", path, why_not_written(n < 0 ? errno : EIO));
        data += n, len -= (size_t)n;
    }
    return AS_OK;
}

/* Devices and pipes are written as they are: there is nothing to rename. */
static enum as_status write_special(const char *path, const char *data, size_t len, struct as_error *err)
{
    int fd = open_file(path, O_WRONLY);
    if (fd < 0)
        return as_fail(err, AS_IO, "cannot open \"%s\" for writing: %s", path, strerror(errno));
    enum as_status st = write_all(fd, path, data, len, err);
    if (close(fd) != 0 && !st)
        st = as_fail(err, AS_IO, "cannot write \"%s\": %s", path, strerror(errno));
    return st;
}

/* Beside target, so that the rename stays in one file system. mode 0: as the umask wants it. */
static enum as_status write_and_rename(const char *target, mode_t mode, const char *data, size_t len,
                                       struct as_error *err)
{
    char hex[17];
    as_hash_hex(as_rng_entropy(), hex);
    size_t size = strlen(target) + sizeof hex + sizeof "..tmp";
    char *tmp = malloc(size);
    if (!tmp)
        return as_nomem(err, size, "a file name");
    snprintf(tmp, size, "%s.%s.tmp", target, hex);
    enum as_status st = AS_OK;
    int fd = open_file(tmp, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0) {
        st = as_fail(err, AS_IO, "cannot create a file beside \"%s\": %s", target, strerror(errno));
        goto done;
    }
    st = write_all(fd, target, data, len, err);
    if (!st && mode && fchmod(fd, mode) != 0)
        st = as_fail(err, AS_IO, "cannot set the permissions of \"%s\": %s", target, strerror(errno));
    if (!st && fsync(fd) != 0 && errno != EINVAL && errno != EROFS) /* those: a file system that cannot */
        st = as_fail(err, AS_IO, "cannot write \"%s\": %s", target, strerror(errno));
    if (close(fd) != 0 && !st) /* where quotas and network file systems tell that it did not fit */
        st = as_fail(err, AS_IO, "cannot write \"%s\": %s", target, strerror(errno));
    if (!st && rename(tmp, target) != 0)
        st = as_fail(err, AS_IO, "cannot rename \"%s\" to \"%s\": %s", tmp, target, strerror(errno));
    if (st)
        unlink(tmp);
done:
    free(tmp);
    return st;
}

enum as_status as_write_file(const char *path, const char *data, size_t len, struct as_error *err)
{
    if (strcmp(path, "-") == 0) {
        if (fflush(stdout) != 0)
            return as_fail(err, AS_IO, "cannot write to standard output: %s", strerror(errno));
        return write_all(STDOUT_FILENO, "standard output", data, len, err);
    }
    struct stat info;
    if (stat(path, &info) != 0)
        return write_and_rename(path, 0, data, len, err);
    if (S_ISDIR(info.st_mode))
        return as_fail(err, AS_IO, "cannot write \"%s\": it is a folder; give the name of a file in it", path);
    if (!S_ISREG(info.st_mode))
        return write_special(path, data, len, err);
    /* the rename would go around a write protection, and would put a file in the place of a link */
    if (access(path, W_OK) != 0)
        return as_fail(err, AS_IO, "cannot write \"%s\": %s", path, strerror(errno));
    char *target = realpath(path, NULL);
    if (!target)
        return as_fail(err, AS_IO, "cannot resolve \"%s\": %s", path, strerror(errno));
    enum as_status st = write_and_rename(target, info.st_mode & 0777, data, len, err);
    free(target);
    return st;
}
