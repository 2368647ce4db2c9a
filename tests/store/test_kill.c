/* A writer is killed at any moment: the store is sound and holds exactly the trials up to some moment, each complete
 * with its cell, and no trial reported as stored is missing. */
#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

enum { CELLS = 40, ROUNDS = 60, SAMPLES = 50 };

/* The nth trial of the run goes to cell n modulo CELLS. Its samples identify it. */
static void write_trial(struct fixture *f, struct as_cell *cells, int n)
{
    double samples[SAMPLES];
    struct as_cell *c = &cells[n % CELLS];
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = n;
    struct as_trial v = {.cell_id = c->id, .number = n / CELLS, .n = SAMPLES, .samples = samples, .status = AS_CELL_OK};
    c->status = AS_CELL_OK;
    c->trials_done = n / CELLS + 1;
    c->sum = (struct as_summary){.n = (size_t)c->trials_done * SAMPLES,
                                 .trials = (size_t)c->trials_done,
                                 .median = n,
                                 .ci = {n, n},
                                 .min = n,
                                 .max = n,
                                 .modes = 1};
    if (as_store_add_trials(f->store, &(struct as_stored_trial){&v, c}, 1, &f->err)) {
        fprintf(stderr, "trial %d: %s\n", n, f->err.text);
        _exit(1);
    }
}

/* Opens the store like a resumed run and continues until killed, reporting each stored trial. */
static void write_until_killed(struct fixture *f, int from, int tell, double pause_s)
{
    struct as_cell *cells;
    struct as_run run;
    size_t n;
    if (as_store_open(f->path, AS_STORE_WRITE, &f->store, &f->err) || as_store_run(f->store, "last", &run, &f->err) ||
        as_store_cells(f->store, &(struct as_cell_filter){.run_id = run.id}, &cells, &n, &f->err)) {
        fprintf(stderr, "%s\n", f->err.text);
        _exit(1);
    }
    for (int i = from;; i++) {
        write_trial(f, cells, i);
        if (write(tell, &i, sizeof i) != sizeof i)
            _exit(1);
        as_sleep(pause_s);
    }
}

/* The last trial reported; waits for this many of them. */
static int read_some(int from, int last, uint64_t count)
{
    int n;
    ssize_t got = 0;
    while (count > 0 && ((got = read(from, &n, sizeof n)) == sizeof n || (got < 0 && errno == EINTR)))
        if (got > 0)
            last = n, count--;
    assert_int_equal(count, 0);
    return last;
}

static int read_last(int from, int last)
{
    int n;
    ssize_t got;
    while ((got = read(from, &n, sizeof n)) == sizeof n || (got < 0 && errno == EINTR))
        last = got > 0 ? n : last;
    return last;
}

/* Number of trials in the store; they must be the first ones, and the cells must match the last of them. */
static int check_prefix(struct fixture *f)
{
    struct as_trial *trials;
    struct as_cell *cells;
    size_t n, cells_n;
    check(f, as_store_verify(f->store, &f->err));
    check(f, as_store_trials(f->store, 1, 0, &trials, &n, &f->err));
    check(f, as_store_cells(f->store, &(struct as_cell_filter){.run_id = 1}, &cells, &cells_n, &f->err));
    assert_int_equal(cells_n, CELLS);
    char *seen = calloc(n + 1, 1);
    assert_non_null(seen);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(trials[i].n, SAMPLES);
        size_t which = (size_t)trials[i].samples[0];
        assert_true(which < n && !seen[which]);
        seen[which] = 1;
        for (size_t k = 1; k < SAMPLES; k++)
            assert_true(trials[i].samples[k] == (double)which);
        assert_int_equal(trials[i].number, (int)which / CELLS);
    }
    for (size_t i = 0; i < CELLS; i++) {
        int done = (int)((n + CELLS - 1 - i) / CELLS);
        assert_int_equal(cells[i].trials_done, done);
        if (done)
            assert_true(cells[i].sum.median == (double)((size_t)(done - 1) * CELLS + i));
    }
    free(seen);
    as_trials_free(trials, n);
    as_cells_free(cells, cells_n);
    return (int)n;
}

static void test_killed_writer(void **state)
{
    struct fixture *f = *state;
    struct as_run run;
    struct as_cell cells[CELLS];
    struct as_rng rng;
    int stored = 0, total_kills = 0;
    as_rng_seed(&rng, 1);
    must_open(f, AS_STORE_WRITE);
    for (int i = 0; i < CELLS; i++)
        sample_cell(&cells[i], i);
    sample_run(&run, 1);
    check(f, as_store_begin_run(f->store, &run, cells, CELLS, &f->err));
    as_run_finish(&run);
    must_close(f);
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(ends[0]);
            write_until_killed(f, stored, ends[1], 0);
        }
        close(ends[1]);
        /* The moment of the kill is random: in the first trials, after some, and before any. */
        int told = read_some(ends[0], stored - 1, round == 0 ? 1 : as_rng_below(&rng, 4)), status;
        as_sleep(0.01 * as_rng_double(&rng));
        kill(child, SIGKILL);
        told = read_last(ends[0], told);
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        total_kills += WTERMSIG(status) == SIGKILL;
        must_open(f, round % 2 ? AS_STORE_READ : AS_STORE_WRITE); /* either repairs it */
        int now = check_prefix(f);
        must_close(f);
        if (now < told + 1 || now > told + 2)
            fail_msg("%d trials are there, %d were told to be stored", now, told + 1);
        stored = now;
    }
    assert_int_equal(total_kills, ROUNDS);
    assert_true(stored > 0);
}

/* While one process writes, others read consistent states. */
static void test_readers_beside_a_writer(void **state)
{
    struct fixture *f = *state;
    struct as_run run;
    struct as_cell cells[CELLS];
    int ends[2], last = 0;
    must_open(f, AS_STORE_WRITE);
    for (int i = 0; i < CELLS; i++)
        sample_cell(&cells[i], i);
    sample_run(&run, 1);
    check(f, as_store_begin_run(f->store, &run, cells, CELLS, &f->err));
    as_run_finish(&run);
    must_close(f);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        write_until_killed(f, 0, ends[1], 0.005); /* a trial takes some time */
    }
    close(ends[1]);
    for (int reads = 0; reads < 40 || last == 0; reads++) {
        must_open(f, AS_STORE_READ);
        struct as_trial *trials;
        size_t n;
        check(f, as_store_trials(f->store, 1, 0, &trials, &n, &f->err));
        assert_true((int)n >= last);
        last = (int)n;
        as_trials_free(trials, n);
        must_close(f);
        as_sleep(0.002);
    }
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* it never gave up */
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_killed_writer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_readers_beside_a_writer, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
