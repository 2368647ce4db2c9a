/* Reads and writes whole files. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int as_open(const char *path, int flags, unsigned mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

enum as_status as_buf_read_file(struct as_buf *b, const char *path, size_t max, struct as_error *err)
{
    int fd = as_open(path, O_RDONLY, 0);
    if (fd < 0)
        return as_fail(err, errno == ENOENT ? AS_NOTFOUND : AS_IO, "cannot open \"%s\": %s", path, strerror(errno));
    enum as_status st = AS_OK;
    size_t total = 0;
    for (;;) {
        char part[16384];
        ssize_t n = read(fd, part, sizeof part);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EISDIR)
            st = as_fail(err, AS_USAGE, "cannot read \"%s\": it is a folder; give the name of a file in it", path);
        else if (n < 0)
            st = as_fail(err, AS_IO, "cannot read \"%s\": %s", path, strerror(errno));
        else if ((size_t)n > max - total)
            st = as_fail(err, AS_FORMAT, "\"%s\" is larger than the limit of %zu bytes", path, max);
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

static enum as_status file_write_all(int fd, const char *path, const char *data, size_t len, struct as_error *err)
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

bool as_is_database(const char *bytes, size_t n)
{
    static const char magic[16] = "SQLite format 3";
    return n >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

enum as_status as_check_no_database(const char *path, struct as_error *err)
{
    char head[16];
    struct stat info;
    const int fd = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? as_open(path, O_RDONLY, 0) : -1;
    const ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof head, 0);
    if (fd >= 0)
        close(fd);
    return n > 0 && as_is_database(head, (size_t)n)
               ? as_fail(err, AS_USAGE, "cannot write \"%s\": it is a database; give another file", path)
               : AS_OK;
}

/* In target's folder, so that the rename stays in one file system; with a short name, since target's may have the
 * maximum length. */
static enum as_status open_beside(struct as_writer *w, struct as_error *err)
{
    char hex[17];
    as_hash_hex(as_rng_entropy(), hex);
    const char *slash = strrchr(w->target, '/');
    const int folder = slash ? (int)(slash - w->target + 1) : 0;
    size_t size = (size_t)folder + sizeof hex + sizeof ".assay..tmp";
    if (!(w->tmp = malloc(size)))
        return as_nomem(err, size, "a file name");
    snprintf(w->tmp, size, "%.*s.assay.%s.tmp", folder, w->target, hex);
    w->fd = as_open(w->tmp, O_WRONLY | O_CREAT | O_EXCL, 0666);
    return w->fd < 0 ? as_fail(err, AS_IO, "cannot create a file beside \"%s\": %s", w->target, strerror(errno))
                     : AS_OK;
}

static enum as_status open_regular(struct as_writer *w, const char *path, bool exists, struct as_error *err)
{
    /* a rename would bypass write protection and replace a link with a file */
    if (exists && access(path, W_OK) != 0)
        return as_fail(err, AS_IO, "cannot write \"%s\": %s", path, strerror(errno));
    if (!exists && !(w->target = as_strdup(path)))
        return as_nomem(err, strlen(path), "a file name");
    if (exists && !(w->target = realpath(path, NULL)))
        return as_fail(err, AS_IO, "cannot resolve \"%s\": %s", path, strerror(errno));
    return open_beside(w, err);
}

/* Devices and pipes are written directly. */
static enum as_status open_special(struct as_writer *w, const char *path, struct as_error *err)
{
    w->fd = as_open(path, O_WRONLY, 0);
    return w->fd < 0 ? as_fail(err, AS_IO, "cannot open \"%s\" for writing: %s", path, strerror(errno)) : AS_OK;
}

enum as_status as_writer_open(struct as_writer *w, const char *path, struct as_error *err)
{
    struct stat info = {0};
    *w = (struct as_writer){.fd = -1, .name = path};
    if (strcmp(path, "-") == 0) {
        w->name = "standard output";
        if (fflush(stdout) != 0)
            return as_fail(err, AS_IO, "cannot write to standard output: %s", strerror(errno));
        w->fd = STDOUT_FILENO;
        return AS_OK;
    }
    const bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return as_fail(err, AS_USAGE, "cannot write \"%s\": it is a folder; give the name of a file in it", path);
    enum as_status st = as_check_no_database(path, err);
    if (st)
        return st;
    w->mode = exists ? info.st_mode & 0777 : 0;
    st = exists && !S_ISREG(info.st_mode) ? open_special(w, path, err) : open_regular(w, path, exists, err);
    return st ? as_writer_close(w, st, err) : AS_OK;
}

enum as_status as_writer_add(struct as_writer *w, const char *data, size_t len, struct as_error *err)
{
    return file_write_all(w->fd, w->target ? w->target : w->name, data, len, err);
}

static enum as_status finish_regular(const struct as_writer *w, struct as_error *err)
{
    if (w->mode && fchmod(w->fd, w->mode) != 0)
        return as_fail(err, AS_IO, "cannot set the permissions of \"%s\": %s", w->target, strerror(errno));
    int rc;
    do
        rc = fsync(w->fd);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno != EINVAL && errno != EROFS) /* file systems without fsync */
        return as_fail(err, AS_IO, "cannot write \"%s\": %s", w->target, strerror(errno));
    return AS_OK;
}

enum as_status as_writer_close(struct as_writer *w, enum as_status st, struct as_error *err)
{
    const bool regular = w->target && w->fd >= 0;
    if (!st && regular)
        st = finish_regular(w, err);
    /* quotas and network file systems report a full disk here */
    if (w->fd >= 0 && w->fd != STDOUT_FILENO && close(w->fd) != 0 && errno != EINTR && !st)
        st = as_fail(err, AS_IO, "cannot write \"%s\": %s", w->target ? w->target : w->name, strerror(errno));
    if (!st && regular && rename(w->tmp, w->target) != 0)
        st = as_fail(err, AS_IO, "cannot rename \"%s\" to \"%s\": %s", w->tmp, w->target, strerror(errno));
    if (st && regular)
        unlink(w->tmp);
    free(w->target);
    free(w->tmp);
    *w = (struct as_writer){.fd = -1};
    return st;
}

enum as_status as_write_file(const char *path, const char *data, size_t len, struct as_error *err)
{
    struct as_writer w;
    enum as_status st = as_writer_open(&w, path, err);
    if (st)
        return st;
    return as_writer_close(&w, as_writer_add(&w, data, len, err), err);
}

enum as_status as_append_file(const char *path, const char *data, size_t len, struct as_error *err)
{
    enum { APPEND_MAX = 64 << 20 };
    struct as_buf all = AS_BUF_INIT;
    struct stat info;
    enum as_status st = AS_OK;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        st = as_buf_read_file(&all, path, APPEND_MAX, err);
    as_buf_add(&all, data, len);
    if (!st)
        st = as_buf_check(&all, err);
    if (!st)
        st = as_write_file(path, as_buf_get(&all), all.len, err);
    as_buf_finish(&all);
    return st;
}
