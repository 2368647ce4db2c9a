#include "disk.h"

#include "base/clock.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512, FILES_MAX = 8 };

enum change_kind { CREATED, DELETED, WRITTEN, TRUNCATED };
struct change {
    enum change_kind kind;
    size_t at, n; /* WRITTEN: offset and size; TRUNCATED: at is the new size */
    unsigned char *bytes;
};
struct content {
    bool exists;
    unsigned char *bytes;
    size_t n;
};
struct kept_file {
    char path[512];
    struct content safe;
    struct change *changes;
    size_t n;
};
struct handle {
    sqlite3_file base;
    struct kept_file *file;
    sqlite3_file *real; /* allocated behind this */
};

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *usual;
    enum disk_trouble trouble;
    unsigned long at, seen;
    uint64_t seed;
    bool struck;
    struct kept_file files[FILES_MAX];
    size_t n;
} disk;

static void *not_null(void *p)
{
    if (!p)
        abort();
    return p;
}

/* The call changes the disk or syncs it, or it only may fail. */
static bool strikes(bool changes)
{
    if (disk.trouble == DISK_NONE || (disk.trouble == DISK_POWER && !changes))
        return disk.trouble == DISK_POWER && disk.struck;
    const unsigned long n = ++disk.seen;
    const bool hit = n == disk.at || (n > disk.at && disk.trouble != DISK_FAIL);
    disk.struck |= hit;
    return hit;
}

static void read_content(const char *path, struct content *c)
{
    FILE *f = fopen(path, "rb");
    *c = (struct content){.exists = f != NULL};
    if (!f)
        return;
    fseek(f, 0, SEEK_END);
    c->n = (size_t)ftell(f);
    rewind(f);
    c->bytes = not_null(malloc(c->n + 1));
    if (fread(c->bytes, 1, c->n, f) != c->n)
        abort();
    fclose(f);
}

static void write_content(const char *path, const struct content *c)
{
    unlink(path);
    if (!c->exists)
        return;
    FILE *f = not_null(fopen(path, "wb"));
    if (fwrite(c->bytes, 1, c->n, f) != c->n || fclose(f))
        abort();
}

static struct kept_file *file_of(const char *path)
{
    for (size_t i = 0; i < disk.n; i++)
        if (strcmp(disk.files[i].path, path) == 0)
            return &disk.files[i];
    if (disk.n == FILES_MAX)
        abort();
    struct kept_file *f = &disk.files[disk.n++];
    *f = (struct kept_file){.n = 0};
    snprintf(f->path, sizeof f->path, "%s", path);
    read_content(path, &f->safe);
    return f;
}

static void log_change(struct kept_file *f, enum change_kind kind, size_t at, size_t n, const void *bytes)
{
    f->changes = not_null(realloc(f->changes, (f->n + 1) * sizeof *f->changes));
    struct change *c = &f->changes[f->n++];
    *c = (struct change){.kind = kind, .at = at, .n = n};
    if (n)
        memcpy(c->bytes = not_null(malloc(n)), bytes, n);
}

static void resize(struct content *c, size_t n)
{
    c->bytes = not_null(realloc(c->bytes, n + 1));
    if (n > c->n)
        memset(c->bytes + c->n, 0, n - c->n);
    c->n = n;
}

static void put_bytes(struct content *c, size_t at, size_t n, const unsigned char *bytes)
{
    if (at + n > c->n)
        resize(c, at + n);
    if (n)
        memcpy(c->bytes + at, bytes, n);
}

/* The outcome of one sector's part of a write: all of it, nothing, a beginning, an end, or other bytes. */
static void put_perhaps(struct content *c, size_t at, size_t n, const unsigned char *bytes, struct as_rng *rng)
{
    const size_t part = as_rng_below(rng, n + 1);
    switch (as_rng_below(rng, 8)) {
    case 0:
        put_bytes(c, at, part, bytes);
        break;
    case 1:
        put_bytes(c, at + part, n - part, bytes + part);
        break;
    case 2:
        put_bytes(c, at, n, bytes);
        for (size_t i = 0; i < n; i++)
            c->bytes[at + i] = (unsigned char)as_rng_u64(rng);
        break;
    case 3:
    case 4:
    case 5:
        put_bytes(c, at, n, bytes);
        break;
    default:
        break;
    }
}

static void write_change(struct content *c, const struct change *ch, struct as_rng *rng)
{
    for (size_t done = 0, n; done < ch->n; done += n) {
        n = SECTOR - (ch->at + done) % SECTOR;
        n = n < ch->n - done ? n : ch->n - done;
        if (rng)
            put_perhaps(c, ch->at + done, n, ch->bytes + done, rng);
        else
            put_bytes(c, ch->at + done, n, ch->bytes + done);
    }
}

/* rng NULL: all changes survive. */
static void apply(struct content *c, const struct change *changes, size_t n, struct as_rng *rng)
{
    bool nameless = false; /* writes go to a file whose name was lost */
    for (size_t i = 0; i < n; i++) {
        const struct change *ch = &changes[i];
        const bool there = !rng || as_rng_below(rng, 2);
        if (ch->kind == CREATED) {
            nameless = !there;
            if (there) {
                resize(c, 0);
                c->exists = true;
            }
        } else if (ch->kind == DELETED && there)
            c->exists = false;
        else if (ch->kind == TRUNCATED && there && !nameless)
            resize(c, ch->at);
        else if (ch->kind == WRITTEN && !nameless)
            write_change(c, ch, rng);
    }
}

static void drop_changes(struct kept_file *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->changes[i].bytes);
    free(f->changes);
    f->changes = NULL;
    f->n = 0;
}

static void make_safe(struct kept_file *f)
{
    apply(&f->safe, f->changes, f->n, NULL);
    drop_changes(f);
}

void disk_power_back(uint64_t seed)
{
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    for (size_t i = 0; i < disk.n; i++) {
        struct kept_file *f = &disk.files[i];
        struct content c = {.exists = f->safe.exists};
        put_bytes(&c, 0, f->safe.n, f->safe.bytes ? f->safe.bytes : (const unsigned char *)"");
        if (seed)
            apply(&c, f->changes, f->n, seed == 1 ? NULL : &rng);
        write_content(f->path, &c);
        free(c.bytes);
    }
}

void disk_forget(void)
{
    for (size_t i = 0; i < disk.n; i++) {
        drop_changes(&disk.files[i]);
        free(disk.files[i].safe.bytes);
    }
    disk.n = 0;
}

static sqlite3_file *real(sqlite3_file *file)
{
    return ((struct handle *)file)->real;
}

static struct kept_file *kept(sqlite3_file *file)
{
    return ((struct handle *)file)->file;
}

static int file_close(sqlite3_file *file)
{
    return real(file)->pMethods->xClose(real(file));
}

static int file_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
    return strikes(false) ? SQLITE_IOERR_READ : real(file)->pMethods->xRead(real(file), to, n, at);
}

static int file_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
    const bool fails = strikes(true);
    if (disk.trouble == DISK_POWER && fails) {
        if (disk.seen == disk.at) /* in flight at the power failure */
            log_change(kept(file), WRITTEN, (size_t)at, (size_t)n, from);
        return SQLITE_IOERR_WRITE;
    }
    const int done = fails ? n / 2 : n;
    log_change(kept(file), WRITTEN, (size_t)at, (size_t)done, from);
    const int rc = real(file)->pMethods->xWrite(real(file), from, done, at);
    if (rc != SQLITE_OK || !fails)
        return rc;
    return (disk.seed + disk.at) % 2 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 n)
{
    if (strikes(true))
        return SQLITE_IOERR_TRUNCATE;
    log_change(kept(file), TRUNCATED, (size_t)n, 0, NULL);
    return real(file)->pMethods->xTruncate(real(file), n);
}

static int file_sync(sqlite3_file *file, int flags)
{
    (void)flags;
    if (strikes(true))
        return SQLITE_IOERR_FSYNC;
    make_safe(kept(file));
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *n)
{
    return strikes(false) ? SQLITE_IOERR_FSTAT : real(file)->pMethods->xFileSize(real(file), n);
}

static int file_lock(sqlite3_file *file, int level)
{
    return strikes(false) ? SQLITE_IOERR_LOCK : real(file)->pMethods->xLock(real(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int file_reserved(sqlite3_file *file, int *out)
{
    *out = 0;
    return strikes(false) ? SQLITE_IOERR_CHECKRESERVEDLOCK : real(file)->pMethods->xCheckReservedLock(real(file), out);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    return op == SQLITE_FCNTL_SIZE_HINT ? SQLITE_OK : real(file)->pMethods->xFileControl(real(file), op, arg);
}

static int file_sector(sqlite3_file *file)
{
    (void)file;
    return SECTOR;
}

static int file_abilities(sqlite3_file *file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static const sqlite3_io_methods methods = {.iVersion = 1,
                                           .xClose = file_close,
                                           .xRead = file_read,
                                           .xWrite = file_write,
                                           .xTruncate = file_truncate,
                                           .xSync = file_sync,
                                           .xFileSize = file_size,
                                           .xLock = file_lock,
                                           .xUnlock = file_unlock,
                                           .xCheckReservedLock = file_reserved,
                                           .xFileControl = file_control,
                                           .xSectorSize = file_sector,
                                           .xDeviceCharacteristics = file_abilities};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    struct handle *h = (struct handle *)file;
    *h = (struct handle){.real = (sqlite3_file *)(h + 1)};
    if (!path) /* a temporary file, for data that exceeds memory: none here */
        return SQLITE_CANTOPEN;
    h->file = file_of(path);
    const bool creates = (flags & SQLITE_OPEN_CREATE) && access(path, F_OK);
    if (strikes(creates))
        return SQLITE_CANTOPEN;
    const int rc = disk.usual->xOpen(disk.usual, path, h->real, flags, out);
    if (rc != SQLITE_OK)
        return rc;
    if (creates)
        log_change(h->file, CREATED, 0, 0, NULL);
    h->base.pMethods = &methods;
    return rc;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    (void)vfs;
    if (strikes(true))
        return SQLITE_IOERR_DELETE;
    struct kept_file *f = file_of(path);
    log_change(f, DELETED, 0, 0, NULL);
    if (sync_folder)
        make_safe(f);
    return disk.usual->xDelete(disk.usual, path, 0);
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
    (void)vfs;
    *out = 0;
    return strikes(false) ? SQLITE_IOERR_ACCESS : disk.usual->xAccess(disk.usual, path, flags, out);
}

static int disk_name(sqlite3_vfs *vfs, const char *path, int n, char *out)
{
    (void)vfs;
    return disk.usual->xFullPathname(disk.usual, path, n, out);
}

static int disk_random(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs;
    return disk.usual->xRandomness(disk.usual, n, out);
}

static int disk_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return disk.usual->xSleep(disk.usual, us);
}

static int disk_time(sqlite3_vfs *vfs, double *out)
{
    (void)vfs;
    return disk.usual->xCurrentTime(disk.usual, out);
}

static int disk_error(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs;
    return disk.usual->xGetLastError(disk.usual, n, out);
}

void disk_start(enum disk_trouble trouble, unsigned long at, uint64_t seed)
{
    if (!disk.usual)
        disk.usual = sqlite3_vfs_find(NULL);
    disk.trouble = trouble;
    disk.at = at;
    disk.seed = seed;
    disk.seen = 0;
    disk.struck = false;
    disk.vfs = (sqlite3_vfs){.iVersion = 1,
                             .szOsFile = (int)sizeof(struct handle) + disk.usual->szOsFile,
                             .mxPathname = disk.usual->mxPathname,
                             .zName = "disk",
                             .xOpen = disk_open,
                             .xDelete = disk_delete,
                             .xAccess = disk_access,
                             .xFullPathname = disk_name,
                             .xRandomness = disk_random,
                             .xSleep = disk_sleep,
                             .xCurrentTime = disk_time,
                             .xGetLastError = disk_error};
    sqlite3_vfs_register(&disk.vfs, 1);
}

unsigned long disk_stop(void)
{
    sqlite3_vfs_unregister(&disk.vfs);
    sqlite3_vfs_register(disk.usual, 1);
    return disk.seen;
}

bool disk_struck(void)
{
    return disk.struck;
}
