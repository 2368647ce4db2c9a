/* Stores with an earlier schema: migrated with all their data, or left unchanged. */
#include "fixture.h"

#include <signal.h>
#include <sys/wait.h>

static const char has_column[] = "SELECT count(*) FROM pragma_table_info('runs') WHERE name = 'planted'";

/* A finished run in a store of this build; opened from now on by a build whose last step is the given one. */
static uint64_t make_earlier(struct fixture *f, struct as_schema *next, const char *step)
{
    must_open(f, AS_STORE_WRITE);
    finished_run(f, 1);
    must_close(f);
    const uint64_t content = content_of(f, AS_STORE_READ);
    *next = *planted_schema(step);
    f->schema = next;
    return content;
}

static void check_version(struct fixture *f, bool current)
{
    assert_int_equal(ask(f->path, "PRAGMA user_version"), as_store_schema.version + current);
    assert_int_equal(ask(f->path, "PRAGMA application_id"), AS_STORE_APPLICATION);
    assert_int_equal(ask(f->path, has_column), current);
}

static void test_migration(void **state)
{
    struct fixture *f = *state;
    struct as_schema next;
    const uint64_t content = make_earlier(f, &next, planted_step());
    assert_true(content_of(f, AS_STORE_READ) == content);
    check_version(f, false); /* reading changes nothing */
    assert_true(content_of(f, AS_STORE_WRITE) == content);
    check_version(f, true);
    assert_true(content_of(f, AS_STORE_READ) == content);
    must_open(f, AS_STORE_WRITE);
    finished_run(f, 2);
    must_close(f);
    f->schema = NULL;
    refused(f, AS_STORE_READ, AS_FORMAT, "which this assay does not read");
    refused(f, AS_STORE_WRITE, AS_FORMAT, "which this assay does not read");
    check_version(f, true);
}

static void test_failed_migration(void **state)
{
    static const struct {
        const char *step;
        enum as_status status;
        const char *part;
    } rows[] = {
        {"DROP TABLE trials; CREATE TABLE trials(x) NONSENSE;", AS_FAILED, ""},
        {"DELETE FROM runs;", AS_FORMAT, "refer to rows that do not exist; it was left unchanged"},
    };
    struct fixture *f = *state;
    struct as_schema next;
    const uint64_t content = make_earlier(f, &next, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        next = *planted_schema(rows[i].step);
        f->schema = &next;
        refused(f, AS_STORE_READ, rows[i].status, rows[i].part);
        refused(f, AS_STORE_WRITE, rows[i].status, rows[i].part);
        check_version(f, false);
        f->schema = NULL;
        assert_true(content_of(f, AS_STORE_READ) == content);
    }
    next = *planted_schema(planted_step());
    f->schema = &next;
    assert_true(content_of(f, AS_STORE_WRITE) == content);
    check_version(f, true);
}

static void die(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)context, (void)n, (void)values;
    raise(SIGKILL);
}

static int add_die(sqlite3 *db, char **why, const struct sqlite3_api_routines *api)
{
    (void)why, (void)api;
    return sqlite3_create_function(db, "die", 0, SQLITE_UTF8, NULL, die, NULL, NULL);
}

/* Killed after the step has changed the file itself, before the commit. */
static void test_killed_migration(void **state)
{
    struct fixture *f = *state;
    struct as_schema next;
    char step[4096];
    int status;
    snprintf(step, sizeof step, "PRAGMA cache_size = 1; %s SELECT die();", planted_step());
    const uint64_t content = make_earlier(f, &next, step);
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            sqlite3_auto_extension((void (*)(void))add_die);
            as_store_open_as(f->path, AS_STORE_WRITE, &next, &f->store, &f->err);
            _exit(1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        f->schema = NULL;
        assert_true(content_of(f, i ? AS_STORE_READ : AS_STORE_WRITE) == content); /* either repairs it */
        check_version(f, false);
    }
    next = *planted_schema(planted_step());
    f->schema = &next;
    assert_true(content_of(f, AS_STORE_WRITE) == content);
    check_version(f, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_migration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failed_migration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_migration, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
