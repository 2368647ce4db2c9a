/* Stored data comes back, is found by its names, and is never stored twice. */
#include "fixture.h"

#include "base/text.h"

#include <math.h>

static int set_up_open(void **state)
{
    int failed = set_up(state);
    if (!failed)
        must_open(*state, AS_STORE_WRITE);
    return failed;
}

static void assert_same_cell(const struct as_cell *a, const struct as_cell *b)
{
    assert_true(a->id == b->id && a->run_id == b->run_id && a->key == b->key);
    same_record(&as_cell_fields, a, b);
    assert_int_equal(a->axes.n, b->axes.n);
    for (size_t i = 0; i < a->axes.n; i++) {
        assert_string_equal(a->axes.v[i].name, b->axes.v[i].name);
        assert_string_equal(a->axes.v[i].text, b->axes.v[i].text);
        assert_int_equal(isnan(a->axes.v[i].number), isnan(b->axes.v[i].number));
    }
    for (int g = 0; g < AS_GATE_N; g++)
        same_record(&as_gate_fields, &a->gates[g], &b->gates[g]);
}

static void test_round_trip(void **state)
{
    struct fixture *f = *state;
    struct as_run run, back;
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    struct as_cell *cells = begin(f, &run, 1, 5), *read;
    struct as_trial trials[3], *stored;
    for (int v = 0; v < 3; v++)
        trial(f, &cells[1], trials, v, &rng);
    must_open(f, AS_STORE_READ);
    size_t n;
    check(f, as_store_cells(f->store, &(struct as_cell_filter){.run_id = run.id, .hidden = 1}, &read, &n, &f->err));
    assert_int_equal(n, 7);
    for (size_t i = 0; i < n; i++)
        assert_same_cell(&cells[i], &read[i]);
    as_cells_free(read, n);

    check(f, as_store_trials(f->store, 0, cells[1].id, &stored, &n, &f->err));
    assert_int_equal(n, 3);
    for (size_t v = 0; v < n; v++) {
        same_record(&as_trial_fields, &stored[v], &trials[v]);
        same_record(&as_readings_fields, &stored[v].readings, &trials[v].readings);
        assert_memory_equal(stored[v].samples, trials[v].samples, 8 * trials[v].n);
        as_trial_finish(&trials[v]);
    }
    as_trials_free(stored, n);

    check(f, as_store_run(f->store, NULL, &back, &f->err));
    same_record(&as_run_fields, &back, &run);
    assert_int_equal(back.cells, 5);
    assert_int_equal(back.cells_ok, 1);
    as_run_finish(&back);
    check(f, as_store_verify(f->store, &f->err));
    as_cells_free(cells, 7);
    as_run_finish(&run);
}

static void test_samples_of_a_cell(void **state)
{
    struct fixture *f = *state;
    struct as_run run;
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    struct as_cell *cells = begin(f, &run, 1, 2), one;
    struct as_trial trials[3];
    three_trials(f, &cells[0], trials, &rng);
    check(f, as_store_cell(f->store, cells[0].id, 1, &one, &f->err));
    assert_int_equal(one.sum.n, 6 + 8); /* the second trial had 7 */
    for (size_t i = 0; i < one.sum.n; i++) {
        assert_int_equal(one.sample_trial[i], i < 6 ? 0 : 2);
        assert_true(one.samples[i] == (i < 6 ? trials[0].samples[i] : trials[2].samples[i - 6]));
    }
    as_cell_finish(&one);
    struct as_trial *stored;
    size_t n;
    check(f, as_store_trials(f->store, run.id, 0, &stored, &n, &f->err));
    assert_int_equal(n, 3);
    assert_int_equal(stored[1].excluded, 1);
    assert_string_equal(stored[1].reason, "drift: off");
    assert_int_equal(stored[1].n, 7);
    as_trials_free(stored, n);
    check(f, as_store_cell(f->store, cells[1].id, 1, &one, &f->err));
    assert_int_equal(one.sum.n, 0);
    as_cell_finish(&one);
    for (int v = 0; v < 3; v++)
        as_trial_finish(&trials[v]);
    as_cells_free(cells, 4);
    as_run_finish(&run);
}

static void test_refused_writes(void **state)
{
    struct fixture *f = *state;
    struct as_run run, again;
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    struct as_cell *cells = begin(f, &run, 1, 2), before;
    struct as_trial trials[2];
    trial(f, &cells[0], trials, 0, &rng);
    check(f, as_store_cell(f->store, cells[0].id, 0, &before, &f->err));

    /* the same trial, with a different cell */
    cells[0].status = AS_CELL_FAILED;
    assert_int_equal(as_store_add_trials(f->store, &(struct as_stored_trial){&trials[0], &cells[0]}, 1, &f->err),
                     AS_FAILED);
    assert_non_null(strstr(f->err.text, "already"));
    struct as_cell after;
    check(f, as_store_cell(f->store, cells[0].id, 0, &after, &f->err));
    assert_same_cell(&before, &after);
    as_cell_finish(&after);

    /* a new trial beside it: all or none */
    struct as_trial other = trials[0];
    other.number = 1;
    const struct as_stored_trial both[] = {{&other, &cells[0]}, {&trials[0], &cells[0]}};
    assert_int_equal(as_store_add_trials(f->store, both, 2, &f->err), AS_FAILED);
    struct as_trial *there;
    size_t there_n;
    check(f, as_store_trials(f->store, run.id, cells[0].id, &there, &there_n, &f->err));
    assert_int_equal(there_n, 1);
    as_trials_free(there, there_n);

    trials[0].number = 1;
    double saved = trials[0].samples[2];
    trials[0].samples[2] = INFINITY;
    assert_int_equal(as_store_add_trials(f->store, &(struct as_stored_trial){&trials[0], &cells[0]}, 1, &f->err),
                     AS_FAILED);
    trials[0].samples[2] = saved;
    assert_int_equal(as_store_add_trials(f->store, &(struct as_stored_trial){&trials[0], &cells[1]}, 1, &f->err),
                     AS_FAILED); /* of another cell */
    trials[0].cell_id = cells[0].id = 4711;
    assert_int_equal(as_store_add_trials(f->store, &(struct as_stored_trial){&trials[0], &cells[0]}, 1, &f->err),
                     AS_NOTFOUND);
    assert_int_equal(as_store_update_cells(f->store, cells, NULL, 2, &f->err), AS_NOTFOUND);
    assert_int_equal(as_store_cell(f->store, 4711, 1, &after, &f->err), AS_NOTFOUND);
    run.id = 99;
    assert_int_equal(as_store_update_run(f->store, &run, &f->err), AS_NOTFOUND);

    /* a second run under the same uuid; its cells must not stay either */
    sample_run(&again, 1);
    struct as_cell *more = calloc(1, sizeof *more);
    sample_cell(more, 0);
    assert_int_equal(as_store_begin_run(f->store, &again, more, 1, &f->err), AS_USAGE);
    struct as_cell *all;
    size_t n;
    check(f, as_store_cells(f->store, &(struct as_cell_filter){.hidden = 1}, &all, &n, &f->err));
    assert_int_equal(n, 4);
    as_cells_free(all, n);
    check(f, as_store_verify(f->store, &f->err));
    as_cell_finish(&before);
    as_trial_finish(&trials[0]);
    as_cells_free(more, 1);
    as_cells_free(cells, 4);
    as_run_finish(&run);
    as_run_finish(&again);
}

static void test_reading_store_is_not_written(void **state)
{
    struct fixture *f = *state;
    struct as_run run;
    struct as_cell *cells = begin(f, &run, 1, 1);
    must_open(f, AS_STORE_READ);
    assert_int_equal(as_store_update_cells(f->store, cells, NULL, 1, &f->err), AS_USAGE);
    assert_non_null(strstr(f->err.text, f->path));
    as_cells_free(cells, 3);
    as_run_finish(&run);
}

static void test_filters(void **state)
{
    struct fixture *f = *state;
    struct as_run run[2];
    struct as_cell *cells[2] = {begin(f, &run[0], 1, 6), begin(f, &run[1], 2, 4)}, *found;
    static const struct {
        int run, hidden;
        const char *probe, *device;
        size_t n;
    } cases[] = {{0, 0, NULL, NULL, 6},       {0, 1, NULL, NULL, 8},        {1, 0, NULL, NULL, 4},
                 {-1, 0, NULL, NULL, 10},     {-1, 1, NULL, NULL, 14},      {0, 0, "latency", NULL, 3},
                 {-1, 0, "latency", NULL, 5}, {-1, 0, "sentinel", NULL, 0}, {-1, 1, "sentinel", NULL, 4},
                 {0, 0, NULL, "cpu", 6},      {0, 0, NULL, "cuda:0", 0},    {0, 0, "' OR 1=1 --", NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n;
        struct as_cell_filter filter = {.run_id = cases[i].run < 0 ? 0 : run[cases[i].run].id,
                                        .hidden = cases[i].hidden,
                                        .probe = cases[i].probe,
                                        .device = cases[i].device};
        check(f, as_store_cells(f->store, &filter, &found, &n, &f->err));
        assert_int_equal(n, cases[i].n);
        for (size_t k = 1; k < n; k++)
            assert_true(found[k].run_id > found[k - 1].run_id || found[k].index > found[k - 1].index);
        as_cells_free(found, n);
    }
    as_cells_free(cells[0], 8);
    as_cells_free(cells[1], 6);
    as_run_finish(&run[0]);
    as_run_finish(&run[1]);
}

static void test_end_of_a_run(void **state)
{
    struct fixture *f = *state;
    struct as_run run, *runs;
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    struct as_cell *cells = begin(f, &run, 1, 3);
    struct as_trial trials[1];
    size_t n;
    trial(f, &cells[0], trials, 0, &rng);
    run.state = AS_RUN_COMPLETE;
    run.ended_at = run.started_at + 60;
    check(f, as_store_update_run(f->store, &run, &f->err));
    check(f, as_store_runs(f->store, &runs, &n, &f->err));
    assert_int_equal(n, 1);
    assert_int_equal(runs[0].state, AS_RUN_COMPLETE);
    assert_true(runs[0].ended_at == run.ended_at);
    assert_int_equal(runs[0].cells, 3);
    assert_int_equal(runs[0].cells_ok, 1);
    as_runs_free(runs, n);
    check(f, as_store_verify(f->store, &f->err));
    /* the count follows later changes of cells */
    cells[0].status = AS_CELL_REJECTED;
    check(f, as_store_update_cells(f->store, cells, NULL, 3, &f->err));
    check(f, as_store_runs(f->store, &runs, &n, &f->err));
    assert_int_equal(runs[0].cells_ok, 0);
    as_runs_free(runs, n);
    check(f, as_store_verify(f->store, &f->err));
    as_trial_finish(&trials[0]);
    as_cells_free(cells, 5);
    as_run_finish(&run);
}

static void expect_run(struct fixture *f, const char *name, int64_t id)
{
    struct as_run run;
    enum as_status st = as_store_run(f->store, name, &run, &f->err);
    if (st || run.id != id)
        fail_msg("'%s' gives run %lld: %s", name ? name : "NULL", st ? -1 : (long long)run.id, st ? f->err.text : "");
    as_run_finish(&run);
}

static void expect_none(struct fixture *f, const char *name, enum as_status code, const char *part)
{
    struct as_run run;
    assert_int_equal(as_store_run(f->store, name, &run, &f->err), code);
    if (!strstr(f->err.text, part))
        fail_msg("'%s' does not say '%s'", f->err.text, part);
}

static void test_names_of_runs(void **state)
{
    static const char *const uuids[] = {"abcdef00-0000-4000-8000-000000000001", "abcdef00-0000-4000-8000-000000000002",
                                        "3aaaaaaa-0000-4000-8000-000000000003", "02345678-0000-4000-8000-000000000004"};
    struct fixture *f = *state;
    expect_none(f, "last", AS_NOTFOUND, "assay run");
    for (size_t i = 0; i < 4; i++) {
        struct as_run run;
        sample_run(&run, i);
        as_copy_text(run.uuid, sizeof run.uuid, uuids[i]);
        check(f, as_store_begin_run(f->store, &run, NULL, 0, &f->err));
        as_run_finish(&run);
        if (i == 0)
            expect_none(f, "2", AS_NOTFOUND, "only run 1 exists");
    }
    expect_run(f, NULL, 4);
    expect_run(f, "last", 4);
    expect_run(f, "-1", 4);
    expect_run(f, "-2", 3);
    expect_run(f, "-4", 1);
    expect_run(f, "2", 2);
    expect_run(f, "3", 3); /* a number takes precedence over a uuid prefix */
    expect_run(f, "3AAA", 3);
    expect_run(f, "0234", 4);
    expect_run(f, "02345678", 4);
    expect_run(f, "abcdef00-0000-4000-8000-000000000002", 2);
    expect_none(f, "abcd", AS_USAGE, "1 (abcdef00-0000), 2 (abcdef00-0000)");
    static const char *const missing[] = {
        "0",  "5", "-0", "-5",      "-99999999999999999999", "99999999999999999999", "", "latest", "abdd", "-",
        "--", "%", "1 ", "\x1b[31m"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        expect_none(f, missing[i], AS_NOTFOUND, "1 to 4");
    static const char *const too_short[] = {"023", "3a", "3aa", "abc"}; /* each is a prefix of a uuid here */
    for (size_t i = 0; i < sizeof too_short / sizeof *too_short; i++)
        expect_none(f, too_short[i], AS_NOTFOUND, "4 or more characters");
}

/* Values that the schema's checks accept, but that no store of ours holds. */
static void test_hostile_values(void **state)
{
    static const char *const changes[] = {
        "UPDATE cells SET axes = '{\"size\":'",
        "UPDATE cells SET axes = '[]'",
        "UPDATE cells SET axes = '{\"\x1b\":1}'",
        "UPDATE trials SET samples = CAST(x'000000000000f87f' || zeroblob(40) AS BLOB)",
        "PRAGMA ignore_check_constraints = 1; UPDATE trials SET n = 1000000000",
        "PRAGMA ignore_check_constraints = 1; UPDATE trials SET n = -1",
        "PRAGMA ignore_check_constraints = 1; UPDATE trials SET samples = x'00'",
        "PRAGMA ignore_check_constraints = 1; UPDATE cells SET status = 'best'",
        "PRAGMA ignore_check_constraints = 1; UPDATE cells SET gate_limit = ''",
        "PRAGMA ignore_check_constraints = 1; UPDATE trials SET checksum = 'passed'",
        "PRAGMA ignore_check_constraints = 1; UPDATE trials SET status = ''",
        "PRAGMA ignore_check_constraints = 1; UPDATE runs SET state = 'walking'",
    };
    struct fixture *f = *state;
    struct as_run run, found;
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    struct as_cell *cells = begin(f, &run, 1, 1), *read;
    struct as_trial trials[1], *stored;
    trial(f, &cells[0], trials, 0, &rng);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        sqlite3 *db;
        size_t n;
        assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db,
                                      "CREATE TEMP TABLE keep AS SELECT * FROM cells;"
                                      "CREATE TEMP TABLE keep_trials AS SELECT * FROM trials;"
                                      "CREATE TEMP TABLE keep_runs AS SELECT * FROM runs",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
        enum as_status a =
            as_store_cells(f->store, &(struct as_cell_filter){.run_id = run.id, .with_samples = 1}, &read, &n, &f->err);
        if (!a)
            as_cells_free(read, n);
        enum as_status b = as_store_trials(f->store, run.id, 0, &stored, &n, &f->err);
        if (!b)
            as_trials_free(stored, n);
        enum as_status c = as_store_run(f->store, "last", &found, &f->err);
        if (!c)
            as_run_finish(&found);
        if (a != AS_FORMAT && b != AS_FORMAT && c != AS_FORMAT)
            fail_msg("not noticed: %s", changes[i]);
        assert_non_null(strstr(f->err.text, f->path));
        assert_int_equal(sqlite3_exec(db,
                                      "DELETE FROM trials; DELETE FROM cells; DELETE FROM runs;"
                                      "INSERT INTO runs SELECT * FROM keep_runs;"
                                      "INSERT INTO cells SELECT * FROM keep;"
                                      "INSERT INTO trials SELECT * FROM keep_trials",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        sqlite3_close(db);
    }
    as_trial_finish(&trials[0]);
    as_cells_free(cells, 3);
    as_run_finish(&run);
}

/* Damage that only verify finds. */
static void test_verify(void **state)
{
    static const char *const changes[] = {
        "DELETE FROM trials",
        "DELETE FROM cells WHERE position = 1",
        "PRAGMA foreign_keys = OFF; DELETE FROM cells",
        "UPDATE cells SET median = 0 WHERE position = 0",
        "UPDATE runs SET cells_ok = 17",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        void *own;
        assert_int_equal(set_up_open(&own), 0);
        struct fixture *f = own;
        struct as_run run;
        struct as_rng rng;
        sqlite3 *db;
        as_rng_seed(&rng, 7);
        struct as_cell *cells = begin(f, &run, 1, 2);
        struct as_trial trials[1];
        trial(f, &cells[0], trials, 0, &rng);
        check(f, as_store_verify(f->store, &f->err));
        assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        if (as_store_verify(f->store, &f->err) != AS_FORMAT)
            fail_msg("not noticed: %s", changes[i]);
        assert_non_null(strstr(f->err.text, f->path));
        as_trial_finish(&trials[0]);
        as_cells_free(cells, 4);
        as_run_finish(&run);
        tear_down(&own);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, set_up_open, tear_down),
        cmocka_unit_test_setup_teardown(test_samples_of_a_cell, set_up_open, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_writes, set_up_open, tear_down),
        cmocka_unit_test_setup_teardown(test_reading_store_is_not_written, set_up_open, tear_down),
        cmocka_unit_test_setup_teardown(test_filters, set_up_open, tear_down),
        cmocka_unit_test_setup_teardown(test_end_of_a_run, set_up_open, tear_down),
        cmocka_unit_test_setup_teardown(test_names_of_runs, set_up_open, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_values, set_up_open, tear_down),
        cmocka_unit_test(test_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
