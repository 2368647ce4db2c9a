/* A power failure at each change of the store's disk while a run on the scripted device measures: every trial that was
 * reported is in the store, and resume completes the run.
 *
 * ASSAY_INJECT other than "sample" (default): each change; ASSAY_INJECT_SEED is where the sample starts. */
#include "disk.h"
#include "fixture.h"

#include "run/run.h"

#include <limits.h>
#include <math.h>

enum { SAMPLED = 12 };

struct told {
    int64_t run;
    size_t trials;
};

static void on_event(void *user, const struct as_event *event)
{
    struct told *told = user;
    told->run = event->run ? event->run->id : told->run;
    told->trials += event->kind == AS_EVENT_CELL_END;
}

static enum as_status measure(struct fixture *f, struct told *told, bool resume, struct as_run_result *result)
{
    static const char *const suites[] = {"latency"}, *const sets[] = {"size=1KiB,2KiB"};
    const struct as_run_options options = {.suites = suites,
                                           .suites_n = 1,
                                           .devices = "null",
                                           .sets = sets,
                                           .sets_n = 1,
                                           .precision = NAN,
                                           .budget_s = NAN,
                                           .trials = 2,
                                           .seed = 1,
                                           .has_seed = 1,
                                           .event = on_event,
                                           .user = told};
    *result = (struct as_run_result){.run_id = 0};
    enum as_status st = as_store_open(f->path, AS_STORE_WRITE, &f->store, &f->err);
    if (!st)
        st = resume ? as_run_resume(f->store, NULL, &options, result, &f->err)
                    : as_run_start(f->store, &options, result, &f->err);
    must_close(f);
    return st;
}

static size_t stored_trials(struct fixture *f, int64_t run)
{
    struct as_trial *trials = NULL;
    size_t n = 0;
    check(f, as_store_trials(f->store, run, 0, &trials, &n, &f->err));
    as_trials_free(trials, n);
    return n;
}

/* The number of the run in the store, 0 if none. */
static int64_t check_store(struct fixture *f, const struct told *told, unsigned long at)
{
    struct as_run *runs;
    size_t n;
    must_open(f, AS_STORE_WRITE);
    check(f, as_store_verify(f->store, &f->err));
    check(f, as_store_runs(f->store, &runs, &n, &f->err));
    assert_in_range(n, told->run ? 1 : 0, 1);
    const int64_t run = n ? runs[0].id : 0;
    const bool whole = n && runs[0].state == AS_RUN_COMPLETE;
    as_runs_free(runs, n);
    const size_t trials = run ? stored_trials(f, run) : 0;
    if (trials < told->trials) /* trials of one commit may not have been reported yet */
        fail_msg("power lost at change %lu: %zu trials were told, %zu are there", at, told->trials, trials);
    must_close(f);
    return whole ? 0 : run;
}

static void check_complete(struct fixture *f, int64_t run)
{
    struct as_cell *cells;
    size_t n;
    must_open(f, AS_STORE_READ);
    check(f, as_store_verify(f->store, &f->err));
    check(f, as_store_cells(f->store, &(struct as_cell_filter){.run_id = run}, &cells, &n, &f->err));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(cells[i].status, AS_CELL_OK, AS_CELL_REJECTED);
        assert_true(cells[i].sum.n > 0 && cells[i].trials_done >= 2);
    }
    as_cells_free(cells, n);
    must_close(f);
}

static void start_anew(struct fixture *f)
{
    char journal[128];
    snprintf(journal, sizeof journal, "%s-journal", f->path);
    unlink(journal);
    unlink(f->path);
}

static void lose_power(struct fixture *f, unsigned long at)
{
    struct told told = {0}, again = {0};
    struct as_run_result result;
    start_anew(f);
    disk_start(DISK_POWER, at, 0);
    const enum as_status st = measure(f, &told, false, &result);
    disk_stop();
    if (disk_struck()) {
        disk_power_back(at); /* 1: all writes survive, else only a part */
        const int64_t run = check_store(f, &told, at);
        assert_true(st || !run);
        if (run) {
            check(f, measure(f, &again, true, &result));
            assert_int_equal(result.state, AS_RUN_COMPLETE);
            check_complete(f, run);
        }
    }
    disk_forget();
}

static void test_power(void **state)
{
    struct fixture *f = *state;
    const char *how = getenv("ASSAY_INJECT"), *seed = getenv("ASSAY_INJECT_SEED");
    struct told told = {0};
    struct as_run_result result;
    start_anew(f);
    disk_start(DISK_POWER, ULONG_MAX, 0);
    check(f, measure(f, &told, false, &result));
    const unsigned long changes = disk_stop();
    disk_forget();
    assert_true(told.trials >= 4 && changes > 50);
    const bool sample = !how || strcmp(how, "sample") == 0;
    const unsigned long every = sample ? changes / SAMPLED : 1, from = sample && seed ? strtoul(seed, NULL, 10) : 1;
    unsigned long points = 0;
    for (unsigned long at = from % every + 1; at <= changes; at += every, points++)
        lose_power(f, at);
    print_message("# a run: power lost at %lu of %lu changes, seed %lu\n", points, changes, from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_power, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
