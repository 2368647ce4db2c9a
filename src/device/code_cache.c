#include "device/code_cache.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/lock.h"
#include "os/facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Precedes the code, in native byte order: a cache is not portable. The hash only detects damage; trust comes from
 * the owner and mode of folder and file. */
struct header {
    char magic[8];
    uint64_t key, bytes, hash;
};
/* Bump when the compiler's options change: they are not part of the key. */
static const char magic[8] = "assay01";

enum { FILES_MAX = 4096, BYTES_MAX = 256 << 20, CODE_MAX = 16 << 20 };

/* "$XDG_CACHE_HOME/assay" or "~/.cache/assay", created if missing; "" without a home. */
static void folder_path(struct as_buf *out)
{
    const char *off = getenv("ASSAY_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (off && strcmp(off, "off") == 0)
        return;
    if (cache && cache[0] == '/')
        as_buf_str(out, cache);
    else if (home && home[0] == '/')
        as_buf_printf(out, "%s/.cache", home);
    else
        return;
    (void)mkdir(as_buf_get(out), 0700);
    as_buf_str(out, "/assay");
    (void)mkdir(as_buf_get(out), 0700);
}

/* Its contents run with this user's rights, so no other user may have write access. */
static bool is_own(const struct stat *st)
{
    return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A descriptor of the folder, through which its files are opened; -1 if it is missing or not this user's. */
static int open_folder(void)
{
    struct as_buf path = AS_BUF_INIT;
    struct stat st;
    folder_path(&path);
    int fd = path.len && !path.failed ? open(as_buf_get(&path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    as_buf_finish(&path);
    if (fd >= 0 && !(fstat(fd, &st) == 0 && is_own(&st))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

struct name {
    char text[64];
};

static struct name code_cache_name_of(uint64_t key)
{
    struct name name;
    snprintf(name.text, sizeof name.text, "%016llx.code", (unsigned long long)key);
    return name;
}

static bool code_cache_read_whole(FILE *f, uint64_t key, unsigned char **code, size_t *bytes)
{
    struct header h;
    if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, magic, sizeof magic) != 0 || h.key != key || h.bytes == 0 ||
        h.bytes > CODE_MAX)
        return false;
    unsigned char *p = malloc(h.bytes);
    if (!p || fread(p, 1, h.bytes, f) != h.bytes || as_hash(p, h.bytes) != h.hash) {
        free(p);
        return false;
    }
    *code = p;
    *bytes = h.bytes;
    return true;
}

/* NULL unless it is a regular file of this user with one link: never blocks on a FIFO or device. */
static FILE *open_plain(int folder, const char *name)
{
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    bool plain = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && is_own(&st);
    FILE *f = plain ? fdopen(fd, "rb") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

bool as_code_cache_get(uint64_t key, unsigned char **code, size_t *bytes)
{
    bool got = false;
    int folder = open_folder();
    FILE *f = folder >= 0 ? open_plain(folder, code_cache_name_of(key).text) : NULL;
    if (f) {
        got = code_cache_read_whole(f, key, code, bytes);
        if (got)
            (void)futimens(fileno(f), NULL); /* marks it as recently used for eviction */
        fclose(f);
    }
    if (folder >= 0)
        close(folder);
    return got;
}

bool as_code_cache_usable(void)
{
    int folder = open_folder();
    bool usable = folder >= 0 && faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) == 0;
    if (folder >= 0)
        close(folder);
    return usable;
}

struct file {
    char name[64];
    int64_t used; /* ns since 1970 */
    int64_t bytes;
};

static int by_use(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* Lists the cache's files in `folder`, finished or not, at most *n. */
static void list_files(DIR *folder, struct file *files, size_t *n, int64_t *bytes)
{
    size_t found = 0;
    struct stat st;
    for (struct dirent *e; found < *n && (e = readdir(folder));) {
        struct file *f = &files[found];
        size_t length = strlen(e->d_name);
        if (!strstr(e->d_name, ".code") || length >= sizeof f->name ||
            fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        memcpy(f->name, e->d_name, length + 1);
        f->used = as_file_changed_ns(&st);
        f->bytes = st.st_size;
        *bytes += f->bytes;
        found++;
    }
    *n = found;
}

/* Evicts the oldest entries of a cache that is too large, a quarter more than needed, so that evictions are rare. */
static void code_cache_bound(int folder)
{
    size_t n = 2 * FILES_MAX;
    int64_t bytes = 0;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct file *files = d ? calloc(n, sizeof *files) : NULL;
    if (files) {
        list_files(d, files, &n, &bytes);
        size_t keep = n >= FILES_MAX ? FILES_MAX / 4 * 3 : n;
        int64_t keep_bytes = bytes >= BYTES_MAX ? BYTES_MAX / 4 * 3 : bytes;
        qsort(files, n, sizeof *files, by_use);
        for (size_t i = 0; i < n && (n - i > keep || bytes > keep_bytes); i++) {
            (void)unlinkat(folder, files[i].name, 0);
            bytes -= files[i].bytes;
        }
    }
    free(files);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

static bool write_whole(int fd, const struct header *h, const unsigned char *code)
{
    FILE *f = fdopen(fd, "wb");
    if (!f) {
        close(fd);
        return false;
    }
    bool good = fwrite(h, sizeof *h, 1, f) == 1 && fwrite(code, 1, h->bytes, f) == h->bytes;
    return fclose(f) == 0 && good;
}

static void put_in(int folder, const struct header *h, const unsigned char *code)
{
    struct name name = code_cache_name_of(h->key), temporary;
    snprintf(temporary.text, sizeof temporary.text, "%.40s.%ld", name.text, (long)getpid());
    code_cache_bound(folder);
    int fd = openat(folder, temporary.text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd >= 0 && (!write_whole(fd, h, code) || renameat(folder, temporary.text, folder, name.text)))
        (void)unlinkat(folder, temporary.text, 0);
}

void as_code_cache_put(uint64_t key, const unsigned char *code, size_t bytes)
{
    struct header h = {.key = key, .bytes = bytes, .hash = as_hash(code, bytes)};
    memcpy(h.magic, magic, sizeof magic);
    int folder = bytes && bytes <= CODE_MAX ? open_folder() : -1;
    if (folder >= 0) {
        put_in(folder, &h, code);
        close(folder);
    }
}

/* A byte of one file for each key. */
bool as_code_cache_claim(uint64_t key, int *claim)
{
    const int folder = open_folder();
    *claim = folder >= 0 ? openat(folder, "claims", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR) : -1;
    if (folder >= 0)
        close(folder);
    const int why = *claim >= 0 ? as_lock_byte(*claim, (int64_t)(key >> 2)) : 0;
    if (why) {
        close(*claim);
        *claim = -1;
    }
    return why != EAGAIN;
}

void as_code_cache_release(int claim)
{
    if (claim >= 0)
        close(claim);
}
