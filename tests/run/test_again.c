/* Cells measured again on the simulated device: what counts as the CPU time of others. */
#include "contents.h"

#include "run/others.h"
#include "run/run.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>

/* Stands in for src/run/others.c. Each reading is a second later; workers that run then count as others. */
enum { READINGS_MAX = 8 };
static struct {
    size_t n;
    bool has_workers[READINGS_MAX];
} readings;

double as_others_seconds(void)
{
    siginfo_t info;
    assert_true(readings.n < READINGS_MAX);
    readings.has_workers[readings.n++] = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    return (double)readings.n;
}

static struct as_run_options options_of(volatile sig_atomic_t *stop)
{
    static const char *const suites[] = {"latency"}, *const sets[] = {"size=1KiB"};
    return (struct as_run_options){.suites = suites,
                                   .suites_n = 1,
                                   .devices = "null",
                                   .sets = sets,
                                   .sets_n = 1,
                                   .precision = 1,
                                   .trials = 1,
                                   .seed = 1,
                                   .has_seed = 1,
                                   .stop = stop};
}

/* The last run has what others used, read before its workers began and after they ended. */
static void expect_others(struct fixture *f)
{
    struct as_run run;
    must_open(f, AS_STORE_WRITE);
    check(f, as_store_run(f->store, "last", &run, &f->err));
    assert_int_equal(run.state, AS_RUN_COMPLETE);
    assert_true(readings.n >= 2);
    assert_false(readings.has_workers[0]);
    assert_false(readings.has_workers[readings.n - 1]);
    assert_true(as_run_others_cpus(&run) > 0);
    as_run_finish(&run);
    readings.n = 0;
}

static void test_workers_are_not_others(void **state)
{
    static const char script[] = "{\"seed\":1,\"execute\":true,\"noise\":{\"sd\":0.002},\"info\":{\"threads\":1}}";
    struct fixture *f = *state;
    char path[128];
    volatile sig_atomic_t stop = 0;
    const struct as_run_options options = options_of(&stop);
    struct as_run_result result;
    struct as_run run;
    snprintf(path, sizeof path, "%s/script.json", f->folder);
    write_text(path, script, sizeof script - 1);
    setenv("ASSAY_NULL", path, 1);
    must_open(f, AS_STORE_WRITE);
    check(f, as_run_start(f->store, &options, &result, &f->err));
    expect_others(f);
    struct contents c = stored(f, result.run_id);
    must_open(f, AS_STORE_WRITE);
    check(f, as_store_run(f->store, "last", &run, &f->err));
    check(f, as_run_again(f->store, &run, &c.cells[0].id, 1, &options, &result, &f->err));
    as_run_finish(&run);
    expect_others(f);
    forget(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_workers_are_not_others, set_up, tear_down)};
    return cmocka_run_group_tests_name("cells measured again", tests, NULL, NULL);
}
