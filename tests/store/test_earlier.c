/* A run's sentinels against those of the runs before it. */
#include "fixture.h"

#include <math.h>

enum { RUNS = 5 };

/* Complete runs on one machine with these times of main memory and constant arithmetic. */
static void make_runs(struct fixture *f, const double *memory, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct as_run run;
        char sql[512];
        must_open(f, AS_STORE_WRITE);
        struct as_cell *cells = begin(f, &run, i + 1, 2);
        must_close(f);
        snprintf(sql, sizeof sql,
                 "UPDATE runs SET started_at = %zu, ended_at = %zu, state = 'complete', host = 'a', tool_commit = 'b', "
                 "provenance = '{\"cpu\": {\"model\": \"c\"}}', devices = '[{\"id\": \"cpu\", \"name\": \"d\"}]' "
                 "WHERE id = %lld;"
                 "UPDATE cells SET status = 'ok', median = iif(axes LIKE '%%memory%%', %g, 3), n = 1 WHERE probe = "
                 "'sentinel' AND "
                 "run_id = %lld",
                 1000 + i, 1001 + i, (long long)run.id, memory[i], (long long)run.id);
        run_sql(f->path, sql);
        as_cells_free(cells, 4);
        as_run_finish(&run);
    }
}

static void expect(struct fixture *f, const char *run_name, const char *text)
{
    struct as_run run;
    struct as_buf said = AS_BUF_INIT;
    must_open(f, AS_STORE_READ);
    check(f, as_store_run(f->store, run_name, &run, &f->err));
    check(f, as_store_against_earlier(f->store, &run, &said, &f->err));
    assert_string_equal(as_buf_get(&said), text);
    as_buf_finish(&said);
    as_run_finish(&run);
    must_close(f);
}

static void test_slower(void **state)
{
    struct fixture *f = *state;
    make_runs(f, (const double[RUNS]){10, 9, 11, 10, 15.4}, RUNS);
    expect(f, "last",
           "memory of cpu is 1.4x slower than in each of the last 4 runs on this machine, in the reference "
           "measurements that every run makes");
    expect(f, "4", "");
    expect(f, "2", ""); /* one earlier run decides nothing */
    run_sql(f->path, "UPDATE runs SET state = 'interrupted' WHERE id < 3");
    expect(f, "last", "");
}

static void test_faster(void **state)
{
    struct fixture *f = *state;
    make_runs(f, (const double[RUNS]){10, 10, 10, 10, 5}, RUNS);
    expect(f, "last",
           "memory of cpu is 2.0x faster than in each of the last 4 runs on this machine, in the reference "
           "measurements that every run makes");
}

/* One such run before it: the machine does this at times. */
static void test_seen_before(void **state)
{
    struct fixture *f = *state;
    make_runs(f, (const double[RUNS]){10, 15, 10, 10, 15.4}, RUNS);
    expect(f, "last", "");
}

/* Runs of another host, build or CPU do not count. */
static void test_elsewhere(void **state)
{
    static const char *const changes[] = {"host = 'other'",
                                          "tool_commit = 'other'",
                                          "provenance = '{\"cpu\": {\"model\": \"other\"}}'",
                                          "provenance = '7'",
                                          "devices = '[{\"id\": \"cpu\", \"name\": \"other\"}]'",
                                          "devices = '[]'"};
    struct fixture *f = *state;
    make_runs(f, (const double[RUNS]){10, 10, 10, 10, 15}, RUNS);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[256];
        run_sql(f->path, "UPDATE runs SET host = 'a', tool_commit = 'b', provenance = '{\"cpu\": {\"model\": \"c\"}}', "
                         "devices = '[{\"id\": \"cpu\", \"name\": \"d\"}]'");
        expect(f, "last",
               "memory of cpu is 1.5x slower than in each of the last 4 runs on this machine, in the reference "
               "measurements that every run makes");
        snprintf(sql, sizeof sql, "UPDATE runs SET %s WHERE id = 5", changes[i]);
        run_sql(f->path, sql);
        expect(f, "last", "");
    }
}

/* A wrong sum is not a time of memory, in this run or an earlier one. */
static void test_rejected(void **state)
{
    struct fixture *f = *state;
    make_runs(f, (const double[RUNS]){10, 10, 10, 20, 15}, RUNS);
    expect(f, "last", "");
    run_sql(f->path, "UPDATE cells SET status = 'rejected' WHERE run_id = 4");
    expect(f, "last",
           "memory of cpu is 1.5x slower than in each of the last 3 runs on this machine, in the reference "
           "measurements that every run makes");
    run_sql(f->path, "UPDATE cells SET status = 'rejected' WHERE run_id = 5");
    expect(f, "last", "");
}

/* It is a note: an unreadable earlier run is no fault of this one. */
static void test_damaged(void **state)
{
    struct fixture *f = *state;
    make_runs(f, (const double[RUNS]){10, 10, 10, 10, 15}, RUNS);
    run_sql(f->path, "UPDATE cells SET axes = '{' WHERE run_id = 2 AND probe = 'sentinel'");
    expect(f, "last", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_slower, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_faster, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_seen_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rejected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
