/* Runs as seen by the parent, on the simulated device in real workers: measured, interrupted, resumed, and with trials
 * that crash, hang or lose the device. Events trigger each step, so no test waits for a time. */
#include "contents.h"

#include "base/text.h"
#include "run/run.h"
#include "stats/stats.h"

#include <math.h>
#include <signal.h>

enum { TRIALS = 2, CELLS = 3 };
#define PROCESSES_DIFFER "{\"seed\":1,\"noise\":{\"sd\":0.002,\"process_sd\":0.02},\"info\":{\"threads\":1}}"

struct bench {
    struct fixture *f;
    char script[128];
    struct as_run_result result;
    /* action on an event */
    volatile sig_atomic_t stop;
    size_t stop_at;                             /* when this many trials have begun; 0: never */
    bool stop_alone;                            /* when the first trial of --isolate is stored */
    const char *info;                           /* members of the device's description */
    const char *after_crash, *info_after_crash; /* members of the script, and those from the first crash on */
    /* observations */
    size_t begun, stored, run_starts, run_ends;
    char notes[1024];
};

static void set_script(const struct bench *b, const char *members)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "{\"seed\":1,\"execute\":true,\"noise\":{\"sd\":0.002},\"info\":{\"threads\":1%s}%s}",
                     b->info ? b->info : "", members);
    assert_in_range(n, 1, sizeof text - 1);
    write_text(b->script, text, (size_t)n);
}

static void on_event(void *user, const struct as_event *event)
{
    struct bench *b = user;
    b->run_starts += event->kind == AS_EVENT_RUN_START;
    b->run_ends += event->kind == AS_EVENT_RUN_END;
    b->begun += event->kind == AS_EVENT_CELL_START;
    b->stored += event->kind == AS_EVENT_CELL_END;
    if (event->kind == AS_EVENT_CELL_START && b->begun == b->stop_at)
        b->stop = 1;
    if (event->kind == AS_EVENT_CELL_END && b->stop_alone && event->trial->number >= AS_ISOLATED_TRIAL)
        b->stop = 1;
    if (event->kind != AS_EVENT_NOTE)
        return;
    const size_t used = strlen(b->notes);
    snprintf(b->notes + used, sizeof b->notes - used, "%s\n", event->text);
    if (b->after_crash && strstr(event->text, "signal 11")) {
        b->info = b->info_after_crash;
        set_script(b, b->after_crash);
    }
}

static int set_up_bench(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    void *fixture;
    if (!b || set_up(&fixture))
        return 1;
    b->f = fixture;
    snprintf(b->script, sizeof b->script, "%s/script.json", b->f->folder);
    set_script(b, "");
    *state = b;
    return setenv("ASSAY_NULL", b->script, 1);
}

static int tear_down_bench(void **state)
{
    struct bench *b = *state;
    void *fixture = b->f;
    int failed = tear_down(&fixture);
    free(b);
    return failed;
}

static struct as_run_options options_of(struct bench *b)
{
    static const char *const suites[] = {"latency"}, *const sets[] = {"size=1KiB,16KiB,256KiB"};
    return (struct as_run_options){.suites = suites,
                                   .suites_n = 1,
                                   .devices = "null",
                                   .sets = sets,
                                   .sets_n = 1,
                                   .precision = 1,
                                   .budget_s = 0,
                                   .trials = TRIALS,
                                   .seed = 1,
                                   .has_seed = 1,
                                   .event = on_event,
                                   .user = b,
                                   .stop = &b->stop};
}

static void start_bench(struct bench *b, bool isolate)
{
    struct as_run_options options = options_of(b);
    options.isolate = isolate;
    must_open(b->f, AS_STORE_WRITE);
    check(b->f, as_run_start(b->f->store, &options, &b->result, &b->f->err));
}

/* Like a later command: reopens the store, sets no triggers. */
static void resume(struct bench *b)
{
    b->stop = 0;
    b->stop_at = 0;
    b->stop_alone = false;
    b->after_crash = NULL;
    const struct as_run_options options = options_of(b);
    must_open(b->f, AS_STORE_WRITE);
    struct as_run run;
    check(b->f, as_store_run(b->f->store, NULL, &run, &b->f->err));
    assert_false(isnan(as_run_others_cpus(&run))); /* of its first part */
    as_run_finish(&run);
    check(b->f, as_run_resume(b->f->store, NULL, &options, &b->result, &b->f->err));
    check(b->f, as_store_run(b->f->store, NULL, &run, &b->f->err));
    assert_true(isnan(as_run_others_cpus(&run)));
    as_run_finish(&run);
}

static struct contents contents_of(struct bench *b)
{
    struct contents c = stored(b->f, b->result.run_id);
    assert_int_equal(c.cells_n, CELLS);
    return c;
}

static void must_be_measured(const struct contents *c, const struct as_cell *cell)
{
    if (!as_cell_is_valid(cell) || cell->sum.n == 0)
        fail_msg("%s: %s", as_cell_status_word(cell->status), cell->reason);
    for (int number = 0; number < TRIALS; number++)
        assert_non_null(find_trial(c, cell->id, number));
    assert_null(find_trial(c, cell->id, TRIALS));
}

static void must_be_complete(struct bench *b)
{
    struct contents c = contents_of(b);
    assert_int_equal(b->result.state, AS_RUN_COMPLETE);
    assert_false(b->result.lost);
    for (size_t i = 0; i < c.cells_n; i++)
        must_be_measured(&c, &c.cells[i]);
    forget(&c);
}

/* All trials stored before are still there, unchanged. */
static void must_be_kept(const struct contents *before, const struct contents *after)
{
    for (size_t i = 0; i < before->trials_n; i++) {
        const struct as_trial *was = &before->trials[i], *is = find_trial(after, was->cell_id, was->number);
        assert_non_null(is);
        assert_int_equal(is->n, was->n);
        assert_int_equal(is->worker, was->worker);
        assert_true(is->started_at == was->started_at);
        if (was->n)
            assert_memory_equal(is->samples, was->samples, was->n * sizeof *was->samples);
    }
}

/* ---- whole and interrupted runs ---- */

static void every_cell_is_measured(void **state)
{
    struct bench *b = *state;
    start_bench(b, false);
    must_be_complete(b);
    assert_int_equal(b->run_starts, 1);
    assert_int_equal(b->run_ends, 1);
    assert_true(b->stored >= CELLS * TRIALS && b->stored == b->begun); /* those of the sentinels too */
    assert_int_equal(b->result.by_status[AS_CELL_OK] + b->result.by_status[AS_CELL_WIDE], CELLS);
}

static void a_complete_run_is_not_resumed(void **state)
{
    struct bench *b = *state;
    const struct as_run_options options = options_of(b);
    start_bench(b, false);
    assert_int_equal(as_run_resume(b->f->store, "1", &options, &b->result, &b->f->err), AS_USAGE);
    assert_non_null(strstr(b->f->err.text, "nothing to resume"));
    assert_int_equal(as_run_resume(b->f->store, NULL, &options, &b->result, &b->f->err), AS_NOTFOUND);
}

static void an_interrupted_run_is_resumed(void **state)
{
    struct bench *b = *state;
    b->stop_at = 5;
    start_bench(b, false);
    assert_int_equal(b->result.state, AS_RUN_INTERRUPTED);
    assert_false(b->result.lost);
    struct contents before = contents_of(b);
    assert_in_range(before.trials_n, 1, CELLS * TRIALS);
    resume(b);
    must_be_complete(b);
    struct contents after = contents_of(b);
    must_be_kept(&before, &after);
    forget(&before);
    forget(&after);
}

/* Trials of two devices are not samples of one, even under the same id. */
static void a_run_is_not_resumed_on_another_device(void **state)
{
    static const char *const others[] = {",\"name\":\"Beta\"", ",\"uuid\":\"GPU-2\"", ",\"bus_id\":\"0000:02:00.0\"",
                                         ",\"caches\":[{\"level\":2,\"kind\":\"u\",\"size\":2097152}]"};
    static const char alpha[] = ",\"uuid\":\"GPU-1\",\"bus_id\":\"0000:01:00.0\","
                                "\"caches\":[{\"level\":2,\"kind\":\"u\",\"size\":1048576}]";
    struct bench *b = *state;
    const struct as_run_options options = options_of(b);
    b->stop_at = 5;
    b->info = alpha;
    set_script(b, "");
    start_bench(b, false);
    struct contents before = contents_of(b);
    b->stop = 0;
    b->stop_at = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        b->info = others[i];
        set_script(b, "");
        assert_int_equal(as_run_resume(b->f->store, NULL, &options, &b->result, &b->f->err), AS_USAGE);
        assert_non_null(strstr(b->f->err.text, "cannot be resumed here: "));
        b->result.run_id = 1;
        struct contents after = contents_of(b);
        assert_int_equal(after.trials_n, before.trials_n);
        forget(&after);
    }
    /* a GPU in another slot with another driver, and unreported caches */
    b->info = ",\"uuid\":\"GPU-1\",\"bus_id\":\"0000:03:00.0\",\"driver\":\"later\"";
    set_script(b, "");
    resume(b);
    must_be_complete(b);
    assert_non_null(strstr(b->notes, "resumed with another driver: null had "));
    struct as_run run;
    check(b->f, as_store_run(b->f->store, "1", &run, &b->f->err));
    assert_non_null(strstr(run.provenance, "resumed with another driver"));
    as_run_finish(&run);
    forget(&before);
}

static void each_cell_is_alone_once(void **state)
{
    struct bench *b = *state;
    b->stop_alone = true;
    start_bench(b, true);
    assert_int_equal(b->result.state, AS_RUN_INTERRUPTED);
    struct contents before = contents_of(b);
    resume(b);
    must_be_complete(b);
    struct contents after = contents_of(b);
    must_be_kept(&before, &after);
    for (size_t i = 0; i < after.cells_n; i++) {
        const struct as_trial *alone = find_trial(&after, after.cells[i].id, AS_ISOLATED_TRIAL);
        assert_true(alone && alone->excluded && alone->worker > 0);
        assert_non_null(strstr(after.cells[i].detail, "isolated"));
    }
    forget(&before);
    forget(&after);
}

/* ---- processes that differ ---- */

/* The number of workers behind a cell's trials; the interval includes what each of them measured. */
static size_t workers_of(const struct contents *c, const struct as_cell *cell)
{
    size_t workers = 0;
    for (int number = 0; number < cell->trials_done; number++) {
        const struct as_trial *v = find_trial(c, cell->id, number);
        bool known = false;
        assert_non_null(v);
        for (int earlier = 0; earlier < number && !known; earlier++)
            known = find_trial(c, cell->id, earlier)->worker == v->worker;
        workers += !known;
        const double median = as_median(v->samples, v->n);
        assert_true(cell->sum.ci.lo <= median && median <= cell->sum.ci.hi);
    }
    return workers;
}

/* Each process draws its allocation time: within one process trials agree to 0.2%. */
static void trials_come_from_several_processes(void **state)
{
    struct bench *b = *state;
    static const char *const suites[] = {"probe:alloc"}, *const sets[] = {"op=alloc", "size=4KiB,64KiB,1MiB"};
    struct as_run_options options = options_of(b);
    options.suites = suites;
    options.sets = sets;
    options.sets_n = 2;
    options.trials = 3;
    write_text(b->script, PROCESSES_DIFFER, strlen(PROCESSES_DIFFER));
    must_open(b->f, AS_STORE_WRITE);
    check(b->f, as_run_start(b->f->store, &options, &b->result, &b->f->err));
    struct contents c = contents_of(b);
    for (size_t i = 0; i < c.cells_n; i++) {
        assert_int_equal(c.cells[i].trials_done, 3);
        assert_int_equal(workers_of(&c, &c.cells[i]), 3);
    }
    forget(&c);
}

/* If processes do not differ, none is replaced. */
static void one_process_suffices_elsewhere(void **state)
{
    struct bench *b = *state;
    start_bench(b, false);
    struct contents c = contents_of(b);
    for (size_t i = 1; i < c.trials_n; i++)
        assert_int_equal(c.trials[i].worker, c.trials[0].worker);
    forget(&c);
}

/* ---- trials that break ---- */

/* The trial of 16 KiB does this in its third launch: that cell has no number, for this reason, and the others have
 * one. */
static void breaks(struct bench *b, const char *what, enum as_cell_status status, const char *reason)
{
    char members[200];
    snprintf(members, sizeof members,
             ",\"faults\":[{\"do\":\"%s\",\"min_footprint\":16384,\"max_footprint\":16384,\"launch\":3}]", what);
    set_script(b, members);
    start_bench(b, false);
    assert_int_equal(b->result.state, AS_RUN_COMPLETE);
    struct contents c = contents_of(b);
    const struct as_cell *hit = cell_of_size(&c, 16384);
    assert_int_equal(hit->status, status);
    assert_int_equal(hit->sum.n, 0);
    if (!strstr(hit->reason, reason))
        fail_msg("%s: '%s' does not say '%s'", what, hit->reason, reason);
    for (size_t i = 0; i < c.cells_n; i++)
        if (&c.cells[i] != hit)
            must_be_measured(&c, &c.cells[i]);
    forget(&c);
}

static void a_crash_costs_its_cell(void **state)
{
    breaks(*state, "crash", AS_CELL_CRASHED, "signal 11");
}

static void an_exit_costs_its_cell(void **state)
{
    breaks(*state, "exit", AS_CELL_CRASHED, "exit code 1");
}

static void an_error_costs_its_cell(void **state)
{
    breaks(*state, "fail", AS_CELL_FAILED, "script");
}

static void lack_of_memory_costs_its_cell(void **state)
{
    breaks(*state, "oom", AS_CELL_UNSUPPORTED, "memory");
}

static void a_hang_costs_its_cell(void **state)
{
    breaks(*state, "hang", AS_CELL_TIMEOUT, "no answer");
}

/* ---- devices that are lost ---- */

#define CRASH_ONCE ",\"faults\":[{\"do\":\"crash\",\"probe\":\"latency\",\"count\":\"worker\",\"launch\":12}]"

/* The worker dies before every cell has a number, and then opening the device does this. */
static void is_lost(struct bench *b, const char *open, const char *reason)
{
    b->after_crash = open;
    set_script(b, CRASH_ONCE);
    start_bench(b, false);
    assert_int_equal(b->result.state, AS_RUN_INTERRUPTED);
    assert_true(b->result.lost);
    assert_non_null(strstr(b->notes, "assay resume"));
    struct contents before = contents_of(b);
    assert_int_equal(with_status(&before, AS_CELL_CRASHED), 1);
    assert_in_range(with_status(&before, AS_CELL_SKIPPED), 1, CELLS);
    assert_int_equal(with_status(&before, AS_CELL_PLANNED), 0);
    for (size_t i = 0; i < before.cells_n; i++)
        if (before.cells[i].status == AS_CELL_SKIPPED && !strstr(before.cells[i].reason, reason))
            fail_msg("'%s' does not say '%s'", before.cells[i].reason, reason);
    b->info = NULL;
    set_script(b, "");
    resume(b);
    assert_int_equal(b->result.state, AS_RUN_COMPLETE);
    assert_false(b->result.lost);
    struct contents after = contents_of(b);
    must_be_kept(&before, &after);
    for (size_t i = 0; i < after.cells_n; i++)
        if (after.cells[i].status != AS_CELL_CRASHED)
            must_be_measured(&after, &after.cells[i]);
    forget(&before);
    forget(&after);
}

static void a_device_that_does_not_open_again_is_lost(void **state)
{
    is_lost(*state, ",\"open\":\"fail\"", "failed, as the script says");
}

static void a_device_that_hangs_when_opened_again_is_lost(void **state)
{
    is_lost(*state, ",\"open\":\"hang\"", "no answer");
}

/* After a reset, the next GPU may have its number. */
static void another_device_of_its_name_is_not_used(void **state)
{
    struct bench *b = *state;
    b->info_after_crash = ",\"name\":\"Beta\"";
    is_lost(b, "", "and is 'Beta' now");
}

static void a_device_that_opens_again_goes_on(void **state)
{
    struct bench *b = *state;
    b->after_crash = "";
    set_script(b, CRASH_ONCE);
    start_bench(b, false);
    assert_int_equal(b->result.state, AS_RUN_COMPLETE);
    assert_false(b->result.lost);
    struct contents c = contents_of(b);
    assert_int_equal(with_status(&c, AS_CELL_CRASHED), 1);
    assert_int_equal(with_status(&c, AS_CELL_SKIPPED) + with_status(&c, AS_CELL_PLANNED), 0);
    forget(&c);
}

static void without_a_device_there_is_no_run(void **state)
{
    struct bench *b = *state;
    const struct as_run_options options = options_of(b);
    struct as_run *runs;
    size_t n;
    set_script(b, ",\"why_not\":\"it is in a drawer\"");
    must_open(b->f, AS_STORE_WRITE);
    assert_int_equal(as_run_start(b->f->store, &options, &b->result, &b->f->err), AS_UNSUPPORTED);
    assert_non_null(strstr(b->f->err.text, "it is in a drawer"));
    check(b->f, as_store_runs(b->f->store, &runs, &n, &b->f->err));
    assert_int_equal(n, 0);
    as_runs_free(runs, n);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_bench, tear_down_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_cell_is_measured),
        TEST(a_complete_run_is_not_resumed),
        TEST(an_interrupted_run_is_resumed),
        TEST(a_run_is_not_resumed_on_another_device),
        TEST(each_cell_is_alone_once),
        TEST(trials_come_from_several_processes),
        TEST(one_process_suffices_elsewhere),
        TEST(a_crash_costs_its_cell),
        TEST(an_exit_costs_its_cell),
        TEST(an_error_costs_its_cell),
        TEST(lack_of_memory_costs_its_cell),
        TEST(a_hang_costs_its_cell),
        TEST(a_device_that_does_not_open_again_is_lost),
        TEST(a_device_that_hangs_when_opened_again_is_lost),
        TEST(another_device_of_its_name_is_not_used),
        TEST(a_device_that_opens_again_goes_on),
        TEST(without_a_device_there_is_no_run),
    };
    /* A sanitizer would turn a worker's crash into its own exit code. */
    const char *given = getenv("ASAN_OPTIONS");
    char options[400];
    snprintf(options, sizeof options, "%s:handle_segv=0", given ? given : "");
    setenv("ASAN_OPTIONS", options, 1);
    return cmocka_run_group_tests_name("run: runs", tests, NULL, NULL);
}
