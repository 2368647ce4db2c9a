/* What may be at the path of a store, and the result: a new store, or a refusal with path, cause and remedy. */
#include "fixture.h"
#include "store/schema.h"

#include <sys/stat.h>
#include <sys/wait.h>

static void test_new_store(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    snprintf(f->path, sizeof f->path, "%s/x/y/store.db", f->folder);
    refused(f, AS_STORE_READ, AS_NOTFOUND, "assay run");
    assert_int_not_equal(stat(f->path, &st), 0); /* reading creates nothing */
    must_open(f, AS_STORE_WRITE);
    assert_string_equal(as_store_path(f->store), f->path);
    char folder[96];
    snprintf(folder, sizeof folder, "%s/x/y", f->folder);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    must_close(f);
    assert_int_equal(ask(f->path, "PRAGMA application_id"), AS_STORE_APPLICATION);
    assert_int_equal(ask(f->path, "PRAGMA user_version"), as_store_schema.version);
    char journal[128];
    snprintf(journal, sizeof journal, "%s-journal", f->path);
    assert_int_not_equal(access(journal, F_OK), 0);
    must_open(f, AS_STORE_READ);
}

/* A failed command leaves behind nothing that it created, and everything that existed before or has a run. */
static void test_abandoned_store(void **state)
{
    struct fixture *f = *state;
    char folder[96], plain[96], note[128];
    memcpy(plain, f->path, sizeof plain);
    snprintf(folder, sizeof folder, "%s/x", f->folder);
    snprintf(f->path, sizeof f->path, "%s/x//y/store.db", f->folder);
    must_open(f, AS_STORE_WRITE);
    as_store_abandon(f->store);
    f->store = NULL;
    assert_int_not_equal(access(folder, F_OK), 0);
    assert_int_equal(access(f->folder, F_OK), 0);

    must_open(f, AS_STORE_WRITE);
    snprintf(note, sizeof note, "%s/x/note", f->folder);
    write_text(note, "x", 1);
    as_store_abandon(f->store);
    f->store = NULL;
    assert_int_not_equal(access(f->path, F_OK), 0);
    assert_int_equal(access(note, F_OK), 0);
    unlink(note);
    rmdir(folder);

    memcpy(f->path, plain, sizeof plain);
    must_open(f, AS_STORE_WRITE);
    must_open(f, AS_STORE_WRITE); /* it existed before */
    as_store_abandon(f->store);
    f->store = NULL;
    assert_int_equal(access(f->path, F_OK), 0);
    unlink(f->path);
    must_open(f, AS_STORE_WRITE);
    finished_run(f, 1);
    as_store_abandon(f->store);
    f->store = NULL;
    assert_int_equal(ask(f->path, "SELECT count(*) FROM runs"), 1);
    as_store_abandon(NULL);
}

/* Another process is about to write a run into it. */
static void test_abandoned_store_in_use(void **state)
{
    struct fixture *f = *state;
    sqlite3 *other = NULL;
    must_open(f, AS_STORE_WRITE);
    assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    as_store_abandon(f->store);
    f->store = NULL;
    assert_int_equal(access(f->path, F_OK), 0);
    sqlite3_close(other);
}

static void test_default_path(void **state)
{
    struct as_buf path = AS_BUF_INIT;
    struct as_error err;
    (void)state;
    static const char *const names[] = {"ASSAY_STORE", "XDG_DATA_HOME", "HOME"};
    char *saved[3];
    for (size_t i = 0; i < 3; i++) {
        const char *now = getenv(names[i]);
        saved[i] = now ? strdup(now) : NULL;
    }
    setenv("ASSAY_STORE", "/s/file.db", 1);
    setenv("XDG_DATA_HOME", "/x", 1);
    setenv("HOME", "/h", 1);
    assert_int_equal(as_store_default_path(&path, &err), AS_OK);
    assert_string_equal(as_buf_get(&path), "/s/file.db");
    setenv("ASSAY_STORE", "", 1);
    assert_int_equal(as_store_default_path(&path, &err), AS_OK);
    assert_string_equal(as_buf_get(&path), "/x/assay/assay.db");
    setenv("XDG_DATA_HOME", "relative", 1);
    assert_int_equal(as_store_default_path(&path, &err), AS_OK);
    assert_string_equal(as_buf_get(&path), "/h/.local/share/assay/assay.db");
    unsetenv("HOME");
    assert_int_equal(as_store_default_path(&path, &err), AS_USAGE);
    for (size_t i = 0; i < 3; i++) {
        saved[i] ? setenv(names[i], saved[i], 1) : unsetenv(names[i]);
        free(saved[i]);
    }
    as_buf_finish(&path);
}

static void test_no_regular_file(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(f->path, 0700), 0);
    refused(f, AS_STORE_WRITE, AS_IO, "folder");
    refused(f, AS_STORE_READ, AS_IO, "folder");
    assert_int_equal(rmdir(f->path), 0);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    refused(f, AS_STORE_WRITE, AS_IO, "regular"); /* must not wait for a writer */
    snprintf(f->path, sizeof f->path, "/dev/null");
    refused(f, AS_STORE_WRITE, AS_IO, "regular");
    refused(f, AS_STORE_READ, AS_IO, "regular");
    snprintf(f->path, sizeof f->path, "/proc/none/store.db");
    refused(f, AS_STORE_WRITE, AS_IO, "/proc/none");
    snprintf(f->path, sizeof f->path, "%s/file", f->folder);
    write_text(f->path, "x", 1);
    snprintf(f->path, sizeof f->path, "%s/file/store.db", f->folder);
    refused(f, AS_STORE_WRITE, AS_IO, "Not a directory");
    refused(f, AS_STORE_READ, AS_IO, "Not a directory");
    assert_int_equal(as_store_open("", AS_STORE_WRITE, &f->store, &f->err), AS_USAGE);
}

/* A zero-length file, which a run leaves if killed before its first commit, becomes a store. */
static void test_empty_file(void **state)
{
    struct fixture *f = *state;
    write_text(f->path, "", 0);
    refused(f, AS_STORE_READ, AS_NOTFOUND, "empty");
    must_open(f, AS_STORE_WRITE);
    must_open(f, AS_STORE_READ);
}

static void test_foreign_files_stay_as_they_are(void **state)
{
    struct fixture *f = *state;
    unsigned char noise[8192];
    struct as_rng rng;
    as_rng_seed(&rng, 3);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)as_rng_u64(&rng);
    const struct {
        const void *bytes;
        size_t n;
    } files[] = {{"x", 1}, {"not a database at all, only text\n", 33}, {"SQLite format 3", 16}, {noise, sizeof noise}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct as_buf now = AS_BUF_INIT;
        write_text(f->path, files[i].bytes, files[i].n);
        refused(f, AS_STORE_WRITE, AS_FORMAT, "--store");
        refused(f, AS_STORE_READ, AS_FORMAT, "--store");
        assert_int_equal(as_buf_read_file(&now, f->path, 1 << 20, &f->err), AS_OK);
        assert_int_equal(now.len, files[i].n);
        assert_memory_equal(now.data, files[i].bytes, files[i].n);
        as_buf_finish(&now);
    }
    unlink(f->path);
    run_sql(f->path, "CREATE TABLE runs(id); PRAGMA user_version = 1");
    refused(f, AS_STORE_WRITE, AS_FORMAT, "another program");
    refused(f, AS_STORE_READ, AS_FORMAT, "another program");
    assert_int_equal(ask(f->path, "SELECT count(*) FROM sqlite_schema"), 1);
}

static void test_newer_store(void **state)
{
    struct fixture *f = *state;
    char sql[64], text[80];
    must_open(f, AS_STORE_WRITE);
    must_close(f);
    int newer = as_store_schema.version + 41;
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", newer);
    run_sql(f->path, sql);
    snprintf(text, sizeof text, "has schema %d, which this assay does not read (it reads up to %d)", newer,
             as_store_schema.version);
    refused(f, AS_STORE_WRITE, AS_FORMAT, text);
    refused(f, AS_STORE_READ, AS_FORMAT, text);
    assert_int_equal(ask(f->path, "PRAGMA user_version"), newer);
    run_sql(f->path, "PRAGMA user_version = 0");
    refused(f, AS_STORE_WRITE, AS_FORMAT, "damaged");
    run_sql(f->path, "PRAGMA user_version = -5");
    refused(f, AS_STORE_READ, AS_FORMAT, "damaged");
}

/* A store that runs its own code when written to. */
static void test_planted_trigger(void **state)
{
    struct fixture *f = *state;
    must_open(f, AS_STORE_WRITE);
    must_close(f);
    run_sql(f->path, "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM runs; END");
    refused(f, AS_STORE_WRITE, AS_FORMAT, "triggers");
    run_sql(f->path, "DROP TRIGGER t; DROP TABLE trials; CREATE VIEW trials AS SELECT * FROM cells");
    refused(f, AS_STORE_READ, AS_FORMAT, "changed by another program");
}

static void test_damaged_store(void **state)
{
    struct fixture *f = *state;
    struct as_buf whole = AS_BUF_INIT;
    struct as_run run;
    struct as_cell cells[40];
    must_open(f, AS_STORE_WRITE);
    for (int i = 0; i < 40; i++)
        sample_cell(&cells[i], i);
    sample_run(&run, 1);
    assert_int_equal(as_store_begin_run(f->store, &run, cells, 40, &f->err), AS_OK);
    as_run_finish(&run);
    must_close(f);
    assert_int_equal(as_buf_read_file(&whole, f->path, 1 << 24, &f->err), AS_OK);
    /* truncated */
    write_text(f->path, whole.data, whole.len / 2);
    enum as_status st = as_store_open(f->path, AS_STORE_READ, &f->store, &f->err);
    if (!st)
        st = as_store_verify(f->store, &f->err);
    assert_int_equal(st, AS_FORMAT);
    assert_non_null(strstr(f->err.text, f->path));
    must_close(f);
    /* changed bytes: refused or read, without a hang or crash */
    struct as_rng rng;
    as_rng_seed(&rng, 11);
    for (int round = 0; round < 60; round++) {
        char *bytes = malloc(whole.len);
        assert_non_null(bytes);
        memcpy(bytes, whole.data, whole.len);
        for (uint64_t n = 1 + as_rng_below(&rng, 200); n; n--)
            bytes[as_rng_below(&rng, whole.len)] = (char)as_rng_u64(&rng);
        write_text(f->path, bytes, whole.len);
        free(bytes);
        f->err = (struct as_error){0};
        if (as_store_open(f->path, AS_STORE_READ, &f->store, &f->err)) {
            assert_non_null(strstr(f->err.text, f->path));
            continue;
        }
        struct as_cell *read;
        size_t n;
        if (as_store_cells(f->store, &(struct as_cell_filter){.hidden = 1}, &read, &n, &f->err) == AS_OK)
            as_cells_free(read, n);
        if (as_store_run(f->store, "last", &run, &f->err) == AS_OK)
            as_run_finish(&run);
        must_close(f);
    }
    as_buf_finish(&whole);
}

/* A store that is removed while in use is reported; nothing replaces it. */
static void test_deleted_in_use(void **state)
{
    struct fixture *f = *state;
    struct as_run run;
    must_open(f, AS_STORE_WRITE);
    sample_run(&run, 1);
    check(f, as_store_begin_run(f->store, &run, NULL, 0, &f->err));
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(as_store_update_run(f->store, &run, &f->err), AS_BUSY);
    assert_non_null(strstr(f->err.text, "deleted"));
    must_close(f);
    assert_int_not_equal(access(f->path, F_OK), 0);
    as_run_finish(&run);
}

enum { OPENERS = 4, MEETINGS = 60 };

/* Opens the store when all processes are released. Then: 0 keeps it, 1 abandons it, 2 only reads. */
static void open_at_once(struct fixture *f, int let_go, int what)
{
    char c;
    REQUIRE(read(let_go, &c, 1) == 0, "no pipe");
    const enum as_store_mode mode = what == 2 ? AS_STORE_READ : AS_STORE_WRITE;
    const enum as_status st = as_store_open_as(f->path, mode, f->schema, &f->store, &f->err);
    /* a reader may come before the creator */
    REQUIRE(st == AS_OK || (what == 2 && st == AS_NOTFOUND), f->err.text);
    if (what == 0) {
        struct as_run run;
        sample_run(&run, (uint64_t)getpid());
        REQUIRE(as_store_begin_run(f->store, &run, NULL, 0, &f->err) == AS_OK, f->err.text);
        as_run_finish(&run);
    }
    if (what == 1)
        as_store_abandon(f->store);
    else
        as_store_close(f->store);
    _exit(0);
}

static void open_together(struct fixture *f, const int what[OPENERS], int *kept)
{
    int pipe_fds[2], status;
    pid_t children[OPENERS];
    assert_int_equal(pipe(pipe_fds), 0);
    for (int i = 0; i < OPENERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            close(pipe_fds[1]);
            open_at_once(f, pipe_fds[0], what[i]);
        }
        *kept += what[i] == 0;
    }
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    for (int i = 0; i < OPENERS; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* Several processes open a store at the moment at which it is created, migrated, or removed. */
static void test_opened_at_once(void **state)
{
    struct fixture *f = *state;
    struct as_rng rng;
    const char *const folder = f->folder;
    as_rng_seed(&rng, 1);
    for (int i = 0; i < MEETINGS; i++) {
        int what[OPENERS], kept = 0;
        const bool earlier = i % 3 == 0;
        snprintf(f->path, sizeof f->path, "%s/%s%d.db", folder, i % 3 == 1 ? "new/" : "", i);
        f->schema = NULL;
        if (earlier) {
            must_open(f, AS_STORE_WRITE);
            finished_run(f, 1);
            must_close(f);
        }
        f->schema = planted_schema(planted_step());
        for (int k = 0; k < OPENERS; k++)
            what[k] = k == 0 ? 0 : (int)as_rng_below(&rng, 3);
        open_together(f, what, &kept);
        assert_int_equal(ask(f->path, "PRAGMA user_version"), f->schema->version);
        assert_int_equal(ask(f->path, "SELECT count(*) FROM runs"), earlier + kept);
        must_open(f, AS_STORE_READ);
        check(f, as_store_verify(f->store, &f->err));
        must_close(f);
        unlink(f->path);
        if (i % 3 == 1) {
            *strrchr(f->path, '/') = 0;
            rmdir(f->path);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_new_store),
        TEST(test_abandoned_store),
        TEST(test_abandoned_store_in_use),
        TEST(test_default_path),
        TEST(test_no_regular_file),
        TEST(test_empty_file),
        TEST(test_foreign_files_stay_as_they_are),
        TEST(test_newer_store),
        TEST(test_planted_trigger),
        TEST(test_damaged_store),
        TEST(test_deleted_in_use),
        TEST(test_opened_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
