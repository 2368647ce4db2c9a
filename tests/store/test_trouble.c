/* Trouble around a store: permissions, full disks, other processes, and killed ones. */
#include "fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void read_only_part(struct fixture *f)
{
    struct as_run run;
    REQUIRE(as_store_open(f->path, AS_STORE_READ, &f->store, &f->err) == AS_OK, f->err.text);
    REQUIRE(as_store_run(f->store, "last", &run, &f->err) == AS_OK, f->err.text);
    REQUIRE(as_store_verify(f->store, &f->err) == AS_OK, f->err.text);
    as_store_close(f->store);
    REQUIRE(as_store_open(f->path, AS_STORE_WRITE, &f->store, &f->err) == AS_IO, f->err.text);
    REQUIRE(strstr(f->err.text, f->folder) && strstr(f->err.text, "ermission"), f->err.text);
}

/* A run that no process measures is interrupted; one that is measured is not, wherever it is looked at. */
static void settled_part(struct fixture *f)
{
    struct as_run run;
    REQUIRE(as_store_open(f->path, AS_STORE_READ, &f->store, &f->err) == AS_OK, f->err.text);
    for (int id = 1; id <= 2; id++) {
        const char *const name[] = {"1", "2"};
        REQUIRE(as_store_run(f->store, name[id - 1], &run, &f->err) == AS_OK, f->err.text);
        as_store_settle_state(f->store, &run);
        REQUIRE(run.state == (id == 1 ? AS_RUN_INTERRUPTED : AS_RUN_RUNNING), as_run_state_word(run.state));
        as_run_finish(&run);
    }
    as_store_close(f->store);
}

static void test_state_of_read_only(void **state)
{
    struct fixture *f = *state;
    for (uint64_t seed = 1; seed <= 2; seed++) { /* the second is claimed until the store is closed */
        struct as_run run;
        sample_run(&run, seed);
        must_open(f, AS_STORE_WRITE);
        assert_int_equal(as_store_begin_run(f->store, &run, NULL, 0, &f->err), AS_OK);
        as_run_finish(&run);
    }
    as_plain_user(f, settled_part);
    assert_int_equal(chmod(f->path, 0400), 0);
    as_plain_user(f, settled_part);
    must_close(f);
}

static void test_read_only(void **state)
{
    struct fixture *f = *state;
    struct as_run run;
    sample_run(&run, 1);
    must_open(f, AS_STORE_WRITE);
    assert_int_equal(as_store_begin_run(f->store, &run, NULL, 0, &f->err), AS_OK);
    as_run_finish(&run);
    must_close(f);
    assert_int_equal(chmod(f->path, 0400), 0); /* the file */
    as_plain_user(f, read_only_part);
    assert_int_equal(chmod(f->path, 0600), 0); /* the folder, in which a journal would be created */
    assert_int_equal(chmod(f->folder, 0500), 0);
    as_plain_user(f, read_only_part);
}

static void unreadable_part(struct fixture *f)
{
    REQUIRE(as_store_open(f->path, AS_STORE_READ, &f->store, &f->err) == AS_IO, f->err.text);
    REQUIRE(strstr(f->err.text, f->path) && strstr(f->err.text, "Permission denied"), f->err.text);
}

static void test_unreadable(void **state)
{
    struct fixture *f = *state;
    must_open(f, AS_STORE_WRITE);
    must_close(f);
    assert_int_equal(chmod(f->path, 0), 0);
    as_plain_user(f, unreadable_part);
}

/* Fills a store until the disk is full: the error says so, and earlier data is sound. */
static void fill(struct fixture *f)
{
    struct as_run run, *all;
    struct as_cell cells[64];
    enum as_status st = AS_OK;
    uint64_t runs = 0;
    for (; runs < 1000 && !st; runs++) {
        for (int i = 0; i < 64; i++)
            sample_cell(&cells[i], i);
        sample_run(&run, runs);
        st = as_store_begin_run(f->store, &run, cells, 64, &f->err);
        as_run_finish(&run);
    }
    REQUIRE(st == AS_IO && strstr(f->err.text, f->path) && strstr(f->err.text, "space"), f->err.text);
    REQUIRE(as_store_verify(f->store, &f->err) == AS_OK, f->err.text);
    size_t n;
    REQUIRE(as_store_runs(f->store, &all, &n, &f->err) == AS_OK && n == runs - 1 && n > 0, f->err.text);
    as_runs_free(all, n);
    as_store_close(f->store);
    REQUIRE(as_store_open(f->path, AS_STORE_READ, &f->store, &f->err) == AS_OK, f->err.text);
    REQUIRE(as_store_verify(f->store, &f->err) == AS_OK, f->err.text);
    as_store_close(f->store);
}

static void quota_part(struct fixture *f)
{
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(as_store_open(f->path, AS_STORE_WRITE, &f->store, &f->err) == AS_OK, f->err.text);
    const struct rlimit limit = {192 * 1024, 192 * 1024};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
    fill(f);
}

static void test_largest_file_reached(void **state)
{
    as_plain_user(*state, quota_part);
}

static void test_full_disk(void **state)
{
    struct fixture *f = *state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) ||
            mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", f->folder, "tmpfs", 0, "size=256k"))
            _exit(2);
        REQUIRE(as_store_open(f->path, AS_STORE_WRITE, &f->store, &f->err) == AS_OK, f->err.text);
        fill(f);
        free(f);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        skip(); /* small file systems cannot be created here */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_locked_by_another(void **state)
{
    struct fixture *f = *state;
    sqlite3 *other;
    must_open(f, AS_STORE_WRITE);
    must_close(f);
    assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
    /* during a write, readers continue */
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    must_open(f, AS_STORE_READ);
    struct as_run *runs;
    size_t n;
    assert_int_equal(as_store_runs(f->store, &runs, &n, &f->err), AS_OK);
    must_close(f);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK; BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    refused(f, AS_STORE_WRITE, AS_BUSY, "another process"); /* after a bounded wait */
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    must_open(f, AS_STORE_WRITE);
    sqlite3_close(other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_read_only), TEST(test_state_of_read_only), TEST(test_unreadable), TEST(test_largest_file_reached),
        TEST(test_full_disk), TEST(test_locked_by_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
