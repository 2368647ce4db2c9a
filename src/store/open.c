/* Opens a store from a path and verifies that it is one. */
#include "store/schema.h"
#include "store/sql.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Another process holds the lock for the milliseconds of a commit, or while it migrates the store. */
static const double PATIENCE_S = 30;
/* Larger than any cell's values: a damaged length must not become an allocation. */
enum { VALUE_MAX = 256 << 20 };

/* The smallest page of a database, in bytes. */
enum { SMALLEST = 512 };

/* A rollback journal, since a WAL needs shared memory that network file systems do not have. A killed process loses
 * nothing at any setting of `synchronous`. FULL also keeps a power loss from damaging the file. The journal is kept
 * and its header zeroed instead of being deleted: that saves the file system two changes of a folder per commit. */
static const char pragmas[] = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;"
                              "PRAGMA temp_store = MEMORY";
static const char pragmas_write[] = "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL";

enum as_status as_store_default_path(struct as_buf *out, struct as_error *err)
{
    const char *file = getenv("ASSAY_STORE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    as_buf_clear(out);
    if (file && file[0])
        as_buf_str(out, file);
    else if (data && data[0] == '/') /* the XDG specification says to ignore relative paths */
        as_buf_printf(out, "%s/assay/assay.db", data);
    else if (home && home[0])
        as_buf_printf(out, "%s/.local/share/assay/assay.db", home);
    else
        return as_fail(err, AS_USAGE, "no place for the store is known: set HOME or XDG_DATA_HOME, or give --store");
    return as_buf_check(out, err);
}

/* *made_from: end of the first created folder within the path; 0: none was created. */
static enum as_status make_folders(const char *path, size_t *made_from, struct as_error *err)
{
    char *copy = as_strdup(path);
    if (!copy)
        return as_nomem(err, strlen(path), "a path");
    enum as_status st = AS_OK;
    for (char *at = strchr(copy + 1, '/'); at && !st; at = strchr(at + 1, '/')) {
        *at = 0;
        /* private to the user, as the XDG specification asks */
        if (mkdir(copy, 0700) == 0)
            *made_from = *made_from ? *made_from : (size_t)(at - copy);
        else if (errno != EEXIST) {
            const int why = errno; /* a folder that is there may be refused for another reason */
            if (access(copy, F_OK))
                st = as_fail(err, AS_IO,
                             "the store '%s': its folder '%s' cannot be created: %s; give another file with --store",
                             path, copy, strerror(why));
        }
        *at = '/';
    }
    free(copy);
    return st;
}

static enum as_status check_folder(const char *path, struct as_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? as_strdup(path) : as_strdup(".");
    if (!folder)
        return as_nomem(err, strlen(path), "a path");
    if (slash)
        folder[slash == path ? 1 : slash - path] = 0;
    enum as_status st = AS_OK;
    if (access(folder, W_OK | X_OK))
        st =
            as_fail(err, AS_IO,
                    "the store '%s': its folder '%s' cannot be written to (%s), and the journal goes there: change its "
                    "permissions or give another file with --store",
                    path, folder, strerror(errno));
    free(folder);
    return st;
}

/* "FILE.db:3", as 'compare' takes it, of a file that is there. */
static bool names_a_run(const char *path)
{
    const char *colon = strrchr(path, ':');
    char *file = colon && colon != path ? as_strdup(path) : NULL;
    bool there = false;
    if (file) {
        file[colon - path] = 0;
        there = access(file, R_OK) == 0;
    }
    free(file);
    return there;
}

/* Checks the file at the path before SQLite sees it. */
static enum as_status check_file(const char *path, enum as_store_mode mode, struct as_error *err)
{
    struct stat st;
    if (stat(path, &st)) {
        if (errno == ENOENT && mode == AS_STORE_WRITE)
            return AS_OK;
        if (errno == ENOENT && names_a_run(path))
            return as_fail(err, AS_NOTFOUND,
                           "there is no store '%s': a store is a file; name its run as a separate argument", path);
        if (errno == ENOENT)
            return as_fail(err, AS_NOTFOUND, "there is no store '%s' yet: 'assay run' creates it", path);
        return as_fail(err, AS_IO, "the store '%s' cannot be opened: %s", path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode))
        return as_fail(err, AS_IO, "'%s' is a folder, not a store: give a file with --store", path);
    if (!S_ISREG(st.st_mode))
        return as_fail(err, AS_IO, "'%s' is not a regular file: give another with --store", path);
    if (st.st_size > 0 && st.st_size < SMALLEST) /* SQLite treats a file of one byte as empty */
        return as_fail(err, AS_FORMAT, "'%s' is not a store: give another file with --store or move this one away",
                       path);
    if (access(path, mode == AS_STORE_WRITE ? R_OK | W_OK : R_OK))
        return as_fail(err, AS_IO,
                       "the store '%s' cannot be %s: %s; change its permissions or give another with --store", path,
                       access(path, R_OK) ? "read" : "written to", strerror(errno));
    return AS_OK;
}

/* SQLite's own handler backs off to 100 ms and would miss the gaps between a run's commits. */
static int wait_a_little(void *user, int times)
{
    struct as_store *store = user;
    if (times == 0)
        store->busy_since = as_now();
    if (as_now() - store->busy_since >= store->patience_s)
        return 0;
    as_sleep(times < 1000 ? 0.001 : 0.01);
    return 1;
}

/* A connection of the store's. On failure too *db may have to be closed. */
static int connect(struct as_store *store, const char *name, int flags, sqlite3 **db)
{
    int rc =
        sqlite3_open_v2(name, db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_handler(*db, wait_a_little, store);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    if (rc == SQLITE_OK) {
        sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
        sqlite3_limit(*db, SQLITE_LIMIT_ATTACHED, 0);
        rc = sqlite3_exec(*db, pragmas, NULL, NULL, NULL);
    }
    return rc;
}

static void close_database(struct as_store *store)
{
    for (size_t i = 0; i < AS_SQL_N; i++) {
        sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
    sqlite3_close(store->db);
    store->db = NULL;
}

static enum as_status open_database(struct as_store *store, int flags, struct as_error *err)
{
    struct as_buf name = AS_BUF_INIT;
    /* SQLite takes names such as ":memory:" and "file:x?mode=ro" for more than a path */
    as_buf_str(&name, store->path[0] == '/' ? "" : "./");
    as_buf_str(&name, store->path);
    enum as_status st = as_buf_check(&name, err);
    if (st)
        return st;
    close_database(store);
    int rc = connect(store, as_buf_get(&name), flags, &store->db);
    as_buf_finish(&name);
    return rc == SQLITE_OK ? AS_OK : as_sql_fail(store, rc, err);
}

/* A run killed during a commit leaves a journal that the next process to open the file rolls back. A
 * reader cannot, so that is done here with a connection that may write. */
static enum as_status open_mend(struct as_store *store, struct as_error *err)
{
    int rc = sqlite3_exec(store->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    if (rc != SQLITE_READONLY_ROLLBACK)
        return rc == SQLITE_OK ? AS_OK : as_sql_fail(store, rc, err);
    enum as_status st = open_database(store, SQLITE_OPEN_READWRITE, err);
    if (!st && (rc = sqlite3_exec(store->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL)) != SQLITE_OK)
        st = as_sql_fail(store, rc, err);
    return st ? st : open_database(store, SQLITE_OPEN_READONLY, err);
}

/* Readers of a store of an earlier schema get a migrated copy in memory; the file stays unchanged. */
static enum as_status read_earlier(struct as_store *store, struct as_error *err)
{
    sqlite3 *copy = NULL;
    int rc = connect(store, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &copy);
    if (rc == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(copy, "main", store->db, "main");
        rc = backup ? sqlite3_backup_step(backup, -1) : sqlite3_extended_errcode(copy);
        rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
        sqlite3_backup_finish(backup);
    }
    sqlite3_close(store->db);
    store->db = copy;
    return rc == SQLITE_OK ? as_schema_migrate(store->schema, store->path, copy, err)
                           : as_sql_fail_at(store->path, copy, rc, err);
}

static enum as_status open_read(struct as_store *store, struct as_error *err)
{
    enum as_schema_kind kind;
    enum as_status st = open_database(store, SQLITE_OPEN_READONLY, err);
    if (!st)
        st = open_mend(store, err);
    if (!st)
        st = as_schema_look(store->schema, store->path, store->db, &kind, err);
    if (!st && kind == AS_SCHEMA_EMPTY)
        st = as_fail(err, AS_NOTFOUND, "the store '%s' is empty: 'assay run' fills it", store->path);
    return !st && kind == AS_SCHEMA_EARLIER ? read_earlier(store, err) : st;
}

static enum as_status open_write(struct as_store *store, struct as_error *err)
{
    enum as_schema_kind kind;
    enum as_status st = check_folder(store->path, err);
    if (!st)
        st = open_database(store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (!st)
        st = as_schema_look(store->schema, store->path, store->db, &kind, err);
    if (!st) {
        int rc = sqlite3_exec(store->db, pragmas_write, NULL, NULL, NULL);
        st = rc == SQLITE_OK ? AS_OK : as_sql_fail(store, rc, err);
    }
    if (!st && kind != AS_SCHEMA_CURRENT)
        st = as_schema_migrate(store->schema, store->path, store->db, err);
    return st;
}

/* NULL: out of memory */
static struct as_store *new_store(const char *path, enum as_store_mode mode, const struct as_schema *schema)
{
    struct as_store *store = calloc(1, sizeof *store);
    char *copy = as_strdup(path);
    if (!store || !copy) {
        free(store);
        free(copy);
        return NULL;
    }
    store->path = copy;
    store->mode = mode;
    store->schema = schema;
    store->patience_s = PATIENCE_S;
    store->claim_fd = -1;
    return store;
}

static enum as_status open_once(struct as_store *store, struct as_error *err)
{
    const bool writes = store->mode == AS_STORE_WRITE;
    enum as_status st = writes ? make_folders(store->path, &store->made_from, err) : AS_OK;
    store->made |= access(store->path, F_OK) != 0;
    if (!st)
        st = check_file(store->path, store->mode, err);
    return st ? st : writes ? open_write(store, err) : open_read(store, err);
}

/* SQLite does not wait at every lock, and not for a file or folder that another process removes meanwhile. */
enum as_status as_store_connect(struct as_store *store, struct as_error *err)
{
    const double end = as_now() + store->patience_s;
    for (int vanished = 0;;) {
        struct as_error why = {0};
        const enum as_status st = open_once(store, &why);
        const bool gone =
            st == AS_IO && access(store->path, F_OK) != 0 && errno == ENOENT && vanished++ < AS_VANISHED_MAX;
        if (!gone && (st != AS_BUSY || as_now() >= end))
            return st ? as_fail(err, st, "%s", why.text) : AS_OK;
        as_sleep(0.002);
    }
}

enum as_status as_store_open(const char *path, enum as_store_mode mode, struct as_store **out, struct as_error *err)
{
    return as_store_open_as(path, mode, &as_store_schema, out, err);
}

enum as_status as_store_open_as(const char *path, enum as_store_mode mode, const struct as_schema *schema,
                                struct as_store **out, struct as_error *err)
{
    struct as_buf name = AS_BUF_INIT;
    struct as_store *store = NULL;
    enum as_status st = AS_OK;
    *out = NULL;
    if (path)
        as_buf_str(&name, path);
    else
        st = as_store_default_path(&name, err);
    if (st || (st = as_buf_check(&name, err)))
        goto done;
    if (name.len == 0) {
        st = as_fail(err, AS_USAGE, "the path of the store is empty");
        goto done;
    }
    store = new_store(as_buf_get(&name), mode, schema);
    if (!store) {
        st = as_nomem(err, sizeof *store, "the store");
        goto done;
    }
    st = as_store_connect(store, err);
    if (!st) {
        *out = store;
        store = NULL;
    }
done:
    as_store_close(store);
    as_buf_finish(&name);
    return st;
}

void as_store_close(struct as_store *store)
{
    if (!store)
        return;
    as_store_release(store);
    if (store->db && store->mode == AS_STORE_WRITE && !as_store_moved(store)) {
        /* removes the journal unless another process is writing; that of a moved file would be its successor's */
        store->patience_s = 0;
        sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    close_database(store);
    free(store->path);
    free(store);
}

/* Removes the file while it is locked, so that no other process has begun to write to it. */
static bool remove_unused(struct as_store *store)
{
    sqlite3_stmt *st = NULL;
    bool unused = false;
    store->patience_s = 0;
    if (as_store_moved(store))
        return false;
    sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    if (sqlite3_exec(store->db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    if (sqlite3_prepare_v2(store->db, "SELECT NOT EXISTS(SELECT 1 FROM runs)", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        unused = sqlite3_column_int(st, 0) == 1;
    sqlite3_finalize(st);
    if (unused)
        unused = unlink(store->path) == 0;
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return unused;
}

void as_store_abandon(struct as_store *store)
{
    char *path = store && store->made && remove_unused(store) && store->made_from ? as_strdup(store->path) : NULL;
    size_t from = path ? store->made_from : 0;
    as_store_close(store);
    for (char *slash; path && (slash = strrchr(path, '/')) && (size_t)(slash - path) >= from;) {
        *slash = 0;
        if (slash[1] && rmdir(path)) /* replaced by another process */
            break;
    }
    free(path);
}

const char *as_store_path(const struct as_store *store)
{
    return store->path;
}
